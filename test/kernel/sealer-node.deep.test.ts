/** The sealers of Node and of Web Crypto against jose, in both directions, and against every kind of forged token. */
import { createCipheriv, createHmac } from 'node:crypto'
import { CompactEncrypt, CompactSign, EncryptJWT, UnsecuredJWT, base64url } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import type { Runtime, Settings } from 'authkernel/kernel'
import { decrypt, deriveKey, encrypt, joseSealer } from './_jose.ts'
import { defaultKeyInfo } from '../../src/keys/crypto.ts'
import { createSealer } from '../../src/keys/sealer.ts'
import type { Sealer } from '../../src/contract/services.ts'
import { createShared } from '../../src/runtime/shared.ts'
import { baseConfig, fakeRuntime, secret } from '../_setup.ts'

const algorithms = ['A256CBC-HS512', 'A256GCM'] as const
const older = 'an-older-secret-of-more-than-32-characters'
const purpose = 'authkernel.session-token'
const clock = fakeRuntime()
const now = clock.now() / 1000

const settings = (more: Partial<Settings> = {}): Settings => ({
  secret: [secret],
  origin: '',
  basePath: '/auth',
  cookiePrefix: 'authkernel',
  namespace: '',
  keyInfo: defaultKeyInfo,
  encryption: ['A256CBC-HS512'],
  ...more,
})

/** What a runtime without `node:crypto` gets. */
function webSealer(runtime: Runtime = clock): Sealer {
  return without(() => createSealer(runtime, createShared()))
}

function without<T>(work: () => T, stub: unknown = undefined): T {
  const { getBuiltinModule } = process
  process.getBuiltinModule = stub as typeof getBuiltinModule
  try {
    return work()
  } finally {
    process.getBuiltinModule = getBuiltinModule
  }
}

function nodeSealer(runtime: Runtime = clock): Sealer {
  return createSealer(runtime, createShared())
}

afterEach(() => void vi.restoreAllMocks())

describe('choice of the sealer, once, when the kernel is made', () => {
  it('is node:crypto on Node: nothing goes to the thread pool', async () => {
    const encrypts = vi.spyOn(crypto.subtle, 'encrypt')
    const sealer = createSealer(clock, createShared())
    const token = await sealer.seal('p', { a: 1 }, 60, settings())
    expect(await sealer.open('p', token, settings())).toMatchObject({ a: 1 })
    expect(await sealer.open('p', 'x', settings())).toBeNull()
    expect(encrypts).not.toHaveBeenCalled()
  })

  const broken = {
    'no process.getBuiltinModule': undefined,
    'no such module': () => undefined,
    'a module of stubs': () => ({
      hkdfSync: () => {
        throw new Error('not implemented')
      },
    }),
  }
  it.each(Object.entries(broken))('is Web Crypto with %s', async (_, stub) => {
    const sealer = without(() => createSealer(clock, createShared()), stub)
    const encrypts = vi.spyOn(crypto.subtle, 'encrypt')
    const token = await sealer.seal('p', { a: 1 }, 60, settings())
    expect(await sealer.open('p', token, settings())).toMatchObject({ a: 1 })
    expect(encrypts).toHaveBeenCalledOnce()
  })

  it('a whole kernel runs without node:crypto, and reads the sessions of one that has it', async () => {
    const providers = [{ id: 'credentials', name: 'Password', type: 'credentials' as const, authorize: () => ({ id: '1', name: 'Ann' }) }]
    const edge = without(() => createAuth(baseConfig({ providers, runtime: clock })))
    const node = createAuth(baseConfig({ providers, runtime: clock }))
    const value = await nodeSealer().seal(purpose, { sub: '1', name: 'Ann' }, 60, settings())
    const other = await webSealer().seal(purpose, { sub: '1', name: 'Ann' }, 60, settings())
    for (const auth of [edge, node]) {
      for (const token of [value, other]) {
        const request = new Request('http://localhost:3000', { headers: { cookie: `${purpose}=${token}` } })
        expect(await auth.session(request)).toMatchObject({ user: { name: 'Ann' } })
      }
    }
  })
})

