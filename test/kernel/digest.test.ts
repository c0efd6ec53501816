/** Keyed digests of CSRF and verification tokens (D3, row 69). */
import { expect, it } from 'vitest'
import { computeDigest, computeDigests } from '../../src/keys/digest.ts'
import { defaultKeyInfo } from '../../src/keys/crypto.ts'
import type { Settings } from 'authkernel/kernel'
import { createShared } from '../../src/runtime/shared.ts'

const settings = { secret: ['new', 'old'], namespace: '', keyInfo: defaultKeyInfo } as unknown as Settings

it('is hex of 256 bits and the same every time', async () => {
  const value = await computeDigest(createShared(), settings, 'p', 'v', 'new')
  expect(value).toMatch(/^[0-9a-f]{64}$/)
  expect(await computeDigest(createShared(), settings, 'p', 'v', 'new')).toBe(value)
})

it('differs by value, purpose, secret and key derivation, whatever the border between them', async () => {
  const shared = createShared()
  const other = { ...settings, keyInfo: (salt: string) => `other ${salt}` }
  const all = await Promise.all([
    computeDigest(shared, settings, 'p', 'v', 'new'),
    computeDigest(shared, settings, 'p', 'w', 'new'),
    computeDigest(shared, settings, 'q', 'v', 'new'),
    computeDigest(shared, settings, 'p', 'v', 'old'),
    computeDigest(shared, other, 'p', 'v', 'new'),
    computeDigest(shared, settings, 'pn', 'v', 'ew'),
  ])
  expect(new Set(all).size).toBe(all.length)
})

it('row 69: one per secret, newest first, then those of another product', async () => {
  const shared = createShared()
  const [newest, older] = [await computeDigest(shared, settings, 'p', 'v', 'new'), await computeDigest(shared, settings, 'p', 'v', 'old')]
  expect(await computeDigests(shared, settings, 'p', 'v', ['new', 'old'])).toEqual([newest, older])
  const legacy = { ...settings, legacyDigests: (value: string, secrets: readonly string[]) => [`${value} ${secrets.join()}`] }
  expect(await computeDigests(shared, legacy, 'p', 'v', ['new'])).toEqual([newest, 'v new'])
})

it('keeps derived keys, a bounded number of them', async () => {
  const shared = createShared()
  const own = { ...settings }
  for (let i = 0; i < 20; i++) await computeDigest(shared, own, 'p', String(i), 'new')
  expect(shared.cache('digest').size).toBe(1)
})
