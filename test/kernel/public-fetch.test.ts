/** The service `publicFetch` against a real https server: which addresses are called, what is taken of an answer, and each reason. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createAuth } from 'authkernel'
import { NetworkError, type PublicFetch } from 'authkernel/kernel'
import { createPublicFetch } from 'authkernel/kernel/protocols'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'

const seen: string[] = []
let server: Server
let ca: string
let port: number

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-public-fetch-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=idp.example', '-addext', 'subjectAltName=DNS:idp.example']
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert, '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' })
  ca = readFileSync(cert, 'utf8')
  server = createServer({ key: readFileSync(key), cert: ca }, (request, response) => {
    seen.push(`${request.headers.host?.split(':')[0]} ${request.url} ${request.headers.accept}`)
    const { pathname } = new URL(request.url ?? '/', 'https://idp.example')
    if (pathname === '/redirect') response.writeHead(302, { location: 'https://127.0.0.1/' }).end()
    else if (pathname === '/missing') response.writeHead(404).end('no')
    else if (pathname === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(10_000_000)))
    else if (pathname === '/silent') request.resume()
    else if (pathname === '/large') response.writeHead(200).end(Buffer.alloc(70_000))
    else if (pathname === '/cut') response.writeHead(200, { 'content-length': '10' }).write('abc', () => response.destroy())
    else if (pathname === '/token') {
      let body = ''
      request.on('data', (part: Buffer) => void (body += part.toString()))
      request.on('end', () => {
        const headers = { 'content-type': 'application/json', 'www-authenticate': 'Basic', 'set-cookie': 'a=b' }
        response.writeHead(401, headers).end(`${request.method} ${body}`)
      })
    } else response.writeHead(200, { 'content-type': 'Text/XML; charset=utf-8' }).end('<metadata/>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  rmSync(folder, { recursive: true })
})
afterAll(() => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))))

/** The host of the server is permitted, although it is this machine. */
const open = (addresses: readonly string[] = ['127.0.0.1']): PublicFetch =>
  createPublicFetch({ allow: ['127.0.0.1'], ca, lookup: () => addresses })
const at = (path = '/'): string => `https://idp.example:${port}${path}`
const codeOf = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof NetworkError ? error.code : String(error)
}

describe('what is taken', () => {
  it('a document of the type that the caller wants, by the name of the host', async () => {
    const { content, headers, status } = await open().get(at('/x?y=1'), { types: ['text/xml'] })
    expect([status, headers.get('content-type'), new TextDecoder().decode(content)]).toEqual([200, 'text/xml', '<metadata/>'])
    expect(seen.at(-1)).toBe('idp.example /x?y=1 text/xml')
  })

  it('an answer of any status to a body that is sent, with the headers that protocols read', async () => {
    const { content, headers, status } = await open().send(at('/token'), { body: 'grant_type=x' })
    expect([status, new TextDecoder().decode(content)]).toEqual([401, 'POST grant_type=x'])
    expect([...headers.keys()].sort()).toEqual(['content-type', 'www-authenticate'])
    expect(await codeOf(open().send(at('/redirect'), { body: '' }))).toBe('REDIRECT')
    expect(await codeOf(createPublicFetch({ ca, lookup: () => ['127.0.0.1'] }).send(at('/token'), { body: 'x' }))).toBe('PRIVATE')
  })

  it.each([
    ['a redirect', '/redirect', {}, 'REDIRECT'],
    ['another status', '/missing', {}, 'STATUS'],
    ['another type', '/', { types: ['application/json'] }, 'TYPE'],
    ['a compressed answer', '/gzip', {}, 'TYPE'],
    ['more than 64 KB', '/large', {}, 'TOO_LARGE'],
    ['more than the caller wants', '/', { limit: 5 }, 'TOO_LARGE'],
    ['an answer that breaks off', '/cut', {}, 'UNREACHABLE'],
    ['no answer in time', '/silent', { deadline: 50 }, 'TIMEOUT'],
    ['a request that was given up', '/', { signal: AbortSignal.abort() }, 'TIMEOUT'],
  ])('refuses %s', async (_what, path, request, code) => {
    expect(await codeOf(open().get(at(path), request))).toBe(code)
  })

  it('refuses a certificate of another authority or another name', async () => {
    const noCa = createPublicFetch({ allow: ['127.0.0.1'], lookup: () => ['127.0.0.1'] })
    expect(await codeOf(noCa.get(at()))).toBe('UNREACHABLE')
    expect(await codeOf(open().get(at().replace('idp.example', 'other.example')))).toBe('UNREACHABLE')
  })
})

