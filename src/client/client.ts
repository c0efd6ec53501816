/**
 * The browser's side, without a framework: `import { signIn } from 'authkernel/client'`. It speaks the protocol of next-auth/react.
 * The exported functions talk to `/auth`; `createClient({ basePath })` makes the same ones for another path.
 */
import type { PublicProvider, Session } from 'authkernel'
import { createProtocol, type FlowResult, type Protocol, type Server } from './protocol.ts'
import { createSessionStore, type SessionOptions, type SessionStore } from './session.ts'

/** Where the routes are, and how they are reached. */
export interface ClientOptions extends Server {}
/** Options of a flow. */
export interface FlowOptions {
  /** Where to go afterwards; default: this page. The server rejects foreign origins. */
  redirectTo?: string | undefined
  /** @deprecated the name of Auth.js; use `redirectTo` */
  callbackUrl?: string | undefined
  /** `false`: stay here, the result tells what happened. */
  redirect?: boolean | undefined
}
/** Options of `signIn`; other fields are sent to the server: `email`, `password` … */
export interface SignInOptions extends FlowOptions {
  [field: string]: unknown
}
/** Options of the passkey functions. */
export interface PasskeyOptions extends FlowOptions {
  /** Id of the provider; default `passkey`. */
  provider?: string | undefined
  /** Signing in: offers only the passkeys of this address. Registering without a session: the address of the new user. */
  email?: string | undefined
  /** Signing in: waits in the autofill of a field with `autocomplete="username webauthn"` until a passkey is chosen. */
  autofill?: boolean | undefined
  /** Ends the ceremony: it then rejects with an AbortError. */
  signal?: AbortSignal | undefined
}

/** What a page can do. `S`: the session. */
export interface Client<S = Session> {
  /** The session, or null for a signed-out browser. Throws AuthClientError if the server fails. */
  getSession(): Promise<S | null>
  /** Providers by id. Throws AuthClientError. */
  getProviders(): Promise<Record<string, PublicProvider>>
  /** Token for forms of one's own. Throws AuthClientError. */
  getCsrfToken(): Promise<string>
  /**
   * Signs in and, unless `redirect` is false, goes where the server says, error pages included. No or an unknown provider: the sign-in page.
   * `authorizationParams` are added to the request to the provider: `{ login_hint: 'me@example.com' }`. Throws AuthClientError.
   */
  signIn(
    provider?: string,
    options?: SignInOptions,
    authorizationParams?: string | Record<string, string> | URLSearchParams,
  ): Promise<FlowResult | undefined>
  /** Signs out. Throws AuthClientError. */
  signOut(options?: FlowOptions): Promise<FlowResult>
  /** Sends data to the `jwt` or `session` callback (trigger `update`); without data the session is read again. Throws AuthClientError. */
  update(data?: unknown): Promise<S | null>
  /** A session to subscribe to, in step with other tabs. */
  createSession(options?: SessionOptions<S>): SessionStore<S>
  /** Adds a passkey to the signed-in user, or registers a new one by `email`; stays on this page unless `redirect` is true. Rejects with the browser's DOMException. */
  registerPasskey(options?: PasskeyOptions): Promise<FlowResult>
  /** Signs in with a passkey. Rejects with the browser's DOMException: NotAllowedError when cancelled. */
  signInWithPasskey(options?: PasskeyOptions): Promise<FlowResult>
}

/** The functions for one server. */
export function createClient(options: ClientOptions = {}): Client {
  return createClientFunctions(createProtocol(options))
}

/** The functions over one protocol. */
export function createClientFunctions(protocol: Protocol): Client {
  const target = ({ redirectTo, callbackUrl }: FlowOptions): string => redirectTo ?? callbackUrl ?? globalThis.location?.href ?? '/'

  /** Tells all parts of the page that the session changed, and goes where the flow ended. `begins`: it goes on elsewhere, and nothing has changed yet. */
  async function conclude(result: FlowResult, redirect: boolean, begins = false): Promise<FlowResult> {
    if (redirect) {
      // A page that leaves at once may take the word along.
      if (result.ok && !begins) await protocol.leave()
      goTo(result.url)
    } else if (result.ok) protocol.announce()
    return result
  }

  async function passkey(action: string | undefined, options: PasskeyOptions & SignInOptions, otherwise: boolean): Promise<FlowResult> {
    const { provider = 'passkey', autofill, signal, redirect = otherwise, redirectTo: _to, callbackUrl: _url, ...fields } = options
    const { passkeyFlow } = await import('./passkey.ts')
    const result = await passkeyFlow(protocol, provider, { ...fields, ...(action && { action }) }, target(options), { autofill, signal })
    return conclude(result, redirect)
  }

  const client: Client = {
    getSession: () => protocol.get('/session'),
    getProviders: () => protocol.get('/providers'),
    getCsrfToken: protocol.token,
    async signIn(id, options = {}, authorizationParams = '') {
      const providers = id === undefined ? {} : await client.getProviders()
      const provider = id !== undefined && Object.hasOwn(providers, id) ? providers[id] : undefined
      if (!provider) return goTo(`${protocol.base}/signin?${new URLSearchParams({ callbackUrl: target(options) })}`)
      if (provider.type === 'webauthn') return passkey(undefined, { ...options, provider: provider.id }, true)
      const { redirectTo: _to, callbackUrl: _url, redirect = true, ...fields } = options
      // The server says it for every type; one of Auth.js or an older one does not, and has one type only that posts to its callback.
      const action = provider.form?.post ?? (provider.type === 'credentials' ? 'callback' : 'signin')
      const query = new URLSearchParams(authorizationParams)
      const result = await protocol.flow(`/${action}/${encodeURIComponent(provider.id)}?${query}`, fields, target(options))
      return conclude(result, redirect, action === 'signin')
    },
    signOut: async (options = {}) => conclude(await protocol.flow('/signout', {}, target(options)), options.redirect ?? true),
    async update(data) {
      const session = data === undefined ? await client.getSession() : await protocol.update<Session | null>('/session', data)
      protocol.announce()
      return session
    },
    createSession: (options = {}) => createSessionStore(protocol, options),
    registerPasskey: (options = {}) => passkey('register', { ...options }, false),
    signInWithPasskey: (options = {}) => passkey('authenticate', { ...options }, true),
  }
  return client
}

function goTo(url: string): undefined {
  // Outside of a page the caller goes where the result says.
  if (!globalThis.location) return
  location.href = url
  // The same page with a fragment is not loaded again, and would go on showing the former person.
  if (url.includes('#')) location.reload()
}
