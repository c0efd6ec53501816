/** Rows, section F. */
import { base64url, calculateJwkThumbprint, decodeProtectedHeader, EncryptJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decode, encode, getToken } from 'authkernel/jwt'
import { deriveKey } from './_jose.ts'
import { defaultKeyInfo } from '../../src/keys/crypto.ts'
import { secret } from '../_setup.ts'

const salt = 'authkernel.session-token'
const old = 'an-older-secret-of-more-than-32-characters'
const now = (): number => Math.floor(Date.now() / 1000)
const forge = async (claims: object, header: object = {}, from = secret): Promise<string> => {
  const key = await deriveKey(from, salt, defaultKeyInfo, 'A256CBC-HS512')
  return new EncryptJWT({ ...claims })
    .setProtectedHeader({ alg: 'dir', enc: 'A256CBC-HS512', kid: key.kid, ...header } as never)
    .encrypt(key.raw)
}

describe.each(['node:crypto', 'Web Crypto'])('encode and decode over %s', (library) => {
  const { getBuiltinModule } = process
  beforeAll(() => {
    if (library === 'Web Crypto') process.getBuiltinModule = (() => undefined) as typeof getBuiltinModule
  })
  afterAll(() => {
    process.getBuiltinModule = getBuiltinModule
  })

  it('rows 92, 93, 95: a JWE with dir, A256CBC-HS512 and the SHA-512 thumbprint', async () => {
    const token = await encode({ token: { sub: '1' }, secret, salt })
    const { raw } = await deriveKey(secret, salt, defaultKeyInfo, 'A256CBC-HS512')
    const kid = await calculateJwkThumbprint({ kty: 'oct', k: base64url.encode(raw) }, 'sha512')
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'dir', enc: 'A256CBC-HS512', kid })
  })

  it('rows 96, 100: payload with iat, exp and jti', async () => {
    const payload = await decode({ token: await encode({ token: { sub: '1' }, secret, salt }), secret, salt })
    expect(payload).toMatchObject({ sub: '1', jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string })
    expect((payload?.exp ?? 0) - (payload?.iat ?? 0)).toBe(2_592_000)
  })

  it('row 97: no token is null; a wrong secret throws; 15 s of tolerance', async () => {
    expect(await decode({ secret, salt })).toBeNull()
    const token = await encode({ token: {}, secret, salt })
    await expect(decode({ token, secret: old, salt })).rejects.toThrow()
    await expect(decode({ token, secret, salt: 'other' })).rejects.toThrow()
    expect(await decode({ token: await encode({ secret, salt, maxAge: -10 }), secret, salt })).toBeTruthy()
    const expired = await encode({ secret, salt, maxAge: -20 })
    await expect(decode({ token: expired, secret, salt })).rejects.toThrow()
  })

  it('row 98: A256GCM is accepted on decode', async () => {
    const key = await deriveKey(secret, salt, defaultKeyInfo, 'A256GCM')
    const token = await new EncryptJWT({ sub: '1', exp: now() + 60 })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: key.kid })
      .encrypt(key.raw)
    expect(await decode({ token, secret, salt })).toMatchObject({ sub: '1' })
  })

  it('row 99: the first secret encrypts, any decrypts', async () => {
    const token = await encode({ token: { sub: '1' }, secret: [secret, old], salt })
    expect(await decode({ token, secret, salt })).toMatchObject({ sub: '1' })
    expect(await decode({ token: await encode({ secret: old, salt }), secret: [secret, old], salt })).toBeTruthy()
  })

  it.each([
    ['no exp (D37)', {}, {}],
    ['zip', { exp: now() + 60 }, { zip: 'DEF' }],
    ['an unknown kid', { exp: now() + 60 }, { kid: 'other' }],
    ['nbf in the future', { exp: now() + 60, nbf: now() + 3600 }, {}],
  ])('refused: %s', async (_name, claims, header) => {
    const token = await forge(claims, header).catch(() => 'not-even-made')
    await expect(decode({ token, secret, salt })).rejects.toThrow()
  })

  it('without kid the first secret is tried', async () => {
    expect(await decode({ token: await forge({ exp: now() + 60 }, { kid: undefined }), secret, salt })).toBeTruthy()
  })
})

