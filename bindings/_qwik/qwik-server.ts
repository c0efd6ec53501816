/** The server's side of the Qwik binding: loaded when it is needed, so that browsers never get it. */
import { type Auth, type AuthConfig, createAuth } from 'authkernel'
import { type Awaitable, HttpError, type Session } from 'authkernel/kernel'
import { type Argument, assertArgument, createWebApi } from '../_shared/web-api.ts'
import { createChallenge, runCheck, readForGuard, createRefusal } from '../_shared/actions.ts'
import { kernelsOf, type Kernels } from '../_shared/kernels.ts'
import type { QwikEvent, QwikApi } from './types.ts'
import { cookiesOf } from '../_shared/set-cookie.ts'

type Source = AuthConfig | Auth<{ qwik: QwikApi }>

/** The API of what an initialiser gives: options, or an `auth` with `qwikBinding()`. */
export function apiOf(source: (event: QwikEvent) => Awaitable<Source>): (event: QwikEvent) => Promise<QwikApi> {
  const given = new WeakMap<QwikEvent, Promise<Source>>()
  const ask = (event: QwikEvent): Promise<Source> => {
    let asked = given.get(event)
    // Once per request: it may read a store of secrets (row 48).
    if (!asked) given.set(event, (asked = Promise.resolve(source(event))))
    return asked
  }
  const kernels = kernelsOf<QwikEvent>('qwik', async (event) => (await ask(event)) as AuthConfig, {
    // The platform knows the environment; on workers `process.env` does not.
    complete: (config, event) => (config.env === undefined && event ? { ...config, env: (name) => event.env.get(name) } : config),
  })
  const own = qwikApi(kernels)
  return async (event) => {
    const answer = await ask(event)
    return 'qwik' in answer ? answer.qwik : own
  }
}

const argument: Argument = { has: ['request', 'sharedMap'], say: "qwik binding: give Qwik's event: `auth.qwik.session(event)`." }

/** The instance of an initialiser, for the command line. */
export async function instanceOf(source: (event: QwikEvent) => Awaitable<Source>, event: QwikEvent): Promise<Auth> {
  const answer = await source(event)
  return 'qwik' in answer ? answer : createAuth(answer)
}

/** The API over a kernel. */
export function qwikApi(kernels: Kernels<QwikEvent>): QwikApi {
  const api = createWebApi<QwikEvent>({
    argument,
    kernel: kernels,
    request: ({ request }) => request,
    options: handleOptionsOf,
    cookies: setCookies,
    writable: ({ headersSent }) => headersSent !== true,
  })
  const challenge = async (event: QwikEvent, error?: HttpError): Promise<void> => {
    const answer = await createChallenge(await kernels(event), event.request, handleOptionsOf(event), error)
    if (answer) throw sendToQwik(event, answer)
  }
  /** Throws the answer of a request that needs a nonce. */
  const sessionOf = async (event: QwikEvent): Promise<Session | null> => {
    const found = await readForGuard(api.session(event))
    if (!(found instanceof HttpError)) return found
    await challenge(event, found)
    throw found
  }
  return {
    session: api.session,
    async onRequest(event) {
      const own = await api.route(event)
      if (own) throw sendToQwik(event, own)
      event.sharedMap.set('session', await sessionOf(event))
    },
    async signIn(event, provider, { redirectTo = pageRequest(event), errors, ...options } = {}) {
      followResponse(event, await api.signIn(event, provider, { ...options, redirectTo }, errors === 'page' ? 'handler' : 'dispatch'))
    },
    async signOut(event, { redirectTo = pageRequest(event), errors } = {}) {
      const response = await api.signOut(event, { redirectTo }, errors === 'page' ? 'handler' : 'dispatch')
      // Loaders of the same request run after its action.
      event.sharedMap.set('session', null)
      followResponse(event, response)
    },
    async requireSession(event, options) {
      const found = await sessionOf(event)
      if (!found?.user) await challenge(event)
      const instead = found?.user ? await runCheck(() => event.request, found, options) : undefined
      if (found?.user && !instead) return found
      // Qwik's router goes to the page whose data are no JSON; asked for itself, the page leads to the sign-in page.
      if (isData(event)) throw event.send(new Response('Unauthorized', { status: 401, headers: { 'content-type': 'text/plain' } }))
      throw refuseEvent(event, instead ?? (await createRefusal(await kernels(event), event.request, handleOptionsOf(event), options)))
    },
  }
}

/**
 * Goes where a flow's answer says: by Qwik's own throw. An action of its router must return, for Qwik answers a thrown redirect to another origin
 * with 404 there; the router then goes to the Location of the data.
 */
function followResponse(event: QwikEvent, response: Response): void {
  const location = response.headers.get('location')
  if (location === null || response.status < 300 || response.status > 399) throw sendToQwik(event, response)
  setCookies(event, response.headers)
  if (!isData(event)) throw event.redirect(302, location)
  event.headers.set('Location', location)
}

/** What to throw for a rejection. */
function refuseEvent(event: QwikEvent, response: Response): unknown {
  const location = response.headers.get('location')
  if (location === null) return sendToQwik(event, response)
  setCookies(event, response.headers)
  return event.redirect(302, location)
}

/** The response as it is, but for the cookies: Qwik's own jar keeps several in every version. */
function sendToQwik(event: QwikEvent, response: Response): unknown {
  setCookies(event, response.headers)
  const headers = new Headers(response.headers)
  headers.delete('set-cookie')
  return event.send(new Response(response.body, { status: response.status, headers }))
}

/** Whether Qwik's router in the browser asks, and not a user for a page. */
function isData({ request }: QwikEvent): boolean {
  return new URL(request.url).pathname.endsWith(dataPath)
}

const dataPath = '/q-data.json'

/** The page of the request, without what Qwik adds for actions and data (row 313). */
function pageRequest(event: QwikEvent): string {
  assertArgument(event, argument)
  const { url } = event
  const page = new URL(url)
  if (page.pathname.endsWith(dataPath)) page.pathname = page.pathname.slice(0, -dataPath.length) || '/'
  for (const name of ['qaction', 'qfunc', 'qdata']) page.searchParams.delete(name)
  return page.href
}

function handleOptionsOf({ clientConn }: QwikEvent): { clientAddress: string | undefined; csrf: 'origin' } {
  // Qwik's actions send no token; the browser's own word protects (D30).
  return { clientAddress: clientConn?.ip, csrf: 'origin' }
}

function setCookies(event: QwikEvent, headers: Headers): void {
  for (const { name, value, options } of cookiesOf(headers)) event.cookie.set(name, value, options)
}
