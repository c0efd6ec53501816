/** Calls to foreign servers (src/runtime/network.ts). */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { boundedFetch, isLoopback, isSecureUrl, type NetworkError, type NetworkLimits } from 'authkernel/kernel'

let listener: RequestListener = (_request, response) => response.end()
let server: Server
let origin = ''
beforeAll(async () => {
  server = createServer((request, response) => listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
})

const limits = (more: Partial<NetworkLimits> = {}): typeof fetch => boundedFetch({ fetch, deadline: 5_000, limit: 1_000, ...more })
const failure = async (call: Promise<Response>): Promise<NetworkError> =>
  call.then(
    () => {
      throw new Error('answered')
    },
    (error: NetworkError) => error,
  )

describe('boundedFetch', () => {
  it('gives back status, headers and body', async () => {
    listener = (request, response) =>
      response.writeHead(201, { 'x-method': request.method, 'content-type': ' Text/Plain ; charset=utf-8' }).end('hello')
    const response = await limits()(`${origin}/a`, { method: 'POST', body: 'x' })
    expect([response.status, response.headers.get('x-method'), response.headers.get('content-type'), await response.text()]).toEqual([
      201,
      'POST',
      'text/plain; charset=utf-8',
      'hello',
    ])
  })
  it('decompresses and says so', async () => {
    listener = (_request, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(900)))
    const response = await limits()(origin)
    expect((await response.text()).length).toBe(900)
    expect(response.headers.get('content-encoding')).toBeNull()
  })
  it('answers without a body', async () => {
    listener = (_request, response) => response.writeHead(204).end()
    expect((await limits()(origin)).status).toBe(204)
  })
  it('D9: refuses plain http beyond loopback before anything is sent, unless permitted', async () => {
    const never: typeof fetch = () => Promise.reject(new Error('sent'))
    for (const url of ['http://op.example/token?code=secret', 'ftp://op.example', 'file:///etc/passwd', 'data:,x']) {
      const error = await failure(limits({ fetch: never })(url))
      expect(error.code).toBe('INSECURE')
      expect(error.message).not.toContain('secret')
    }
    const permitted = limits({ insecure: true, fetch: () => Promise.resolve(new Response('ok')) })
    expect(await (await permitted('http://op.example')).text()).toBe('ok')
    expect((await failure(permitted('ftp://op.example'))).code).toBe('INSECURE')
  })
  it.each([301, 302, 303, 307, 308])('D10: does not follow a %i', async (status) => {
    let calls = 0
    listener = (_request, response) => {
      calls++
      response.writeHead(status, { location: '/elsewhere' }).end()
    }
    expect((await failure(limits()(origin, { redirect: 'follow' }))).code).toBe('REDIRECT')
    expect(calls).toBe(1)
  })
  it('D10: refuses a body beyond the limit, announced or not, before or after decompression', async () => {
    for (const write of [
      ((_request, response) => response.end('x'.repeat(1_001))) satisfies RequestListener,
      ((_request, response) => (response.write('x'.repeat(600)), response.end('x'.repeat(600)))) satisfies RequestListener,
      ((_request, response) =>
        response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(1_000_000)))) satisfies RequestListener,
      ((_request, response) => response.writeHead(200, { 'content-length': '1001' }).flushHeaders()) satisfies RequestListener,
    ]) {
      listener = write
      expect((await failure(limits()(origin))).code).toBe('TOO_LARGE')
    }
    listener = (_request, response) => response.end('x'.repeat(1_000))
    expect((await (await limits()(origin)).text()).length).toBe(1_000)
  })
  it('D31: one deadline for all of the answer, for a silent server and for a slow one', async () => {
    for (const write of [
      (() => {}) satisfies RequestListener,
      ((_request, response) => response.writeHead(200).flushHeaders()) satisfies RequestListener,
      ((_request, response) => {
        const timer = setInterval(() => response.write('x'), 10)
        response.on('close', () => clearInterval(timer))
      }) satisfies RequestListener,
    ]) {
      listener = write
      const error = await failure(limits({ deadline: 100 })(`${origin}/slow?token=secret`))
      expect([error.code, error.message]).toEqual(['TIMEOUT', `${origin}/slow did not answer within 100 ms.`])
    }
  })
  it('D31: a fetch that ignores its signal delays no request', async () => {
    const deaf: typeof fetch = () => new Promise(() => {})
    expect((await failure(limits({ fetch: deaf, deadline: 50 })(origin))).code).toBe('TIMEOUT')
  })
  it('ends with the request it was made for', async () => {
    listener = () => {}
    const controller = new AbortController()
    const call = failure(limits({ signal: controller.signal })(origin))
    controller.abort()
    expect((await call).code).toBe('TIMEOUT')
    expect((await failure(limits({ signal: controller.signal })(origin))).code).toBe('TIMEOUT')
    expect((await failure(limits()(origin, { signal: AbortSignal.abort() }))).code).toBe('TIMEOUT')
  })
  it('says why no server answered, without the query', async () => {
    listener = (_request, response) => response.destroy()
    const error = await failure(limits()(`${origin}/token?code=secret`))
    expect(error.code).toBe('UNREACHABLE')
    expect(error.message).toMatch(/\/token could not be reached: (?:UND_ERR_SOCKET|ECONNRESET|the connection failed)\.$/)
    const odd: typeof fetch = () => Promise.reject(Object.assign(new TypeError('failed https://op.example/?code=secret')))
    expect((await failure(limits({ fetch: odd })(origin))).message).toMatch(/could not be reached: the connection failed\.$/)
  })
  it('a body that breaks off', async () => {
    listener = (_request, response) => {
      response.writeHead(200, { 'content-length': '500' })
      response.write('x', () => response.destroy())
    }
    expect((await failure(limits()(origin))).message).toMatch(/broke off its answer/)
  })
})

describe('hosts', () => {
  it('isLoopback', () => {
    for (const host of ['localhost', 'a.localhost', '127.0.0.1', '127.255.0.9', '[::1]']) expect(isLoopback(host), host).toBe(true)
    for (const host of ['localhost.example', 'notlocalhost', '127.0.0.1.example', '128.0.0.1', '[::2]', '0.0.0.0', ''])
      expect(isLoopback(host), host).toBe(false)
  })
  it('isSecureUrl', () => {
    expect(isSecureUrl(new URL('https://a.example'))).toBe(true)
    expect(isSecureUrl(new URL('http://a.example'))).toBe(false)
    expect(isSecureUrl(new URL('http://a.example'), true)).toBe(true)
    expect(isSecureUrl(new URL('http://localhost'))).toBe(true)
    expect(isSecureUrl(new URL('ws://localhost'), true)).toBe(false)
  })
})
