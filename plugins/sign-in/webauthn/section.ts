/** The passkeys of a user on the account page: rows with their names, dialogs to rename and remove, and the button that adds one. */
import type { AccountSectionView, Content, Context, PageTools, PageView, ProviderOf, User } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { browserScript } from './browser.generated.ts'
import { proofAge } from './ceremony-options.ts'
import { isKept } from './handles.ts'
import { isProofOld } from './proof-age.ts'
import { canRemove, listPasskeys, longestName, type Passkey } from './passkeys.ts'
import { accountScript, drawSignals } from './signals.ts'

type Params = Readonly<Record<string, string | undefined>>

/** The section. Undefined: there is no provider of passkeys, or no user of one's own. */
export async function drawSection(ctx: Context, tools: PageTools): Promise<AccountSectionView | undefined> {
  const { say, alert, emptyState, html } = tools
  const provider = (await ctx.providers()).find((one): one is ProviderOf<'webauthn'> => one.type === 'webauthn')
  const user = await findOwnUser(ctx)
  if (!provider || user?.id === undefined || !ctx.store?.supports('listAuthenticatorsByUserId')) return undefined
  const passkeys = await listPasskeys(ctx, user.id)
  const rows = await Promise.all(passkeys.map((one) => drawPasskey(ctx, tools, one)))
  const error = ctx.url.searchParams.get('passkeys') ?? undefined
  const list = html`<ul class="ui-list ui-flush">
    ${rows.map((row) => html`<li>${row}</li>`)}
  </ul>`
  const none = emptyState({ title: say('account.passkeys.none'), text: say('account.passkeys.none-text') })
  return {
    heading: say('account.passkeys'),
    text: say('account.passkeys.text'),
    actions: await drawAddForm(ctx, tools, provider),
    body: [alert(error), rows.length > 0 ? list : none, await drawSignals(ctx, tools, provider, user as User & { id: string })],
    scripts: [browserScript, accountScript],
    // The form of the script posts to this site, also where no other form is on the page.
    forms: [ctx.origin],
  }
}

/** `GET /account/passkeys/rename?id=`, and the answer to a name that was rejected. */
export async function drawRename(ctx: Context, tools: PageTools, { id = '', name, error }: Params): Promise<PageView | Response> {
  const passkey = await findOwn(ctx, id)
  if (!passkey) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const { say, alert, link } = tools
  return {
    title: say('account.passkeys.rename'),
    body: [alert(error), await drawRenameForm(tools, passkey, name), link(say('account.back'), '/account#passkeys')],
    ...(error !== undefined && { status: 400 }),
  }
}

/** `GET /account/passkeys/remove?id=`. */
export async function drawRemove(ctx: Context, tools: PageTools, { id = '' }: Params): Promise<PageView | Response> {
  const passkey = await findOwn(ctx, id)
  if (!passkey) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const { say, form, submit, link, html } = tools
  return {
    title: say('account.passkeys.remove-title', { name: html`<bdi>${nameOf(tools, passkey)}</bdi>` }),
    lead: say('account.passkeys.remove-text'),
    body: [
      await form('/account/passkeys/remove', submit(say('account.passkeys.remove')), { passkey: id }),
      link(say('account.back'), '/account#passkeys'),
    ],
  }
}

async function drawPasskey(ctx: Context, tools: PageTools, passkey: Passkey): Promise<Content> {
  const { say, row, tag, moment, dialog, button, form, html } = tools
  const { id, authenticator, icon, synced, created, lastUsed } = passkey
  const name = nameOf(tools, passkey)
  // Ids of credentials are long: the first letters tell those of one user apart.
  const short = id.slice(0, 20)
  const about = `passkey-${short}`
  const rename = dialog({
    id: `rename-${short}`,
    label: say('account.passkeys.rename'),
    title: say('account.passkeys.rename'),
    body: await drawRenameForm(tools, passkey),
    path: `/account/passkeys/rename?id=${id}`,
    describedBy: about,
  })
  const remove = dialog({
    id: `remove-${short}`,
    label: say('account.passkeys.remove'),
    tone: 'danger',
    title: say('account.passkeys.remove-title', { name: html`<bdi>${name}</bdi>` }),
    text: say('account.passkeys.remove-text'),
    body: await form('/account/passkeys/remove', button(say('account.passkeys.remove'), { tone: 'danger' }), { passkey: id }),
    path: `/account/passkeys/remove?id=${id}`,
    describedBy: about,
  })
  return row({
    id: about,
    picture: icon ? html`<img class="icon" src="${icon}" alt="" />` : keyIcon(tools),
    title: html`<bdi>${name}</bdi>`,
    tags: tag(say(synced ? 'account.passkeys.synced' : 'account.passkeys.single')),
    text: [
      authenticator !== null && authenticator !== name && html`<bdi>${authenticator}</bdi>`,
      created && say('account.passkeys.added', { date: moment(created) }),
      lastUsed ? say('account.session.used', { date: moment(lastUsed) }) : created && say('account.passkeys.unused'),
    ],
    actions: [isKept(ctx) && rename, canRemove(ctx) && remove],
  })
}

async function drawRenameForm({ form, field, button, say }: PageTools, { id, name }: Passkey, typed = name ?? ''): Promise<Content> {
  const input = { label: 'account.passkeys.name', type: 'text', required: true, maxlength: longestName, autocomplete: 'off', value: typed }
  return form(
    '/account/passkeys/rename',
    [field('name', input, `passkey-${id.slice(0, 20)}`), button(say('account.passkeys.save'), { tone: 'primary' })],
    { passkey: id },
  )
}

/** The ceremony needs a script. With an old session the same button leads to a fresh proof first. */
async function drawAddForm(ctx: Context, { html, say, form, button, base }: PageTools, { id }: ProviderOf<'webauthn'>): Promise<Content> {
  const add = button(say('account.passkeys.add'), { tone: 'primary', name: 'action', value: 'register' })
  if (await isProofOld(ctx, proofAge)) return form('/account/passkeys/prove', add)
  return html`<form
    class="stack needs-script"
    id="passkey-add-form"
    action="${base}/callback/${encodeURIComponent(id)}"
    method="post"
    data-options-url="${base}/webauthn-options/${encodeURIComponent(id)}"
    data-text-cancelled="${say('script.cancelled')}"
    data-text-failed="${say('script.failed')}"
    data-text-known="${say('script.known')}"
    data-text-unsupported="${say('script.unsupported')}"
  >
    <input type="hidden" name="csrfToken" value="${await ctx.csrfToken()}" /><input
      type="hidden"
      name="callbackUrl"
      value="${base}/account?done=#passkeys"
    />${add}
    <div class="script-message" role="alert"></div>
  </form>`
}

async function findOwn(ctx: Context, id: string): Promise<Passkey | undefined> {
  const user = await findOwnUser(ctx)
  return user?.id === undefined ? undefined : (await listPasskeys(ctx, user.id)).find((one) => one.id === id)
}

function nameOf({ say }: PageTools, { name }: Passkey): Content {
  return name ?? say('account.passkeys.unnamed')
}

function keyIcon({ html }: PageTools): Content {
  return html`<svg
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.75"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path
      d="M9.5 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM3 19a6.5 6.5 0 0 1 10-5.5M18 13a2.5 2.5 0 1 0-2.5 2.5L15.5 21l2-1.5L16.5 18l1.5-1-1-1.6A2.5 2.5 0 0 0 18 13Z"
    ></path>
  </svg>`
}
