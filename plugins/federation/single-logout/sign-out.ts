/** Sign-out at the provider as well (OpenID Connect RP-Initiated Logout 1.0). The own session ends first. */
import {
  allowInsecureRequests,
  type Context,
  createPending,
  isSecureUrl,
  type OAuthConfig,
  type OIDCConfig,
  type PendingList,
  type SessionAttributes,
  type SessionStrategy,
  toBase64Url,
} from 'authkernel/kernel'
import type { Hints } from './hints.ts'
import type { ResolvedOptions } from './options.ts'

/** A sign-out whose return from the provider is awaited. */
interface Leaving {
  provider: string
  callbackUrl: string
}
/** What is known of a session that ends in this request. */
interface Ending {
  attributes: SessionAttributes
  userId: string
  idToken: string | undefined
}
/** A request to the provider. */
export interface EndSession {
  endpoint: string
  parameters: Record<string, string>
}

/** Seconds that a user may take at the provider. */
const patience = 900
const maxUrl = 2_000

export const returns: PendingList<Leaving> = /* @__PURE__ */ createPending<Leaving>('single-logout', {
  seconds: patience,
  cookie: { path: 'base' },
})
const endings = new WeakMap<Context, Ending>()

/** Keeps the ID token of each sign-in with its session, and finds it again when that ends. */
export function withHints(inner: SessionStrategy, hints: Hints): Partial<SessionStrategy> {
  return {
    async issue(ctx, login, attributes) {
      const former = login.session === 'new' ? null : await inner.id?.(ctx)
      const issued = await inner.issue(ctx, login, attributes)
      if (issued) await runAndLog(ctx, () => keepHint(ctx, hints, { login, attributes, id: issued.id, former }))
      return issued
    },
    async end(ctx) {
      await runAndLog(ctx, async () => {
        const [id, attributes] = [await inner.id?.(ctx), await inner.attributes?.(ctx)]
        if (!id || !attributes) return
        const hint = await hints.take(ctx, id)
        endings.set(ctx, { attributes, userId: hint?.userId ?? '', idToken: hint?.idToken })
      })
      return inner.end(ctx)
    },
  }
}

/** Where the browser goes after a sign-out; undefined: the provider has no logout, or is not reachable. */
export async function leaveProvider(ctx: Context, hints: Hints, options: ResolvedOptions): Promise<string | undefined> {
  const ending = endings.get(ctx)
  if (!ending) return undefined
  return runAndLog(ctx, async () => {
    const { provider } = ending.attributes
    const { endSession = true } = options.of(provider)
    const callbackUrl = await ctx.callbackUrl()
    if (!(typeof endSession === 'function' ? await endSession({ provider, callbackUrl, request: ctx.request }) : endSession))
      return undefined
    const known = await endpointOf(ctx, provider)
    if (!known) return undefined
    const { postLogoutRedirectUri: uri = `${ctx.base}/signed-out` } = options.of(provider)
    const state = toBase64Url(ctx.runtime.random(32))
    const url = new URL(known.endpoint)
    for (const [name, value] of Object.entries(parametersOf(known.clientId, ending, uri, state))) url.searchParams.set(name, value)
    const post = url.href.length > maxUrl && ending.idToken !== undefined
    if (uri !== false || post) await returns.add(ctx, state, { provider, callbackUrl })
    if (!post) return url.href
    await hints.put(ctx, hintOf(state), { userId: ending.userId, idToken: ending.idToken ?? '' }, patience)
    return `${ctx.base}/signing-out?state=${state}`
  })
}

/** What a form must post where a URL would be too long; undefined: there is no such sign-out, or it went on already. */
export async function requestToPost(ctx: Context, hints: Hints, options: ResolvedOptions, state: string): Promise<EndSession | undefined> {
  const entry = (await returns.all(ctx)).find(({ id }) => id === state)
  const hint = entry && (await hints.take(ctx, hintOf(state)))
  const known = hint && (await endpointOf(ctx, entry.provider))
  if (!entry || !hint || !known) return undefined
  const { postLogoutRedirectUri: uri = `${ctx.base}/signed-out` } = options.of(entry.provider)
  const ending = { attributes: { provider: entry.provider } as SessionAttributes, ...hint }
  return { endpoint: known.endpoint, parameters: parametersOf(known.clientId, ending, uri, state) }
}

/** Where a user who comes back from the provider wanted to go; the origin for a `state` that this browser was not given. */
export async function takeReturn(ctx: Context, state: string): Promise<string> {
  return (await returns.take(ctx, state))?.callbackUrl ?? `${ctx.origin}/`
}

interface NewHint {
  login: Parameters<SessionStrategy['issue']>[1]
  attributes: SessionAttributes
  id: string
  former: string | null | undefined
}

async function keepHint(ctx: Context, hints: Hints, { login, attributes, id, former }: NewHint): Promise<void> {
  const { maxAge, absoluteMaxAge = 0 } = ctx.app.config.session
  const seconds = Math.max(maxAge, absoluteMaxAge)
  const { account, user } = login
  const before = former && former !== id ? await hints.take(ctx, former) : undefined
  // A second account that was linked is not the one that the session began with.
  const own = account.type === 'oidc' && account.provider === attributes.provider && typeof account.id_token === 'string'
  if (own) await hints.put(ctx, id, { userId: user.id ?? '', idToken: account.id_token as string }, seconds)
  else if (before && login.session === 'renew') await hints.put(ctx, id, before, seconds)
}

function parametersOf(
  clientId: string,
  { attributes: { sid, sub }, idToken }: Pick<Ending, 'attributes' | 'idToken'>,
  uri: string | false,
  state: string,
): Record<string, string> {
  const hint = sid ?? sub
  return {
    ...(idToken !== undefined ? { id_token_hint: idToken } : hint !== undefined && { logout_hint: hint }),
    client_id: clientId,
    ...(uri !== false && { post_logout_redirect_uri: uri, state }),
  }
}

async function endpointOf(ctx: Context, id: string): Promise<{ endpoint: string; clientId: string } | undefined> {
  // Sessions begin elsewhere too: those of guests name no provider.
  const provider = await ctx.providerById(id).catch(() => undefined)
  if (!provider) return undefined
  if (provider.type !== 'oauth' && provider.type !== 'oidc') return undefined
  const { clientId = '', client, [allowInsecureRequests]: insecure } = provider as OAuthConfig | OIDCConfig
  const { end_session_endpoint: endpoint } = await ctx.service('oauth').metadata(ctx, id)
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return undefined
  const url = new URL(endpoint)
  if (url.username !== '' || url.password !== '' || !isSecureUrl(url, insecure)) return undefined
  return { endpoint: url.href, clientId: client?.client_id ?? clientId }
}

function hintOf(state: string): string {
  return `leaving ${state}`
}

/** The sign-in or sign-out here counts, whatever becomes of the one at the provider. */
async function runAndLog<T>(ctx: Context, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    ctx.logger.error(error instanceof Error ? error : new Error(String(error)))
    return undefined
  }
}
