/** Userinfo endpoints that answer for another user, or nonsense (OpenID Connect Core 5.3, row 198). */
import { describe, expect, it } from 'vitest'
import type { Answer } from '../_op/hostile.ts'
import { b64, hmacJws, type Jwk, json64, jws, keys, pem } from '../_op/keys.ts'
import { accepts, type Case, expectAccepted, expectRefused, refuses, useOp } from '../_op/journey.ts'

const op = useOp()
const provider = { idToken: false }
const oidc = (userinfo: NonNullable<Case['userinfo']>, more: Case = {}): Case => ({ provider, userinfo, ...more })
const members = (change: object): Case => oidc((good) => ({ ...good, ...change }))
const answer = (make: (good: Jwk) => Answer, more: Case = {}): Case => oidc((good) => make(good), more)
const typed = (type: string): Case => answer((body) => ({ headers: { 'content-type': type }, body: JSON.stringify(body) }))
const without = (name: string): Case => oidc((good) => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name)))
const jwt = (make: (claims: Jwk) => string, more: Case = {}): Case =>
  answer((claims) => ({ headers: { 'content-type': 'application/jwt' }, body: make({ iss: op().issuer, aud: 'client-1', ...claims }) }), {
    provider: { ...provider, client: { userinfo_signed_response_alg: 'RS256' } },
    ...more,
  })
const good = { alg: 'RS256', kid: 'k1' }

