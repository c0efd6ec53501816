/** `authkernel/client` against the real kernel, with a browser made of stubs: fetch with cookies, location, document. */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { createAuth, CredentialsSignin, type AuthConfig, type Session } from 'authkernel'
import { type Client, createClient, type SessionState } from 'authkernel/client'
import * as client from 'authkernel/client'
import { build, type BuildOptions, type BuildResult } from 'esbuild'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pinPlugin } from '../../playground/express/pin-plugin.ts'

const origin = 'https://app.example'
const page = `${origin}/page?x=1`

class WrongCode extends CredentialsSignin {
  override code = 'wrong-pin'
}

let cookies: Map<string, string>
let requests: { method: string; path: string; headers: Headers; body: string }[]
let intercept: ((path: string) => Response | undefined) | undefined
let reloads: number
let document: EventTarget & { visibilityState: string }

function serve(config: AuthConfig = {}): void {
  const auth = createAuth({
    secret: 'a secret of more than thirty-two characters',
    origin,
    env: false,
    logger: { error: () => {}, warn: () => {}, debug: () => {} },
    providers: [
      {
        id: 'pw',
        name: 'Password',
        type: 'credentials',
        authorize({ name, password }) {
          if (password === 'pin') throw new WrongCode()
          return password === 'right' ? { id: '1', name: String(name) } : null
        },
      },
      {
        id: 'acme',
        name: 'Acme',
        type: 'oauth',
        clientId: 'c',
        clientSecret: 's',
        authorization: 'https://acme.example/authorize',
        token: 'https://acme.example/token',
        userinfo: 'https://acme.example/userinfo',
      },
    ],
    callbacks: {
      jwt: ({ token, trigger, session }) => (trigger === 'update' ? { ...token, name: (session as { name: string }).name } : token),
    },
    ...config,
  })
  answerBy(auth.handler)
}

function answerBy(handler: (request: Request) => Promise<Response>): void {
  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    if (init.method === 'POST') headers.set('origin', origin)
    const request = new Request(origin + path, { ...init, headers } as RequestInit)
    requests.push({ method: request.method, path, headers: request.headers, body: String(init.body ?? '') })
    const response = intercept?.(path) ?? (await handler(request))
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.slice(0, cookie.indexOf(';')).split('=')
      if (/Max-Age=0/i.test(cookie)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  })
}

beforeEach(() => {
  cookies = new Map()
  requests = []
  intercept = undefined
  reloads = 0
  document = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  const window = new EventTarget()
  vi.stubGlobal('document', document)
  vi.stubGlobal('location', { href: page, reload: () => reloads++ })
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window))
  vi.stubGlobal('removeEventListener', window.removeEventListener.bind(window))
  vi.stubGlobal('dispatchEvent', window.dispatchEvent.bind(window))
  serve()
})
afterEach(() => vi.unstubAllGlobals())

const posts = (): string[] => requests.filter(({ method }) => method === 'POST').map(({ path }) => path)
const signedIn = (on: Client = createClient()): Promise<unknown> => on.signIn('pw', { name: 'Ada', password: 'right', redirect: false })

describe('reading', () => {
  it('getSession, getProviders, getCsrfToken', async () => {
    expect(await client.getSession()).toBeNull()
    expect(await client.getProviders()).toMatchObject({ pw: { id: 'pw', type: 'credentials', callbackUrl: `${origin}/auth/callback/pw` } })
    expect(await client.getCsrfToken()).toMatch(/^[0-9a-f]{64}$/)
    await signedIn()
    expect((await client.getSession())?.user).toMatchObject({ name: 'Ada' })
  })

  it('a failing server is an error with its status, not a signed-out user', async () => {
    intercept = () => new Response('null', { status: 503 })
    await expect(client.getSession()).rejects.toMatchObject({ name: 'AuthClientError', status: 503 })
  })

  it('another base path', async () => {
    serve({ basePath: '/api/auth' })
    for (const basePath of ['/api/auth', '/api/auth/']) expect(await createClient({ basePath }).getSession()).toBeNull()
    expect(requests.map(({ path }) => path)).toEqual(['/api/auth/session', '/api/auth/session'])
  })
})

