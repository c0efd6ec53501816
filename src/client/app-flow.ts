/** The OAuth 2 client of an app: authorization code with PKCE (RFC 8252), refresh, device code (RFC 8628), revocation. */
import type { Session } from 'authkernel'
import { base64url, createProver, hashText } from './app-key.ts'
import type { AppClient, AppClientOptions, DeviceSignIn } from './app-types.ts'
import type { AuthClientError } from './protocol.ts'

interface AppTokenSet {
  access: string
  refresh: string
  /** The token is bound to the key. */
  bound?: boolean
  /** Milliseconds: from then on a new one is fetched. */
  renewAt: number
}
interface Answer extends Record<string, unknown> {
  error?: string
}

const margin = 30

/** `Refusal` is given, so that a page loads no file for the class that both share. */
export function appFlow(options: AppClientOptions, Refusal: typeof AuthClientError): AppClient {
  const { server, clientId, storage, basePath = '/auth', redirectUri, scope, resources = [], dpop, fetch: given } = options
  const { origin } = new URL(server)
  const base = origin + basePath.replace(/\/$/, '')
  const key = `authkernel ${origin} ${clientId}`
  const prover = dpop && createProver(dpop)
  let renewing: Promise<AppTokenSet | null> | undefined

  const failure = (message: string, { error }: Answer): Error =>
    error === undefined ? new Refusal(message, 400) : new Refusal(`${message} (${error})`, 400, { error })
  /** `makeHeaders` runs again when the server asks for a nonce: it has not acted on the request then (RFC 9449 section 8). */
  const send = async (url: string, init: RequestInit, makeHeaders: () => Promise<Headers>): Promise<Response> => {
    const once = async (): Promise<Response> => (given ?? fetch)(url, { ...init, headers: await makeHeaders(), credentials: 'omit' })
    const response = await once()
    return prover?.wantsNonce(response, url) && !(init.body instanceof ReadableStream) ? once() : response
  }
  const post = async (path: string, fields: Record<string, string | undefined>): Promise<Answer> => {
    const body = new URLSearchParams({ client_id: clientId })
    for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, value)
    const url = `${base}/oauth/${path}`
    const proofs = path === 'token' && prover
    const response = await send(
      url,
      { method: 'POST', body },
      async () => new Headers(proofs ? { dpop: await proofs.proof('POST', url) } : {}),
    )
    const answer = ((await response.json().catch(() => null)) ?? {}) as Answer
    if (!response.ok && answer.error === undefined) throw new Refusal(`${path} answered ${response.status}.`, response.status)
    return answer
  }
  const readStored = async <T>(name: string): Promise<T | null> => {
    const text = await storage.get(`${key} ${name}`)
    return text ? (JSON.parse(text) as T) : null
  }
  const write = (name: string, value: unknown): unknown => storage.set(`${key} ${name}`, JSON.stringify(value))
  const forget = (name: string): unknown => storage.remove(`${key} ${name}`)

  async function keep(answer: Answer): Promise<AppTokenSet> {
    const { access_token: access, refresh_token: refresh, expires_in: seconds, token_type: type } = answer
    if (typeof access !== 'string' || typeof refresh !== 'string') throw failure('The server answered no tokens.', answer)
    const bound = String(type).toLowerCase() === 'dpop'
    if (prover && !bound) throw failure('The server bound the tokens to no key.', answer)
    const kept = { access, refresh, bound, renewAt: Date.now() + Math.max(1, Number(seconds) - margin) * 1000 }
    // Before anything is done with them: the former refresh token is used up.
    await write('tokens', kept)
    return kept
  }

  /** One refresh at a time. Null: signed out. */
  const renew = (before: AppTokenSet): Promise<AppTokenSet | null> => (renewing ??= exchange(before).finally(() => (renewing = undefined)))

  async function exchange(before: AppTokenSet): Promise<AppTokenSet | null> {
    const answer = await post('token', { grant_type: 'refresh_token', refresh_token: before.refresh })
    if (answer.error === undefined) return keep(answer)
    if (answer.error !== 'invalid_grant') throw failure('The refresh was refused.', answer)
    // Another process of the app may have been faster.
    const now = await readStored<AppTokenSet>('tokens')
    if (now && now.refresh !== before.refresh) return now
    await forget('tokens')
    return null
  }

  async function valid(): Promise<AppTokenSet | null> {
    const kept = await readStored<AppTokenSet>('tokens')
    return kept && Date.now() >= kept.renewAt ? renew(kept) : kept
  }

  /** Throws TypeError for an origin that gets no token. */
  function targetOf(url: string): string {
    const target = new URL(url, base)
    if (target.origin !== origin && !resources.includes(target.origin))
      throw new TypeError(`${target.origin} is not the server, and not in \`resources\`: it gets no token.`)
    return target.href
  }

  async function headersOf(kept: AppTokenSet | null, url: string, method: string): Promise<Record<string, string>> {
    if (!kept) return {}
    if (!kept.bound || !prover) return { authorization: `Bearer ${kept.access}` }
    return { authorization: `DPoP ${kept.access}`, dpop: await prover.proof(method, url, kept.access) }
  }

  async function call(url: string, init: RequestInit = {}): Promise<Response> {
    const target = targetOf(url)
    const method = (init.method ?? 'GET').toUpperCase()
    const ask = (kept: AppTokenSet | null): Promise<Response> =>
      send(target, { ...init, method }, async () => {
        const headers = new Headers(init.headers)
        for (const [name, value] of Object.entries(await headersOf(kept, target, method))) headers.set(name, value)
        return headers
      })
    const kept = await valid()
    const response = await ask(kept)
    if (response.status !== 401 || !kept || init.body instanceof ReadableStream) return response
    const fresh = await renew(kept)
    return fresh ? ask(fresh) : response
  }

  async function startDevice(): Promise<DeviceSignIn> {
    const begun = await post('device', { scope })
    if (begun.error !== undefined) throw failure('The server gave no code.', begun)
    const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval } = begun
    return {
      userCode: user_code as string,
      verificationUri: verification_uri as string,
      verificationUriComplete: verification_uri_complete as string,
      expiresIn: expires_in as number,
      async done(signal) {
        let seconds = Number(interval ?? 5)
        for (;;) {
          await waitFor(seconds * 1000, signal)
          const fields = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: device_code as string }
          // A server that cannot be reached for a moment is asked again (RFC 8628 section 3.5).
          const answer = await post('token', fields).catch(() => ({ error: 'slow_down' }) as Answer)
          if (answer.error === undefined) return void (await keep(answer))
          if (answer.error === 'slow_down') seconds += 5
          else if (answer.error !== 'authorization_pending') throw failure('The device was not let in.', answer)
        }
      },
    }
  }

  return {
    async signIn() {
      if (redirectUri === undefined) throw new TypeError('createAppClient: signIn needs `redirectUri`.')
      const [verifier, state] = [randomText(), randomText()]
      await write('pending', { verifier, state })
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        code_challenge: await hashText(verifier),
        code_challenge_method: 'S256',
        ...(scope !== undefined && { scope }),
        ...(prover && { dpop_jkt: await prover.thumbprint() }),
      })
      return `${base}/oauth/authorize?${query}`
    },
    async finish(url) {
      const { searchParams: query } = new URL(url)
      const pending = await readStored<{ verifier: string; state: string }>('pending')
      // Another program may have opened the address: only what this app began goes on.
      if (!pending || query.get('state') !== pending.state || query.get('iss') !== origin)
        throw failure('This answer belongs to no sign-in that the app began.', { error: 'invalid_request' })
      await forget('pending')
      const error = query.get('error') ?? undefined
      if (error !== undefined) throw failure('The sign-in was refused.', { error })
      const code = query.get('code') ?? ''
      const answer = await post('token', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: pending.verifier,
      })
      if (answer.error !== undefined) throw failure('The code was refused.', answer)
      await keep(answer)
    },
    startDevice,
    accessToken: async () => (await valid())?.access ?? null,
    headers: async (url, method = 'GET') => headersOf(await valid(), targetOf(url), method.toUpperCase()),
    fetch: call,
    async getSession() {
      if (!(await readStored('tokens'))) return null
      const response = await call(`${base}/oauth/session`)
      if (response.status === 401) return null
      if (!response.ok) throw new Refusal(`The session was answered with ${response.status}.`, response.status)
      return (await response.json()) as Session | null
    },
    async signOut() {
      const kept = await readStored<AppTokenSet>('tokens')
      await forget('tokens')
      if (!kept) return
      const body = new URLSearchParams({ client_id: clientId, token: kept.refresh })
      await send(`${base}/oauth/revoke`, { method: 'POST', body }, async () => new Headers())
    },
  }
}

function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

function waitFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
