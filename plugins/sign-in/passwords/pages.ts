/** What users see: registration, reset, change. None of it needs JavaScript. */
import { type Content, type Context, type Kernel, lazily, type PageTools, type PageView } from 'authkernel/kernel'
import { currentUser, maySet } from './change.ts'
import { emailField } from './flow.ts'
import { drawSentMail } from './sent-mail.ts'
import type { Options } from './options.ts'
import { isAsker } from './pending.ts'
import { findByToken, passwordOf } from './tables.ts'
import { drawRule, strengthPath, typingScript, typingTools } from './typing.ts'

type Params = Readonly<Record<string, string | undefined>>

const loadStrength = /* @__PURE__ */ lazily(() => import('./strength.ts'))

const scripts = [typingScript]
const newField = {
  label: 'passwords.new',
  type: 'password',
  required: true,
  autocomplete: 'new-password',
  'aria-describedby': 'password-rule',
}

/** Adds the pages, their links on the sign-in page, and the section of the account page. */
export function addPages(kernel: Kernel, { signUp, minLength }: Options): void {
  kernel.route({
    method: 'GET',
    path: strengthPath,
    public: { maxAge: 86_400 },
    handler: async (ctx) => (await loadStrength()).answerStrength(ctx),
  })
  kernel.page('passwordReset', drawReset, { path: '/passwords/reset' })
  kernel.page('passwordMailed', drawSentMail, { path: '/passwords/mailed' })
  kernel.page('passwordChange', (ctx, tools, params) => drawChange(ctx, tools, params, minLength), { path: '/passwords/change' })
  kernel.page('passwordLonger', (ctx, tools, params) => drawLonger(ctx, tools, params, minLength), { path: '/passwords/longer' })
  kernel.page('passwordNew', linkPage('/passwords/new', 'reset', minLength))
  addSecretPage(kernel, '/passwords/new', 'passwordNew')
  if (signUp)
    kernel.page('passwordSignUp', (ctx, tools, params) => drawSignUp(ctx, tools, params, minLength), { path: '/passwords/sign-up' })
  // Also without registration: passwords of another product are confirmed here.
  kernel.page('passwordConfirm', linkPage('/passwords/confirm', 'pending', minLength))
  addSecretPage(kernel, '/passwords/confirm', 'passwordConfirm')
  kernel.slot('signIn', 'form', (_ctx, tools, form) =>
    form === 'passwords' ? { html: tools.html`${typingTools(tools, minLength)}`, scripts } : undefined,
  )
  kernel.slot('signIn', 'foot', (_ctx, { html, say, base }) => ({
    html: html`<p class="foot">
      ${signUp ? html`<a href="${base}/passwords/sign-up">${say('passwords.sign-up')}</a> · ` : undefined}<a href="${base}/passwords/reset"
        >${say('passwords.forgot')}</a
      >
    </p>`,
  }))
  kernel.accountSection({
    id: 'password',
    order: 240,
    async draw(ctx, { say, buttonLink }) {
      const user = await currentUser(ctx)
      if (!user) return undefined
      const has = (await passwordOf(ctx, user.id)) !== null
      return { heading: say('passwords.title'), actions: buttonLink(say(has ? 'passwords.change' : 'passwords.set'), '/passwords/change') }
    },
  })
}

// The address of the page has a token, which no other site may learn.
function addSecretPage(kernel: Kernel, path: `/${string}`, page: string): void {
  kernel.route({
    method: 'GET',
    path,
    async handler(ctx) {
      const token = ctx.url.searchParams.get('token') ?? undefined
      const response = await ctx.render(page, { token })
      const headers = new Headers(response.headers)
      headers.set('Referrer-Policy', 'no-referrer')
      return new Response(response.body, { status: response.status, headers })
    },
  })
}

async function drawSignUp(ctx: Context, tools: PageTools, { error, email }: Params, min: number): Promise<PageView> {
  const { say, form, field, submit, alert, html, base } = tools
  const body = [
    field('email', { ...emailField, ...(email !== undefined && { value: email }) }),
    field('password', newField),
    drawRule(tools, min),
    typingTools(tools, min),
    submit(say('passwords.sign-up')),
  ]
  return {
    title: say('passwords.sign-up'),
    body: [
      await drawProviders(ctx, tools),
      alert(error),
      await form('/passwords/sign-up', body),
      html`<p class="foot">${say('passwords.have-account')} <a href="${base}/signin">${say('passwords.mail.sign-in')}</a></p>`,
    ],
    scripts,
    ...pageStatus(error),
  }
}

