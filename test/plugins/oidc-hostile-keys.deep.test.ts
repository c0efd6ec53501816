/** Key sets that must not verify anything, and how often they are fetched (D8, SECURITY 2.2). */
import { generateKeyPairSync } from 'node:crypto'
import { describe } from 'vitest'
import type { Answer, Script } from '../_op/hostile.ts'
import { hmacJws, type Jwk, keys } from '../_op/keys.ts'
import { accepts, type Case, refuses, useOp } from '../_op/journey.ts'

const op = useOp()
const k1 = keys.k1.publicJwk
const published = (...list: unknown[]): Script => ({ jwks: () => ({ keys: list as Jwk[] }) })
const answer = (value: Answer): Script => ({ jwks: () => value })
const without = (jwk: Jwk, ...names: string[]): Jwk => Object.fromEntries(Object.entries(jwk).filter(([name]) => !names.includes(name)))
const noKid: Script = { header: ({ kid: _kid, ...rest }) => rest }
const advertise = (...algs: string[]): Script => ({
  discovery: (document) => ({ ...document, id_token_signing_alg_values_supported: algs }),
})
const oct = { kty: 'oct', k: Buffer.from('shared-secret-of-32-characters!!').toString('base64url'), kid: 'k1' }

describe('keys', () => {
  const small = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 })
  refuses(op, {
    'no keys': published(),
    'the key of another': published(keys.evil.publicJwk),
    'another kid': published({ ...k1, kid: 'k9' }),
    'a private key': published(keys.k1.privateJwk),
    'a shared key, HS256 by it': {
      ...published(oct),
      ...advertise('HS256'),
      idToken: ({ claims }) => hmacJws({ alg: 'HS256', kid: 'k1' }, claims, 'shared-secret-of-32-characters!!'),
    },
    'a shared key under RS256': published(oct),
    'use enc': published({ ...k1, use: 'enc' }),
    'use of another type': published({ ...k1, use: 1 }),
    'key_ops without verify': published({ ...k1, key_ops: ['encrypt'] }),
    'key_ops empty': published({ ...k1, key_ops: [] }),
    'key_ops a string': published({ ...k1, key_ops: 'verify' }),
    'alg of another algorithm': published({ ...k1, alg: 'PS256' }),
    'alg of another use': published({ ...k1, alg: 'RSA-OAEP' }),
    'alg a number': published({ ...k1, alg: 1 }),
    'kty missing': published(without(k1, 'kty')),
    'kty of another': published({ ...k1, kty: 'EC' }),
    'kty in lower case': published({ ...k1, kty: 'rsa' }),
    'n missing': published(without(k1, 'n')),
    'n empty': published({ ...k1, n: '' }),
    'n a number': published({ ...k1, n: 5 }),
    'n of another key': published({ ...k1, n: keys.k2.publicJwk['n'] }),
    'e missing': published(without(k1, 'e')),
    'e of 1': published({ ...k1, e: 'AQ' }),
    'e of 1 with zeros': published({ ...k1, e: 'AAAB' }),
    'e of 2': published({ ...k1, e: 'Ag' }),
    'e of another key': published({ ...small.publicKey.export({ format: 'jwk' }), n: k1['n'], kid: 'k1' }),
    'an RSA key of 1024 bits': { ...published(keys.weak.publicJwk), key: keys.weak },
    'keys null': published(null),
    'keys of strings': published('k1'),
    'two keys of the kid, neither right': published({ ...keys.k2.publicJwk, kid: 'k1' }, { ...keys.evil.publicJwk, kid: 'k1' }),
    'no kid, several keys, none right': { ...published(keys.k2.publicJwk, keys.evil.publicJwk), ...noKid },
    'ES256 by a P-384 key': {
      ...published(keys.es384.publicJwk),
      ...advertise('ES256'),
      key: keys.es384,
      alg: 'ES256',
      header: (good) => ({ ...good, alg: 'ES256' }),
    },
    'ES256 point off the curve': {
      ...published({ ...keys.es256.publicJwk, x: keys.es384.publicJwk['x'] }),
      ...advertise('ES256'),
      key: keys.es256,
    },
    'ES256 key with a crv of another': { ...published({ ...keys.es256.publicJwk, crv: 'P-384' }), ...advertise('ES256'), key: keys.es256 },
    'EdDSA key with a crv of another': {
      ...published({ ...keys.ed25519.publicJwk, crv: 'X25519' }),
      ...advertise('EdDSA'),
      key: keys.ed25519,
    },
  })
  accepts(op, {
    'key without alg, use, key_ops': published(without(k1, 'alg', 'use', 'key_ops')),
    'key without kid': published(without(k1, 'kid')).jwks ? { ...published(without(k1, 'kid')), ...noKid } : {},
    'no kid, one key': { ...published(k1), ...noKid },
    'no kid, several keys of other kinds': {
      ...published(k1, keys.es256.publicJwk, keys.ed25519.publicJwk, { ...keys.k2.publicJwk, use: 'enc' }),
      ...noKid,
    },
    'no kid, several keys that fit': { ...published(keys.k2.publicJwk, keys.evil.publicJwk, k1), ...noKid },
    'two keys of one kid, one right': published({ ...keys.k2.publicJwk, kid: 'k1' }, k1),
    'the same key twice': published(k1, k1),
    'a private key and a shared key beside the right one': published({ ...keys.k2.privateJwk, kid: 'k2' }, { ...oct, kid: 'o' }, k1),
    'unknown kinds, null and strings beside the right one': published({ kty: 'XYZ', kid: 'k1' }, null, 'k', 1, [], k1),
    'an unsupported curve beside the right one': published(keys.secp256k1.publicJwk, k1),
    'members of any sort': published({ ...k1, x5c: ['MIIB'], 'urn:x': { a: 1 }, ext: true }),
    'a thousand keys': published(...Array.from({ length: 1000 }, (_, index) => ({ ...k1, kid: `x${index}` })), k1),
    'a thousand keys of one kid, no other right': published(
      ...Array.from({ length: 1000 }, () => ({ kty: 'EC', crv: 'P-256', kid: 'k1' })),
      k1,
    ),
    'rsa with exponent 3': {
      jwks: () => ({ keys: [{ ...small.publicKey.export({ format: 'jwk' }), kid: 'k3' }] }),
      key: { ...keys.k1, kid: 'k3', privateKey: small.privateKey },
    },
    ...Object.fromEntries(
      (['es256', 'es384', 'es512', 'ed25519'] as const).map((name) => [
        `${keys[name].alg}, advertised`,
        { ...published(k1, keys[name].publicJwk), ...advertise('RS256', keys[name].alg), key: keys[name] },
      ]),
    ),
    'Ed25519 by its new name, advertised': {
      ...published(without(keys.ed25519.publicJwk, 'alg')),
      ...advertise('Ed25519'),
      key: keys.ed25519,
      header: (good) => ({ ...good, alg: 'Ed25519' }),
    },
    ...Object.fromEntries(
      ['PS256', 'PS384', 'PS512', 'RS384', 'RS512'].map((alg) => [
        `${alg}, advertised`,
        { ...published(without(k1, 'alg')), ...advertise(alg), alg },
      ]),
    ),
    'HS256, configured': {
      provider: { client: { id_token_signed_response_alg: 'HS256' } },
      idToken: ({ claims }: { claims: Jwk }) => hmacJws({ alg: 'HS256' }, claims, op().clientSecret),
    },
    'ES256, configured though not advertised': {
      ...published(keys.es256.publicJwk),
      key: keys.es256,
      provider: { client: { id_token_signed_response_alg: 'ES256' } },
    },
  } as Record<string, Case>)
})

