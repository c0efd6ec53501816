/** ID tokens that must not sign anybody in (SECURITY 2.2, OpenID Connect Core 3.1.3.7, RFC 8725). */
import { describe } from 'vitest'
import { leftHash, type Script } from '../_op/hostile.ts'
import { b64, hmacJws, json64, jws, keys, pem } from '../_op/keys.ts'
import { type Case, refuses, useOp } from '../_op/journey.ts'

const op = useOp()
const now = (): number => Math.floor(Date.now() / 1000)
const nonced = { checks: ['pkce', 'nonce'] }
const set = (claims: () => object): Case => ({ claims: (good) => ({ ...good, ...claims() }) })
const without = (...names: string[]): Case => ({
  claims: (good) => Object.fromEntries(Object.entries(good).filter(([name]) => !names.includes(name))),
})
const header = (change: object): Script => ({ header: (good) => ({ ...good, ...change }) })
const token = (make: NonNullable<Script['idToken']>): Case => ({ idToken: make })

describe('algorithms and keys', () => {
  refuses(op, {
    'alg none without signature': token(({ claims }) => `${json64({ alg: 'none' })}.${json64(claims)}.`),
    'alg none with a signature': token(
      ({ header: good, claims, token: signed }) => `${json64({ ...good, alg: 'none' })}.${json64(claims)}.${signed.split('.')[2]}`,
    ),
    'alg None, NONE and nOnE': token(({ claims }) => `${json64({ alg: 'nOnE' })}.${json64(claims)}.`),
    'alg missing': token(({ claims }) => `${json64({ typ: 'JWT' })}.${json64(claims)}.AAAA`),
    'alg a number': token(({ claims }) => `${json64({ alg: 256 })}.${json64(claims)}.AAAA`),
    'alg an array': token(({ claims }) => `${json64({ alg: ['RS256'] })}.${json64(claims)}.AAAA`),
    'HS256 under the client secret': token(({ claims }, { op: { clientSecret } }) => hmacJws({ alg: 'HS256' }, claims, clientSecret)),
    'HS256 under the client secret, advertised': {
      discovery: (document) => ({ ...document, id_token_signing_alg_values_supported: ['RS256', 'HS256'] }),
      ...token(({ claims }, { op: { clientSecret } }) => hmacJws({ alg: 'HS256' }, claims, clientSecret)),
    },
    'HS512 under the client secret, advertised': {
      discovery: (document) => ({ ...document, id_token_signing_alg_values_supported: ['HS512'] }),
      ...token(({ claims }, { op: { clientSecret } }) => hmacJws({ alg: 'HS512' }, claims, clientSecret)),
    },
    'HS256 under the public key (PEM)': token(({ claims }) => hmacJws({ alg: 'HS256', kid: 'k1' }, claims, pem(keys.k1))),
    'HS256 under the public key (PEM), advertised': {
      discovery: (document) => ({ ...document, id_token_signing_alg_values_supported: ['RS256', 'HS256'] }),
      ...token(({ claims }) => hmacJws({ alg: 'HS256', kid: 'k1' }, claims, pem(keys.k1))),
    },
    'HS256 under the public key (modulus)': token(({ claims }) =>
      hmacJws({ alg: 'HS256' }, claims, Buffer.from(String(keys.k1.publicJwk['n']), 'base64url')),
    ),
    'HS256 under an empty secret': token(({ claims }) => hmacJws({ alg: 'HS256' }, claims, '')),
    'HS256 expected, another secret': {
      provider: { client: { id_token_signed_response_alg: 'HS256' } },
      ...token(({ claims }) => hmacJws({ alg: 'HS256' }, claims, 'another-secret')),
    },
    'HS256 expected, RS256 sent': { provider: { client: { id_token_signed_response_alg: 'HS256' } } },
    'ES256 expected, RS256 sent': { provider: { client: { id_token_signed_response_alg: 'ES256' } } },
    'RS256 by another key under the known kid': { key: keys.evil },
    'RS256 by another key, no kid': { key: keys.evil, header: ({ kid: _kid, ...rest }) => rest },
    'RS256 by a key inside the header (jwk)': { key: keys.evil, ...header({ jwk: keys.evil.publicJwk }) },
    'RS256 by a key named in the header (jku)': { key: keys.evil, ...header({ jku: 'https://evil.example/jwks' }) },
    'RS256 by a certificate in the header (x5c)': { key: keys.evil, ...header({ x5c: ['MIIB'] }) },
    'RS256 by a certificate named in the header (x5u)': { key: keys.evil, ...header({ x5u: 'https://evil.example/cert' }) },
    'unknown kid': header({ kid: 'other' }),
    'kid of another case': header({ kid: 'K1' }),
    'kid a path': header({ kid: '../../../../dev/null' }),
    'kid an SQL injection': header({ kid: "k1' OR '1'='1" }),
    'kid a number': header({ kid: 1 }),
    'kid an object': header({ kid: { a: 1 } }),
    'kid empty': header({ kid: '' }),
    'ES256, published but not advertised': { key: keys.es256, jwks: () => ({ keys: [keys.k1.publicJwk, keys.es256.publicJwk] }) },
    'PS256 by the RSA key, not advertised': { alg: 'PS256' },
    'RS512 by a key bound to RS256': {
      alg: 'RS512',
      discovery: (document) => ({ ...document, id_token_signing_alg_values_supported: ['RS256', 'RS512'] }),
    },
    'ES256K, advertised': {
      key: keys.secp256k1,
      discovery: (document) => ({ ...document, id_token_signing_alg_values_supported: ['ES256K'] }),
      jwks: () => ({ keys: [keys.secp256k1.publicJwk] }),
    },
    'alg of another case': token(
      ({ claims, token: signed }) => `${json64({ alg: 'rs256', kid: 'k1' })}.${json64(claims)}.${signed.split('.')[2]}`,
    ),
  })
})

