/** Token endpoints that lie, fail or stall (SECURITY 2.2, RFC 6749 section 5). */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer, Script } from '../_op/hostile.ts'
import { type Case, expectRefused, refuses, useOp } from '../_op/journey.ts'

const op = useOp()
const members = (change: object): Case => ({ tokens: (good) => ({ ...good, ...change }) })
const without = (name: string): Case => ({ tokens: (good) => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name)) })
const answer = (make: (good: object) => Answer): Case => ({ token: make })
const typed = (type: string): Case => answer((body) => ({ headers: { 'content-type': type }, body: JSON.stringify(body) }))
const status = (code: number, body: Answer['body'] = {}): Case => answer(() => ({ status: code, body }))
const quick = { deadlines: { network: 300 } }

describe('members', () => {
  const wrong = ['', 1, true, [], {}, ['at']]
  refuses(op, {
    'access_token missing': without('access_token'),
    'access_token null': members({ access_token: null }),
    ...Object.fromEntries(wrong.map((value) => [`access_token ${JSON.stringify(value)}`, members({ access_token: value })])),
    'access_token with a line break': members({ access_token: 'a\r\nx-admin: 1' }),
    'access_token with NUL': members({ access_token: 'a\u0000' }),
    'access_token of 100 kB': members({ access_token: 'a'.repeat(100_000) }),
    'token_type missing': without('token_type'),
    'token_type null': members({ token_type: null }),
    ...Object.fromEntries(
      ['', 1, [], {}, 'mac', 'dpop', 'DPoP', 'N_A', 'Bearer ', 'bearer,mac', '__proto__', 'constructor', 'toString'].map((value) => [
        `token_type ${JSON.stringify(value)}`,
        members({ token_type: value }),
      ]),
    ),
    ...Object.fromEntries(
      ['', 'soon', '1e400', '3600abc', '-1', 'NaN', ' ', -1, -3600, true, [], {}, [3600], 1e300].map((value) => [
        `expires_in ${JSON.stringify(value)}`,
        members({ expires_in: value }),
      ]),
    ),
    ...Object.fromEntries(
      ['', 1, true, [], {}].map((value) => [`refresh_token ${JSON.stringify(value)}`, members({ refresh_token: value })]),
    ),
    ...Object.fromEntries([1, true, ['openid'], {}].map((value) => [`scope ${JSON.stringify(value)}`, members({ scope: value })])),
    'error beside good tokens': members({ error: 'invalid_grant' }),
  })
})

