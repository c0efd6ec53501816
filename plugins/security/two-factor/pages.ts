/** What users see: the question for a code, the page of their factors, a new app, and the backup codes. */
import type { ButtonOptions, Content, Context, Kernel, PageTools, PageView } from 'authkernel/kernel'
import { listDevices } from './devices.ts'
import { confirmedFactors, hasStrong } from './factors.ts'
import { hasAddress } from './mailed-code.ts'
import type { Options } from './options.ts'
import { drawPasskeyForm, passkeyScript } from './passkey-form.ts'
import { currentPerson } from './person.ts'
import { findWaiting } from './question.ts'
import { drawQrPath } from './qr-code.ts'
import { mustProveAddress, type Visitor, visitorOf } from './setup.ts'
import { enrolmentOf } from './totp.ts'

type Params = Readonly<Record<string, string | undefined>>

const names: Readonly<Record<string, string>> = { totp: 'two-factor.app', passkey: 'two-factor.passkey' }
const codeField = {
  label: 'two-factor.code',
  type: 'text',
  inputmode: 'numeric',
  autocomplete: 'one-time-code',
  required: true,
  maxlength: 64,
}

const backupField = {
  label: 'two-factor.backup-code',
  type: 'text',
  autocomplete: 'off',
  autocapitalize: 'characters',
  spellcheck: 'false',
  required: true,
  maxlength: 64,
}

/** Adds the pages and the section of the account page. */
export function addPages(kernel: Kernel, options: Options): void {
  kernel.page('twoFactor', (ctx, tools, params) => drawQuestion(ctx, tools, params, options), { path: '/two-factor' })
  kernel.page('twoFactorSetup', (ctx, tools, params) => drawSetup(ctx, tools, params, options), { path: '/two-factor/setup' })
  // Without a route of their own: a secret is drawn once, in the answer to the form that made it.
  kernel.page('twoFactorApp', (ctx, tools, params) => drawApp(ctx, tools, params, options))
  kernel.page('twoFactorCodes', drawBackupCodes)
  kernel.accountSection({
    id: 'two-factor',
    order: 250,
    async draw(ctx, { say, buttonLink, tag }) {
      const person = await currentPerson(ctx)
      if (!person) return undefined
      const on = (await confirmedFactors(ctx, person)).length > 0
      return {
        heading: say('two-factor.title'),
        text: say('two-factor.setup-lead'),
        tags: tag(say(on ? 'two-factor.on' : 'two-factor.off'), on ? 'ok' : 'warn'),
        actions: buttonLink(say('two-factor.manage'), '/two-factor/setup'),
      }
    },
  })
}

async function drawQuestion(ctx: Context, tools: PageTools, params: Params, options: Options): Promise<PageView | Response> {
  const { html, say, form, field, submit, alert } = tools
  const waiting = await findWaiting(ctx, options)
  if (!waiting) return ctx.page('signIn')
  const { kinds, backup, login, parked } = waiting
  const body: Content[] = [params['wait'] ? drawWait(tools, Number(params['wait'])) : alert(params['error'])]
  if (params['sent'] && kinds.includes('emailCode')) body.push(html`<p role="status">${say('two-factor.sent')}</p>`)
  const remember =
    options.trustedDevices && login.purpose === 'signIn' && hasStrong(kinds)
      ? html`<label class="check"
          ><input type="checkbox" name="remember" value="on" /> ${say('two-factor.remember', { days: options.trustedDevices.days })}</label
        >`
      : undefined
  const keys = kinds.includes('passkey')
  const { flow } = parked
  if (keys)
    body.push(await drawPasskeyForm(ctx, tools, { action: '/two-factor', purpose: 'ask', label: say('two-factor.use-passkey'), flow }))
  const alone = kinds.length === 0
  const typing = alone ? backupField : codeField
  body.push(await form('/two-factor', [field('code', { ...typing, autofocus: !keys }), remember, submit(say('two-factor.continue'))]))
  // A field of its own: the keyboard of a phone for digits has no letters.
  if (backup && !alone) {
    const own = await form('/two-factor', [field('code', backupField, 'backup'), submit(say('two-factor.continue'), { quiet: true })])
    body.push(
      html`<details class="hint">
        <summary>${say('two-factor.backup-hint')}</summary>
        ${own}
      </details>`,
    )
  }
  if (kinds.includes('emailCode')) body.push(await form('/two-factor/send', submit(say('two-factor.send'), { quiet: true })))
  const lead = keys ? 'lead-passkey' : kinds.includes('totp') ? 'lead' : kinds.length > 0 ? 'lead-mail' : 'lead-backup'
  return { title: say('two-factor.title'), lead: say(`two-factor.${lead}`), body, ...(keys && { scripts: [passkeyScript] }) }
}

