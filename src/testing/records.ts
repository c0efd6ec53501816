/** The contract of a store of records, as a vitest suite for authors of one. */
import { afterAll, beforeAll, describe } from './runner.ts'
import { createRecordHost, type RecordHost } from './record-host.ts'
import { growthRules } from './record-growth.ts'
import type { RecordSubject, TestRecordsOptions } from './record-options.ts'
import { raceRules } from './record-races.ts'
import { queryRules } from './record-queries.ts'
import { valueRules } from './record-rules.ts'
import { writeRules } from './record-writes.ts'

/**
 * Defines a suite that tests what plugins expect of records. It has values, keys by bytes, compare-and-set, bounds, one taker of many, commits that are all or nothing, cursors and order. It has expiry, tenants, owners, fields and indexes that come later, and the same between processes.
 *
 * ```ts
 * import { testRecords } from 'authkernel/testing'
 * import { myRecords } from './my-records.ts'
 *
 * testRecords('my records', { create: () => myRecords('test.db') })
 * ```
 */
export function testRecords(name: string, options: TestRecordsOptions): void {
  describe(`records contract: ${name}`, () => {
    let host: RecordHost | undefined
    beforeAll(async () => {
      host = createRecordHost(await options.create())
    })
    afterAll(async () => {
      await host?.store.close?.()
      await options.close?.()
    })
    const subject: RecordSubject = {
      options,
      host() {
        if (!host) throw new Error('options.create() returned nothing')
        return host
      },
    }
    for (const rules of [valueRules, writeRules, queryRules, growthRules, raceRules]) rules(subject)
  })
}
