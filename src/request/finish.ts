/** The last step of an answer: cookies, cache headers, CORS, redirects as JSON. */
import type { Route } from '../contract/route.ts'
import type { RequestContext } from './request-context.ts'

/** Adds what every answer has, and turns redirects into JSON for clients that ask for it (rows 21, 22). */
export function finishResponse(ctx: RequestContext, response: Response, failed = false): Response {
  const { matched, request } = ctx
  const bodyless = request.method === 'HEAD' && matched !== undefined
  // Nothing to add: a copy would cost more than reading the session did.
  if (
    ctx.jar.empty &&
    !ctx.added &&
    response.type === 'default' &&
    response.headers.has('cache-control') &&
    !response.headers.has('location') &&
    !matched?.cors &&
    !bodyless
  )
    return response
  const location = response.headers.get('location')
  const isJsonWanted = location !== null && request.headers.has('x-auth-return-redirect')
  const answer = isJsonWanted ? redirectInJson(ctx, response.headers, location) : copyOf(response, bodyless)
  // Written into the copy itself: headers that are handed over are checked once more.
  const { headers } = answer
  ctx.jar.write(headers)
  if (!failed) for (const [name, value] of ctx.added ?? []) headers.append(name, value)
  if (!headers.has('cache-control')) setCacheControl(headers, matched?.public)
  if (matched?.cors) allowOrigin(headers, matched.cors, request)
  // Scripts tell the two apart by it.
  if (isJsonWanted && failed) headers.delete('location')
  return answer
}

/** Responses may be immutable: redirects of the platform, answers of a fetch. */
function copyOf({ body, status, statusText, headers }: Response, bodyless: boolean): Response {
  return new Response(bodyless ? null : body, { status, statusText, headers })
}

/** Clients read it with `new URL(url)`: it must be absolute. */
function redirectInJson(ctx: RequestContext, headers: Headers, location: string): Response {
  const url = location.startsWith('/') && !ctx.lenientOrigin ? ctx.origin + location : location
  const answer = new Response(JSON.stringify({ url }), { status: 200, headers })
  answer.headers.set('Content-Type', 'application/json')
  return answer
}

/** Answer to an OPTIONS request of a browser for a route with `cors`; undefined: there is none. */
export function answerPreflight(ctx: RequestContext, path: string, at: 'base' | 'root'): Response | undefined {
  const { routes } = ctx.compiled
  const wanted = ctx.request.headers.get('access-control-request-method') ?? ''
  const match = at === 'root' ? routes.findRoot(wanted, path) : routes.find(wanted, path)
  const cors = match?.route?.cors
  if (!match?.route || !cors) return undefined
  const headers = new Headers({ 'Cache-Control': 'private, no-store' })
  if (allowOrigin(headers, cors, ctx.request)) {
    headers.set('Access-Control-Allow-Methods', match.route.method)
    headers.set('Access-Control-Allow-Headers', ['authorization', 'content-type', ...(cors.headers ?? [])].join(', '))
    headers.set('Access-Control-Max-Age', '600')
  }
  return new Response(null, { status: 204, headers })
}

function setCacheControl(headers: Headers, visible: Route['public']): void {
  if (!visible) headers.set('Cache-Control', 'private, no-store')
  else if (visible !== true) headers.set('Cache-Control', `public, max-age=${visible.maxAge}`)
}

/** Credentials are never allowed: what these routes answer depends on no cookie. */
function allowOrigin(headers: Headers, { origins }: NonNullable<Route['cors']>, request: Request): boolean {
  if (origins === 'any') {
    headers.set('Access-Control-Allow-Origin', '*')
    return true
  }
  headers.append('Vary', 'Origin')
  const origin = request.headers.get('origin')
  if (origin === null || !origins.includes(origin)) return false
  headers.set('Access-Control-Allow-Origin', origin)
  return true
}
