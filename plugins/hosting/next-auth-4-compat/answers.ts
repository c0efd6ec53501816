/** Forms of answers that the client of NextAuth 4 reads, and that differ from those of Auth.js 5. */
import type { Context } from 'authkernel/kernel'

/** The answer in the form of version 4; undefined: it is the same, or another client asks. */
export async function shapeAnswer(ctx: Context, response: Response): Promise<Response | undefined> {
  const { request, route } = ctx
  if (request.method === 'GET') return route?.path === '/session' && route.plugin === 'kernel' ? shapeSession(request, response) : undefined
  // The client of version 5 says it in a header, that of version 4 in the form.
  const location = response.headers.get('location')
  if (location === null || request.headers.has('x-auth-return-redirect')) return undefined
  return (await ctx.body())['json'] === 'true' ? redirectInJson(ctx, response, location) : undefined
}

/** Signed out is `{}`, and not `null`. Other clients ask without a content type, and read `{}` as a session. */
async function shapeSession(request: Request, response: Response): Promise<Response | undefined> {
  if (!request.headers.get('content-type')?.includes('application/json')) return undefined
  const text = await response.clone().text()
  return text === 'null' ? new Response('{}', { status: response.status, headers: response.headers }) : undefined
}

/** `{ url }`, with the status that says whether the sign-in succeeded: `signIn` returns it as `ok` and `status`. */
function redirectInJson(ctx: Context, response: Response, location: string): Response {
  const url = new URL(location, ctx.origin)
  const error = url.searchParams.get('error')
  const code = url.searchParams.get('code')
  // Version 4 has the message of the thrown error in `error`; `nextAuth4Options` hands it on as the code.
  if (error === 'CredentialsSignin' && code !== null) {
    if (code !== 'credentials') url.searchParams.set('error', code)
    url.searchParams.delete('code')
  }
  const headers = new Headers(response.headers)
  headers.delete('location')
  headers.set('Content-Type', 'application/json')
  const failed = ctx.route?.flow === 'callback' && error !== null
  const status = failed ? (error === 'AccessDenied' ? 403 : 401) : 200
  return new Response(JSON.stringify({ url: url.href }), { status, headers })
}