async function drawSetup(ctx: Context, tools: PageTools, params: Params, options: Options): Promise<PageView | Response> {
  const { html, say, form, submit, alert } = tools
  const visitor = await visitorOf(ctx, options)
  if (!visitor) return ctx.page('signIn')
  if (await mustProveAddress(ctx, visitor)) return drawAddressProof(tools, params, visitor)
  if (!visitor.parked) return drawManagement(ctx, tools, params, options, visitor)
  // A sign-in waits: the user sets up a first factor, and nothing else.
  const offers = offersOf(options)
  const { flow, data } = visitor.parked
  const act = (action: string, label: Content): Promise<Content> => form('/two-factor/setup', submit(label), { action })
  const body: Content[] = [alert(params['error'])]
  // The factor is there, and the page of backup codes was left.
  if (data.enrolled) body.push(await act('continue', say('two-factor.continue')))
  else {
    body.push(html`<p>${say('two-factor.explain')}</p>`)
    if (offers('totp')) body.push(await act('totp', say('two-factor.add-app')))
    if (offers('passkey')) body.push(await drawAddPasskey(ctx, tools, flow))
  }
  return {
    title: say('two-factor.title'),
    lead: say('two-factor.required'),
    body,
    ...(offers('passkey') && { scripts: [passkeyScript] }),
  }
}

/** The factors, backup codes and trusted devices of a user who is signed in. */
async function drawManagement(ctx: Context, tools: PageTools, params: Params, options: Options, { person }: Visitor): Promise<PageView> {
  const { say, form, alert, card, row, tag, moment, button, buttonLink, emptyState } = tools
  const offers = offersOf(options)
  const rows = await confirmedFactors(ctx, person)
  const devices = await listDevices(ctx, person)
  const on = rows.length > 0
  const act = (action: string, label: string, { tone, id, describedBy }: ButtonOptions & { id?: string } = {}): Promise<Content> =>
    form('/two-factor/setup', button(say(label), { tone, describedBy }), { action, ...(id !== undefined && { id }) })
  const canMail = on && offers('emailCode') && !rows.some(({ kind }) => kind === 'emailCode') && hasAddress(person)
  const drawFactor = async ({ id, kind, created }: (typeof rows)[number]): Promise<Content> => {
    const describedBy = `factor-${id}`
    const actions = await act('remove', 'two-factor.remove', { tone: 'danger', id, describedBy })
    return row({ id: describedBy, title: say(names[kind] ?? 'two-factor.mail'), text: moment(created), actions })
  }
  const drawDevice = async ({ id, label, created }: (typeof devices)[number]): Promise<Content> => {
    const describedBy = `device-${id}`
    const actions = await act('forget', 'two-factor.forget', { id, describedBy })
    return row({ id: describedBy, title: label || say('two-factor.device'), text: moment(created), actions })
  }
  const hasApp = rows.some(({ kind }) => kind === 'totp')
  return {
    title: say('two-factor.title'),
    lead: say('two-factor.setup-lead'),
    layout: 'wide',
    body: [
      alert(params['error']),
      card({
        title: say('two-factor.factors'),
        tags: tag(say(on ? 'two-factor.on' : 'two-factor.off'), on ? 'ok' : 'warn'),
        actions: [
          offers('totp') &&
            (await act('totp', hasApp ? 'two-factor.add-another' : 'two-factor.add-app', { tone: on ? 'plain' : 'primary' })),
          offers('passkey') && (await drawAddPasskey(ctx, tools, undefined)),
          canMail && (await act('emailCode', 'two-factor.add-mail')),
        ],
        body: on ? await Promise.all(rows.map(drawFactor)) : emptyState({ title: say('two-factor.explain') }),
      }),
      on &&
        card({
          title: say('two-factor.codes'),
          text: say('two-factor.codes-lead'),
          actions: await act('renew', 'two-factor.renew'),
        }),
      devices.length > 0 && card({ title: say('two-factor.devices'), body: await Promise.all(devices.map(drawDevice)) }),
      buttonLink(say('two-factor.back'), '/account#two-factor'),
    ],
    ...(offers('passkey') && { scripts: [passkeyScript] }),
  }
}

