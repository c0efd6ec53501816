/** What every binding for Node servers and for plain fetch must do, whatever its framework looks like. */
import type { AuthConfig } from 'authkernel'
import { type Context, definePlugin, type Plugin } from 'authkernel/kernel'
import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { ask, Jar, raw, signIn, type TestServer } from './_http.ts'

/**
 * Starts a host with the routes of authkernel below `/auth`, and four of its own: `GET /page` (the session as JSON), `GET /guarded` (the same for
 * people with a session), `POST /login` (signs in with the form's fields, then `/in`), `POST /logout` (then `/out`). Others: 404 "the host".
 */
export type StartHost = (options?: AuthConfig) => Promise<TestServer>

const form = 'application/x-www-form-urlencoded'

/** `refusal` and `outage`: what the framework makes of errors with a status of 403 and 503; those without error pages give 500. */
export function testFamily(name: string, start: StartHost, [refusal, outage]: readonly [number, number] = [403, 503]): void {
  let server: TestServer
  const begin = async (options?: AuthConfig): Promise<TestServer> => (server = await start(options))

  describe(name, () => {
    afterEach(() => server.close())

    it('answers the routes of authkernel and leaves the others to the host', async () => {
      const { port, origin } = await begin()
      for (const kind of ['form', 'json'] as const) {
        const jar = new Jar()
        expect((await signIn(port, '/auth', jar, kind)).headers.location).toBe(`${origin}/after`)
        expect((await ask(port, '/auth/session', { headers: { cookie: jar.header } })).json().user?.name).toBe('Ada')
      }
      const stranger = await ask(port, '/elsewhere')
      expect([stranger.status, stranger.text]).toEqual([404, 'the host'])
      expect((await ask(port, '/authors')).text).toBe('the host')
    })

    it('several Set-Cookie headers survive', async () => {
      const { port } = await begin()
      const { cookies, headers } = await ask(port, '/auth/csrf?callbackUrl=/there')
      expect(cookies).toHaveLength(2)
      expect(headers['content-type']).toBe('application/json')
    })

    it('the session is read without a round trip, and a refreshed cookie goes out with the page (D51)', async () => {
      const { port } = await begin({ session: { updateAge: 0 } })
      expect((await ask(port, '/page')).text).toBe('null')
      const jar = new Jar()
      await signIn(port, '/auth', jar)
      const page = await ask(port, '/page', { headers: { cookie: jar.header } })
      expect([page.json().user?.name, page.cookies.map((cookie) => cookie.split('=')[0])]).toEqual(['Ada', ['authkernel.session-token']])
    })

    it('the guard sends browsers to the sign-in page and back, and answers programs 401 JSON', async () => {
      const { port, origin } = await begin()
      const browser = await ask(port, '/guarded?a=1', { headers: { accept: 'text/html' } })
      expect([browser.status, browser.headers.location]).toEqual([
        302,
        `${origin}/auth/signin?callbackUrl=${encodeURIComponent(`${origin}/guarded?a=1`)}`,
      ])
      const program = await ask(port, '/guarded', { headers: { accept: 'application/json' } })
      expect([program.status, program.json()]).toEqual([401, { error: 'Unauthorized' }])
      const jar = new Jar()
      await signIn(port, '/auth', jar)
      expect((await ask(port, '/guarded', { headers: { cookie: jar.header } })).json().user?.name).toBe('Ada')
    })

    it('signs in and out from server code, for forms of its own site only (D30)', async () => {
      const { port, origin } = await begin()
      const post = (path: string, headers: Record<string, string>, password = 'right') =>
        ask(port, path, { method: 'POST', headers: { 'content-type': form, ...headers }, body: `username=ada&password=${password}` })
      const jar = new Jar()
      const signedIn = await post('/login', { origin })
      jar.take(signedIn)
      expect([signedIn.status, signedIn.headers.location]).toEqual([302, `${origin}/in`])
      expect((await ask(port, '/page', { headers: { cookie: jar.header } })).json().user?.name).toBe('Ada')
      const signedOut = await post('/logout', { origin, cookie: jar.header })
      jar.take(signedOut)
      expect([signedOut.headers.location, jar.values.has('authkernel.session-token')]).toEqual([`${origin}/out`, false])

      for (const [refused, status] of [
        [await post('/login', { origin: 'https://evil.example' }), refusal],
        [await post('/login', {}), refusal],
        [await post('/login', { origin }, 'wrong'), refusal === 403 ? 401 : refusal],
      ] as const) {
        expect([refused.status, refused.cookies]).toEqual([status, []])
      }
    })

    it('bad input is 4xx: malformed and oversized bodies, other methods, hosts that are none', async () => {
      const { port } = await begin()
      const post = (body: string, type = 'application/json') =>
        ask(port, '/auth/callback/credentials', { method: 'POST', headers: { 'content-type': type }, body })
      const malformed = await post('{')
      expect([malformed.status, malformed.text]).toEqual([400, '"Bad request."'])
      expect((await post(`a=${'b'.repeat(70_000)}`, form)).status).toBe(413)
      expect((await ask(port, '/auth/session', { method: 'DELETE' })).status).toBe(400)
      expect(await raw(port, 'GET /auth/session HTTP/1.1\r\nHost: user@evil.example/x\r\nConnection: close\r\n\r\n')).toMatch(
        /^HTTP\/1\.1 400/,
      )
      expect((await ask(port, '/auth/session')).status).toBe(200)
    })

    it('a store that is down is 503 on /session', async () => {
      const adapter = {
        getSessionAndUser: () => Promise.reject(new Error('down')),
        createUser: none,
        getUser: none,
        getUserByEmail: none,
        getUserByAccount: none,
      }
      const more = { updateUser: none, linkAccount: none, createSession: none, updateSession: none, deleteSession: none }
      const { port } = await begin({ adapter: { ...adapter, ...more } as never, session: { strategy: 'database' } })
      expect((await ask(port, '/auth/session', { headers: { cookie: 'authkernel.session-token=x' } })).status).toBe(503)
      expect((await ask(port, '/page', { headers: { cookie: 'authkernel.session-token=x' } })).status).toBe(outage)
    })

    it('a body streams, and the address of the client is known', async () => {
      const { port, origin } = await begin()
      expect((await ask(port, '/auth/parts')).text).toBe('0123456789'.repeat(50_000))
      expect((await ask(port, '/auth/probe')).json()).toEqual({ url: `${origin}/auth/probe`, address: '127.0.0.1' })
    })
  })
}

const none = (): Promise<never> => Promise.reject(new Error('down'))

/** Routes of a third party: what the kernel knows of a request, and a stream. */
export const probe: Plugin = definePlugin({
  name: 'probe',
  setup(kernel) {
    kernel.route({
      method: 'GET',
      path: '/probe',
      handler: ({ url, clientAddress }: Context) => Response.json({ url: url.href, address: clientAddress }),
    })
    kernel.route({
      method: 'GET',
      path: '/parts',
      handler() {
        const part = new TextEncoder().encode('0123456789'.repeat(1_000))
        let left = 50
        return new Response(new ReadableStream({ pull: (controller) => (left-- > 0 ? controller.enqueue(part) : controller.close()) }))
      },
    })
  },
})

/** Fields of a form, for hosts without a parser. */
export async function fieldsOf(req: IncomingMessage): Promise<Record<string, string>> {
  let text = ''
  for await (const chunk of req) text += String(chunk)
  return Object.fromEntries(new URLSearchParams(text))
}
