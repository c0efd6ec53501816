/** Where flows end, and the code of sign-ins: imported on demand, because a session read needs none of it. */
import type { Context } from '../contract/context.ts'
import { checkedTarget, isCallbackUrl, sameOrigin } from '../http/redirect.ts'

export { completeSignIn } from '../sign-in/complete.ts'
export { dropParked, findParked, keepParkedData, loginAgain, parkLogin, resumeLogin } from '../sign-in/park.ts'
export { prepareForm } from './csrf.ts'

/**
 * Where a flow ends: named by the flow itself, the body, the query or the cookie, in this order (row 72, D43, D57). The first usable candidate past the
 * `redirect` hook, else the own origin; writes the cookie when the request carried one.
 */
export async function findCallbackUrl(ctx: Context, named: string | undefined): Promise<string> {
  const { limits } = ctx.app.config
  const { name, options } = ctx.cookies.callbackUrl
  const body = ctx.request.method === 'POST' ? await ctx.body() : {}
  const { url } = ctx.request
  const query = url.includes('?') ? new URL(url).searchParams.getAll('callbackUrl').at(-1) : undefined
  const kept = ctx.cookie(name)
  let warned = false
  for (const [source, candidate] of [
    ['flow', named],
    ['body', body['callbackUrl']],
    ['query', query],
    ['cookie', kept],
  ] as const) {
    if (candidate === undefined || candidate === '') continue
    if (!isCallbackUrl(candidate, ctx.origin, limits.callbackUrl)) {
      // A broken link elsewhere is not our failure; one warning per request, however often it is broken.
      if (!warned) ctx.logger.warn('invalid-callback-url')
      warned = true
      continue
    }
    const resolved = await resolveRedirect(ctx, candidate)
    if ((source === 'body' || source === 'query') && resolved !== kept) ctx.setCookie(name, resolved, options)
    return resolved
  }
  return ctx.origin
}

/**
 * Where a target from outside may lead: asked of the `redirect` hook, else the own origin only.
 * An absolute http(s) URL, so that what a browser makes of it is what was checked; or a path, when the host's own callback answers one.
 */
export async function resolveRedirect(ctx: Context, target: string): Promise<string> {
  const { origin } = ctx
  const answer = await ctx.ask('redirect', { url: target, baseUrl: origin })
  return answer === undefined ? sameOrigin(target, origin, ctx.app.config.allowedRedirects ?? []) : checkedTarget(answer, origin)
}