describe('signIn', () => {
  it('credentials: posts to the callback with the token, comes back with the result', async () => {
    expect(await signedIn()).toEqual({ ok: true, status: 200, url: page, error: undefined, code: undefined })
    expect(posts()).toEqual(['/auth/callback/pw?'])
    const post = requests.find(({ method }) => method === 'POST')
    expect(post?.headers.get('x-auth-return-redirect')).toBe('1')
    const sent = new URLSearchParams(post?.body)
    expect(Object.fromEntries(sent)).toMatchObject({ name: 'Ada', password: 'right', callbackUrl: page })
    expect(sent.has('redirect')).toBe(false)
    expect(location.href).toBe(page)
  })

  it('a wrong password: the error and its code', async () => {
    const wrong = { ok: false, status: 200, error: 'CredentialsSignin' }
    expect(await client.signIn('pw', { password: 'no', redirect: false })).toMatchObject({ ...wrong, code: 'credentials' })
    expect(await client.signIn('pw', { password: 'pin', redirect: false })).toMatchObject({ ...wrong, code: 'wrong-pin' })
  })

  it('with redirect the browser goes where the server says, to the page of an error too', async () => {
    await client.signIn('pw', { password: 'right', redirectTo: '/home' })
    expect(location.href).toBe(`${origin}/home`)
    await client.signIn('pw', { password: 'no' })
    expect(location.href).toBe(`${origin}/auth/signin?error=CredentialsSignin&code=credentials`)
    expect(reloads).toBe(0)
  })

  it('a target on the same page with a fragment is loaded again', async () => {
    await client.signIn('pw', { password: 'right', callbackUrl: '/page?x=1#part' })
    expect(location.href).toBe(`${page}#part`)
    expect(reloads).toBe(1)
  })

  it('oauth: goes to the provider with the parameters of the caller', async () => {
    await client.signIn('acme', { redirectTo: '/home' }, { login_hint: 'ada@example.com', prompt: 'login' })
    const { origin: to, searchParams } = new URL(location.href)
    expect(to).toBe('https://acme.example')
    expect(Object.fromEntries(searchParams)).toMatchObject({ login_hint: 'ada@example.com', prompt: 'login', client_id: 'c' })
    const { url } = (await client.signIn('acme', { redirect: false }, 'login_hint=x')) ?? {}
    expect(new URL(url ?? '').searchParams.get('login_hint')).toBe('x')
  })

  it('an unknown type posts to where the server says', async () => {
    const auth = createAuth({
      secret: 'a secret of more than thirty-two characters',
      origin,
      env: false,
      logger: { error: () => {}, warn: () => {}, debug: () => {} },
    }).use(pinPlugin({ id: 'door', name: 'Door', type: 'pin', people: [{ id: '1', name: 'Ada', pin: '4711' }] }))
    answerBy(auth.handler)
    const { door } = await client.getProviders()
    expect(door).toMatchObject({ type: 'pin', form: { post: 'callback', fields: { pin: { label: 'PIN', type: 'password' } } } })
    expect(JSON.stringify(door)).not.toContain('4711')
    expect(await client.signIn('door', { pin: '0000', redirect: false })).toMatchObject({ ok: false, code: 'wrong_pin' })
    expect(await client.signIn('door', { pin: '4711', redirect: false })).toMatchObject({ ok: true })
    expect(posts()).toEqual(['/auth/callback/door?', '/auth/callback/door?'])
    expect((await client.getSession())?.user?.name).toBe('Ada')
  })

  it('a server that says nothing of forms: credentials to the callback, all others to signin', async () => {
    intercept = (path) => {
      if (path !== '/auth/providers') return undefined
      return Response.json({ pw: { id: 'pw', name: 'Password', type: 'credentials' }, acme: { id: 'acme', name: 'Acme', type: 'oauth' } })
    }
    await signedIn()
    await client.signIn('acme', { redirect: false })
    expect(posts()).toEqual(['/auth/callback/pw?', '/auth/signin/acme?'])
  })

  it('two at the same moment in a fresh browser both get in', async () => {
    const results = await Promise.all([signedIn(), signedIn()])
    expect(results).toMatchObject([{ ok: true }, { ok: true }])
    // Both fetched a token, and the cookie is of one of them.
    expect(new Set(requests.map(({ body }) => new URLSearchParams(body).get('csrfToken')).filter(Boolean)).size).toBe(2)
  })

  it.each([undefined, 'nobody', '__proto__', 'constructor'])('provider %s: the sign-in page, and back here afterwards', async (id) => {
    expect(await client.signIn(id)).toBeUndefined()
    expect(location.href).toBe(`/auth/signin?callbackUrl=${encodeURIComponent(page)}`)
    expect(posts()).toEqual([])
  })

  it('an answer without a URL is an error with its status', async () => {
    intercept = (path) => (path.startsWith('/auth/callback') ? new Response('busy', { status: 429 }) : undefined)
    await expect(client.signIn('pw', { redirect: false })).rejects.toMatchObject({ status: 429 })
  })
})