describe('key endpoint', () => {
  refuses(op, {
    'status 404': answer({ status: 404, body: { keys: [k1] } }),
    'status 500': answer({ status: 500, body: { keys: [k1] } }),
    'status 201': answer({ status: 201, body: { keys: [k1] } }),
    'status 302': answer({ status: 302, headers: { location: '/jwks2' } }),
    HTML: answer({ headers: { 'content-type': 'text/html' }, body: JSON.stringify({ keys: [k1] }) }),
    truncated: answer({ body: JSON.stringify({ keys: [k1] }).slice(0, -3) }),
    'an array': answer({ body: JSON.stringify([k1]) }),
    null: answer({ body: 'null' }),
    'keys missing': answer({ body: '{}' }),
    'keys an object': answer({ body: { keys: { k1 } } }),
    'keys a string': answer({ body: { keys: JSON.stringify([k1]) } }),
    'keys null': answer({ body: { keys: null } }),
    'two megabytes': answer({ body: { keys: [k1], pad: 'x'.repeat(2_000_000) } }),
    'ten thousand keys': answer({ body: { keys: Array.from({ length: 10_000 }, () => k1) } }),
    hanging: { ...answer({ raw: () => {} }), config: { deadlines: { network: 300 } } } as Case,
    closed: answer({ raw: (response) => response.destroy() }),
    'deeply nested': answer({ body: `{"keys":[],"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}` }),
  })
  accepts(op, {
    'application/jwk-set+json': answer({ headers: { 'content-type': 'application/jwk-set+json' }, body: JSON.stringify({ keys: [k1] }) }),
    'other members beside keys': answer({ body: { keys: [k1], issuer: 'x', cached: true } }),
  })
})
