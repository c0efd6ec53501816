/** The log of calls: what a directory changed or was rejected, for the users who set it up. */
import type { AnyContext, AtomicWrite, Context, Row } from 'authkernel/kernel'
import type { CallRow } from './tables.ts'
import { type Caller, changesSomething } from './caller.ts'

/** One call of a directory, without values. */
export interface ScimCall {
  at: Date
  method: string
  /** Below `/auth/scim/v2`. */
  path: string
  status: number
  /** What a rejection said; null: it was served. */
  detail: string | null
}

/** Newest first, at most 200. */
export async function listCalls(ctx: AnyContext, directoryId: string, limit = 50): Promise<ScimCall[]> {
  const { rows } = await ctx.records('scimCall').find({ where: { directoryId }, order: 'desc', limit: Math.min(200, Math.max(1, limit)) })
  return rows.map(({ at, method, path, status, detail }: Row<CallRow>) => ({ at, method, path, status, detail }))
}

// Calls that were written with what they did.
const writtenCalls = new WeakSet<Context>()

/** The call as part of the commit of what it did, so that it costs no further commit. Empty: calls are not kept, or the operation is one of several. */
export function callWrites(caller: Caller, status: number): AtomicWrite[] {
  if (caller.options.logDays === 0 || caller.ctx.route?.path.endsWith('/Bulk')) return []
  writtenCalls.add(caller.ctx)
  return [{ record: 'scimCall', create: describeCall(caller, status, null) }]
}

/** Keeps changes and rejections. Reads that were served are not kept: a directory reads thousands of times an hour, and the audit log has them. */
export async function keepCall(caller: Caller, status: number, detail: string | null): Promise<void> {
  const { ctx, options } = caller
  if (options.logDays === 0 || (!changesSomething(ctx) && status < 400) || (detail === null && writtenCalls.has(ctx))) return
  // The call itself was served: a log that cannot be written is no reason to say otherwise.
  await ctx
    .records('scimCall')
    .create(describeCall(caller, status, detail))
    .catch((error: Error) => ctx.logger.error(error))
}

/** The path of a call below the base URL, without its query. */
export function pathOf({ route, params }: Context): string {
  return (route?.path ?? '')
    .replace('/scim/v2', '')
    .replace(':kind', params['kind'] ?? '')
    .replace(':id', params['id'] ?? '')
    .slice(0, 255)
}

function describeCall({ ctx, directory, options }: Caller, status: number, detail: string | null): CallRow {
  const { method } = ctx.request
  const expires = new Date(ctx.now.getTime() + options.logDays * 86_400_000)
  return {
    directoryId: directory.id,
    at: ctx.now,
    method,
    path: pathOf(ctx),
    status,
    detail: detail?.slice(0, 255) ?? null,
    expires,
  }
}
