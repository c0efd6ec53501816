/** A kernel whose plugin keeps records in the store under test, and the records that the contract keeps. */
import {
  type AtomicWrite,
  createKernel,
  type JobContext,
  type Plugin,
  type RecordSpec,
  type RecordStore,
  type RecordTable,
} from 'authkernel/kernel'
import { recordsPlugin } from 'authkernel/plugins/records'

/** A row of the contract. */
export interface Item extends Record<string, unknown> {
  group: string
  name: string
  place: number
  at: Date | null
  done: boolean
  text: string | null
  data: unknown
  secret: string | null
  owner: string | null
  until: Date | null
}

/** Every type of field, a unique key of two, indexes by integer, date and text, an owner, an end. */
export const item: RecordSpec<Item> = {
  fields: {
    group: { type: 'string', max: 64 },
    name: { type: 'string', max: 120 },
    place: { type: 'integer', default: 0 },
    at: { type: 'date', optional: true },
    done: { type: 'boolean', default: false },
    text: { type: 'text', optional: true },
    data: { type: 'json', optional: true },
    secret: { type: 'text', sealed: true, optional: true },
    owner: { type: 'string', max: 64, optional: true },
    until: { type: 'date', optional: true },
  },
  unique: [['group', 'name']],
  index: [
    ['group', 'place'],
    ['group', 'at'],
  ],
  owner: { field: 'owner', of: 'user' },
  expires: 'until',
}

/** What tests of records ask. */
export interface RecordHost {
  readonly store: RecordStore
  /** Milliseconds that the clock is ahead. */
  ahead(milliseconds: number): void
  now(): number
  items(tenant?: string): Promise<RecordTable<Item>>
  table<T extends Record<string, unknown>>(name: string): Promise<RecordTable<T>>
  atomic(writes: readonly unknown[]): Promise<readonly unknown[] | false>
}

/** A kernel over a store. `specs` are further records. */
export function createRecordHost(store: RecordStore, specs: Record<string, RecordSpec<never>> = {}): RecordHost {
  let ahead = 0
  const now = (): number => Date.now() + ahead
  const plugin: Plugin<{ inside(tenant: string | null): Promise<JobContext> }> = {
    name: 'contract',
    setup(kernel) {
      kernel.hook('tenant', ({ tenant }) => ({ namespace: tenant }))
      // No plugin merged these names into `Records`.
      for (const [name, spec] of Object.entries({ contractItem: item, ...specs })) kernel.records(name, spec as never)
      return { inside: (tenant) => kernel.contextOf({ job: 'contract', tenant }) }
    },
  }
  const session = { read: () => null, user: () => null, issue: () => null, update: () => null, end: () => null }
  const auth = createKernel({ secret: 'a-secret-for-tests-with-enough-letters', runtime: { now } })
    .use({ name: 'signed-out', setup: (kernel) => kernel.provide('session', session) })
    .use(recordsPlugin({ ...store, close: () => {} }))
    .use(plugin)
  return {
    store,
    now,
    ahead: (milliseconds) => void (ahead += milliseconds),
    items: async (tenant) => tableOf<Item>(await auth.inside(tenant ?? null), 'contractItem'),
    table: async <T extends Record<string, unknown>>(name: string) => tableOf<T>(await auth.inside(null), name),
    atomic: async (writes) => (await auth.inside(null)).atomic(writes as readonly AtomicWrite[]),
  }
}

function tableOf<T extends object>(ctx: JobContext, name: string): RecordTable<T> {
  // No plugin merged the name into `Records`.
  return ctx.records(name) as unknown as RecordTable<T>
}
