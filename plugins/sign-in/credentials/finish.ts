/** The end of a sign-in: loaded by the first form that is sent. */
import {
  type Context,
  CredentialsSignin,
  type Identity,
  isLoopback,
  type ProviderOf,
  randomUUID,
  type User,
  withFields,
} from 'authkernel/kernel'
import { isDemoAccount } from './demo.ts'
import { withThrottle } from './throttle.ts'

/** Asks the host. Throws CredentialsSignin where it returns no user. */
export async function finishCredentialsSignIn(ctx: Context, provider: ProviderOf<'credentials'>): Promise<Identity> {
  // The one flow without a prior step: the redirect hook runs before any password is checked.
  await ctx.callbackUrl()
  const credentials = await ctx.body()
  const user = await withThrottle(ctx, provider, credentials, () => authorizeUser(ctx, provider, credentials))
  if (!user) throw new CredentialsSignin(`authorize() of provider "${provider.id}" returned no user.`, { cause: { provider: provider.id } })
  const id = user.id === undefined || user.id === null ? randomUUID(ctx.runtime) : String(user.id)
  const account = { provider: provider.id, providerAccountId: id, type: 'credentials' as const }
  return { user: { ...user, id }, account, credentials, match: 'none', proof: { amr: ['pwd'] } }
}

async function authorizeUser(
  ctx: Context,
  provider: ProviderOf<'credentials'>,
  credentials: Record<string, unknown>,
): Promise<User | null> {
  if (isDemoAccount(provider) && !isLocalRequest(ctx)) {
    throw new CredentialsSignin(`The demo account signs in on loopback hosts only. Remove provider "${provider.id}".`, {
      cause: { provider: provider.id },
    })
  }
  const user: unknown = await provider.authorize?.(credentials, withFields(ctx.request, credentials))
  if (!user) return null
  if (isDemoAccount(provider) && ctx.session.storedUsers) return demoUser(ctx)
  if (typeof user === 'object') return user
  throw new TypeError(`authorize() of provider "${provider.id}" must return a user (an object) or null, not a ${typeof user}.`)
}

/** A session in the database points to a stored user. No mailbox can have this address (RFC 2606). */
async function demoUser(ctx: Context): Promise<User> {
  const store = ctx.service('store')
  const email = 'demo@authkernel.invalid'
  return (
    (await store.getUserByEmail(email)) ??
    (await store.createUser({ id: randomUUID(ctx.runtime), name: 'Demo', email, emailVerified: null }))
  )
}

/** Whether a request came to this machine by its own name, as far as anything in it says. */
export function isLocalRequest(ctx: Context): boolean {
  const { headers, url } = ctx.request
  const hosts = [ctx.origin, url, ...forwardedHosts(headers).map((host) => `http://${host}`)]
  return hosts.every((host) => URL.canParse(host) && isLoopback(new URL(host).hostname))
}

/** All that proxies say, trusted or not: it can only take the account away. */
function forwardedHosts(headers: Headers): string[] {
  const listed = (headers.get('x-forwarded-host') ?? '').split(',')
  const standard = [...(headers.get('forwarded') ?? '').matchAll(/host="?([^";,\s]+)/gi)].map(([, host]) => host ?? '')
  return [...listed, ...standard].map((host) => host.trim()).filter((host) => host !== '')
}
