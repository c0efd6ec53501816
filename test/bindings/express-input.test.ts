/** What comes over the wire and should not: huge bodies, strange targets and hosts, clients that leave (GHSA-569q). */
import { createAuth } from 'authkernel'
import { expressBinding } from 'authkernel/bindings/express'
import { definePlugin } from 'authkernel/kernel'
import express5 from 'express'
import express4 from 'express4'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { config } from './_auth.ts'
import { ask, raw, serve, signIn, Jar, type TestServer } from './_http.ts'

type App = ReturnType<typeof express5>

let server: TestServer
afterEach(() => server.close())

const form = { 'content-type': 'application/x-www-form-urlencoded' }

for (const [version, express] of [
  ['Express 5', express5],
  ['Express 4', express4 as unknown as typeof express5],
] as const) {
  const start = async (before: (app: App) => unknown = () => {}, options = {}): Promise<TestServer> => {
    const app = express()
    before(app)
    app.use('/auth', createAuth(config(options)).use(streams()).use(expressBinding()).express.handler)
    app.use((_req, res) => void res.status(404).send('the host'))
    return (server = await serve(app))
  }

  describe(`${version}: bodies`, () => {
    it('more than 64 KiB is 413, with a declared length or without, parsed before or not', async () => {
      const body = `username=${'a'.repeat(65_536)}`
      for (const before of [() => {}, (app: App) => app.use(express.urlencoded({ limit: '1mb', extended: true }))]) {
        const { port, close } = await start(before)
        const declared = await ask(port, '/auth/callback/credentials', {
          method: 'POST',
          headers: { ...form, 'content-length': String(body.length) },
          body,
        })
        const chunked = await ask(port, '/auth/callback/credentials', {
          method: 'POST',
          headers: { ...form, 'transfer-encoding': 'chunked' },
          body,
        })
        expect([declared.status, chunked.status]).toEqual([413, 413])
        await close()
      }
      server = await serve(() => {})
    })

    it('a body without end is answered and cut, and the server keeps none of it', async () => {
      const { port } = await start()
      const before = process.memoryUsage().arrayBuffers
      const sent = await endless(port)
      expect(sent.answer).toContain('413')
      // Whatever the sockets on both sides hold, it is far below what would have been sent.
      expect(sent.megabytes).toBeLessThan(64)
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1_048_576)
    })

    it('a connection can be used again after a refused body', async () => {
      const { port } = await start()
      const body = `a=${'b'.repeat(100_000)}`
      const host = `Host: 127.0.0.1:${port}\r\n`
      const post = `POST /auth/callback/credentials HTTP/1.1\r\n${host}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      const text = await raw(port, `${post}GET /auth/session HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)
      expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
    })

    it('repeated and nested fields of extended parsers arrive as they were sent', async () => {
      const { port } = await start((app) => app.use(express.urlencoded({ extended: true })))
      const body = 'a=1&a=2&b%5Bc%5D=3&d=%F0%9F%94%91&e='
      expect((await ask(port, '/auth/echo', { method: 'POST', headers: form, body })).json()).toEqual([
        ['a', '1'],
        ['a', '2'],
        ['b[c]', '3'],
        ['d', '🔑'],
        ['e', ''],
      ])
    })

    it('a client that leaves in the middle of its body breaks nothing', async () => {
      const { port } = await start()
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write(
            `POST /auth/callback/credentials HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"a":`,
            () => socket.resetAndDestroy(),
          )
        })
        socket.on('error', () => {}).on('close', () => resolve())
      })
      expect((await signIn(port, '/auth', new Jar())).status).toBe(302)
    })
  })

  describe(`${version}: streams`, () => {
    it('a body goes out part by part', async () => {
      const { port } = await start()
      const first = await new Promise<string>((resolve, reject) => {
        const req = httpRequest({ host: '127.0.0.1', port, path: '/auth/ticks' }, (res) => {
          res.setEncoding('utf8').once('data', (text: string) => {
            resolve(text)
            req.destroy()
          })
        })
        req.on('error', reject).end()
      })
      expect(first).toBe('tick')
    })

    it('a client that leaves ends the source', async () => {
      const { port } = await start()
      const left = new Promise<unknown>((resolve) => (onCancel = resolve))
      const req = httpRequest({ host: '127.0.0.1', port, path: '/auth/ticks' }, (res) => res.once('data', () => req.destroy()))
      req.on('error', () => {}).end()
      await left
      expect((await ask(port, '/auth/session')).status).toBe(200)
    })

    it('a large body arrives whole', async () => {
      const { port } = await start()
      expect((await ask(port, '/auth/large')).text).toBe('0123456789abcdef'.repeat(262_144))
    })

    it('a source that fails half way cuts the connection: half a body must not look whole', async () => {
      const { port } = await start((app) => app.set('env', 'test'))
      await expect(ask(port, '/auth/broken')).rejects.toThrow(/aborted|hang up/)
      expect((await ask(port, '/auth/session')).status).toBe(200)
    })
  })

  describe(`${version}: targets and hosts`, () => {
    const line = (port: number, target: string, host = `127.0.0.1:${port}`, more = ''): Promise<string> =>
      raw(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`)

    it('an absolute target does not become our origin', async () => {
      const { port, origin } = await start()
      const text = await line(port, 'http://evil.example/auth/providers')
      expect(text).toContain(`${origin}/auth/callback/credentials`)
      expect(text).not.toContain('evil.example')
    })

    it('strange targets are answered with 4xx, unknown providers with the error page', async () => {
      const { port } = await start((app) =>
        app.use((req, _res, next) => (req.url.startsWith('//') ? (req.url = req.url.slice(1)) && next() : next())),
      )
      for (const target of [
        '//evil.example/auth/session',
        '///',
        '/auth//',
        '/auth',
        '/auth/',
        '/auth/../auth',
        '/auth/%',
        '/auth/%2e%2e/%2f',
        '/auth/session/%00',
        'http://',
        'http://[',
        '/\\evil.example/auth/session',
        '?',
        '/auth?x=%zz',
      ]) {
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(await line(port, target))?.[1])
        expect([target, status >= 400 && status < 500]).toEqual([target, true])
      }
      // D61: what is no text in UTF-8 has no canonical form. A provider that does not exist ends on the error page.
      expect(await line(port, '/auth/callback/%E0%A4%A')).toMatch(/^HTTP\/1\.1 400 /)
      expect(await line(port, '/auth/callback/%E0%A4%B9')).toMatch(/^HTTP\/1\.1 302 .*error=Configuration/s)
      expect(await raw(port, `OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4/)
    })

    it('a Host header that is none is 400', async () => {
      const { port } = await start()
      for (const host of [
        'evil.example/path',
        'user@evil.example',
        'a b',
        'evil.example#',
        'evil.example?x',
        '[::1',
        'evil.example:99999x',
        '<script>',
        'a,b',
        '%41.example',
        'evil\\example',
        '',
      ]) {
        expect([host, (await line(port, '/auth/session', host)).slice(0, 12)]).toEqual([host, 'HTTP/1.1 400'])
      }
      for (const host of ['[::1]:3000', 'app.example', 'app.example:443', 'under_score.example', '127.0.0.1']) {
        expect([host, (await line(port, '/auth/session', host)).slice(0, 12)]).toEqual([host, 'HTTP/1.1 200'])
      }
    })

    it('a forwarded host that is none is 400 where proxies are trusted', async () => {
      const { port } = await start((app) => app.set('trust proxy', true))
      expect(await line(port, '/auth/session', undefined, 'X-Forwarded-Host: evil.example/x\r\n')).toMatch(/^HTTP\/1\.1 400/)
      expect(await line(port, '/auth/session', undefined, 'X-Forwarded-Proto: javascript\r\n')).toMatch(/^HTTP\/1\.1 400/)
    })

    it('with an origin, the Host header names nothing', async () => {
      const { port } = await start(() => {}, { origin: 'https://app.example' })
      const text = await line(port, '/auth/providers', 'evil.example')
      expect(text).toContain('https://app.example/auth/callback/credentials')
      expect(text).not.toContain('evil.example')
    })

    it('GHSA-569q: junk in the first request changes nothing for the next, nor the configuration', async () => {
      const options = config()
      const copy = { ...options }
      const app = express().set('trust proxy', true)
      const { handler } = createAuth(options).use(expressBinding()).express
      app.use('/auth', handler).use('/:tenant/auth', handler)
      server = await serve(app)
      const junk = 'X-Forwarded-Host: evil.example\r\nX-Forwarded-Prefix: /junk\r\nX-Forwarded-Proto: https\r\n'
      await line(server.port, '/evil/auth/providers', undefined, junk)
      const clean = await line(server.port, '/auth/providers')
      expect(clean).toContain(`${server.origin}/auth/callback/credentials`)
      expect(options).toEqual(copy)
    })
  })
}

