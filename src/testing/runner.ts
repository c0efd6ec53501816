/** vitest for the contracts. `signedIn` works with every test runner, so a missing vitest is an error only where a contract is called. */
import type * as Vitest from 'vitest'

type Runner = Pick<typeof Vitest, 'afterAll' | 'beforeAll' | 'describe' | 'expect' | 'it'>

// Absent, or loaded outside of its own runner.
const found: Partial<Runner> = await import('vitest').catch(() => ({}))

const missing: never = new Proxy(() => {}, {
  get: () => missing,
  apply() {
    throw new Error(
      'The contracts of authkernel/testing (testAdapter, testProvider …) run in vitest: npm install --save-dev vitest. `signedIn` needs no vitest.',
    )
  },
}) as never

export const afterAll: Runner['afterAll'] = found.afterAll ?? missing
export const beforeAll: Runner['beforeAll'] = found.beforeAll ?? missing
export const describe: Runner['describe'] = found.describe ?? missing
export const expect: Runner['expect'] = found.expect ?? missing
export const it: Runner['it'] = found.it ?? missing
