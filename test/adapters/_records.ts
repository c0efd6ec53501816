/** The contract of records over a store that several processes may open. */
import type { Adapter, RecordStore } from 'authkernel/kernel'
import { testRecords } from 'authkernel/testing'
import { openStore, type StoreSpec } from './_stores.ts'
import { startWorkers } from './_workers.ts'

/** Defines it, races between four processes included unless `alone`. */
export function testStoreRecords(
  name: string,
  store: () => StoreSpec,
  { alone = false, rows }: { alone?: boolean; rows?: number } = {},
): void {
  let adapter: Adapter & { records?: RecordStore }
  testRecords(name, {
    create: () => {
      adapter = openStore(store())
      return adapter.records!
    },
    adapter: () => adapter,
    ...(rows && { rows }),
    ...(!alone && {
      processes: async (count) =>
        (await startWorkers(count, store())).map((worker) => ({
          run: async (task) => {
            const { fulfilled, rejected } = await worker.ask({ do: 'records', task })
            if (rejected.length > 0) throw new Error(rejected.join())
            return fulfilled
          },
          kill: () => worker.kill(),
        })),
    }),
    close: () => adapter?.close?.(),
  })
}
