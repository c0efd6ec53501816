/** Runs beside the tests, so that nobody mistakes the runtime they ran in: EXPECT_RUNTIME is `node 22`, `bun 1.4.5` and the like. */
import { expect, it } from 'vitest'

const { bun, deno, node } = process.versions as Record<string, string | undefined>

it('runs in the expected runtime', () => {
  const here = bun ? `bun ${bun}` : deno ? `deno ${deno}` : `node ${node}`
  expect(`${here}.`).toMatch(new RegExp(`^${process.env['EXPECT_RUNTIME']?.replaceAll('.', '\\.')}\\.`))
})