describe('answers', () => {
  refuses(op, {
    'status 200 with an error': answer(() => ({ body: { error: 'invalid_grant', error_description: 'no' } })),
    'status 200 with an error that echoes the secret': answer(() => ({
      body: { error: 'invalid_client', error_description: `secret ${op().clientSecret} is wrong` },
    })),
    'status 400 with an error': status(400, { error: 'invalid_grant' }),
    'status 400 with an error that echoes the secret': {
      token: () => ({ status: 400, body: { error: op().clientSecret, error_description: `bad ${op().clientSecret}` } }),
    },
    'status 400 with an error that echoes code and verifier': {
      token: (_good, { token }) => ({ status: 400, body: { error: 'invalid_grant', error_description: token.toString() } }),
    },
    'status 400 with an error of 5 kB of HTML': status(400, { error: 'x', error_description: '<script>alert(1)</script>'.repeat(200) }),
    'status 400 with an error that forges log lines': status(400, { error: 'x', error_description: 'a\n[auth][error] forged\u001B[2J' }),
    'status 400 with an error that is not a string': status(400, { error: { code: 1 } }),
    'status 400 with good tokens': answer((body) => ({ status: 400, body })),
    'status 401 with a challenge': answer(() => ({
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="op"' },
      body: { error: 'invalid_client' },
    })),
    'status 401 with good tokens': answer((body) => ({ status: 401, body })),
    ...Object.fromEntries(
      [201, 202, 203, 206, 403, 404, 405, 415, 429, 500, 502, 503, 504].map((code) => [
        `status ${code} with good tokens`,
        answer((body) => ({ status: code, body })),
      ]),
    ),
    'status 204': answer(() => ({ raw: (response) => response.writeHead(204).end() })),
    'status 500 HTML': answer(() => ({ status: 500, headers: { 'content-type': 'text/html' }, body: '<h1>Oops</h1>' })),
    'status 200 HTML': answer(() => ({ headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' })),
    'text/html over good JSON': typed('text/html'),
    'text/plain over good JSON': typed('text/plain'),
    'application/octet-stream over good JSON': typed('application/octet-stream'),
    'form encoding': answer((body) => ({
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(body as Record<string, string>).toString(),
    })),
    'two content types': typed('application/json, text/html'),
    'no content type': answer((body) => ({ raw: (response) => response.writeHead(200).end(JSON.stringify(body)) })),
    'empty body': answer(() => ({ body: '' })),
    'JSON truncated': answer((body) => ({ body: JSON.stringify(body).slice(0, -20) })),
    'JSON with rubbish behind': answer((body) => ({ body: `${JSON.stringify(body)}}` })),
    JSONP: answer((body) => ({ body: `callback(${JSON.stringify(body)})` })),
    'JSON array': answer((body) => ({ body: JSON.stringify([body]) })),
    'JSON string': answer((body) => ({ body: JSON.stringify(JSON.stringify(body)) })),
    'JSON null': answer(() => ({ body: 'null' })),
    'JSON number': answer(() => ({ body: '1' })),
    'JSON true': answer(() => ({ body: 'true' })),
    'JSON object without members': answer(() => ({ body: '{}' })),
    'UTF-16': answer((body) => ({ body: Buffer.from(`\uFEFF${JSON.stringify(body)}`, 'utf16le') })),
    'bytes that are not UTF-8': answer((body) => ({
      body: Buffer.concat([Buffer.from(JSON.stringify(body).slice(0, -1)), Buffer.from(',"x":"\xFF"}', 'latin1')]),
    })),
    'nested 100,000 deep': answer((body) => ({
      body: `${JSON.stringify(body).slice(0, -1)},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    })),
    'tokens inside __proto__': answer((body) => ({ body: `{"__proto__":${JSON.stringify(body)}}` })),
  })
})

describe('redirects', () => {
  let elsewhere: Server
  const seen: string[] = []
  beforeAll(async () => {
    elsewhere = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`)
      response.end('{}')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => new Promise((resolve) => elsewhere.close(resolve)))

  it.each([301, 302, 303, 307, 308])('refuses: status %i, and sends the secret nowhere else', async (code) => {
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/token`
    await expectRefused(op(), { token: () => ({ status: code, headers: { location } }) })
    expect(seen).toEqual([])
  })
  refuses(op, {
    'status 302 to itself': answer(() => ({ status: 302, headers: { location: '/token' } })),
    'status 304': answer(() => ({ raw: (response) => response.writeHead(304).end() })),
    'status 300 without a location': status(300),
  })
})

describe('transport', () => {
  const raw = (write: NonNullable<Answer['raw']>, config: Case['config'] = {}): Case => ({ config, token: () => ({ raw: write }) })
  const bomb = (encoding: string, body: Buffer): Script => ({ token: () => ({ headers: { 'content-encoding': encoding }, body }) })
  const zeros = Buffer.from(`{"access_token":"${'0'.repeat(64 * 1024 * 1024)}"}`)

  refuses(op, {
    'connection closed': raw((response) => response.destroy()),
    'connection reset in the middle': raw((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"access_token":')
      setImmediate(() => response.destroy())
    }),
    'no answer at all': raw(() => {}, quick),
    'headers and no body': raw((response) => response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders(), quick),
    'one byte now and then': raw((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    }, quick),
    'a body without end': raw((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = ' '.repeat(65_536)
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }),
    'two megabytes': answer((body) => ({ body: { ...body, pad: 'x'.repeat(2_000_000) } })),
    'two megabytes announced': raw((response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '2000000' }).flushHeaders(),
    ),
    'a gzip bomb': bomb('gzip', gzipSync(zeros)),
    'a deflate bomb': bomb('deflate', deflateSync(zeros)),
    'gzip in gzip': bomb('gzip, gzip', gzipSync(gzipSync(zeros))),
    'gzip announced, not delivered': bomb('gzip', Buffer.from('{}')),
    'rubbish instead of HTTP': raw((response) => response.socket?.end('hello\r\n\r\n')),
  })
})
