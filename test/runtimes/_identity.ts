/** Runs beside the tests, so that the runtime they ran in is certain. EXPECT_RUNTIME is `bun 1.4.5` and the like. */
import { expect, it } from 'vitest'

const { bun, deno, node } = process.versions as Record<string, string | undefined>

it('runs in the expected runtime', () => {
  expect(bun ? `bun ${bun}` : deno ? `deno ${deno}` : `node ${node}`).toBe(process.env['EXPECT_RUNTIME'])
})
