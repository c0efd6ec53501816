/** vitest for the contracts. `signedIn` works with every test runner, so a missing vitest is an error only where a contract is called. */
import type * as Vitest from 'vitest'

type Runner = Pick<typeof Vitest, 'afterAll' | 'beforeAll' | 'describe' | 'expect' | 'it'>

// Absent, or loaded outside of its own runner.
const vitestRunner: Partial<Runner> = await import('vitest').catch(() => ({}))

const missing: never = new Proxy(() => {}, {
  get: () => missing,
  apply() {
    throw new Error(
      'The contracts of authkernel/testing (testAdapter, testProvider …) run in vitest: npm install --save-dev vitest. `signedIn` needs no vitest.',
    )
  },
}) as never // Whatever is done with it throws.

export const afterAll: Runner['afterAll'] = vitestRunner.afterAll ?? missing
export const beforeAll: Runner['beforeAll'] = vitestRunner.beforeAll ?? missing
export const describe: Runner['describe'] = vitestRunner.describe ?? missing
export const expect: Runner['expect'] = vitestRunner.expect ?? missing
export const it: Runner['it'] = vitestRunner.it ?? missing
