/** How often a provider is asked for its metadata and keys (D8). */
import { describe, expect, it } from 'vitest'
import { locationOf } from '../_client.ts'
import type { Script } from '../_op/hostile.ts'
import { type Case, expectAccepted, expectRefused, instance, useOp } from '../_op/journey.ts'
import { type Jwk, jws, keys } from '../_op/keys.ts'

const op = useOp()
const published = (...list: Jwk[]): Script => ({ jwks: () => ({ keys: list }) })

describe('cache (D8)', () => {
  const clock = (): { config: Case['config']; tick(seconds: number): void } => {
    let offset = 0
    return { config: { runtime: { now: () => Date.now() + offset } }, tick: (seconds) => void (offset += seconds * 1000) }
  }
  const signIn = async ({ client }: Pick<ReturnType<typeof instance>, 'client'>): Promise<string> => {
    return locationOf(await client.get(await op().authorize(locationOf(await client.signIn('acme')))))
  }

  it('fetches keys and discovery once for many sign-ins, and one request each is left', async () => {
    op().reset()
    const running = instance(op())
    for (let i = 0; i < 4; i++) expect(await signIn(running)).toBe('http://localhost:3000')
    expect(Object.fromEntries(op().hits)).toEqual({ '/.well-known/openid-configuration': 1, '/authorize': 4, '/token': 4, '/jwks': 1 })
  })

  it('rotation between sign-ins and just before signing: fetched again, accepted', async () => {
    op().reset()
    const running = instance(op())
    expect(await signIn(running)).toBe('http://localhost:3000')
    op().script = { key: keys.k2, ...published(keys.k2.publicJwk) }
    expect(await signIn(running)).toBe('http://localhost:3000')
    expect(op().count('/jwks')).toBe(2)
  })

  it('rotation under the same kid: fetched again, accepted', async () => {
    op().reset()
    const running = instance(op())
    expect(await signIn(running)).toBe('http://localhost:3000')
    const key = { ...keys.k2, kid: 'k1' }
    op().script = { key, ...published({ ...keys.k2.publicJwk, kid: 'k1' }) }
    expect(await signIn(running)).toBe('http://localhost:3000')
  })

  it('random kids do not make a storm: one more fetch in 30 seconds', async () => {
    op().reset()
    const { config, tick } = clock()
    const running = instance(op(), { config: config ?? {} })
    expect(await signIn(running)).toBe('http://localhost:3000')
    op().script = { header: (good) => ({ ...good, kid: Math.random().toString() }) }
    for (let i = 0; i < 6; i++) expect(await signIn(running)).toContain('error=')
    expect(op().count('/jwks')).toBe(2)
    tick(31)
    op().script = {
      header: (good) => ({ ...good, kid: Math.random().toString() }),
      claims: (good) => ({ ...good, iat: Number(good['iat']) + 31 }),
    }
    for (let i = 0; i < 3; i++) expect(await signIn(running)).toContain('error=')
    expect(op().count('/jwks')).toBe(3)
  })

  it('ten first sign-ins at once share one discovery request and one for the keys', async () => {
    op().reset()
    const running = instance(op())
    const clients = Array.from({ length: 10 }, () => running.client.clone())
    expect(await Promise.all(clients.map((client) => signIn({ client })))).toEqual(Array(10).fill('http://localhost:3000'))
    expect(op().count('/.well-known/openid-configuration')).toBe(1)
    expect(op().count('/jwks')).toBe(1)
  })

  it('a withdrawn key ends with the lifetime of the cache', async () => {
    op().reset()
    const { config, tick } = clock()
    const running = instance(op(), { config: config ?? {} })
    expect(await signIn(running)).toBe('http://localhost:3000')
    tick(11 * 60)
    op().script = {
      ...published(keys.k2.publicJwk),
      claims: (good) => ({ ...good, iat: Number(good['iat']) + 660, exp: Number(good['exp']) + 660 }),
    }
    expect(await signIn(running)).toContain('error=')
  })

  it('a failed discovery is not remembered', async () => {
    op().reset({ discovery: () => ({ status: 503, body: {} }) })
    const running = instance(op())
    expect(locationOf(await running.client.signIn('acme'))).toContain('error=Configuration')
    op().script = {}
    expect(await signIn(running)).toBe('http://localhost:3000')
  })

  it('discovery is read again after its hour', async () => {
    op().reset()
    const { config, tick } = clock()
    const running = instance(op(), { config: config ?? {} })
    await running.client.signIn('acme')
    tick(59 * 60)
    await running.client.signIn('acme')
    expect(op().count('/.well-known/openid-configuration')).toBe(1)
    tick(61)
    await running.client.signIn('acme')
    expect(op().count('/.well-known/openid-configuration')).toBe(2)
  })

  it('a token signed by a withdrawn key, replayed under a new flow, is refused for its nonce', async () => {
    const stolen = jws(
      { alg: 'RS256', kid: 'k1' },
      { iss: op().issuer, aud: 'client-1', sub: 'victim', exp: Date.now(), iat: Math.floor(Date.now() / 1000), nonce: 'old' },
      keys.k1,
    )
    await expectRefused(op(), { provider: { checks: ['pkce', 'nonce'] }, idToken: () => stolen })
    await expectAccepted(op(), { provider: { checks: ['pkce', 'nonce'] } })
  })
})
