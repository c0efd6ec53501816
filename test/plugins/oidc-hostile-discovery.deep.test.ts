/** Discovery documents that must not be followed (OpenID Connect Discovery 4.3, D9, SSRF). */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer, Script } from '../_op/hostile.ts'
import { accepts, type Case, expectRefused, refuses, useOp } from '../_op/journey.ts'

const op = useOp()
const members = (change: object): Script => ({ discovery: (document) => ({ ...document, ...change }) })
const without = (...names: string[]): Script => ({
  discovery: (document) => Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name))),
})
const answer = (value: Answer): Script => ({ discovery: () => value })
const good = (): object => op().discovery()

describe('issuer', () => {
  refuses(op, {
    missing: without('issuer'),
    ...Object.fromEntries(
      ['https://evil.example', '', 'not a url', null, 1, [], {}].map((issuer) => [JSON.stringify(issuer), members({ issuer })]),
    ),
    'an array with the right one': { discovery: (document) => ({ ...document, issuer: [document['issuer']] }) },
    'with a path': { discovery: (document) => ({ ...document, issuer: `${String(document['issuer'])}/tenant` }) },
    'with https': { discovery: (document) => ({ ...document, issuer: String(document['issuer']).replace('http:', 'https:') }) },
    'with a username': { discovery: (document) => ({ ...document, issuer: String(document['issuer']).replace('http://', 'http://a@') }) },
    'with a query': { discovery: (document) => ({ ...document, issuer: `${String(document['issuer'])}/?a=b` }) },
    'on another port': { discovery: (document) => ({ ...document, issuer: 'http://127.0.0.1:1' }) },
  })
})

describe('endpoints', () => {
  const places = [
    '',
    'token',
    '/token',
    '//evil.example/token',
    'javascript:alert(1)',
    'data:application/json,{}',
    'file:///etc/passwd',
    'ftp://op.example/token',
    'http://op.example/token',
  ]
  const inside = [
    'http://169.254.169.254/latest',
    'https://169.254.169.254/latest',
    'https://10.0.0.1/',
    'https://192.168.1.1/',
    'https://[fe80::1]/',
    'https://metadata.google.internal/',
    'https://user:pass@op.example/',
  ]
  const types = [null, 1, true, [], {}]
  for (const name of ['token_endpoint', 'jwks_uri']) {
    describe(name, () => {
      refuses(op, {
        missing: without(name),
        ...Object.fromEntries([...places, ...inside, ...types].map((value) => [JSON.stringify(value), members({ [name]: value })])),
      })
    })
  }
  describe('authorization_endpoint', () => {
    refuses(op, {
      missing: without('authorization_endpoint'),
      ...Object.fromEntries([...places, ...types].map((value) => [JSON.stringify(value), members({ authorization_endpoint: value })])),
    })
  })
  describe('userinfo_endpoint, when it is used', () => {
    const provider = { idToken: false }
    refuses(op, {
      missing: { ...without('userinfo_endpoint'), provider },
      ...Object.fromEntries(
        [...places, ...inside].map((value) => [JSON.stringify(value), { ...members({ userinfo_endpoint: value }), provider }]),
      ),
    } as Record<string, Case>)
  })
})

describe('lists and flags', () => {
  refuses(op, {
    ...Object.fromEntries(
      ['id_token_signing_alg_values_supported', 'code_challenge_methods_supported', 'token_endpoint_auth_methods_supported'].flatMap(
        (name) => ['RS256', 1, true, {}].map((value) => [`${name} ${JSON.stringify(value)}`, members({ [name]: value })]),
      ),
    ),
    'signing algorithms with a number': members({ id_token_signing_alg_values_supported: ['RS256', 1] }),
    'signing algorithms with a list': members({ id_token_signing_alg_values_supported: [['RS256']] }),
    'signing algorithms empty': members({ id_token_signing_alg_values_supported: [] }),
    'signing algorithms none': members({ id_token_signing_alg_values_supported: ['none'] }),
    'signing algorithms of others': members({ id_token_signing_alg_values_supported: ['ES256'] }),
    'iss flag a string': members({ authorization_response_iss_parameter_supported: 'true' }),
    'iss flag a number': members({ authorization_response_iss_parameter_supported: 1 }),
    'iss flag true and no iss in the answer': members({ authorization_response_iss_parameter_supported: true }),
  })
})

