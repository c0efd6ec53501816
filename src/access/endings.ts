/** The last ending of a subject, or of a session at a provider: one small row each, or an entry of this process where there are no records. */
import type { AnyContext } from '../contract/context.ts'
import type { AccessProof, AccessSelector, MembershipSelector } from '../contract/access.ts'
import type { RecordTable } from '../contract/records.ts'
import { sha256, toHex } from '../keys/crypto.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { type Moment, type Moments, setBounded } from '../runtime/shared.ts'
import { RecordConflict } from '../store/record-spec.ts'
import { accessRecordName, type EndingRow } from './tables.ts'

const day = 86_400_000
// A stamp waits in a parked login for an hour, and in an app session for months.
const lifetimes = { subject: 400 * day, proof: 2 * day }
const maxInProcess = 100_000
const maxTries = 20

/** The last ending under a key; undefined: there was none. */
export async function lastEnding(ctx: AnyContext, key: string): Promise<Moment | undefined> {
  const table = tableOf(ctx)
  if (!table) return endingsHere(ctx).get(namespacedKey(ctx, key))
  const row = await table.get(await endingRowId(key))
  if (!row) return undefined
  const at = Number(row.generation)
  momentsOf(ctx).advance(at)
  return { at, process: row.process }
}

/** Raises what `lastEnding` answers; `until`, in milliseconds, is for endings that reach only what began up to then. Answers the former and the new one. */
export async function raiseEnding(ctx: AnyContext, key: string, until?: number): Promise<{ before: number; after: number }> {
  const moments = momentsOf(ctx)
  const table = tableOf(ctx)
  const now = moments.next()
  const wanted = until === undefined || until >= Math.floor(now / 1000) ? now : until * 1000 + 999
  if (!table) {
    const name = namespacedKey(ctx, key)
    const before = endingsHere(ctx).get(name)?.at ?? 0
    const after = Math.max(wanted, before)
    setBounded(endingsHere(ctx), name, { at: after, process: moments.process }, maxInProcess)
    return { before, after }
  }
  const id = await endingRowId(key)
  const expires = new Date(ctx.runtime.now() + (until === undefined ? lifetimes.subject : lifetimes.proof))
  for (let tries = 0; tries < maxTries; tries++) {
    // Most logout tokens are the first for their session: one statement then.
    const row = until !== undefined && tries === 0 ? null : await table.get(id)
    const before = Number(row?.generation ?? 0)
    // An older ending that comes late, or again, must not reach what began after it.
    if (until !== undefined && wanted <= before) return { before, after: before }
    // As late as can be: what began before the write reaches the store began before the ending.
    const after = Math.max(until === undefined ? moments.next() : wanted, before + 1)
    const next = { generation: String(after), process: moments.process, expires }
    const written = row
      ? await table.update(id, next, { if: { generation: row.generation } })
      : await createEndingRow(table, { id, ...next })
    if (written) return { before, after }
  }
  throw new Error('The ending of access could not be written: too many others were written at the same moment.')
}

/** Keys of the proofs of a stamp. */
export function proofKeys({ provider, sub, sid }: AccessProof): string[] {
  const at = encodeURIComponent(provider)
  const keys: string[] = []
  if (sub !== undefined) keys.push(`sub:${at}:${sub}`)
  if (sid !== undefined) keys.push(`sid:${at}:${sid}`)
  if (sub !== undefined && sid !== undefined) keys.push(`pair:${at}:${encodeURIComponent(sub)}:${sid}`)
  return keys
}

/** The key that an ending raises. */
export function endingKey(which: AccessSelector): string {
  if ('member' in which) return memberKey(which.member)
  if ('userId' in which) return `user:${which.userId}`
  const at = encodeURIComponent(which.provider)
  if (!('sid' in which)) return `sub:${at}:${which.sub}`
  return which.sub === undefined ? `sid:${at}:${which.sid}` : `pair:${at}:${encodeURIComponent(which.sub)}:${which.sid}`
}

/** The key of a membership. */
export function memberKey({ organizationId, userId }: MembershipSelector['member']): string {
  return `member:${encodeURIComponent(organizationId)}:${userId}`
}

function tableOf(ctx: AnyContext): RecordTable<EndingRow> | undefined {
  const own = ctx as KernelContext
  return own.compiled.records.has(accessRecordName) ? own.ownRecords<EndingRow>(accessRecordName) : undefined
}

async function createEndingRow(table: RecordTable<EndingRow>, row: EndingRow & { id: string }): Promise<boolean> {
  try {
    await table.create(row)
    return true
  } catch (error) {
    if (error instanceof RecordConflict) return false
    throw error
  }
}

function momentsOf(ctx: AnyContext): Moments {
  return (ctx as KernelContext).compiled.moments
}

function endingsHere(ctx: AnyContext): Map<string, Moment> {
  return (ctx as KernelContext).compiled.shared.cache<Moment>('access-endings')
}

function namespacedKey(ctx: AnyContext, key: string): string {
  return `${ctx.settings.namespace} ${key}`
}

/** Names of providers may be long, and addresses of users are nothing for an index. */
async function endingRowId(key: string): Promise<string> {
  return toHex(await sha256(key))
}