describe('form', () => {
  refuses(op, {
    'payload changed after signing': token(({ token: signed, claims }) => {
      const [head, , signature] = signed.split('.')
      return `${head}.${json64({ ...claims, sub: 'victim' })}.${signature}`
    }),
    'header changed after signing': token(({ token: signed, header: good }) => {
      const [, payload, signature] = signed.split('.')
      return `${json64({ ...good, extra: 1 })}.${payload}.${signature}`
    }),
    'signature missing': token(({ token: signed }) => signed.split('.').slice(0, 2).join('.')),
    'signature empty': token(({ token: signed }) => `${signed.split('.').slice(0, 2).join('.')}.`),
    'signature truncated': token(({ token: signed }) => signed.slice(0, -8)),
    'signature with a flipped bit': token(({ token: signed }) =>
      signed.replace(/.(.{20})$/, (whole, rest: string) => (whole.startsWith('A') ? 'B' : 'A') + rest),
    ),
    'signature of another token': token(({ token: signed, header: good, claims }) => {
      return `${signed.split('.').slice(0, 2).join('.')}.${jws(good, { ...claims, sub: 'bob' }, keys.k1).split('.')[2]}`
    }),
    'signature padded': token(({ token: signed }) => `${signed}=`),
    'a blank at the end': token(({ token: signed }) => `${signed} `),
    'standard base64 in the signature': token(({ token: signed }) => signed.replace(/[-_](?=[^.]*$)/g, '+')),
    'four parts': token(({ token: signed }) => `${signed}.AAAA`),
    'five parts (JWE)': token(() => `${json64({ alg: 'dir', enc: 'A256GCM' })}..AAAA.AAAA.AAAA`),
    'one part': token(() => 'abc'),
    'empty string': token(() => ''),
    'a number': token(() => 42),
    true: token(() => true),
    'an array': token(({ token: signed }) => [signed]),
    'an object (JSON serialisation)': token(({ token: signed }) => {
      const [head, payload, signature] = signed.split('.')
      return { protected: head, payload, signature }
    }),
    null: token(() => null),
    absent: token(() => undefined),
    'not base64url': token(() => '!!!.???.***'),
    'header not JSON': token(({ token: signed }) => `${b64('{')}.${signed.split('.').slice(1).join('.')}`),
    'header an array': token(({ token: signed }) => `${json64(['RS256'])}.${signed.split('.').slice(1).join('.')}`),
    'header null': token(({ token: signed }) => `${json64(null)}.${signed.split('.').slice(1).join('.')}`),
    'payload not JSON, well signed': token(({ header: good }) => jws(good, 'hello', keys.k1)),
    'payload an array, well signed': token(({ header: good }) => jws(good, [1], keys.k1)),
    'payload null, well signed': token(({ header: good }) => jws(good, null, keys.k1)),
    'payload a string, well signed': token(({ header: good }) => jws(good, '"sub"', keys.k1)),
    'payload empty, well signed': token(({ header: good }) => jws(good, '', keys.k1)),
    'payload nested too deeply, well signed': token(({ header: good, claims }) => {
      return jws(good, JSON.stringify({ ...claims, deep: 0 }).replace('"deep":0', `"deep":${'['.repeat(5000)}${']'.repeat(5000)}`), keys.k1)
    }),
    'payload not UTF-8, well signed': token(({ header: good, claims }) => {
      return jws(good, Buffer.from(JSON.stringify({ ...claims, sub: 'al\u00EFce' }), 'latin1'), keys.k1)
    }),
    'crit with an unknown extension': header({ crit: ['exp'], exp: 1 }),
    'crit empty': header({ crit: [] }),
    'crit with b64': header({ crit: ['b64'], b64: true }),
    'b64 false': header({ crit: ['b64'], b64: false }),
    zip: token(({ token: signed }) => `${json64({ alg: 'dir', enc: 'A128CBC-HS256', zip: 'DEF' })}.${signed.split('.')[1]}.a.b.c`),
    'typ of an access token': header({ typ: 'at+jwt' }),
    'typ of an access token, long form': header({ typ: 'application/at+jwt' }),
    'typ of a logout token': header({ typ: 'logout+jwt' }),
    'typ of a DPoP proof': header({ typ: 'dpop+jwt' }),
    'typ of a security event': header({ typ: 'secevent+jwt' }),
    'typ a number': header({ typ: 1 }),
    'one megabyte': token(({ header: good, claims }) => jws(good, { ...claims, pad: 'x'.repeat(900_000) }, keys.k1)),
  })
})

