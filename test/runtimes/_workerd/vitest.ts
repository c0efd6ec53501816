/** `vitest` inside workerd: its own runner, expect and spies, without the part that needs a host process. */
import {
  addCustomEqualityTesters,
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  customMatchers,
  getState,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect'
import { getCurrentTest } from '@vitest/runner'
import { fn, isMockFunction, restoreAllMocks, spyOn } from '@vitest/spy'

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, onTestFailed, onTestFinished, test } from '@vitest/runner'

chai.use(JestExtend)
chai.use(JestChaiExpect)
chai.use(JestAsymmetricMatchers)

chai.config.truncateThreshold = 0

const shared = globalThis as unknown as Record<symbol, object>

/** As vitest's own: an assertion knows its test. */
export const expect: typeof import('vitest').expect = Object.assign(
  (value: unknown, message?: string) => {
    const assertion = chai.expect(value, message)
    const test = getCurrentTest()
    return test ? (assertion as unknown as { withTest(test: object): unknown }).withTest(test) : assertion
  },
  chai.expect,
  shared[ASYMMETRIC_MATCHERS_OBJECT],
  { getState: () => getState(expect), setState: (state: object) => setState(state, expect), addEqualityTesters: addCustomEqualityTesters },
) as never
Object.defineProperty(globalThis, GLOBAL_EXPECT, { value: expect, configurable: true })
setState({ assertionCalls: 0, isExpectingAssertions: false }, expect)
Object.assign(expect, {
  extend: (matchers: object) => (chai.expect as unknown as { extend(to: object, matchers: object): void }).extend(expect, matchers),
})
expect.extend(customMatchers as never)

// Asks until the assertion holds, for a second at most, as vitest does.
Object.assign(expect, {
  poll: (ask: () => unknown) =>
    new Proxy(
      {},
      {
        get:
          (_, matcher) =>
          async (...expected: unknown[]) => {
            const until = Date.now() + 1000
            for (;;) {
              try {
                const assertion = expect(await ask()) as unknown as Record<string | symbol, (...expected: unknown[]) => void>
                return assertion[matcher]?.(...expected)
              } catch (error) {
                if (Date.now() > until) throw error
                await new Promise((resolve) => setTimeout(resolve, 20))
              }
            }
          },
      },
    ),
})

const stubs = new Map<string, PropertyDescriptor | undefined>()

function stubGlobal(name: string, value: unknown): void {
  if (!stubs.has(name)) stubs.set(name, Object.getOwnPropertyDescriptor(globalThis, name))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: true })
}

function unstubAllGlobals(): void {
  for (const [name, former] of stubs) {
    if (former) Object.defineProperty(globalThis, name, former)
    else Reflect.deleteProperty(globalThis, name)
  }
  stubs.clear()
}

export const vi: Record<string, unknown> = { fn, spyOn, restoreAllMocks, isMockFunction, stubGlobal, unstubAllGlobals }
