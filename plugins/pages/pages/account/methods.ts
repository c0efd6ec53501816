/** Ways to sign in: linked accounts by the names of their providers, and buttons that connect further ones. */
import type { AccountSection, AdapterAccount, Context, Provider } from 'authkernel/kernel'
import { markup } from '../html.ts'
import { plain } from '../site.ts'

export const methodsSection: AccountSection = {
  id: 'methods',
  order: 200,
  async draw(ctx, tools) {
    const { say, form, submit } = tools
    const providers = await ctx.providers()
    const accounts = await linked(ctx)
    // Nobody to link to, or no way to list it.
    if (!accounts) return undefined
    const open = providers.filter(
      ({ id, type }) => (type === 'oauth' || type === 'oidc') && !accounts.some(({ provider }) => provider === id),
    )
    const rows = accounts.map((account) => {
      // Two of one provider: only then is there a need for what tells them apart, which is a number to most people.
      const twin = accounts.some((other) => other !== account && other.provider === account.provider)
      const more = twin && markup`<small><bdi>${account.providerAccountId.slice(0, 24)}</bdi></small>`
      return markup`<li><span><bdi>${nameOf(providers, account)}</bdi>${more}</span></li>`
    })
    const buttons = await Promise.all(
      open.map(({ id, name }) =>
        form(`/signin/${encodeURIComponent(id)}`, submit(say('account.connect', { name: plain(name) }), { quiet: true }), {
          callbackUrl: `${ctx.base}/account`,
          flow: undefined,
        }),
      ),
    )
    const where = open.length > 0 ? ['https:'] : []
    return {
      heading: say('account.methods'),
      body: [
        accounts.length > 0 ? markup`<ul class="rows">${rows}</ul>` : markup`<p class="note">${say('account.methods.none')}</p>`,
        buttons,
      ],
      forms: where,
    }
  },
}

async function linked(ctx: Context): Promise<readonly AdapterAccount[] | undefined> {
  const { store } = ctx
  const user = store?.supports('listAccountsByUserId') ? await ctx.session.user(ctx) : null
  return user?.id === undefined ? undefined : store?.listAccountsByUserId(user.id)
}

function nameOf(providers: readonly Provider[], { provider, type }: AdapterAccount): string {
  const name = providers.find(({ id }) => id === provider)?.name
  return plain(name ?? (type === 'webauthn' ? 'Passkey' : provider))
}
