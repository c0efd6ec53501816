/** Sign-in methods: linked accounts by the names of their providers, with buttons that disconnect them, and buttons that connect further ones. */
import {
  type AccountSection,
  type AdapterAccount,
  AuthError,
  type Context,
  type PageDraw,
  type PageTools,
  proveAgain,
  type Provider,
  type ProviderForm,
  redirectTo,
} from 'authkernel/kernel'
import { disconnectAccount, findOwnUser } from 'authkernel/kernel/users'
import { hasInputs } from '../ui/fields.ts'
import { type Html, markup } from '../ui/html.ts'
import { icons } from '../ui/icons.ts'
import { createLogo } from '../ui/look.ts'
import { formOf, leavesSite } from '../ui/policy.ts'
import { createMark } from '../ui/provider-mark.ts'
import { withoutBidi } from '../ui/site.ts'

/** Seconds: a session that was left open, or stolen, takes no way in away. */
const maxProofAge = 300
const path = '/account/disconnect'

export const methodsSection: AccountSection = {
  id: 'methods',
  order: 200,
  async draw(ctx, tools) {
    const { say, form, button, row, tag, emptyState, alert } = tools
    const providers = await ctx.providers()
    const accounts = await listAccounts(ctx)
    // There is no stored user, or no way to list accounts.
    if (!accounts) return undefined
    const open = providers.filter(
      (provider) => hasConnectButton(formOf(ctx, provider)) && !accounts.some((one) => one.provider === provider.id),
    )
    const canDisconnect = Boolean(ctx.store?.supports('unlinkAccount')) && (await findOwnUser(ctx)) !== null
    // Passkeys have a section of their own, where each has a name.
    const shown = accounts.filter(({ type }) => type !== 'webauthn' || !hasPasskeySection(ctx))
    const rows = shown.map(async (account) => {
      // Two of one provider: only then the id at the provider is shown, which most users do not know.
      const twin = accounts.some((other) => other !== account && other.provider === account.provider)
      const provider = await findProvider(ctx, providers, account.provider)
      return row({
        id: `method-${await nameAccount(ctx, account)}`,
        picture: drawIcon(ctx, provider) ?? icons.key,
        title: markup`<bdi>${providerLabel(provider, account)}</bdi>`,
        text: twin && markup`<bdi>${account.providerAccountId.slice(0, 24)}</bdi>`,
        tags: tag(say('account.connected'), 'ok'),
        actions: canDisconnect && (await drawDisconnect(ctx, tools, account, providerLabel(provider, account))),
      })
    })
    const more = open.map(async (provider) => {
      const { id, name } = provider
      const connect = button(say('account.connect', { name: withoutBidi(name) }))
      return row({
        picture: drawIcon(ctx, provider) ?? icons.key,
        title: markup`<bdi>${withoutBidi(name)}</bdi>`,
        text: say('account.connectable'),
        actions: await form(`/signin/${encodeURIComponent(id)}`, connect, { callbackUrl: `${ctx.base}/account`, flow: undefined }),
      })
    })
    return {
      heading: say('account.methods'),
      text: say('account.methods.text'),
      body: [
        alert(ctx.url.searchParams.get('methods') ?? undefined),
        shown.length + open.length > 0
          ? [await Promise.all(rows), await Promise.all(more)]
          : emptyState({ title: say('account.methods.none') }),
      ],
    }
  },
}

/** `GET /account?disconnect=`: what the dialog asks, for browsers without JavaScript. */
export const disconnectPage: PageDraw = async (ctx, { say, form, submit, link }, { disconnect: id = '' }) => {
  const account = await findAccount(ctx, id)
  if (!account) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const name = markup`<bdi>${providerLabel(await findProvider(ctx, [], account.provider), account)}</bdi>`
  return {
    title: say('account.disconnect.title', { name }),
    lead: say('account.disconnect.text', { name }),
    body: [await form(path, submit(say('account.disconnect')), { account: id }), link(say('account.back'), '/account#methods')],
  }
}