describe('signOut and update', () => {
  it('signOut waits for a read that is under way: its answer may bring a session cookie', async () => {
    await client.signIn('pw', { name: 'Ann', password: 'right', redirect: false })
    const ask = globalThis.fetch
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    vi.stubGlobal('fetch', async (path: string, init?: RequestInit) => {
      if (path.endsWith('/session')) await gate
      return ask(path, init)
    })
    const reading = client.getSession()
    const leaving = client.signOut({ redirect: false })
    await vi.waitFor(() => expect(requests.at(-1)?.path).toBe('/auth/csrf'))
    // Turns in which an impatient sign-out would be sent.
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    go()
    await Promise.all([reading, leaving])
    expect(requests.slice(-2).map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /auth/session', 'POST /auth/signout'])
    expect(await client.getSession()).toBeNull()
  })

  it('signOut ends the session and goes on', async () => {
    await signedIn()
    await client.signOut({ redirectTo: '/bye' })
    expect(location.href).toBe(`${origin}/bye`)
    expect(await client.getSession()).toBeNull()
    expect(await client.signOut({ redirect: false })).toMatchObject({ ok: true, url: `${origin}/bye` })
  })

  it('update sends data to the callback; without data it reads', async () => {
    await signedIn()
    expect((await client.update({ name: 'Grace' }))?.user?.name).toBe('Grace')
    expect((await client.getSession())?.user?.name).toBe('Grace')
    requests = []
    expect((await client.update())?.user?.name).toBe('Grace')
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /auth/session'])
  })
})

describe('createSession', () => {
  it('loading, then the session; nothing is asked before a component subscribes', async () => {
    await signedIn()
    requests = []
    const session = client.createSession()
    expect(session.get()).toEqual({ status: 'loading', session: null, error: undefined })
    expect(requests).toEqual([])
    const states: SessionState[] = []
    const stop = session.subscribe((state) => states.push(state))
    await vi.waitFor(() => expect(states).toHaveLength(2))
    expect(states[0]?.status).toBe('loading')
    expect(states[1]).toMatchObject({ status: 'authenticated', session: { user: { name: 'Ada' } } })
    expect(session.get()).toBe(states[1])
    stop()
  })

  it('an initial session of the server is not fetched again', () => {
    const initial: Session = { user: { name: 'Ada' }, expires: '2030-01-01T00:00:00.000Z' }
    const session = client.createSession({ initial })
    const stop = session.subscribe(() => {})
    expect(session.get()).toEqual({ status: 'authenticated', session: initial, error: undefined })
    expect(client.createSession({ initial: null }).get().status).toBe('unauthenticated')
    expect(requests).toEqual([])
    stop()
  })

  it('signIn, update and signOut of this tab are seen; what did not change is not told', async () => {
    const here = createClient()
    const session = here.createSession()
    const names: (string | null | undefined)[] = []
    const stop = session.subscribe((state) => names.push(state.session?.user?.name ?? state.status))
    await vi.waitFor(() => expect(names).toEqual(['loading', 'unauthenticated']))
    await signedIn(here)
    await vi.waitFor(() => expect(names.at(-1)).toBe('Ada'))
    await here.update({ name: 'Grace' })
    await vi.waitFor(() => expect(names.at(-1)).toBe('Grace'))
    await here.signOut({ redirect: false })
    await vi.waitFor(() => expect(names.at(-1)).toBe('unauthenticated'))
    const told = names.length
    await session.refresh()
    expect(names).toHaveLength(told)
    stop()
  })

  it('other tabs follow by BroadcastChannel, tabs of another base path do not', async () => {
    const [tab, other] = [createClient(), createClient({ basePath: '/other' })]
    const session = tab.createSession()
    const elsewhere = other.createSession({ initial: null })
    const stops = [session.subscribe(() => {}), elsewhere.subscribe(() => {})]
    await vi.waitFor(() => expect(session.get().status).toBe('unauthenticated'))
    await signedIn(createClient())
    await vi.waitFor(() => expect(session.get().status).toBe('authenticated'))
    expect(requests.some(({ path }) => path.startsWith('/other'))).toBe(false)
    for (const stop of stops) stop()
  })

  it('is read again when the tab gets the focus, once for both events, and not when hidden', async () => {
    const session = client.createSession({ initial: null })
    const stop = session.subscribe(() => {})
    document.visibilityState = 'hidden'
    document.dispatchEvent(new Event('visibilitychange'))
    expect(requests).toHaveLength(0)
    document.visibilityState = 'visible'
    document.dispatchEvent(new Event('visibilitychange'))
    dispatchEvent(new Event('focus'))
    expect(requests).toHaveLength(1)
    stop()
    dispatchEvent(new Event('focus'))
    expect(requests).toHaveLength(1)
    const still = client.createSession({ initial: null, refetchOnFocus: false })
    const stopStill = still.subscribe(() => {})
    dispatchEvent(new Event('focus'))
    expect(requests).toHaveLength(1)
    stopStill()
  })

  it('an outage is not a sign-out', async () => {
    await signedIn()
    const session = client.createSession()
    const stop = session.subscribe(() => {})
    await vi.waitFor(() => expect(session.get().status).toBe('authenticated'))
    intercept = () => new Response('null', { status: 503 })
    expect(await session.refresh()).toMatchObject({ status: 'authenticated', session: { user: { name: 'Ada' } }, error: { status: 503 } })
    intercept = undefined
    expect((await session.refresh()).error).toBeUndefined()
    stop()
  })

  it('a slow answer from before a change does not win over a later one', async () => {
    const answers: ((session: Session | null) => void)[] = []
    vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => answers.push((session) => resolve(Response.json(session)))))
    const session = client.createSession()
    const stop = session.subscribe(() => {})
    const later = session.refresh()
    answers[1]?.({ user: { name: 'new' }, expires: '' })
    await later
    answers[0]?.(null)
    await vi.waitFor(() => expect(session.get().session?.user?.name).toBe('new'))
    await Promise.resolve()
    expect(session.get().status).toBe('authenticated')
    stop()
  })

  it('one listener twice are two subscriptions; the last one out stops listening', async () => {
    const session = client.createSession({ initial: null })
    const seen: string[] = []
    const listener = ({ status }: SessionState): void => void seen.push(status)
    const [first, second] = [session.subscribe(listener), session.subscribe(listener)]
    expect(seen).toHaveLength(2)
    first()
    first()
    dispatchEvent(new Event('focus'))
    expect(requests).toHaveLength(1)
    second()
    dispatchEvent(new Event('focus'))
    expect(requests).toHaveLength(1)
  })

  it('getInitial stays what the server rendered, whatever happened since', async () => {
    await signedIn()
    const session = client.createSession({ initial: null })
    const stop = session.subscribe(() => {})
    await session.refresh()
    expect(session.get().status).toBe('authenticated')
    expect(session.getInitial()).toEqual({ status: 'unauthenticated', session: null, error: undefined })
    expect(session.getInitial()).toBe(session.getInitial())
    stop()
  })

  it('set takes over what the server rendered, beats a read under way, and tells the other tabs', async () => {
    const ada: Session = { user: { name: 'Ada' }, expires: new Date(Date.now() + 60_000).toISOString() }
    const answers: ((session: Session | null) => void)[] = []
    vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => answers.push((session) => resolve(Response.json(session)))))
    const [here, there] = [createClient().createSession({ initial: null }), createClient().createSession({ initial: null })]
    const stops = [here.subscribe(() => {}), there.subscribe(() => {})]
    const late = here.refresh()
    here.set(ada)
    expect(here.get()).toMatchObject({ status: 'authenticated', session: ada })
    answers[0]?.(null)
    await late
    expect(here.get().status).toBe('authenticated')
    // This tab announces to its own listeners too, and the other one reads.
    await vi.waitFor(() => expect(answers).toHaveLength(3))
    here.set(ada)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(answers).toHaveLength(3)
    for (const stop of stops) stop()
  })

  it('is read again when the address changes without a page load, not for fragments and replaced state', async () => {
    const navigation = Object.assign(new EventTarget(), { currentEntry: { url: page } })
    vi.stubGlobal('navigation', navigation)
    const go = (url: string, navigationType: string): void => {
      navigation.currentEntry = { url }
      Object.assign(location, { href: url, hash: new URL(url).hash })
      navigation.dispatchEvent(Object.assign(new Event('currententrychange'), { navigationType }))
    }
    const session = client.createSession({ initial: null })
    const stop = session.subscribe(() => {})
    go(page, 'replace')
    go(`${page}#part`, 'push')
    expect(requests).toHaveLength(0)
    go(`${origin}/inside`, 'push')
    expect(requests).toHaveLength(1)
    await session.refresh()
    stop()
    go(page, 'traverse')
    const still = client.createSession({ initial: null, refetchOnNavigation: false })
    const stopStill = still.subscribe(() => {})
    go(`${origin}/inside`, 'push')
    expect(requests).toHaveLength(2)
    stopStill()
  })

  it('is read again when it expires, and when it is older than refetchAfter; hidden tabs wait until they are seen', async () => {
    vi.useFakeTimers()
    try {
      const expires = new Date(Date.now() + 60_000).toISOString()
      const session = client.createSession({ initial: { expires } })
      const stop = session.subscribe(() => {})
      vi.advanceTimersByTime(60_500)
      expect(requests).toHaveLength(0)
      vi.advanceTimersByTime(1000)
      expect(requests).toHaveLength(1)
      stop()
      document.visibilityState = 'hidden'
      const aged = client.createSession({ initial: null, refetchAfter: 10, refetchOnFocus: false })
      const stopAged = aged.subscribe(() => {})
      vi.advanceTimersByTime(11_000)
      expect(requests).toHaveLength(1)
      document.visibilityState = 'visible'
      document.dispatchEvent(new Event('visibilitychange'))
      expect(requests).toHaveLength(2)
      stopAged()
    } finally {
      vi.useRealTimers()
    }
  })

  it('works where there is no BroadcastChannel', async () => {
    vi.stubGlobal('BroadcastChannel', undefined)
    const here = createClient()
    const session = here.createSession()
    const stop = session.subscribe(() => {})
    await signedIn(here)
    await vi.waitFor(() => expect(session.get().status).toBe('authenticated'))
    stop()
  })
})