describe('claims', () => {
  const wrong = ['', 'https://evil.example', 1, null, true, [], {}]
  refuses(op, {
    ...Object.fromEntries(wrong.map((iss) => [`iss ${JSON.stringify(iss)}`, set(() => ({ iss }))])),
    'iss missing': without('iss'),
    'iss with a trailing slash': { claims: (good) => ({ ...good, iss: `${String(good['iss'])}/` }) },
    'iss in upper case': { claims: (good) => ({ ...good, iss: String(good['iss']).toUpperCase() }) },
    'iss an array with the right one': { claims: (good) => ({ ...good, iss: [good['iss']] }) },
    'iss with a path': { claims: (good) => ({ ...good, iss: `${String(good['iss'])}/tenant` }) },
    ...Object.fromEntries(
      [...wrong, 'client-2', ['client-2'], 'Client-1', 'client-1 ', [['client-1']]].map((aud) => [
        `aud ${JSON.stringify(aud)}`,
        set(() => ({ aud })),
      ]),
    ),
    'aud missing': without('aud'),
    'aud of several, azp missing': set(() => ({ aud: ['client-1', 'client-2'] })),
    'aud of several, azp wrong': set(() => ({ aud: ['client-1', 'client-2'], azp: 'client-2' })),
    'aud of several, azp an array': set(() => ({ aud: ['client-1', 'client-2'], azp: ['client-1'] })),
    'aud with an object beside us': set(() => ({ aud: ['client-1', {}], azp: 'client-1' })),
    'azp wrong, aud single': set(() => ({ azp: 'client-2' })),
    'azp empty': set(() => ({ azp: '' })),
    'azp null': set(() => ({ azp: null })),
    ...Object.fromEntries(
      wrong.filter((value) => value !== 'https://evil.example').map((sub) => [`sub ${JSON.stringify(sub)}`, set(() => ({ sub }))]),
    ),
    'sub missing': without('sub'),
    'sub of blanks': set(() => ({ sub: '   ' })),
    'sub of 256 characters': set(() => ({ sub: 'a'.repeat(256) })),
    'sub with NUL': set(() => ({ sub: 'alice\u0000' })),
    'sub with a line break': set(() => ({ sub: 'alice\r\nSet-Cookie: a=b' })),
    'sub with a lone surrogate': set(() => ({ sub: 'a\uD800' })),
    'sub with a replacement character': set(() => ({ sub: 'a\uFFFD' })),
    'sub the text undefined': set(() => ({ sub: 'undefined' })),
    'sub the text [object Object]': set(() => ({ sub: '[object Object]' })),
  })
})

