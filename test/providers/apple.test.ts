/** Apple: the client secret that is a JWT, the form field with the name, `email_verified` as a string. */
import { generateKeyPairSync } from 'node:crypto'
import { decodeProtectedHeader, importSPKI, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { memoryAdapter } from 'authkernel/plugins/memory'
import apple, { type AppleOptions } from 'authkernel/providers/apple'
import { locationOf } from '../_client.ts'
import { facts } from './_facts.ts'
import { createHost, origin, reason } from './_host.ts'
import { samples } from './_samples.ts'
import { createStub } from './_stub.ts'

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const publicKey = await importSPKI(pair.publicKey.export({ type: 'spki', format: 'pem' }) as string, 'ES256')
const key = { teamId: 'TEAM000001', keyId: 'KEY0000001', privateKey }
const fact = facts.find(({ id }) => id === 'apple')!

const setup = (options: AppleOptions = key, claims: object = {}) => {
  const stub = createStub(fact, samples['apple']!, { ...samples['apple']!.full, ...claims })
  const host = createHost(apple({ clientId: 'client-1', ...options }), stub.fetch)
  const signIn = async (extra: Record<string, string> = {}) => {
    stub.now = host.now()
    const authorization = await host.start()
    stub.nonce = authorization.searchParams.get('nonce')!
    return host.back(authorization, extra)
  }
  return { stub, host, signIn }
}
const secretOf = (stub: ReturnType<typeof createStub>): string => new URLSearchParams(stub.seen.token.at(-1)!.text).get('client_secret')!

describe('the client secret', () => {
  it('row 210: is a JWT of team, key and client, good for minutes', async () => {
    const { stub, host, signIn } = setup()
    expect(locationOf(await signIn())).toBe(origin)
    const secret = secretOf(stub)
    expect(decodeProtectedHeader(secret)).toEqual({ alg: 'ES256', kid: 'KEY0000001' })
    const { payload } = await jwtVerify(secret, publicKey, { currentDate: new Date(host.now() * 1000) })
    expect(payload).toEqual({
      iss: 'TEAM000001',
      sub: 'client-1',
      aud: 'https://appleid.apple.com',
      iat: host.now(),
      exp: host.now() + 300,
    })
  })

  it('is renewed: a year later there is a new one', async () => {
    const { stub, host, signIn } = setup()
    await signIn()
    host.advance(365 * 24 * 60 * 60)
    await signIn()
    expect(host.errors).toEqual([])
    const { payload } = await jwtVerify(secretOf(stub), publicKey, { currentDate: new Date(host.now() * 1000) })
    expect(payload.iat).toBe(host.now())
  })

  it('takes a key whose line breaks were written as \\n, as environments do', async () => {
    const { signIn } = setup({ ...key, privateKey: privateKey.replaceAll('\n', '\\n') })
    expect(locationOf(await signIn())).toBe(origin)
  })

  it('may be given ready-made', async () => {
    const { stub, signIn } = setup({ clientSecret: 'ready.made.jwt' })
    await signIn()
    expect(secretOf(stub)).toBe('ready.made.jwt')
  })

  it('says which option is missing', () => {
    expect(() => apple({ teamId: 'TEAM000001', keyId: 'KEY0000001' })).toThrow(
      'Provider "apple" needs teamId, keyId and privateKey together',
    )
  })

  it('an unusable key is named, and never logged', async () => {
    const { host, signIn } = setup({ ...key, privateKey: '-----BEGIN PRIVATE KEY-----\nc2VjcmV0IGtleQ==\n-----END PRIVATE KEY-----' })
    await signIn()
    expect(reason(host.errors)).toContain('privateKey is not a PKCS#8 P-256 key')
    expect(host.errors.map((error) => JSON.stringify([error.message, error.stack, error.cause])).join()).not.toContain('c2VjcmV0')
  })
})

describe('the name', () => {
  it('row 210: comes with the form field of the first consent', async () => {
    const { host, signIn } = setup()
    await signIn({ user: JSON.stringify({ name: { firstName: 'Ada', lastName: 'Lovelace' }, email: 'attacker@evil.example' }) })
    expect(host.asked().user).toMatchObject({ name: 'Ada Lovelace', email: 'ada@privaterelay.example', image: null })
    expect(host.asked().profile).toMatchObject({ user: { name: { firstName: 'Ada', lastName: 'Lovelace' } } })
    expect(JSON.stringify(host.asked())).not.toContain('attacker')
  })

  it('is the address later', async () => {
    const { host, signIn } = setup()
    await signIn()
    expect(host.asked().user.name).toBe('ada@privaterelay.example')
  })

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"name":null}',
    '{"name":"Ada"}',
    '{"name":{"firstName":{"a":1},"lastName":7}}',
    '{"__proto__":{"name":{}}}',
  ])('a form field that is not the documented one does no harm: %s', async (user) => {
    const { host, signIn } = setup()
    expect(locationOf(await signIn({ user }))).toBe(origin)
    expect(host.asked().user.name).toBe('ada@privaterelay.example')
  })
})

describe('row 210: D33, email_verified is a string', () => {
  it.each([
    ['true', origin],
    [true, origin],
    ['false', 'OAuthAccountNotLinked'],
    [false, 'OAuthAccountNotLinked'],
    ['yes', 'OAuthAccountNotLinked'],
  ])('%j: %s', async (verified, expected) => {
    const adapter = memoryAdapter()
    await adapter.createUser!({ id: 'u-1', email: 'ada@privaterelay.example', emailVerified: null })
    const stub = createStub(fact, samples['apple']!, { ...samples['apple']!.full, email_verified: verified })
    const preset = apple({ clientId: 'client-1', ...key, allowDangerousEmailAccountLinking: true })
    const host = createHost(preset, stub.fetch, { adapter })
    stub.now = host.now()
    const authorization = await host.start()
    stub.nonce = authorization.searchParams.get('nonce')!
    expect(locationOf(await host.back(authorization))).toContain(expected)
  })
})
