/** Served reads in the audit log: which resources, by which attributes and how many. No value of a filter or of a user is in it. */
import type { Context } from 'authkernel/kernel'
import { type Caller, changesSomething } from './caller.ts'
import { pathOf } from './calls.ts'
import { listFilterNames } from './filter.ts'
import type { Query } from './search.ts'

interface FoundFacts {
  /** Names of the attributes of the filter. */
  by: string | undefined
  /** How many resources the answer has. */
  count: number
}

// What a search found, until its answer is there.
const foundFacts = new WeakMap<Context, FoundFacts>()

/** Remembers what a search read. A search over users and groups calls it once for each. */
export function describeRead({ ctx }: Caller, { filter }: Pick<Query, 'filter'>, rows: readonly unknown[]): void {
  const by = filter && [...new Set(listFilterNames(filter))].sort().join(' ')
  foundFacts.set(ctx, { by, count: rows.length + (foundFacts.get(ctx)?.count ?? 0) })
}

/** One record for each call that read. auditPlugin writes records in batches, after the answer: a read costs no query. */
export async function auditRead(caller: Caller, status: number): Promise<void> {
  const { ctx, directory, options } = caller
  if (!options.auditReads || changesSomething(ctx)) return
  const { by, count } = foundFacts.get(ctx) ?? {}
  const { id, organizationId } = directory
  const details = { directoryId: id, organizationId, path: pathOf(ctx), by, count, status }
  await ctx.emit('noted', { name: 'scim.read', outcome: 'success', details })
}
