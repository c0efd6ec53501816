/** Sealed values: bound to secret and purpose, expiring, one answer for everything that is wrong. */
import { describe, expect, it } from 'vitest'
import { EncryptJWT } from 'jose'
import { deriveKey } from './_jose.ts'
import { defaultKeyInfo } from '../../src/keys/crypto.ts'
import { decode, encode } from '../../src/keys/token.ts'
import type { Settings } from 'authkernel/kernel'
import { createSealer } from '../../src/keys/sealer.ts'
import { createShared } from '../../src/runtime/shared.ts'
import { fakeRuntime, secret } from '../_setup.ts'

const older = 'an-older-secret-of-more-than-32-characters'
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
const make = () => {
  const clock = fakeRuntime()
  return { clock, sealer: createSealer(clock, createShared()) }
}

describe('sealer', () => {
  it('opens what it sealed, with iat, exp and jti', async () => {
    const { clock, sealer } = make()
    const now = clock.now() / 1000
    const token = await sealer.seal('p', { a: 1, iat: 5, exp: 6, jti: 'x' }, 60, settings())
    expect(await sealer.open('p', token, settings())).toEqual({
      a: 1,
      iat: now,
      exp: now + 60,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    })
  })

  it('D46: ends at its moment, without tolerance', async () => {
    const { clock, sealer } = make()
    const token = await sealer.seal('p', {}, 60, settings())
    clock.advance(59_999)
    expect(await sealer.open('p', token, settings())).not.toBeNull()
    clock.advance(1)
    expect(await sealer.open('p', token, settings())).toBeNull()
  })

  it('row 88: another purpose, secret or key derivation cannot open it', async () => {
    const { sealer } = make()
    const token = await sealer.seal('p', {}, 60, settings())
    expect(await sealer.open('q', token, settings())).toBeNull()
    expect(await sealer.open('p', token, settings({ secret: [older] }))).toBeNull()
    expect(await sealer.open('p', token, settings({ keyInfo: (salt) => `other ${salt}` }))).toBeNull()
  })

  it('D3: the newest secret seals, every one opens', async () => {
    const { sealer } = make()
    const before = await sealer.seal('p', { by: 'old' }, 60, settings({ secret: [older] }))
    const rotated = settings({ secret: [secret, older] })
    expect(await sealer.open('p', before, rotated)).toMatchObject({ by: 'old' })
    const after = await sealer.seal('p', {}, 60, rotated)
    expect(await sealer.open('p', after, settings())).not.toBeNull()
    expect(await sealer.open('p', after, settings({ secret: [older] }))).toBeNull()
  })

  it('D37: algorithms that were not configured, zip, passwords and tokens without exp are refused', async () => {
    const { clock, sealer } = make()
    const { raw, kid } = await deriveKey(secret, 'p', defaultKeyInfo, 'A256CBC-HS512')
    const gcm = await deriveKey(secret, 'p', defaultKeyInfo, 'A256GCM')
    const own = (header: Record<string, unknown>, key: Uint8Array, exp = true) => {
      const jwt = new EncryptJWT({ a: 1 }).setProtectedHeader({ alg: 'dir', enc: 'A256CBC-HS512', ...header } as never)
      if (exp) jwt.setExpirationTime(clock.now() / 1000 + 60)
      return jwt.encrypt(key)
    }
    expect(await sealer.open('p', await own({ kid }, raw), settings())).toMatchObject({ a: 1 })
    expect(await sealer.open('p', await own({ kid }, raw, false), settings())).toBeNull()
    const short = await own({ enc: 'A256GCM', kid: gcm.kid }, gcm.raw)
    expect(await sealer.open('p', short, settings())).toBeNull()
    expect(await sealer.open('p', short, settings({ encryption: ['A256CBC-HS512', 'A256GCM'] }))).toMatchObject({ a: 1 })
    const password = await new EncryptJWT({})
      .setProtectedHeader({ alg: 'PBES2-HS256+A128KW', enc: 'A128CBC-HS256', p2c: 2048 } as never)
      .encrypt(raw)
    expect(await sealer.open('p', password, settings())).toBeNull()
  })

  it('a token from the future, beyond a minute, is not honest', async () => {
    const { clock, sealer } = make()
    const ahead = createSealer({ ...clock, now: () => clock.now() + 61_000 }, createShared())
    const token = await ahead.seal('p', {}, 600, settings())
    expect(await sealer.open('p', token, settings())).toBeNull()
    clock.advance(1000)
    expect(await sealer.open('p', token, settings())).not.toBeNull()
  })

  it('what has no end is of no time: a store is read by hosts whose clocks differ, and after a clock went back', async () => {
    const { clock, sealer } = make()
    const ahead = createSealer({ ...clock, now: () => clock.now() + 31_536_000_000 }, createShared())
    const [endless, ends] = [await ahead.seal('p', { a: 1 }, null, settings()), await ahead.seal('p', {}, 600, settings())]
    expect(await sealer.open('p', endless, settings(), true)).toMatchObject({ a: 1 })
    expect([await sealer.open('p', endless, settings()), await sealer.open('p', ends, settings())]).toEqual([null, null])
  })

  it.each(['', 'x', '....', 'a.b.c.d.e', 'eyJhbGciOiJub25lIn0..', '\u0000', 'é'.repeat(100)])('%j opens to null', async (token) => {
    expect(await make().sealer.open('p', token, settings())).toBeNull()
  })

  it('a single changed character opens to null, wherever it is', async () => {
    const { sealer } = make()
    const token = await sealer.seal('p', { a: 1 }, 60, settings())
    for (let i = 0; i < token.length; i += 17) {
      if (token[i] === '.') continue
      const changed = token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1)
      expect(await sealer.open('p', changed, settings())).toBeNull()
    }
  })

  it('interoperates with encode and decode', async () => {
    const real = createSealer({ ...fakeRuntime(), now: Date.now }, createShared())
    const token = await encode({ token: { sub: '1' }, secret, salt: 'p' })
    expect(await real.open('p', token, settings())).toMatchObject({ sub: '1' })
    expect(await decode({ token: await real.seal('p', { sub: '2' }, 60, settings()), secret, salt: 'p' })).toMatchObject({ sub: '2' })
  })
})
