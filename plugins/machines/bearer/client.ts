/** Which app calls the token endpoint. Apps are public clients: they have an id and no secret. */
import { type AppCaller, type Context, HttpError, json, type TokenAnswer } from 'authkernel/kernel'

/** The app, or the answer of RFC 6749 section 5.2. */
export function clientOf(ctx: Context, form: URLSearchParams): AppCaller {
  // RFC 6749 section 4.1.3: a form, and nothing else.
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(ctx.request.headers.get('content-type') ?? ''))
    return failed({ error: 'invalid_request', error_description: 'Send a form (application/x-www-form-urlencoded).' }, 400)
  const repeated = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1)
  if (repeated !== undefined) return failed({ error: 'invalid_request', error_description: 'A parameter is repeated.' }, 400)
  const authorization = ctx.request.headers.get('authorization')
  const id = form.get('client_id')
  if (id === null && authorization === null) return failed({ error: 'invalid_request', error_description: '`client_id` is missing.' }, 400)
  const client = ctx.service('appTokens').client(id ?? '')
  // An app that shows a secret is not the one that is listed here.
  if (!client || authorization !== null || form.has('client_secret') || form.has('client_assertion'))
    return failed({ error: 'invalid_client' }, 401, authorization === null ? {} : { 'WWW-Authenticate': 'Basic realm="token"' })
  return { client }
}

/** What is wrong with the request itself, a body that is too long for example, as RFC 6749 section 5.2 says it. */
export async function asOAuth(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error
    return json({ error: 'invalid_request', error_description: error.message }, error.status, {
      ...error.headers,
      'Cache-Control': 'no-store',
    })
  }
}

function failed(error: TokenAnswer, status: number, headers: Record<string, string> = {}): AppCaller {
  return { error, status, headers: { 'Cache-Control': 'no-store', ...headers } }
}
