/** The contract of an adapter, as a vitest suite for authors of one. */
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe } from './runner.ts'
import { accountRules } from './adapter-accounts.ts'
import { authenticatorRules } from './adapter-authenticators.ts'
import { type TestAdapterOptions, createSubject, hasMethod, type Subject } from './adapter-subject.ts'
import { keyRules } from './adapter-keys.ts'
import { raceRules } from './adapter-races.ts'
import { sessionRules } from './adapter-sessions.ts'
import { tokenRules } from './adapter-tokens.ts'
import { userRules } from './adapter-users.ts'

/**
 * Defines a suite that proves every rule of the adapter contract: the 19 operations, dates, unicode, nulls, long values, distinct keys,
 * hostile strings and races. Operations beyond the 19 are tested when the adapter has them.
 *
 * ```ts
 * import { testAdapter } from 'authkernel/testing'
 * import { myAdapter } from './my-adapter.ts'
 *
 * testAdapter('my adapter', { adapter: () => myAdapter('test.db') })
 * ```
 */
export function testAdapter(name: string, options: TestAdapterOptions): void {
  describe(`adapter contract: ${name}`, () => {
    let adapter: Adapter | undefined
    beforeAll(async () => {
      adapter = await options.adapter()
    })
    afterAll(async () => {
      // A `Store` has every operation, and says so of those that it can do.
      if (adapter && hasMethod(adapter, 'close')) await adapter.close?.()
      await options.close?.()
    })
    const subject: Subject = createSubject(() => adapter, options)
    for (const rules of [userRules, accountRules, sessionRules, tokenRules, authenticatorRules, keyRules, raceRules]) rules(subject)
  })
}