describe('oidc', () => {
  refuses(op, {
    'sub of another person': members({ sub: 'victim' }),
    'sub in another case': members({ sub: 'ALICE' }),
    'sub missing': without('sub'),
    ...Object.fromEntries(['', 1, null, true, ['alice'], {}].map((sub) => [`sub ${JSON.stringify(sub)}`, members({ sub })])),
    'sub inside __proto__': answer(({ sub, ...rest }) => ({
      body: `{"__proto__":{"sub":"${String(sub)}"},${JSON.stringify(rest).slice(1)}`,
    })),
    ...Object.fromEntries(
      [201, 204, 206, 301, 302, 307, 400, 401, 403, 404, 500, 503].map((status) => [
        `status ${status}`,
        answer((body) =>
          status === 204 ? { raw: (response) => response.writeHead(204).end() } : { status, headers: { location: '/x' }, body },
        ),
      ]),
    ),
    'a challenge': answer((body) => ({ status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' }, body })),
    'an error with status 200': answer(() => ({ body: { error: 'invalid_token' } })),
    HTML: answer(() => ({ headers: { 'content-type': 'text/html' }, body: '<html>' })),
    'HTML over good JSON': typed('text/html'),
    'plain text over good JSON': typed('text/plain'),
    empty: answer(() => ({ body: '' })),
    truncated: answer((body) => ({ body: JSON.stringify(body).slice(0, -3) })),
    array: answer((body) => ({ body: JSON.stringify([body]) })),
    string: answer(() => ({ body: '"alice"' })),
    null: answer(() => ({ body: 'null' })),
    'not UTF-8': answer((body) => ({ body: Buffer.from(JSON.stringify({ ...body, name: '\u00FF' }), 'latin1') })),
    'nested deeply': answer((body) => ({
      body: `${JSON.stringify(body).slice(0, -1)},"x":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
    })),
    'two megabytes': answer((body) => ({ body: { ...body, pad: 'x'.repeat(2_000_000) } })),
    hanging: answer(() => ({ raw: () => {} }), { config: { deadlines: { network: 300 } } }),
    closed: answer(() => ({ raw: (response) => response.destroy() })),
    'signed though not requested': jwt((claims) => jws(good, claims, keys.k1), { provider }),
    'JSON though a signature was asked for': answer((body) => ({ body }), {
      provider: { ...provider, client: { userinfo_signed_response_alg: 'RS256' } },
    }),
    'signed by another key': jwt((claims) => jws(good, claims, keys.evil)),
    'signed with none': jwt((claims) => `${json64({ alg: 'none' })}.${json64(claims)}.`),
    'signed with HS256 by the public key': jwt((claims) => hmacJws({ alg: 'HS256' }, claims, pem(keys.k1))),
    'signed, changed afterwards': jwt((claims) =>
      jws(good, claims, keys.k1).replace(/\.[^.]+\./, `.${json64({ ...claims, email: 'victim@example.com' })}.`),
    ),
    'signed, of another issuer': jwt((claims) => jws(good, { ...claims, iss: 'https://evil.example' }, keys.k1)),
    'signed, for another client': jwt((claims) => jws(good, { ...claims, aud: 'client-2' }, keys.k1)),
    'signed, for another person': jwt((claims) => jws(good, { ...claims, sub: 'victim' }, keys.k1)),
    'signed, expired': jwt((claims) => jws(good, { ...claims, exp: 1 }, keys.k1)),
    'signed with an unknown kid': jwt((claims) => jws({ ...good, kid: 'x' }, claims, keys.k1)),
    encrypted: jwt(() => `${json64({ alg: 'dir', enc: 'A256GCM' })}..${b64('a')}.${b64('b')}.${b64('c')}`),
    'rubbish as JWT': jwt(() => 'abc'),
  })
  accepts(op, {
    'the profile of the userinfo endpoint': members({ nickname: 'al' }),
    'other members': members({ 'https://example.com/roles': ['admin'], address: { country: 'AT' } }),
    charset: typed('application/json; charset=utf-8'),
    'application/json in other letters': typed('APPLICATION/JSON'),
    signed: jwt((claims) => jws(good, claims, keys.k1)),
    'signed, with charset in the type': answer(
      (claims) => ({ headers: { 'content-type': 'application/jwt; charset=utf-8' }, body: jws(good, claims, keys.k1) }),
      {
        provider: { ...provider, client: { userinfo_signed_response_alg: 'RS256' } },
      },
    ),
    'signed because the server says so': jwt((claims) => jws(good, claims, keys.k1), {
      provider,
      discovery: (document) => ({ ...document, userinfo_signing_alg_values_supported: ['RS256'] }),
    }),
  })
  it('row 198: idToken false takes the profile from the userinfo endpoint, one request more', async () => {
    const { session } = await expectAccepted(op(), members({ name: 'From Userinfo' }))
    expect(session?.user?.name).toBe('From Userinfo')
    expect(Object.fromEntries(op().hits)).toMatchObject({ '/token': 1, '/userinfo': 1, '/jwks': 1 })
  })
  it('row 198: an ID token is required all the same', async () => {
    await expectRefused(op(), { provider, idToken: () => undefined })
  })
})

describe('oauth', () => {
  const type = 'oauth'
  const oauth = (userinfo: NonNullable<Case['userinfo']>): Case => ({ type, userinfo, provider: { checks: ['pkce', 'state'] } })
  const profile = (change: object): Case => oauth((body) => ({ ...body, sub: undefined, id: 7, ...change }))
  refuses(op, {
    ...Object.fromEntries(
      [
        [1],
        ['a'],
        {},
        { a: 1 },
        true,
        false,
        '',
        ' ',
        1e20,
        1.5,
        -1.5,
        'undefined',
        'null',
        'NaN',
        '[object Object]',
        'a\u0000',
        '\uD800',
        'x'.repeat(300),
      ].map((id) => [`id ${JSON.stringify(id).slice(0, 40)}`, profile({ id })]),
    ),
    'id beyond 2^53, written as digits': oauth((_body) => ({ body: '{"id":9007199254740993,"name":"A"}' })),
    ...Object.fromEntries(
      [[['a@b.c']], { a: 1 }, 1, true, 'a b@c.d', 'a@b.c\u0000', 'a@b.c\r\nBcc: x', '\uD800@b.c'].map((email) => [
        `email ${JSON.stringify(email)}`,
        profile({ email }),
      ]),
    ),
    'an empty object': oauth(() => ({ body: '{}' })),
    'an error with status 200': oauth(() => ({ body: { error: 'invalid_token', message: 'x' } })),
    'status 401': oauth(() => ({ status: 401, body: { id: 1 } })),
    'status 500': oauth(() => ({ status: 500, body: { id: 1 } })),
    'status 302': oauth(() => ({ status: 302, headers: { location: '/x' }, body: { id: 1 } })),
    HTML: oauth(() => ({ headers: { 'content-type': 'text/html' }, body: '{"id":1}' })),
    'an array': oauth(() => ({ body: '[{"id":1}]' })),
    null: oauth(() => ({ body: 'null' })),
    'two megabytes': oauth((body) => ({ body: { ...body, pad: 'x'.repeat(2_000_000) } })),
    'profile() that reads a field the answer lacks': {
      ...oauth(() => ({ body: { name: 'x' } })),
      provider: { checks: ['pkce', 'state'], profile: (answer: { id?: number }) => ({ id: String(answer.id) }) },
    },
    'profile() that throws': {
      ...oauth(() => ({ body: { id: 1 } })),
      provider: { checks: ['pkce', 'state'], profile: (answer: { a: { b: string } }) => ({ id: answer.a.b }) },
    },
    'profile() that returns nothing': {
      ...oauth(() => ({ body: { id: 1 } })),
      provider: { checks: ['pkce', 'state'], profile: () => undefined },
    },
  })
  accepts(op, {
    'numeric id': profile({}),
    'id 0': profile({ id: 0 }),
    'text/plain, as some send it': oauth(() => ({ headers: { 'content-type': 'text/plain' }, body: '{"id":1}' })),
    'text/javascript, as some send it': oauth(() => ({ headers: { 'content-type': 'text/javascript; charset=UTF-8' }, body: '{"id":1}' })),
    'no e-mail address': profile({ email: undefined }),
    'e-mail address null': profile({ email: null }),
    'no id but an address: a new account each time': profile({ id: undefined }),
    'polluting members': oauth(() => ({ body: '{"id":1,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}' })),
    'names in all scripts': profile({ name: 'Ελένη 日本語 🙂 \u202Eevil' }),
    'a name with NUL and a lone surrogate': profile({ name: 'a\u0000b\uD800' }),
  })
})
