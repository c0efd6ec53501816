/** Sign-in by what the host checks itself: passwords, codes, anything in a form (D14, D52, D54). */
import {
  type Context,
  type CredentialsConfig,
  CredentialsSignin,
  type Identity,
  MissingAuthorize,
  type Plugin,
  type ProviderFlow,
  type ProviderGiven,
  type ProviderOf,
  providerPlugin,
  randomUUID,
  type User,
  withFields,
} from 'authkernel/kernel'
import { throttled } from './throttle.ts'

type Credentials = ProviderGiven<'credentials'>

/** A record, so that the compiler finds what is missing. */
const options: Record<keyof CredentialsConfig, true> = {
  id: true,
  name: true,
  type: true,
  signinUrl: true,
  callbackUrl: true,
  credentials: true,
  authorize: true,
  options: true,
}

const credentialsFlow: ProviderFlow<ProviderOf<'credentials'>> = {
  // A GET would put a password into a URL.
  callback: { GET: false, POST: 'csrf' },
  env: {},
  options,

  validate({ id, authorize }) {
    if (typeof authorize !== 'function') {
      throw new MissingAuthorize(`Provider "${id}" (credentials) has no \`authorize\`: give it a function that returns the user, or null.`)
    }
  },

  // Without fields there is nothing to show: such a provider is for a form of the host's own (row 278).
  form: ({ credentials }) => ({ post: 'callback', fields: credentials ?? {}, hidden: credentials === undefined }),

  async finish(ctx, provider): Promise<Identity> {
    // The one flow without a prior step: what is asked of the redirect hook is asked before any password is checked.
    await ctx.callbackUrl()
    const credentials = await ctx.body()
    const user = await throttled(ctx, provider, credentials, () => authorize(ctx, provider, credentials))
    if (!user)
      throw new CredentialsSignin(`authorize() of provider "${provider.id}" returned no user.`, { cause: { provider: provider.id } })
    const id = user.id === undefined || user.id === null ? randomUUID(ctx.runtime) : String(user.id)
    const account = { provider: provider.id, providerAccountId: id, type: 'credentials' as const }
    return { user: { ...user, id }, account, credentials, match: 'none', proof: { amr: ['pwd'] } }
  },
}

/** Registers the type `credentials` and adds the given providers; `id` defaults to `credentials`. */
export const credentialsPlugin: (...providers: (Credentials | (() => Credentials))[]) => Plugin<void> = providerPlugin({
  type: 'credentials',
  flow: credentialsFlow,
  defaults: { id: 'credentials', name: 'Credentials' },
})

async function authorize(ctx: Context, provider: ProviderOf<'credentials'>, credentials: Record<string, unknown>): Promise<User | null> {
  const user: unknown = await provider.authorize?.(credentials, withFields(ctx.request, credentials))
  if (!user) return null
  if (typeof user === 'object') return user
  throw new TypeError(`authorize() of provider "${provider.id}" must return a user (an object) or null, not a ${typeof user}.`)
}
