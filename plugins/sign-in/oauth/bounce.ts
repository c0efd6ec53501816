/**
 * An answer by form_post is a cross-site POST, which brings no Lax cookie: of a person who was signed in when the flow began, nothing would be known.
 * Such an answer comes once more as a GET of the site itself, sealed, and then with every cookie.
 */
import { type Context, InvalidCheck, randomHex, redirectTo } from 'authkernel/kernel'
import { pendingFlow } from './checks.ts'
import { isFormPost } from './endpoints.ts'
import type { OAuthProvider } from './types.ts'

/** What the address of the second request carries, sealed. */
interface Answer {
  [field: string]: unknown
  id: string
  provider: string
  params: string
}

const purpose = 'form-post'
const seconds = 120
// Longer ones do not fit into a URL everywhere. They end as an answer to a flow of a person who is not here.
const longest = 4_096

/** Whether the browser brought a session along; whose it is does not matter here. */
export function bringsSession(ctx: Context): boolean {
  const { name } = ctx.cookies.sessionToken
  return ctx.cookie(name) !== undefined || ctx.cookie(`${name}.0`) !== undefined
}

/** The redirect for a POST whose flow began with a session that the POST does not have. Undefined: the answer is used as it is. */
export async function bounce(ctx: Context, provider: OAuthProvider, params: URLSearchParams): Promise<Response | undefined> {
  if (ctx.request.method !== 'POST' || !isFormPost(provider) || bringsSession(ctx)) return undefined
  const flow = await pendingFlow(ctx, params)
  const text = params.toString()
  if (!flow?.session || flow.provider !== provider.id || text.length > longest) return undefined
  const answer: Answer = { id: randomHex(ctx.runtime, 16), provider: provider.id, params: text }
  return redirectTo(`${ctx.base}/callback/${provider.id}?answer=${await ctx.seal(purpose, answer, seconds)}`)
}

/** The parameters of an answer that was sent on. None for a request that is no such thing. Throws InvalidCheck for one that was used, is too old or not ours. */
export async function bounced(ctx: Context, provider: OAuthProvider): Promise<URLSearchParams> {
  const sealed = ctx.url.searchParams.get('answer')
  if (sealed === null) return new URLSearchParams()
  const found = sealed.length <= longest * 4 ? await ctx.open<Answer>(purpose, sealed) : null
  if (found?.provider === provider.id && (await ctx.once.take(`form-post ${found.id}`, seconds))) return new URLSearchParams(found.params)
  throw new InvalidCheck(`The answer of provider "${provider.id}" was used before, or is older than ${seconds} seconds.`, {
    cause: { provider: provider.id },
  })
}
