/** Records of some plugins that cannot be removed for a while, so that a listener which removes them fails. */
import type { Plugin, RecordStore } from 'authkernel/kernel'

export interface BrokenRecords {
  isBroken: boolean
  /** How many removals failed. */
  failures: number
  plugin: Plugin
}

/** `tables`: names of the records. */
export function breakRecords(tables: RegExp): BrokenRecords {
  const broken: BrokenRecords = {
    isBroken: false,
    failures: 0,
    plugin: {
      name: 'broken-records',
      setup(kernel) {
        kernel.decorate('records', (inner: RecordStore) => ({
          deleteWhere: (table, query, now) => (fail(table), inner.deleteWhere(table, query, now)),
          write: (writes, now) => {
            for (const { op, table } of writes) if (op === 'delete' || op === 'take') fail(table)
            return inner.write(writes, now)
          },
        }))
      },
    },
  }
  const fail = (table: string): void => {
    if (!broken.isBroken || !tables.test(table)) return
    broken.failures++
    throw new Error('connection refused')
  }
  return broken
}
