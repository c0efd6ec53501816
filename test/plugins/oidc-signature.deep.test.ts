/** ID tokens after the first: verified over `node:crypto` with a key that is imported once, and as strictly as by jose. */
import { createHash, subtle } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { locationOf } from '../_client.ts'
import type { Script } from '../_op/hostile.ts'
import { instance, useOp } from '../_op/journey.ts'
import { type Jwk, keys, type SigningKey } from '../_op/keys.ts'

const op = useOp()
const home = 'http://localhost:3000'

afterEach(() => void vi.restoreAllMocks())

/** A provider with one key and algorithm. */
function signs(key: SigningKey, alg: string): Script {
  const { alg: _alg, ...jwk } = key.publicJwk
  return {
    key,
    alg,
    header: (good) => ({ ...good, alg, kid: key.kid }),
    jwks: () => ({ keys: [jwk] }),
    discovery: (document) => ({ ...document, id_token_signing_alg_values_supported: [alg] }),
    // As Google and others send it.
    claims: (good, { accessToken }) => ({ ...good, at_hash: half(alg, accessToken) }),
  }
}

function half(alg: string, value: string): string {
  const digest = createHash(/\d{3}$/.test(alg) ? `sha${alg.slice(2)}` : 'sha512')
    .update(value)
    .digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

async function signIn(running: ReturnType<typeof instance>): Promise<string> {
  return locationOf(await running.client.get(await op().authorize(locationOf(await running.client.signIn('acme')))))
}

function forbidSubtle(): void {
  for (const method of ['verify', 'importKey', 'digest'] as const) {
    vi.spyOn(subtle, method).mockImplementation(() => {
      throw new Error(`crypto.subtle.${method} at a later sign-in`)
    })
  }
}

const algorithms: [string, SigningKey][] = [
  ['RS256', keys.k1],
  ['RS384', keys.k1],
  ['RS512', keys.k1],
  ['PS256', keys.k1],
  ['PS384', keys.k1],
  ['PS512', keys.k1],
  ['ES256', keys.es256],
  ['ES384', keys.es384],
  ['ES512', keys.es512],
  ['EdDSA', keys.ed25519],
]

/** What is wrong with the second token; its header is that of the first. */
const wrong: Record<string, (token: string) => string> = {
  'another payload': (token) =>
    swap(token, 1, (part) => Buffer.from(JSON.stringify({ ...claimsOf(part), sub: 'mallory' })).toString('base64url')),
  'a turned bit in the signature': (token) =>
    swap(token, 2, (part) => {
      const bytes = Buffer.from(part, 'base64url')
      bytes[9] = (bytes[9] as number) ^ 1
      return bytes.toString('base64url')
    }),
  'half a signature': (token) => swap(token, 2, (part) => part.slice(0, part.length / 2)),
  'a longer signature': (token) => swap(token, 2, (part) => `${part}AAAA`),
  'a signature of zeros': (token) => swap(token, 2, (part) => Buffer.alloc(Buffer.from(part, 'base64url').length).toString('base64url')),
  'a signature of one byte': (token) => swap(token, 2, () => 'AA'),
}

function swap(token: string, at: number, change: (part: string) => string): string {
  const parts = token.split('.')
  parts[at] = change(parts[at] as string)
  return parts.join('.')
}

function claimsOf(part: string): Jwk {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Jwk
}

describe.each(algorithms)('%s', (alg, key) => {
  it('the second sign-in asks nothing of crypto.subtle, at_hash included', async () => {
    op().reset(signs(key, alg))
    const running = instance(op())
    expect(await signIn(running)).toBe(home)
    forbidSubtle()
    expect(await signIn(running)).toBe(home)
    expect(running.errors).toEqual([])
  })

  it.each(Object.entries(wrong))('refused after a good one: %s', async (_name, change) => {
    op().reset(signs(key, alg))
    const running = instance(op())
    expect(await signIn(running)).toBe(home)
    op().script = { ...op().script, idToken: ({ token }) => change(token) }
    expect(await signIn(running)).toContain('error=')
    op().script = signs(key, alg)
    expect(await signIn(running)).toBe(home)
  })
})

describe('what is remembered', () => {
  it('a token of another key under the same header is refused, however often', async () => {
    op().reset()
    const running = instance(op())
    expect(await signIn(running)).toBe(home)
    op().script = { key: keys.evil }
    for (let i = 0; i < 3; i++) expect(await signIn(running)).toContain('error=')
  })

  it('belongs to one key set: another key under the same kid is accepted after it was published, and the former one no more', async () => {
    op().reset()
    const running = instance(op())
    for (let i = 0; i < 2; i++) expect(await signIn(running)).toBe(home)
    const renewed: Script = { key: { ...keys.k2, kid: 'k1' }, jwks: () => ({ keys: [{ ...keys.k2.publicJwk, kid: 'k1' }] }) }
    op().script = renewed
    for (let i = 0; i < 2; i++) expect(await signIn(running)).toBe(home)
    op().script = { ...renewed, key: keys.k1 }
    expect(await signIn(running)).toContain('error=')
  })

  it('no header that was refused: alg none, crit and another algorithm stay refused', async () => {
    op().reset()
    const running = instance(op())
    expect(await signIn(running)).toBe(home)
    for (const header of [{ alg: 'none' }, { crit: ['exp'] }, { b64: false, crit: ['b64'] }, { alg: 'HS256' }]) {
      op().script = {
        idToken: ({ token, header: good }) =>
          swap(token, 0, () => Buffer.from(JSON.stringify({ ...good, ...header })).toString('base64url')),
      }
      for (let i = 0; i < 2; i++) expect(await signIn(running)).toContain('error=')
    }
  })

  it('without a kid the key is looked for each time: either of two may sign', async () => {
    const two: Script = {
      header: ({ kid: _kid, ...rest }) => rest,
      jwks: () => ({ keys: [keys.k1, keys.k2].map(({ publicJwk: { kid: _kid, ...jwk } }) => jwk) }),
    }
    op().reset(two)
    const running = instance(op())
    for (const key of [keys.k1, keys.k2, keys.k1, keys.k2]) {
      op().script = { ...two, key }
      expect(await signIn(running)).toBe(home)
    }
    op().script = { ...two, key: keys.evil }
    expect(await signIn(running)).toContain('error=')
  })
})