/** A button for each provider whose page signs users up as well: those without a field of their own. */
async function drawProviders(ctx: Context, { html, say, form, submit }: PageTools): Promise<Content> {
  const providers = (await ctx.providers()).filter((provider) => {
    const { post, hidden, script, fields } = ctx.flow(provider).form?.(provider) ?? { post: 'signin' as const }
    return post === 'signin' && !hidden && script === undefined && Object.keys(fields ?? {}).length === 0
  })
  if (providers.length === 0) return undefined
  const buttons = providers.map(async ({ id, name }) => {
    const label = say(`signIn.submit.${id}`) || say('passwords.continue-with', { name })
    return html`<div class="provider">${await form(`/signin/${encodeURIComponent(id)}`, submit(label, { quiet: true }))}</div>`
  })
  return html`<div class="providers outlined">${await Promise.all(buttons)}</div>
    <div class="divider">${say('signIn.or')}</div>`
}

async function drawReset(_ctx: Context, { say, form, field, submit, alert, typed }: PageTools, { error }: Params): Promise<PageView> {
  const body = [field('email', { ...emailField, autofocus: true, value: typed('email') }), submit(say('passwords.send'))]
  return {
    title: say('passwords.forgot'),
    lead: say('passwords.reset-lead'),
    body: [alert(error), await form('/passwords/reset', body)],
    ...pageStatus(error),
  }
}

/** The page of a magic link. */
function linkPage(action: `/${string}`, kind: 'pending' | 'reset', min: number) {
  return async (ctx: Context, tools: PageTools, { token, error }: Params): Promise<PageView> => {
    const { say, form, field, submit, alert, link } = tools
    const row = await findByToken(ctx, kind, token)
    if (!row) {
      const body = [alert('PasswordLinkInvalid'), link(say('passwords.forgot'), '/passwords/reset')]
      return { title: say('passwords.title'), body, status: 400 }
    }
    const body: Content[] = [alert(error)]
    const title = say(kind === 'pending' ? 'passwords.sign-up' : 'passwords.title')
    if (kind === 'pending' && 'browser' in row && (await isAsker(ctx, row))) {
      body.push(await form(action, submit(say('passwords.activate')), { token }))
      return { title, lead: say('passwords.activate-lead', { email: row.address }), body, ...pageStatus(error) }
    }
    body.push(
      await form(
        action,
        [field('password', { ...newField, autofocus: true }), drawRule(tools, min), typingTools(tools, min), submit(say('passwords.save'))],
        {
          token,
        },
      ),
    )
    if (kind === 'pending') body.push(await form(action, submit(say('passwords.without'), { quiet: true }), { token, without: '1' }))
    return { title, lead: say('passwords.choose-lead', { email: row.address }), body, scripts, ...pageStatus(error) }
  }
}

async function drawChange(ctx: Context, tools: PageTools, { error, done }: Params, min: number): Promise<PageView | Response> {
  const { say, form, field, submit, alert, html } = tools
  const user = await currentUser(ctx)
  if (!user) return ctx.page('signIn')
  const has = (await passwordOf(ctx, user.id)) !== null
  const title = say(has ? 'passwords.change' : 'passwords.set')
  if (!has && !(await maySet(ctx, user)))
    return { title, lead: say('passwords.by-mail'), body: await form('/passwords/change', submit(say('passwords.send'))) }
  const current = { label: 'passwords.current', type: 'password', required: true, autocomplete: 'current-password' }
  const body = [
    has ? field('current', current) : undefined,
    field('password', newField),
    drawRule(tools, min),
    typingTools(tools, min),
    submit(say('passwords.save')),
  ]
  const status = done && html`<p role="status">${say('passwords.saved')}</p>`
  return {
    title,
    lead: say('passwords.hint'),
    body: [alert(error), status, await form('/passwords/change', body)],
    scripts,
    ...pageStatus(error),
  }
}

async function drawLonger(_ctx: Context, tools: PageTools, { error }: Params, min: number): Promise<PageView> {
  const { say, form, field, submit, alert } = tools
  const body = [
    field('password', { ...newField, autofocus: true }),
    drawRule(tools, min),
    typingTools(tools, min),
    submit(say('passwords.save')),
  ]
  return {
    title: say('passwords.title'),
    lead: say('passwords.longer'),
    body: [alert(error), await form('/passwords/longer', body)],
    scripts,
    ...pageStatus(error),
  }
}

function pageStatus(error: string | undefined): { status?: number } {
  return error === undefined ? {} : { status: 400 }
}