describe('size', () => {
  const bundle = (stdin: string, more: BuildOptions = {}): Promise<BuildResult> =>
    build({
      stdin: { contents: stdin, resolveDir: fileURLToPath(new URL('../../src/client', import.meta.url)), loader: 'ts' },
      bundle: true,
      minify: true,
      splitting: true,
      format: 'esm',
      outdir: '/out',
      write: false,
      ...more,
    })

  it('everything but the parts for passkeys and apps is under 4 KB gzipped', async () => {
    const { outputFiles = [] } = await bundle(`export * from './index.ts'`)
    const lazy = outputFiles.filter(({ path }) => /passkey|app-flow/.test(path))
    expect(lazy).toHaveLength(2)
    const entry = outputFiles.find(({ path }) => path.endsWith('/stdin.js'))
    const initial = outputFiles.filter((file) => !lazy.includes(file))
    expect(entry).toBeDefined()
    expect(initial.map(({ text }) => text).join()).not.toContain('navigator.credentials')
    const sizes = initial.map(({ contents }) => gzipSync(contents, { level: 9 }).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(4096)
  })

  it('nothing of Node, of the kernel or of a framework is in it', async () => {
    const { outputFiles = [] } = await bundle(`export * from './index.ts'`, { metafile: true, minify: false })
    for (const { text } of outputFiles) expect(text).not.toMatch(/node:|process\.|jose|require\(/)
  })
})
