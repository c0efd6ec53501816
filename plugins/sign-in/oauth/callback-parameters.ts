/**
 * Where the parameters of a callback are, and where they go before they are used. An answer by form_post is a cross-site POST, which brings no Lax cookie:
 * the session of the browser would be unknown. Such an answer comes once more as a GET of the site itself, sealed, and then with every cookie. On a redirect
 * proxy, one registered redirect_uri for many deployments (rows 203 to 205), the answer is sent on to the deployment that its state names.
 */
import { type Context, InvalidCheck, randomHex, redirectTo } from 'authkernel/kernel'
import { hostMatches } from 'authkernel/kernel/protocols'
import { findFlow } from './checks.ts'
import { flowLifetime } from './pending-flows.ts'
import { isFormPost, type OAuthProvider, proxyOf } from './provider.ts'

/** What the address of the second request carries, sealed. */
interface RepeatedAnswer {
  [field: string]: unknown
  id: string
  provider: string
  params: string
}

/** Purpose of the sealed state that carries the origin past a redirect proxy. */
const envelopePurpose = 'encodedState'

const repeatPurpose = 'form-post'
const repeatLifetime = 120

// Longer ones do not fit into a URL everywhere. They end as an answer to a flow without a session.
const maxAnswer = 4_096

/** From the place that the request named, and no other: the query of a POST is not what the provider posted (row 206). */
export async function readParameters(ctx: Context, provider: OAuthProvider): Promise<URLSearchParams> {
  const posted = ctx.request.method === 'POST'
  if (posted !== isFormPost(provider)) return posted ? new URLSearchParams() : readRepeatedAnswer(ctx, provider)
  return posted ? ctx.form() : ctx.url.searchParams
}

/** Whether the browser brought a session along; whose it is does not matter here. */
export function bringsSession(ctx: Context): boolean {
  const { name } = ctx.cookies.sessionToken
  return ctx.cookie(name) !== undefined || ctx.cookie(`${name}.0`) !== undefined
}

/** The redirect for a POST whose flow began with a session that the POST does not have. Undefined: the answer is used as it is. */
export async function repeatAsGet(ctx: Context, provider: OAuthProvider, params: URLSearchParams): Promise<Response | undefined> {
  if (ctx.request.method !== 'POST' || !isFormPost(provider) || bringsSession(ctx)) return undefined
  const flow = await findFlow(ctx, params)
  const text = params.toString()
  if (!flow?.session || flow.provider !== provider.id || text.length > maxAnswer) return undefined
  const answer: RepeatedAnswer = { id: randomHex(ctx.runtime, 16), provider: provider.id, params: text }
  return redirectTo(`${ctx.base}/callback/${provider.id}?answer=${await ctx.seal(repeatPurpose, answer, repeatLifetime)}`)
}

/** The parameters of an answer that was sent on. None for a request that is no such thing. Throws InvalidCheck for one that was used, is too old or not ours. */
async function readRepeatedAnswer(ctx: Context, provider: OAuthProvider): Promise<URLSearchParams> {
  const sealed = ctx.url.searchParams.get('answer')
  if (sealed === null) return new URLSearchParams()
  const found = sealed.length <= maxAnswer * 4 ? await ctx.open<RepeatedAnswer>(repeatPurpose, sealed) : null
  if (found?.provider === provider.id && (await ctx.once.take(`form-post ${found.id}`, repeatLifetime)))
    return new URLSearchParams(found.params)
  throw new InvalidCheck(`The answer of provider "${provider.id}" was used before, or is older than ${repeatLifetime} seconds.`, {
    cause: { provider: provider.id },
  })
}

/** On the proxy: sends a callback on to the deployment that its state names. Undefined when it is meant for this one. Throws InvalidCheck. */
export async function forwardCallback(ctx: Context, provider: OAuthProvider, params: URLSearchParams): Promise<Response | undefined> {
  const proxy = proxyOf(ctx, provider)
  const states = params.getAll('state')
  if (proxy === undefined || states.length !== 1 || new URL(proxy).origin !== ctx.origin) return undefined
  const sealed = await ctx.open(envelopePurpose, states[0] ?? '')
  const target = sealed?.['origin']
  // Only a holder of the secret can name a target, so this is no open redirector.
  if (typeof target !== 'string' || sealed?.['provider'] !== provider.id || !URL.canParse(target)) {
    throw new InvalidCheck(`The callback of provider "${provider.id}" carries a state that no deployment with this secret made.`, {
      cause: { provider: provider.id },
    })
  }
  const url = new URL(target)
  if (url.origin === ctx.origin) return undefined
  // A deployment that trusts any Host header seals the name of any host: the code would go there.
  const { allowedHosts } = ctx.app.config
  if (allowedHosts && !allowedHosts.some((pattern) => hostMatches(pattern, url.host))) {
    throw new InvalidCheck(`The state of provider "${provider.id}" names the deployment "${url.host}", which is not in \`allowedHosts\`.`, {
      cause: { provider: provider.id },
    })
  }
  url.search = params.toString()
  return redirectTo(url.href)
}

/** The state of a flow that a proxy sends on to this deployment. */
export async function sealOrigin(ctx: Context, provider: OAuthProvider, random: string): Promise<string> {
  return ctx.seal(envelopePurpose, { origin: `${ctx.base}/callback/${provider.id}`, provider: provider.id, random }, flowLifetime)
}