let onCancel: (reason: unknown) => void = () => {}

/** Routes of a third party that stream and echo. */
function streams(): ReturnType<typeof definePlugin> {
  const text = new TextEncoder()
  const part = text.encode('0123456789abcdef'.repeat(4_096))
  return definePlugin({
    name: 'streams',
    setup(kernel) {
      kernel.route({ method: 'POST', path: '/echo', csrf: 'crossSite', handler: async (ctx) => Response.json([...(await ctx.form())]) })
      kernel.route({
        method: 'GET',
        path: '/ticks',
        handler: () =>
          new Response(
            new ReadableStream({ start: (controller) => controller.enqueue(text.encode('tick')), cancel: (reason) => onCancel(reason) }),
          ),
      })
      kernel.route({
        method: 'GET',
        path: '/large',
        handler() {
          let left = 64
          return new Response(new ReadableStream({ pull: (controller) => (left-- > 0 ? controller.enqueue(part) : controller.close()) }))
        },
      })
      kernel.route({
        method: 'GET',
        path: '/broken',
        handler() {
          let first = true
          return new Response(
            new ReadableStream({
              pull(controller) {
                if (!first) throw new Error('the source broke')
                first = false
                controller.enqueue(text.encode('half'))
              },
            }),
          )
        },
      })
    },
  })
}

/** Sends until the server cuts the connection, or 256 MB. */
function endless(port: number): Promise<{ answer: string; megabytes: number }> {
  return new Promise((resolve) => {
    let answer = ''
    let sent = 0
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST /auth/callback/credentials HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      )
      pump()
    })
    const pump = (): void => {
      while (!socket.destroyed && sent < 256 * 1_048_576) {
        sent += chunk.length
        if (!socket.write(chunk)) return void socket.once('drain', pump)
      }
      socket.end()
    }
    socket.on('data', (data) => (answer += String(data))).on('error', () => {})
    socket.on('close', () => resolve({ answer, megabytes: sent / 1_048_576 }))
  })
}