describe('which addresses are called', () => {
  const inside = [
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.2',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
  ]
  it.each(inside)('not %s, neither by a name nor as it is', async (address) => {
    const before = seen.length
    expect(await codeOf(createPublicFetch({ lookup: () => [address] }).get('https://idp.example/'))).toBe('PRIVATE')
    const literal = address.includes(':') ? `[${address}]` : address
    expect(await codeOf(createPublicFetch().get(`https://${literal}:${port}/`))).toBe('PRIVATE')
    expect(seen.length).toBe(before)
  })

  it.each(['https://2130706433/', 'https://0x7f.1/', 'https://127.1/', 'https://localhost/', 'https://[::ffff:7f00:1]/'])(
    'not %s, another spelling of this machine',
    async (url) => expect(await codeOf(createPublicFetch().get(url))).toBe('PRIVATE'),
  )

  it('not a public one where another of the same name is private', async () => {
    expect(await codeOf(open(['93.184.216.34', '10.0.0.1']).get(at()))).toBe('PRIVATE')
  })

  it('the one that was checked, also where the name answers otherwise a moment later', async () => {
    let asked = 0
    const rebinding = createPublicFetch({ allow: ['127.0.0.1'], ca, lookup: () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']) })
    expect((await rebinding.get(at())).status).toBe(200)
    expect(asked).toBe(1)
  })

  it.each([
    ['http', 'http://idp.example/', 'INSECURE'],
    ['file', 'file:///etc/passwd', 'INSECURE'],
    ['no URL', 'idp.example', 'INSECURE'],
    ['a password in it', 'https://a:b@idp.example/', 'INSECURE'],
  ])('not %s', async (_what, url, code) => expect(await codeOf(open().get(url))).toBe(code))

  it('none where the name is unknown, or the look-up answers no address', async () => {
    const unknown = (): never => {
      throw Object.assign(new Error('queryA ENOTFOUND secret'), { code: 'ENOTFOUND' })
    }
    await expect(createPublicFetch({ lookup: unknown }).get(at())).rejects.toThrow('The name idp.example was not found: ENOTFOUND.')
    expect(await codeOf(open([]).get(at()))).toBe('UNREACHABLE')
    expect(await codeOf(open(['localhost']).get(at()))).toBe('UNREACHABLE')
  })

  it('a wrong network in `allow` is named', async () => {
    expect(await codeOf(createPublicFetch({ allow: ['10.0.0.0/40'] }).get(at()))).toContain('"10.0.0.0/40" in `allow`')
  })
})

it('says what a runtime without node: lacks', async () => {
  const { getBuiltinModule } = process
  process.getBuiltinModule = (() => undefined) as never
  try {
    expect(await codeOf(open().get(at()))).toBe('UNSUPPORTED')
  } finally {
    process.getBuiltinModule = getBuiltinModule
  }
})

it('is a service of the kernel, which a plugin may replace', async () => {
  const read = (auth: { document(url: string): Promise<unknown> }): Promise<unknown> => auth.document('https://127.0.0.1/')
  const reader = {
    name: 'reader',
    setup: (kernel: import('authkernel/kernel').Kernel) => ({ document: (url: string) => kernel.service('publicFetch').get(url) }),
  }
  expect(await codeOf(read(createAuth(baseConfig({ providers: [] })).use(reader)))).toBe('PRIVATE')
  const own = { status: 200, statusText: '', headers: new Headers(), content: new Uint8Array() }
  const replaced = createAuth(baseConfig({ providers: [] }))
    .use(reader)
    .use({ name: 'own', setup: (kernel) => kernel.provide('publicFetch', { get: async () => own, send: async () => own }) })
  expect(await read(replaced)).toBe(own)
})
