/** How the client proves itself at the token endpoint (rows 189, 190, 361). */
import { generateKeyPairSync, createPublicKey } from 'node:crypto'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { type Case, expectAccepted, expectRefused, reasonOf, useOp } from '../_op/journey.ts'

const op = useOp()
const method = (token_endpoint_auth_method: string | undefined, more: object = {}): object => ({
  client: { token_endpoint_auth_method },
  ...more,
})

/** What the token endpoint got. */
async function sent(provider: object, more: Case = {}): Promise<{ authorization: string | undefined; body: Record<string, string> }> {
  await expectAccepted(op(), { ...more, provider })
  const [exchange] = [...op().exchanges.values()]
  return { authorization: exchange?.headers.authorization, body: Object.fromEntries(exchange?.token ?? []) }
}
const basic = (header: string | undefined): string => Buffer.from(header?.replace('Basic ', '') ?? '', 'base64').toString()

describe('row 189', () => {
  it('client_secret_basic by default: form-encoded, in the header alone', async () => {
    const { authorization, body } = await sent({})
    expect(basic(authorization)).toBe(`client-1:${op().clientSecret}`)
    expect(body).toEqual({
      grant_type: 'authorization_code',
      code: expect.any(String) as string,
      redirect_uri: 'http://localhost:3000/auth/callback/acme',
      code_verifier: expect.stringMatching(/^[\w-]{43}$/) as string,
    })
  })
  it('reserved characters of a secret are form-encoded (RFC 6749 section 2.3.1), others stay readable', async () => {
    const { authorization } = await sent(method('client_secret_basic', { clientSecret: 'a:b c%d+e&ü-_.~' }))
    expect(basic(authorization)).toBe('client-1:a%3Ab+c%25d%2Be%26%C3%BC-_.~')
  })
  it('client_secret_post', async () => {
    const { authorization, body } = await sent(method('client_secret_post'))
    expect(authorization).toBeUndefined()
    expect(body).toMatchObject({ client_id: 'client-1', client_secret: op().clientSecret })
  })
  it('client_secret_post where the server offers it and not basic', async () => {
    const discovery = (document: object): Record<string, unknown> => ({
      ...document,
      token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
    })
    expect((await sent({}, { discovery })).body).toMatchObject({ client_secret: op().clientSecret })
    expect(basic((await sent(method('client_secret_basic'), { discovery })).authorization)).toContain('client-1:')
  })
  it('client_secret_jwt', async () => {
    const { authorization, body } = await sent(method('client_secret_jwt'))
    expect(authorization).toBeUndefined()
    expect(body).not.toHaveProperty('client_secret')
    expect(body['client_assertion_type']).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    const { payload } = await jwtVerify(body['client_assertion'] ?? '', new TextEncoder().encode(op().clientSecret))
    expect(payload).toMatchObject({ iss: 'client-1', sub: 'client-1', jti: expect.any(String) as string })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(60)
  })
  it('private_key_jwt by a key with kid or a bare CryptoKey; another jti each time', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = await crypto.subtle.importKey(
      'pkcs8',
      privateKey.export({ type: 'pkcs8', format: 'der' }),
      { name: 'ECDSA', namedCurve: 'P-256' },
      false,
      ['sign'],
    )
    const ids = new Set<unknown>()
    for (const clientPrivateKey of [key, { key, kid: 'mine' }]) {
      for (const provider of [
        method('private_key_jwt', { token: { clientPrivateKey } }),
        { clientSecret: undefined, token: { clientPrivateKey } },
      ]) {
        const { body } = await sent(provider)
        const { payload } = await jwtVerify(body['client_assertion'] ?? '', createPublicKey(privateKey))
        expect(payload.aud).toEqual([op().issuer, `${op().issuer}/token`])
        expect(decodeProtectedHeader(body['client_assertion'] ?? '').kid).toBe('key' in clientPrivateKey ? 'mine' : undefined)
        ids.add(payload.jti)
      }
    }
    expect(ids.size).toBe(4)
  })
  it('none, and public clients without a secret', async () => {
    for (const provider of [method('none'), { clientSecret: undefined }]) {
      const { authorization, body } = await sent(provider)
      expect(authorization).toBeUndefined()
      expect(body).toMatchObject({ client_id: 'client-1' })
      expect(body).not.toHaveProperty('client_secret')
    }
  })
  it('an empty secret is a mistake, not a public client', async () => {
    const outcome = await expectRefused(op(), { provider: { clientSecret: '' } })
    expect(reasonOf(outcome)).toMatch(/client_secret_basic but its clientSecret is empty/)
    await expectRefused(op(), { provider: { clientSecret: undefined, ...method('client_secret_post') } })
  })
  it('a secret may be a function: asked at each exchange, with the time', async () => {
    const asked: unknown[] = []
    const clientSecret = (context: { now: Date; clientId: string }): Promise<string> => {
      asked.push(context)
      return Promise.resolve(`fresh-secret-${asked.length}`)
    }
    const { authorization } = await sent(
      { clientSecret },
      {
        config: { runtime: { now: () => Date.UTC(2030, 0, 1) } },
        claims: (good) => ({ ...good, iat: Date.UTC(2030, 0, 1) / 1000, exp: 2e9 }),
      },
    )
    expect(basic(authorization)).toBe('client-1:fresh-secret-1')
    expect(asked).toEqual([{ now: new Date('2030-01-01'), clientId: 'client-1' }])
    await expectRefused(op(), { provider: { clientSecret: () => Promise.reject(new Error('no key')) } })
  })
  it('a secret that a function made does not reach the log either', async () => {
    const { errors } = await expectRefused(op(), {
      provider: { clientSecret: () => 'made-secret-canary' },
      token: () => ({ status: 401, body: { error: 'invalid_client', error_description: 'made-secret-canary is wrong' } }),
    })
    expect(JSON.stringify(errors[0]?.cause)).toContain('[redacted] is wrong')
  })
})

describe('row 190: client overrides', () => {
  it('go to the library: another client_id for the ID token', async () => {
    await expectAccepted(op(), { provider: { client: { client_id: 'client-9' } }, claims: (good) => ({ ...good, aud: 'client-9' }) })
    await expectRefused(op(), { provider: { client: { client_id: 'client-9' } } })
  })
  it('default_max_age is asked for and checked', async () => {
    const provider = { client: { default_max_age: 60 } }
    await expectRefused(op(), { provider })
    await expectAccepted(op(), { provider, claims: (good) => ({ ...good, auth_time: good['iat'] }) })
    expect([...op().exchanges.values()][0]?.request.get('max_age')).toBe('60')
  })
})
