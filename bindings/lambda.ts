/** AWS Lambda behind API Gateway (REST and HTTP APIs), a load balancer or a function URL: `export const handler = auth.lambda.handler`. */
import { assertOptions, type Awaitable, HttpError, type Kernel, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import { addressOf, type LambdaEvent, type LambdaResult, toRequest, toResult } from './_lambda.ts'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { type ConfigSource, kernelsOf } from './_shared/kernels.ts'
import { createPendingCookies } from './_shared/pending-cookies.ts'
import { createWebApi } from './_shared/web-api.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { LambdaEvent, LambdaResult } from './_lambda.ts'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

/** A handler of one's own that is given the session; it answers with a web `Response`. */
export type LambdaHandler<S> = (request: Request, session: S, event: LambdaEvent) => Awaitable<Response>

/** What `auth.lambda` offers. */
export interface LambdaApi {
  /** Answers every event; paths that are no route get 400. */
  handler(event: LambdaEvent): Promise<LambdaResult>
  /** As `handler`; undefined: the path is neither below the base path nor one at the origin's root that a plugin answers. */
  route(event: LambdaEvent): Promise<LambdaResult | undefined>
  /** The session, read once per event. Nothing is extended: there is no response to carry the cookie. */
  session(event: LambdaEvent): Promise<Session | null>
  /** Wraps a handler: it gets the request and the session, and the result takes a refreshed cookie along. */
  withSession(handler: LambdaHandler<Session | null>): (event: LambdaEvent) => Promise<LambdaResult>
  /** As `withSession` for signed-in users only: other browsers are sent to the sign-in page and back, the rest gets 401 JSON. */
  protect(handler: LambdaHandler<Session>, options?: GuardOptions): (event: LambdaEvent) => Promise<LambdaResult>
  /** The result that signs in. Rejects with `AuthError`s. */
  signIn(event: LambdaEvent, provider?: string, options?: SignInOptions): Promise<LambdaResult>
  signOut(event: LambdaEvent, options?: { redirectTo?: string | undefined }): Promise<LambdaResult>
  /** The event as a web request. */
  request(event: LambdaEvent): Request
}

/** Puts `lambda` on `auth`. */
export function lambdaBinding(options: NoOptions = {}): Plugin<{ lambda: LambdaApi }> {
  assertOptions('lambdaBinding', options, {})
  return { name: 'lambda', setup: (kernel) => ({ lambda: lambdaApi(() => kernel) }) }
}

/** The API of a configuration, or of a function of the event. */
export function LambdaAuth(config: ConfigSource<LambdaEvent>, ...plugins: readonly Plugin[]): LambdaApi {
  return lambdaApi(kernelsOf('lambda', config, { plugins }))
}

function lambdaApi(kernel: (event: LambdaEvent) => Awaitable<Kernel>): LambdaApi {
  const requests = new WeakMap<LambdaEvent, Request>()
  const pending = createPendingCookies<LambdaEvent>()
  const requestOf = (event: LambdaEvent): Request => {
    const request = requests.get(event) ?? toRequest(event)
    requests.set(event, request)
    return request
  }
  const api = createWebApi<LambdaEvent>({
    argument: { has: ['requestContext'], say: 'lambda binding: give the event of the function: `auth.lambda.session(event)`.' },
    kernel,
    request: requestOf,
    // AWS writes the protocol and the address of the client, and overwrites what clients send.
    options: (event) => ({ clientAddress: addressOf(event) }),
    cookies: pending.add,
    writable: pending.isOpen,
  })
  const answer = async (event: LambdaEvent, work: () => Awaitable<Response>): Promise<LambdaResult> =>
    toResult(event, await pending.collect(event, work).catch(toAnswer))
  return {
    request: requestOf,
    session: api.session,
    handler: async (event) => toResult(event, await api.answer(event).catch(toAnswer)),
    async route(event) {
      const response = await api.below(event).catch(toAnswer)
      return response && toResult(event, response)
    },
    withSession: (handler) => (event) => answer(event, async () => handler(requestOf(event), await api.session(event), event)),
    protect: (handler, options) => (event) =>
      answer(event, async () => {
        const found = await api.guard(event, options)
        return found instanceof Response ? found : handler(requestOf(event), found, event)
      }),
    signIn: async (event, provider, options) => toResult(event, await api.signIn(event, provider, options)),
    signOut: async (event, options) => toResult(event, await api.signOut(event, options)),
  }
}

/** Of an event that is no request: its host is none. */
function toAnswer(error: unknown): Response {
  if (error instanceof HttpError) return new Response(error.message, { status: error.status, headers: { 'Cache-Control': 'no-store' } })
  throw error
}