const sealers = { 'node:crypto': nodeSealer, 'Web Crypto': webSealer }
const cases = Object.entries(sealers).flatMap(([name, make]) => algorithms.map((enc) => [enc, name, make] as const))
describe.each(cases)('%s over %s, jose as the oracle', (enc, _, make) => {
  const chosen = settings({ encryption: [enc] })
  const sealer = make()
  const jose = joseSealer(clock)

  // Every length around the blocks of AES, then larger ones; the text repeats no pattern that would hide a shift.
  const sizes = [...Array.from({ length: 50 }, (_, i) => i), 255, 256, 1000, 4095, 20_000]
  it.each(sizes)('payloads with a text of %i characters, both ways', async (size) => {
    const text = toText(clock.random(size))
    const payload = { text, nested: { list: [size, null, true] } }
    expect(await jose.open(purpose, await sealer.seal(purpose, payload, 60, chosen), chosen)).toMatchObject(payload)
    expect(await sealer.open(purpose, await jose.seal(purpose, payload, 60, chosen), chosen)).toMatchObject(payload)
  })

  it.each(['é', 'ß→∑', '漢字かな', '😀👩‍👩‍👧', '\u0000\u001f', '\ud800', '\ufeffx', '"\\/', '__proto__'])(
    'the text %j, both ways',
    async (text) => {
      const payload = { [text]: text, name: text.repeat(30) }
      const opened = { ...payload }
      expect(await jose.open(purpose, await sealer.seal(purpose, payload, 60, chosen), chosen)).toMatchObject(opened)
      expect(await sealer.open(purpose, await jose.seal(purpose, payload, 60, chosen), chosen)).toMatchObject(opened)
    },
  )

  it('rows 92, 93: the keys and the header are those of jose, for every secret and purpose', async () => {
    for (const [name, key] of [
      [purpose, secret],
      ['é', older],
      ['', 'ключ-'.repeat(12)],
    ] as const) {
      const derived = await deriveKey(key, name, defaultKeyInfo, enc)
      const token = await sealer.seal(name, { a: 1 }, 60, settings({ secret: [key], encryption: [enc] }))
      expect(token.split('.')[0]).toBe((await encrypt({}, derived)).split('.')[0])
      expect(await decrypt(token, async () => derived, [enc], clock.now(), 0)).toMatchObject({ a: 1 })
    }
  })

  it('every token has another IV', async () => {
    const tokens = await Promise.all(Array.from({ length: 200 }, () => sealer.seal(purpose, {}, 60, chosen)))
    expect(new Set(tokens.map((token) => token.split('.')[2])).size).toBe(200)
  })

  it('every flipped bit of IV, text and tag, every cut and every other arrangement opens to null', async () => {
    const token = await sealer.seal(purpose, { a: 1 }, 60, chosen)
    const parts = token.split('.')
    const wrong: string[] = []
    for (const part of [2, 3, 4]) {
      const bytes = base64url.decode(parts[part] ?? '')
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const changed = bytes.slice()
        changed[bit >> 3]! ^= 1 << (bit & 7)
        wrong.push(replaced(parts, part, base64url.encode(changed)))
      }
      for (let length = 0; length < bytes.length; length++) wrong.push(replaced(parts, part, base64url.encode(bytes.subarray(0, length))))
      wrong.push(replaced(parts, part, base64url.encode(Uint8Array.from([...bytes, 0]))))
    }
    const other = (await sealer.seal(purpose, { a: 2 }, 60, chosen)).split('.')
    for (const part of [2, 3, 4]) wrong.push(replaced(parts, part, other[part] ?? ''))
    wrong.push(
      `${token}.`,
      `.${token}`,
      `${token}.${parts[4]}`,
      parts.slice(0, 4).join('.'),
      parts.toReversed().join('.'),
      token.replace('..', '.AA.'),
    )
    for (const forged of wrong) expect(await sealer.open(purpose, forged, chosen), forged).toBeNull()
    expect(await sealer.open(purpose, token, chosen)).not.toBeNull()
  })

  it('one token has one spelling: no padding, no white space, no other alphabet, no loose last bits', async () => {
    const token = await sealer.seal(purpose, { a: '?>'.repeat(50) }, 60, chosen)
    const parts = token.split('.')
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const wrong = [`${token}=`, `${token} `, ` ${token}`, `${token}\n`, `${token}!`, token.replaceAll('-', '+').replaceAll('_', '/')]
    for (const part of [2, 3, 4]) {
      const value = parts[part] ?? ''
      const loose = [0, 0, 4, 2][value.length % 4] ?? 0
      const last = alphabet.indexOf(value.at(-1) ?? '')
      for (let bits = 1; bits < 1 << loose; bits++) wrong.push(replaced(parts, part, value.slice(0, -1) + alphabet[last ^ bits]))
    }
    for (const other of wrong) if (other !== token) expect(await sealer.open(purpose, other, chosen), other).toBeNull()
  })
})

