/** Sign-in methods: linked accounts by the names of their providers, and buttons that connect further ones. */
import type { AccountSection, AdapterAccount, Context, Provider, ProviderForm } from 'authkernel/kernel'
import { hasInputs } from '../ui/fields.ts'
import { type Html, markup } from '../ui/html.ts'
import { icons } from '../ui/icons.ts'
import { createLogo } from '../ui/look.ts'
import { formOf, leavesSite } from '../ui/policy.ts'
import { createMark } from '../ui/provider-mark.ts'
import { withoutBidi } from '../ui/site.ts'

export const methodsSection: AccountSection = {
  id: 'methods',
  order: 200,
  async draw(ctx, tools) {
    const { say, form, button, row, tag, emptyState } = tools
    const providers = await ctx.providers()
    const accounts = await listAccounts(ctx)
    // There is no stored user, or no way to list accounts.
    if (!accounts) return undefined
    const open = providers.filter(
      (provider) => hasConnectButton(formOf(ctx, provider)) && !accounts.some((one) => one.provider === provider.id),
    )
    const rows = accounts.map(async (account) => {
      // Two of one provider: only then the id at the provider is shown, which most users do not know.
      const twin = accounts.some((other) => other !== account && other.provider === account.provider)
      const provider = await findProvider(ctx, providers, account.provider)
      return row({
        picture: drawIcon(ctx, provider) ?? icons.key,
        title: markup`<bdi>${providerLabel(provider, account)}</bdi>`,
        text: twin && markup`<bdi>${account.providerAccountId.slice(0, 24)}</bdi>`,
        tags: tag(say('account.connected'), 'ok'),
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
      body:
        accounts.length + open.length > 0
          ? [await Promise.all(rows), await Promise.all(more)]
          : emptyState({ title: say('account.methods.none') }),
    }
  },
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
