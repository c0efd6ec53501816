/** Random bytes come from a block: no byte of it is handed out twice, and the block does not outlive a second. */
import { webcrypto } from 'node:crypto'
import { afterEach, expect, it, vi } from 'vitest'
import { resolveRuntime } from '../../src/runtime/runtime.ts'

const { random } = resolveRuntime()
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

afterEach(() => vi.restoreAllMocks())

it('has the asked length, below and above what a block is used for', () => {
  for (const length of [0, 1, 16, 32, 63, 64, 65, 1_024, 5_000]) expect(random(length)).toHaveLength(length)
})

it('no 16 bytes come twice, over many blocks', () => {
  const seen = new Set(Array.from({ length: 20_000 }, () => hex(random(16))))
  expect(seen.size).toBe(20_000)
})

it('is a copy: what a caller does to it reaches no other caller, and the whole buffer is its own', () => {
  const bytes = random(16)
  expect(bytes.buffer.byteLength).toBe(16)
  bytes.fill(0)
  expect(hex(random(16))).not.toBe('0'.repeat(32))
})

it('asks the platform anew after a second, and when the clock was set back', () => {
  const now = vi.spyOn(Date, 'now')
  const asked = vi.spyOn(webcrypto, 'getRandomValues')
  now.mockReturnValue(2_000_000)
  random(16)
  expect(asked).toHaveBeenCalledTimes(1)
  random(16)
  expect(asked).toHaveBeenCalledTimes(1)
  now.mockReturnValue(2_001_000)
  random(16)
  expect(asked).toHaveBeenCalledTimes(2)
  now.mockReturnValue(1_999_999)
  random(16)
  expect(asked).toHaveBeenCalledTimes(3)
})