describe('forged and confused tokens', async () => {
  const cbc = await deriveKey(secret, purpose, defaultKeyInfo, 'A256CBC-HS512')
  const gcm = await deriveKey(secret, purpose, defaultKeyInfo, 'A256GCM')
  const foreign = await deriveKey(older, purpose, defaultKeyInfo, 'A256CBC-HS512')
  const { kid, raw } = cbc
  const claims = { sub: '1', iat: now, exp: now + 60 }
  const header = { alg: 'dir', enc: 'A256CBC-HS512', kid }
  const own = (more: object, payload: unknown = claims): string => sealed({ ...header, ...more }, raw, JSON.stringify(payload))
  const under = (alg: string, key: Uint8Array, enc = 'A256CBC-HS512') =>
    new CompactEncrypt(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg, enc, kid }).encrypt(key)

  // The header that carries no more than it should, and the ones that other programs write.
  const honest = {
    control: own({}),
    'without kid': own({ kid: undefined }),
    'members in another order': sealed({ kid, enc: header.enc, alg: 'dir' }, raw, JSON.stringify(claims)),
    'with typ': own({ typ: 'JWT' }),
    'iat a little ahead': own({}, { ...claims, iat: now + 59 }),
    'nbf now': own({}, { ...claims, nbf: now }),
  }
  const forged: Record<string, string> = {
    'alg none, empty': `${base64url.encode('{"alg":"none"}')}....`,
    'alg none with our header': sealed({ ...header, alg: 'none' }, raw, JSON.stringify(claims)),
    'unsecured JWT': new UnsecuredJWT(claims).encode(),
    'JWS under our key': await new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg: 'HS512' }).sign(raw),
    'JWS named dir': `${base64url.encode(JSON.stringify(header))}.${base64url.encode(JSON.stringify(claims))}.${base64url.encode(raw)}`,
    'key wrapping under half our key': await under('A256KW', raw.subarray(0, 32)),
    'GCM key wrapping': await under('A256GCMKW', raw.subarray(32)),
    'a password': await under('PBES2-HS256+A128KW', raw),
    'a password with 2147483647 rounds': sealed(
      { ...header, alg: 'PBES2-HS512+A256KW', p2c: 2_147_483_647, p2s: 'AAAAAAAAAAA' },
      raw,
      JSON.stringify(claims),
    ),
    'alg DIR': own({ alg: 'DIR' }),
    'no alg': own({ alg: undefined }),
    'alg as a list': own({ alg: ['dir'] }),
    'A256GCM, which was not configured': await new EncryptJWT(claims)
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: gcm.kid })
      .encrypt(gcm.raw),
    'enc A128CBC-HS256 under half our key': await under('dir', raw.subarray(0, 32), 'A128CBC-HS256'),
    'enc A128GCM': await under('dir', raw.subarray(0, 16), 'A128GCM'),
    'no enc': own({ enc: undefined }),
    'enc of another name': own({ enc: 'a256cbc-hs512' }),
    compressed: own({ zip: 'DEF' }),
    'zip null': own({ zip: null }),
    'crit unknown': own({ crit: ['x'], x: 1 }),
    'crit empty': own({ crit: [] }),
    'crit exp': own({ crit: ['exp'], exp: now + 60 }),
    'another secret': await encrypt(claims, foreign),
    'another secret under our kid': sealed(header, foreign.raw, JSON.stringify(claims)),
    'our key under an unknown kid': own({ kid: 'x' }),
    'kid as a path': own({ kid: '../../dev/null' }),
    'kid a number': own({ kid: 1 }),
    'kid null': own({ kid: null }),
    'our keys under the kid of the other algorithm': own({ kid: gcm.kid }),
    'another purpose': await encrypt(claims, await deriveKey(secret, 'authkernel.state', defaultKeyInfo, 'A256CBC-HS512')),
    'no exp': own({}, { sub: '1', iat: now }),
    'exp a string': own({}, { ...claims, exp: String(now + 60) }),
    'exp null': own({}, { ...claims, exp: null }),
    'exp now': own({}, { ...claims, exp: now }),
    'exp ten seconds ago': own({}, { ...claims, exp: now - 10 }),
    'nbf to come': own({}, { ...claims, nbf: now + 1 }),
    'nbf a string': own({}, { ...claims, nbf: '0' }),
    'iat beyond a minute': own({}, { ...claims, iat: now + 61 }),
    'iat a string': own({}, { ...claims, iat: '0' }),
    'a list': own({}, [claims]),
    'a text': own({}, 'x'),
    null: own({}, null),
    'no JSON': sealed(header, raw, 'x'),
    'nothing inside': sealed(header, raw, ''),
    'a token inside': sealed({ ...header, cty: 'JWT' }, raw, own({})),
    'a header of no object': sealed([header], raw, JSON.stringify(claims)),
    'a header of null': sealed(null, raw, JSON.stringify(claims)),
  }
  // Harmless to jose, which ignores what it does not know; refused here, so that a header says nothing that is not looked at.
  const stricter: Record<string, string> = {
    'a key in the header': own({ jwk: { kty: 'oct', k: base64url.encode(foreign.raw) } }),
    'a place of keys': own({ jku: 'https://attacker.example/keys' }),
    'claims in the header': own({ sub: '2' }),
    'a prototype': sealed(
      JSON.parse(`{"alg":"dir","enc":"A256CBC-HS512","kid":"${kid}","__proto__":{"zip":"DEF"}}`),
      raw,
      JSON.stringify(claims),
    ),
  }

  it.each(Object.entries(honest))('%s: opened, by jose as well', async (_, token) => {
    expect(await nodeSealer().open(purpose, token, settings())).toMatchObject({ sub: '1' })
    expect(await webSealer().open(purpose, token, settings())).toMatchObject({ sub: '1' })
    expect(await joseSealer(clock).open(purpose, token, settings())).toMatchObject({ sub: '1' })
  })

  it.each(Object.entries(forged))('%s: null, at once, by jose as well', async (_, token) => {
    expect(await nodeSealer().open(purpose, token, settings())).toBeNull()
    expect(await webSealer().open(purpose, token, settings())).toBeNull()
    expect(await joseSealer(clock).open(purpose, token, settings())).toBeNull()
  })

  it.each(Object.entries(stricter))('%s: null', async (_, token) => {
    expect(await nodeSealer().open(purpose, token, settings())).toBeNull()
    expect(await webSealer().open(purpose, token, settings())).toBeNull()
  })

  it.each([undefined, null, 1, {}])('%j instead of a token is null', async (token) => {
    expect(await nodeSealer().open(purpose, token as never, settings())).toBeNull()
    expect(await webSealer().open(purpose, token as never, settings())).toBeNull()
  })

  it.each(Object.entries(sealers))('both algorithms when both are configured, each under its own key: %s', async (_, make) => {
    const both = settings({ encryption: [...algorithms] })
    for (const enc of algorithms) {
      const token = await make().seal(purpose, { enc }, 60, settings({ encryption: [enc] }))
      expect(await make().open(purpose, token, both)).toMatchObject({ enc })
    }
    const [first = ''] = (await make().seal(purpose, {}, 60, both)).split('.')
    expect(JSON.parse(Buffer.from(first, 'base64url').toString())).toMatchObject({ enc: 'A256CBC-HS512' })
  })

  it('no secret: sealing says so, opening is null', async () => {
    await expect(nodeSealer().seal('p', {}, 60, settings({ secret: [] }))).rejects.toThrow('no secret to seal')
    expect(await nodeSealer().open('p', own({}), settings({ secret: [] }))).toBeNull()
    await expect(webSealer().seal('p', {}, 60, settings({ secret: [] }))).rejects.toThrow('no secret to seal')
    expect(await webSealer().open('p', own({}), settings({ secret: [] }))).toBeNull()
  })
})

/** A token with any header, made without a library that would refuse to make it. */
function sealed(header: unknown, key: Uint8Array, text: string): string {
  const protectedHeader = base64url.encode(JSON.stringify(header))
  const iv = Buffer.alloc(16, 7)
  const cipher = createCipheriv('aes-256-cbc', key.subarray(32), iv)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(protectedHeader.length * 8))
  const tag = createHmac('sha512', key.subarray(0, 32))
    .update(protectedHeader)
    .update(iv)
    .update(body)
    .update(length)
    .digest()
    .subarray(0, 32)
  return [protectedHeader, '', iv.toString('base64url'), body.toString('base64url'), tag.toString('base64url')].join('.')
}

function replaced(parts: readonly string[], index: number, value: string): string {
  return parts.with(index, value).join('.')
}

/** Characters of one to three bytes of UTF-8 each. */
function toText(bytes: Uint8Array): string {
  return String.fromCharCode(
    ...Array.from(bytes, (byte, i) => (i % 5 === 0 ? 0x3040 + byte : i % 3 === 0 ? 0xa0 + (byte & 0x5f) : 0x20 + (byte & 0x3f))),
  )
}