function offersOf({ factors }: Options): (kind: string) => boolean {
  return (kind) => factors.some((factor) => factor.kind === kind)
}

function drawAddPasskey(ctx: Context, tools: PageTools, flow: string | undefined): Promise<Content> {
  const { say } = tools
  return drawPasskeyForm(ctx, tools, { action: '/two-factor/setup', purpose: 'add', label: say('two-factor.add-passkey'), flow })
}

async function drawAddressProof(
  { say, form, field, submit, alert, html }: PageTools,
  params: Params,
  { person }: Visitor,
): Promise<PageView> {
  const body: Content[] = [alert(params['error'])]
  if (params['sent']) {
    body.push(html`<p role="status">${say('two-factor.sent')}</p>`)
    body.push(
      await form('/two-factor/setup', [field('code', { ...codeField, autofocus: true }), submit(say('two-factor.continue'))], {
        action: 'proof',
      }),
    )
  }
  body.push(await form('/two-factor/setup', submit(say('two-factor.send'), { quiet: params['sent'] !== undefined }), { action: 'send' }))
  return { title: say('two-factor.title'), lead: say('two-factor.prove-address', { email: person.user.email ?? '' }), body }
}

async function drawApp(ctx: Context, tools: PageTools, { id = '', again, error }: Params, options: Options): Promise<PageView | Response> {
  const { html, say, form, field, submit, alert } = tools
  const visitor = await visitorOf(ctx, options)
  if (!visitor) return ctx.page('signIn')
  const enrolment = again === undefined ? await enrolmentOf(ctx, visitor.person, id, options.issuer ?? new URL(ctx.origin).host) : undefined
  const body: Content[] = [alert(error)]
  if (enrolment) {
    body.push(await drawQr(tools, enrolment.uri))
    body.push(
      html`<p>${say('two-factor.key')}</p>
        <p class="key"><code>${enrolment.secret}</code></p>`,
    )
  }
  const code = [field('code', { ...codeField, autofocus: true }), submit(say('two-factor.confirm'))]
  body.push(await form('/two-factor/setup', code, { action: 'confirm', id: again ?? id }))
  return { title: say('two-factor.add-app'), lead: say(enrolment ? 'two-factor.scan' : 'two-factor.again'), body }
}

async function drawBackupCodes(
  _ctx: Context,
  { html, say, form, submit, link, copyable }: PageTools,
  { codes = '', go }: Params,
): Promise<PageView> {
  const items = codes.split(' ').map((code) => html`<li><code>${code}</code></li>`)
  const onward = go
    ? await form('/two-factor/setup', submit(say('two-factor.continue')), { action: 'continue' })
    : link(say('two-factor.done'), '/two-factor/setup')
  return {
    title: say('two-factor.codes'),
    lead: say('two-factor.codes-lead'),
    body: [
      copyable(codes.replaceAll(' ', '\n'), {
        shown: html`<ol class="codes">
          ${items}
        </ol>`,
        download: 'backup-codes.txt',
        print: true,
      }),
      onward,
    ],
  }
}

function drawWait({ html, say, duration }: PageTools, seconds: number): Content {
  return html`<p role="alert">${say('two-factor.wait', { left: duration(seconds) })}</p>`
}

/** Nothing where the package `uqr` is missing: the text key is on the page as well. */
async function drawQr({ html, say }: PageTools, text: string): Promise<Content> {
  const qr = await drawQrPath(text)
  if (!qr) return undefined
  const { size, path } = qr
  return html`<svg
    class="qr"
    viewBox="0 0 ${size} ${size}"
    width="200"
    height="200"
    role="img"
    aria-label="${say('two-factor.qr')}"
    shape-rendering="crispEdges"
  >
    <rect width="100%" height="100%" fill="#fff"></rect>
    <path d="${path}" fill="#000"></path>
  </svg>`
}