/** `POST /account/disconnect`. */
export async function disconnectMethod(ctx: Context): Promise<Response> {
  const user = await findOwnUser(ctx)
  const stored = user?.id === undefined ? null : await ctx.store?.getUser(user.id)
  if (!stored) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const { account: id } = await ctx.body()
  const account = typeof id === 'string' ? await findAccount(ctx, id) : undefined
  if (!account || !ctx.store?.supports('unlinkAccount')) return redirectTo(`${ctx.base}/account#methods`)
  const redirect = await proveAgain(ctx, maxProofAge, `${ctx.base}/account?disconnect=${encodeURIComponent(id as string)}`)
  if (redirect) return redirect
  try {
    await disconnectAccount(ctx, stored, account, { by: 'the account page' })
  } catch (error) {
    if (!(error instanceof AuthError) || error.status >= 500) throw error
    return redirectTo(`${ctx.base}/account?methods=${encodeURIComponent(error.type)}#methods`)
  }
  return redirectTo(`${ctx.base}/account?done=#methods`)
}

async function drawDisconnect(
  ctx: Context,
  { say, dialog, button, form }: PageTools,
  account: AdapterAccount,
  label: string,
): Promise<Html> {
  const id = await nameAccount(ctx, account)
  const name = markup`<bdi>${label}</bdi>`
  return dialog({
    id: `disconnect-${id}`,
    label: say('account.disconnect'),
    title: say('account.disconnect.title', { name }),
    text: say('account.disconnect.text', { name }),
    body: await form(path, button(say('account.disconnect'), { tone: 'danger' }), { account: id }),
    path: `/account?disconnect=${id}`,
    describedBy: `method-${id}`,
  })
}

/** One of the user's own accounts by its name in addresses. */
async function findAccount(ctx: Context, id: string): Promise<AdapterAccount | undefined> {
  if ((await findOwnUser(ctx)) === null) return undefined
  for (const account of (await listAccounts(ctx)) ?? []) if ((await nameAccount(ctx, account)) === id) return account
  return undefined
}

/** What addresses call an account: what the provider calls the user stays out of them. */
async function nameAccount(ctx: Context, { provider, providerAccountId }: AdapterAccount): Promise<string> {
  return (await ctx.digest('account.methods', JSON.stringify([provider, providerAccountId]))).slice(0, 16)
}

function hasPasskeySection({ app }: Context): boolean {
  return app.parts.sections.some(({ id }) => id === 'passkeys')
}

async function listAccounts(ctx: Context): Promise<readonly AdapterAccount[] | undefined> {
  const { store } = ctx
  const user = store?.supports('listAccountsByUserId') ? await ctx.session.user(ctx) : null
  return user?.id === undefined ? undefined : store?.listAccountsByUserId(user.id)
}

/** One button that leads to the provider: there is nothing to type. */
function hasConnectButton(form: ProviderForm): boolean {
  return leavesSite(form) && !form.hidden && form.script === undefined && !hasInputs(form.fields)
}

/** Of the list, or one that the hook `provider` answers. Undefined: it is gone. */
async function findProvider(ctx: Context, providers: readonly Provider[], id: string): Promise<Provider | undefined> {
  return providers.find((provider) => provider.id === id) ?? ctx.providerById(id).catch(() => undefined)
}

function providerLabel(provider: Provider | undefined, { provider: id, type }: AdapterAccount): string {
  return withoutBidi(provider?.name ?? (type === 'webauthn' ? 'Passkey' : id))
}

/** The provider's picture; the style sheet puts it on a light ground in either scheme. */
function drawIcon(ctx: Context, provider: Provider | undefined): Html | undefined {
  const logo = createLogo(createMark((provider as { style?: Parameters<typeof createMark>[0] } | undefined)?.style, ctx.origin).picture)
  return logo && markup`<img class="icon" src="${logo.url}" alt="">`
}
