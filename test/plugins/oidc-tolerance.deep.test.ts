/** What honest providers do differently, and must not fail for. */
import { describe, expect, it } from 'vitest'
import { leftHash } from '../_op/hostile.ts'
import { accepts, type Case, expectAccepted, journey, useOp } from '../_op/journey.ts'
import { jws, keys } from '../_op/keys.ts'

const op = useOp()
const now = (): number => Math.floor(Date.now() / 1000)
const set = (claims: () => object): Case => ({ claims: (good) => ({ ...good, ...claims() }) })
const members = (change: object): Case => ({ tokens: (good) => ({ ...good, ...change }) })
const typed = (type: string): Case => ({ token: (body) => ({ headers: { 'content-type': type }, body: JSON.stringify(body) }) })

describe('ID token', () => {
  accepts(op, {
    'as it should be': {},
    'aud in an array': set(() => ({ aud: ['client-1'] })),
    'aud of several with azp right': set(() => ({ aud: ['client-1', 'api'], azp: 'client-1' })),
    'azp right, aud single': set(() => ({ azp: 'client-1' })),
    'clock a minute ahead': set(() => ({ iat: now() + 60, nbf: now() + 60, exp: now() + 3660 })),
    'clock a minute behind': set(() => ({ iat: now() - 60, nbf: now() - 60, exp: now() + 240 })),
    'expired a minute ago, by its own clock': set(() => ({ iat: now() - 360, exp: now() - 60 })),
    'dated five minutes back, as Entra does': set(() => ({ iat: now() - 300, nbf: now() - 300 })),
    'times with fractions': set(() => ({ iat: now() + 0.5, exp: now() + 3600.5, nbf: now() - 0.5 })),
    'exp in the year 9999': set(() => ({ exp: 253_402_300_799 })),
    'a short life of 60 seconds': set(() => ({ exp: now() + 60 })),
    'at_hash right': { claims: (good, { accessToken }) => ({ ...good, at_hash: leftHash(accessToken) }) },
    'c_hash right': { claims: (good, { token }) => ({ ...good, c_hash: leftHash(token.get('code') ?? '') }) },
    'at_hash by SHA-512 under EdDSA': {
      key: keys.ed25519,
      jwks: () => ({ keys: [keys.ed25519.publicJwk] }),
      discovery: (document) => ({ ...document, id_token_signing_alg_values_supported: ['EdDSA'] }),
      claims: (good, { accessToken }) => ({ ...good, at_hash: leftHash(accessToken, 512) }),
    },
    'auth_time, acr, amr, sid, jti and claims of one’s own': set(() => ({
      auth_time: now(),
      acr: '1',
      amr: ['pwd'],
      sid: 'x',
      jti: 'y',
      'https://x.example/roles': ['a'],
    })),
    'auth_time for max_age': { provider: { authorization: { params: { max_age: 60 } } }, ...set(() => ({ auth_time: now() })) },
    'typ absent': { header: ({ typ: _typ, ...rest }) => rest },
    'typ in lower case': { header: (good) => ({ ...good, typ: 'jwt' }) },
    'typ with a prefix': { header: (good) => ({ ...good, typ: 'application/jwt' }) },
    'members of one’s own in the header': { header: (good) => ({ ...good, x5t: 'abc', 'urn:a': 1 }) },
    'sub of 255 characters': set(() => ({ sub: 'a'.repeat(255) })),
    'sub with punctuation and letters of all scripts': set(() => ({ sub: 'auth0|5f7c_ä日本 ' })),
    'a claim twice: the last counts (RFC 7519 section 4)': {
      idToken: ({ header, claims }) => jws(header, JSON.stringify(claims).replace('"sub":', '"sub":"mallory","sub":'), keys.k1),
    },
    'polluting claims': {
      idToken: ({ header, claims }) =>
        jws(
          header,
          `${JSON.stringify(claims).slice(0, -1)},"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}`,
          keys.k1,
        ),
    },
    'nested 30 deep': set(() => ({ deep: JSON.parse(`${'['.repeat(29)}${']'.repeat(29)}`) as object })),
  })
  it('keeps nothing that reaches a prototype', async () => {
    const { profile } = await journey(op(), {
      idToken: ({ header, claims }) => jws(header, `${JSON.stringify(claims).slice(0, -1)},"a":{"__proto__":{"polluted":1}}}`, keys.k1),
    })
    expect(profile?.['a']).toEqual({})
  })
  it('sub differing in case: two people', async () => {
    const ids = new Set<string>()
    for (const sub of ['Alice', 'alice']) {
      const seen = await expectAccepted(op(), {
        ...set(() => ({ sub })),
        config: { callbacks: { signIn: ({ account }) => ids.add(account.providerAccountId).size > 0 } },
      })
      expect(seen.session).not.toBeNull()
    }
    expect([...ids]).toEqual(['Alice', 'alice'])
  })
})

describe('token endpoint', () => {
  accepts(op, {
    ...Object.fromEntries(
      ['bearer', 'Bearer', 'BEARER', 'bEaReR'].map((token_type) => [`token_type ${token_type}`, members({ token_type })]),
    ),
    ...Object.fromEntries(
      [0, 1, 3599.5, '3600', '0', 315_360_000].map((expires_in) => [`expires_in ${JSON.stringify(expires_in)}`, members({ expires_in })]),
    ),
    'expires_in missing': members({ expires_in: undefined }),
    'optional members null': members({ refresh_token: null, scope: null, expires_in: null }),
    'scope missing': members({ scope: undefined }),
    'scope empty': members({ scope: '' }),
    'members of one’s own': members({ session_state: 'x', 'not-before-policy': 0, created_at: 1, foo: { bar: [1] } }),
    'a refresh token': members({ refresh_token: 'rt' }),
    ...Object.fromEntries(
      ['application/json;charset=UTF-8', 'application/json ; charset="utf-8"', 'Application/JSON', 'application/vnd.op+json'].map(
        (type) => [`content type ${type}`, typed(type)],
      ),
    ),
    'a byte order mark': { token: (body) => ({ body: `\uFEFF${JSON.stringify(body)}` }) },
    'white space around': { token: (body) => ({ body: `\r\n  ${JSON.stringify(body, null, 2)}\n\n` }) },
    'letters escaped': { token: (body) => ({ body: JSON.stringify(body).replace('"token_type"', '"\\u0074oken_type"') }) },
    chunked: {
      token: (body) => ({
        raw: (response) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          for (const character of JSON.stringify(body)) response.write(character)
          response.end()
        },
      }),
    },
    'a challenge beside success': { token: (body) => ({ headers: { 'www-authenticate': 'Bearer' }, body }) },
    cookies: { token: (body) => ({ headers: { 'set-cookie': ['a=b', 'c=d'] }, body }) },
  })
})

describe('callback', () => {
  accepts(op, {
    'iss right, not advertised': { callback: (params, { issuer }) => (params.append('iss', issuer), params) },
    'iss right, advertised': {
      discovery: (document) => ({ ...document, authorization_response_iss_parameter_supported: true }),
      callback: (params, { issuer }) => (params.append('iss', issuer), params),
    },
    'session_state and scope': { callback: (params) => (params.append('session_state', 'a.b'), params.append('scope', 'openid'), params) },
    'a code with characters of all kinds': { callback: (params) => params, url: () => {} },
    'a code of 2,000 characters': { url: ({ searchParams }) => searchParams.set('code', 'a/+='.repeat(500)) },
  })
})