describe('times', () => {
  const bad = ['', '9999999999', null, true, [9_999_999_999], {}]
  refuses(op, {
    ...Object.fromEntries(
      ['exp', 'iat', 'nbf'].flatMap((name) => bad.map((value) => [`${name} ${JSON.stringify(value)}`, set(() => ({ [name]: value }))])),
    ),
    'exp missing': without('exp'),
    'exp an hour ago': set(() => ({ exp: now() - 3600 })),
    'exp ten minutes ago': set(() => ({ exp: now() - 600 })),
    'exp two minutes ago': set(() => ({ exp: now() - 120 })),
    'exp 0': set(() => ({ exp: 0 })),
    'exp negative': set(() => ({ exp: -1 })),
    'iat missing': without('iat'),
    'iat an hour ahead': set(() => ({ iat: now() + 3600, exp: now() + 7200 })),
    'iat ten minutes ahead': set(() => ({ iat: now() + 600 })),
    'iat in milliseconds': set(() => ({ iat: Date.now() })),
    'iat ten minutes ago': set(() => ({ iat: now() - 600 })),
    'iat ten years ago': set(() => ({ iat: now() - 315_360_000 })),
    'iat 0': set(() => ({ iat: 0 })),
    'iat negative': set(() => ({ iat: -1 })),
    'nbf an hour ahead': set(() => ({ nbf: now() + 3600 })),
    'nbf ten minutes ahead': set(() => ({ nbf: now() + 600 })),
    'clock ten minutes ahead': set(() => ({ iat: now() + 600, nbf: now() + 600, exp: now() + 4200 })),
    'clock ten minutes behind': set(() => ({ iat: now() - 600, nbf: now() - 600, exp: now() + 3000 })),
    'auth_time missing though max_age was asked': { provider: { authorization: { params: { max_age: 60 } } } },
    'auth_time too old for max_age': {
      provider: { authorization: { params: { max_age: 60 } } },
      ...set(() => ({ auth_time: now() - 600 })),
    },
    'auth_time too old for the max_age of the client': { query: '?max_age=60', ...set(() => ({ auth_time: now() - 600 })) },
    'auth_time missing though the client asked for max_age': { query: '?max_age=0' },
    'auth_time a string': { provider: { client: { default_max_age: 60 } }, ...set(() => ({ auth_time: String(now()) })) },
    'auth_time negative': set(() => ({ auth_time: -1 })),
    'auth_time demanded and missing': { provider: { client: { require_auth_time: true } } },
  })
})

describe('bindings', () => {
  const hash = leftHash('another-token')
  refuses(op, {
    'nonce wrong': { provider: nonced, ...set(() => ({ nonce: 'wrong' })) },
    'nonce missing': { provider: nonced, ...without('nonce') },
    'nonce empty': { provider: nonced, ...set(() => ({ nonce: '' })) },
    'nonce null': { provider: nonced, ...set(() => ({ nonce: null })) },
    'nonce in an array': { provider: nonced, claims: (good) => ({ ...good, nonce: [good['nonce']] }) },
    'nonce of another case': { provider: nonced, claims: (good) => ({ ...good, nonce: String(good['nonce']).toUpperCase() }) },
    'nonce that was not sent': set(() => ({ nonce: 'something' })),
    'nonce wrong, added because S256 is not advertised': {
      discovery: ({ code_challenge_methods_supported: _methods, ...document }) => document,
      ...set(() => ({ nonce: 'wrong' })),
    },
    'at_hash of another token': set(() => ({ at_hash: hash })),
    'at_hash empty': set(() => ({ at_hash: '' })),
    'at_hash a number': set(() => ({ at_hash: 1 })),
    'at_hash null': set(() => ({ at_hash: null })),
    'at_hash of the whole digest': {
      claims: (good, { accessToken }) => ({ ...good, at_hash: leftHash(accessToken) + leftHash(accessToken) }),
    },
    'at_hash of the wrong length of digest': { claims: (good, { accessToken }) => ({ ...good, at_hash: leftHash(accessToken, 512) }) },
    'c_hash of another code': set(() => ({ c_hash: hash })),
    'logout token': set(() => ({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })),
  })
})
