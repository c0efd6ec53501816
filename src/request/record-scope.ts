/** What records and leases need of a context. */
import type { CommonContext } from '../contract/context.ts'
import type { RecordTable } from '../contract/records.ts'
import type { Lease } from '../contract/services.ts'
import { AuthError } from '../errors/index.ts'
import { toBase64Url } from '../keys/crypto.ts'
import type { Compiled } from '../registry/snapshot.ts'
import { setBounded } from '../runtime/shared.ts'
import { RecordConflict } from '../store/record-spec.ts'
import { createRecordTable, type RecordScope } from '../store/records.ts'

/** A context as this file sees it. */
export type Scoped = Pick<CommonContext, 'settings' | 'runtime' | 'logger' | 'seal' | 'open' | 'service'> & { readonly compiled: Compiled }
/** The kernel's own record of leases, declared where any record is. */
export interface LeaseFields extends Record<string, unknown> {
  holder: string
  until: Date
}

const maxLeases = 10_000

/** Throws AuthError when no plugin provides records. */
export function recordScope(ctx: Scoped): RecordScope {
  const { compiled, settings, runtime } = ctx
  return {
    store: ctx.service('records'),
    namespace: settings.namespace,
    deadline: compiled.config.deadlines.store,
    now: () => runtime.now(),
    newId: () => toBase64Url(runtime.random(16)),
    declared(name) {
      const known = compiled.records.get(name)
      if (!known) throw new AuthError(`No plugin declared the record "${name}": call kernel.records("${name}", …) in the plugin's setup.`)
      return known
    },
    unreadable: (record, fields) => tellUnreadable(ctx, record, fields),
    seal: (purpose, payload) => ctx.seal(purpose, payload, null),
    open: (purpose, token) => ctx.open(purpose, token, true),
  }
}

const remedy =
  'No secret decrypts these fields, so the rows count as absent. Add the secret that was dropped again behind the newest one, run `npx authkernel reseal`, and then drop it.'

/** Once for each record and process: an operator who dropped a secret too early sees it, and the log stays readable. */
function tellUnreadable({ compiled, logger }: Scoped, record: string, fields: readonly string[]): void {
  const told = compiled.shared.cache<true>('unreadable records')
  if (told.has(record)) return
  told.set(record, true)
  logger.warn('unreadable-record', { record, fields, remedy })
}

/** A lease over records where there are some, else one of this process. */
export async function takeLease(ctx: Scoped, key: string, seconds: number): Promise<Lease | null> {
  const holder = toBase64Url(ctx.runtime.random(16))
  const until = (length: number): Date => new Date(ctx.runtime.now() + length * 1000)
  if (!ctx.compiled.records.has('lease')) return takeHere(ctx, key, holder, seconds)
  const table = createRecordTable<LeaseFields>('lease', recordScope(ctx))
  if (!(await insertLease(table, key, holder, until(seconds)))) return null
  return {
    renew: async (length) => (await table.update(key, { until: until(length) }, { if: { holder } })) !== null,
    // Deleting it could delete the next holder's.
    release: async () => void (await table.take(key, { if: { holder } })),
  }
}

/** An ended lease is gone by its `expires`, so a plain insert decides who is first. */
async function insertLease(table: RecordTable<LeaseFields>, key: string, holder: string, until: Date): Promise<boolean> {
  try {
    await table.create({ id: key, holder, until })
    return true
  } catch (error) {
    if (error instanceof RecordConflict) return false
    throw error
  }
}

function takeHere({ compiled, settings, runtime }: Scoped, key: string, holder: string, seconds: number): Lease | null {
  const held = compiled.shared.cache<{ holder: string; until: number }>('leases')
  const id = JSON.stringify([settings.namespace, key])
  const mine = (): boolean => held.get(id)?.holder === holder && (held.get(id)?.until ?? 0) > runtime.now()
  if ((held.get(id)?.until ?? 0) > runtime.now()) return null
  setBounded(held, id, { holder, until: runtime.now() + seconds * 1000 }, maxLeases)
  return {
    async renew(length) {
      if (!mine()) return false
      held.set(id, { holder, until: runtime.now() + length * 1000 })
      return true
    },
    async release() {
      if (mine()) held.delete(id)
    },
  }
}