describe('getToken', () => {
  const cookie = async (name = salt): Promise<string> => `${name}=${await encode({ token: { sub: '1' }, secret, salt: name })}`

  it('rows 103, 109: cookie or Authorization, Request or headers', async () => {
    expect(await getToken({ req: new Request('http://a', { headers: { cookie: await cookie() } }), secret })).toMatchObject({ sub: '1' })
    expect(await getToken({ req: { headers: { Cookie: await cookie() } }, secret })).toMatchObject({ sub: '1' })
    expect(await getToken({ req: { headers: new Headers({ cookie: await cookie() }) }, secret })).toMatchObject({ sub: '1' })
    const bearer = encodeURIComponent(await encode({ token: { sub: '2' }, secret, salt }))
    expect(await getToken({ req: { headers: { authorization: `Bearer ${bearer}` } }, secret })).toMatchObject({ sub: '2' })
  })

  it('row 104: the cookie, in chunks too, comes before Bearer', async () => {
    const token = await encode({ token: { sub: '1', text: 'x'.repeat(6000) }, secret, salt })
    const headers = {
      cookie: `${salt}.1=${token.slice(3936)}; ${salt}.0=${token.slice(0, 3936)}`,
      authorization: `Bearer ${await encode({ token: { sub: '2' }, secret, salt })}`,
    }
    expect(await getToken({ req: { headers }, secret })).toMatchObject({ sub: '1' })
  })

  it('row 105: raw', async () => {
    const header = await cookie()
    expect(await getToken({ req: { headers: { cookie: header } }, raw: true })).toBe(header.slice(salt.length + 1))
  })

  it.each(['Bearer %', 'Bearer %E0%A4%A', 'Bearer x', 'Bearer', 'Basic YQ==', `Bearer ${'a'.repeat(100_000)}`, ''])(
    'row 106: %j is null',
    async (authorization) => {
      expect(await getToken({ req: { headers: { authorization } }, secret })).toBeNull()
    },
  )

  it('row 106: the logger hears of it at debug only', async () => {
    const debugs: string[] = []
    await getToken({ req: { headers: { cookie: `${salt}=x` } }, secret, logger: { debug: (text) => void debugs.push(text) } })
    expect(debugs).toHaveLength(1)
  })

  it('row 107: no req, no secret', async () => {
    await expect(getToken({ secret } as never)).rejects.toThrow('`req`')
    await expect(getToken({ req: { headers: {} } })).rejects.toMatchObject({ name: 'MissingSecret' })
  })

  it('row 108: secureCookie, cookieName and salt', async () => {
    const secure = `__Secure-${salt}`
    expect(await getToken({ req: { headers: { cookie: await cookie(secure) } }, secret, secureCookie: true })).toMatchObject({ sub: '1' })
    expect(await getToken({ req: { headers: { cookie: await cookie(secure) } }, secret })).toBeNull()
    expect(await getToken({ req: { headers: { cookie: await cookie('sid') } }, secret, cookieName: 'sid' })).toMatchObject({ sub: '1' })
    const other = `sid=${await encode({ token: { sub: '3' }, secret, salt: 'pepper' })}`
    expect(await getToken({ req: { headers: { cookie: other } }, secret, cookieName: 'sid', salt: 'pepper' })).toMatchObject({ sub: '3' })
  })

  it('row 108: the configured base URL says which name is the default', async () => {
    const before = process.env['AUTH_URL']
    process.env['AUTH_URL'] = 'https://app.example'
    try {
      expect(await getToken({ req: { headers: { cookie: await cookie(`__Secure-${salt}`) } }, secret })).toMatchObject({ sub: '1' })
    } finally {
      if (before === undefined) delete process.env['AUTH_URL']
      else process.env['AUTH_URL'] = before
    }
  })

  it('row 102: a custom decode', async () => {
    const seen: unknown[] = []
    const decode = (params: object) => (seen.push(params), { sub: '9' })
    expect(await getToken({ req: { headers: { cookie: `${salt}=abc` } }, secret, decode })).toEqual({ sub: '9' })
    expect(seen).toEqual([{ token: 'abc', secret, salt }])
  })
})