describe('answers', () => {
  refuses(op, {
    ...Object.fromEntries(
      [201, 203, 301, 302, 307, 308, 400, 401, 404, 429, 500, 503].map((status) => [
        `status ${status}`,
        { discovery: () => ({ status, headers: { location: '/x' }, body: good() }) },
      ]),
    ),
    HTML: answer({ headers: { 'content-type': 'text/html' }, body: '<html>' }),
    'HTML over good JSON': { discovery: () => ({ headers: { 'content-type': 'text/html' }, body: JSON.stringify(good()) }) },
    'plain text over good JSON': { discovery: () => ({ headers: { 'content-type': 'text/plain' }, body: JSON.stringify(good()) }) },
    empty: answer({ body: '' }),
    truncated: { discovery: () => ({ body: JSON.stringify(good()).slice(0, -5) }) },
    'an array': { discovery: () => ({ body: JSON.stringify([good()]) }) },
    'a string': { discovery: () => ({ body: JSON.stringify(JSON.stringify(good())) }) },
    null: answer({ body: 'null' }),
    'a number': answer({ body: '7' }),
    'two megabytes': { discovery: () => ({ body: { ...good(), pad: 'x'.repeat(2_000_000) } }) },
    'deeply nested': {
      discovery: () => ({ body: `${JSON.stringify(good()).slice(0, -1)},"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}` }),
    },
    'everything inside __proto__': { discovery: () => ({ body: `{"__proto__":${JSON.stringify(good())}}` }) },
    closed: answer({ raw: (response) => response.destroy() }),
    hanging: { ...answer({ raw: () => {} }), config: { deadlines: { network: 300 } } } as Case,
    'one byte now and then': {
      config: { deadlines: { network: 300 } },
      ...answer({
        raw: (response) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          const timer = setInterval(() => response.write(' '), 20)
          response.on('close', () => clearInterval(timer))
        },
      }),
    } as Case,
  })

  describe('redirect to an attacker', () => {
    let evil: Server
    const seen: string[] = []
    beforeAll(async () => {
      evil = createServer((request, response) => {
        seen.push(String(request.url))
        response.setHeader('content-type', 'application/json').end(JSON.stringify(good()))
      })
      await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    })
    afterAll(() => new Promise((resolve) => evil.close(resolve)))
    it('is not followed', async () => {
      const location = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/.well-known/openid-configuration`
      await expectRefused(op(), answer({ status: 302, headers: { location } }))
      expect(seen).toEqual([])
    })
  })
})

describe('tolerance', () => {
  accepts(op, {
    'unknown members of any type': members({
      x: 1,
      y: [{}],
      'z z': null,
      mtls_endpoint_aliases: 'x',
      request_parameter_supported: 'maybe',
    }),
    'optional members null': members({
      code_challenge_methods_supported: null,
      authorization_response_iss_parameter_supported: null,
      userinfo_endpoint: null,
    }),
    'optional members missing': without(
      'response_types_supported',
      'subject_types_supported',
      'userinfo_endpoint',
      'code_challenge_methods_supported',
    ),
    'signing algorithms missing: RS256': without('id_token_signing_alg_values_supported'),
    'odd members of lists that may be left out': members({
      code_challenge_methods_supported: ['S256', 1, null, ['plain']],
      token_endpoint_auth_methods_supported: [{}, 'client_secret_basic'],
      userinfo_signing_alg_values_supported: [true],
    }),
    'signing algorithms unknown beside RS256': members({ id_token_signing_alg_values_supported: ['XY1', 'RS256', 'none'] }),
    'issuer with a slash for the root': {
      discovery: (document) => ({ ...document, issuer: `${String(document['issuer'])}/` }),
      claims: (claims) => ({ ...claims, iss: `${String(claims['iss'])}/` }),
    },
    charset: { discovery: () => ({ headers: { 'content-type': 'application/json;charset=UTF-8' }, body: JSON.stringify(good()) }) },
    'content type in other letters': {
      discovery: () => ({ headers: { 'content-type': 'Application/JSON ; charset=utf-8' }, body: JSON.stringify(good()) }),
    },
    'byte order mark': { discovery: () => ({ body: `\uFEFF${JSON.stringify(good())}` }) },
    'only client_secret_post supported': members({ token_endpoint_auth_methods_supported: ['client_secret_post'] }),
    'a query in the authorization endpoint': {
      discovery: (document) => ({ ...document, authorization_endpoint: `${String(document['authorization_endpoint'])}?tenant=a` }),
    },
  })
})
