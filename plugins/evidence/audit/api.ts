/** `auth.audit`. */
import { type AnyContext, AuthError, type Context, type Kernel } from 'authkernel/kernel'
import { anonymised } from './chain.ts'
import { type Fact, user as userOf } from './message.ts'
import type { Log } from './log.ts'
import type { AuditActor, AuditRecord } from './record.ts'
import type { AuditPage, AuditQuery, AuditSink } from './sink.ts'
import { type AuditVerification, parseLines, verifyRecords } from './verify.ts'

/** Whose log: null is the default tenant; needed where tenants are. */
export interface AuditTarget {
  tenant?: string | null
}
/** What the plugin puts on `auth`. */
export interface AuditApi {
  audit: {
    /** Records, newest first. Throws AuthError without `recordsSink()`. */
    list(query?: AuditQuery & AuditTarget): Promise<AuditPage>
    /** A record of the host's own, about a request or a job. Without `actor` it is whoever is signed in on the request. */
    note(who: Request | AuditTarget, fact: AuditNote): Promise<void>
    /** Writes all that waits; rejects when a sink does not take it. */
    flush(): Promise<void>
    /** How many records were dropped since the start, how many wait, and whether a sink fails. */
    state(): { dropped: number; waiting: number; failing: boolean }
    /** Looks at the chains: of `recordsSink()`, or of the text of a file of `jsonLines()`. */
    verify(what?: AuditTarget & { lines?: string }): Promise<AuditVerification>
    /** Takes ids, addresses and user agents out of the records of a user, whose chains stay whole. Answers how many records. */
    erase(whose: AuditTarget & { userId: string }): Promise<number>
  }
}
/** What a note may say. */
export type AuditNote = Pick<Fact, 'name' | 'outcome' | 'actor' | 'subject' | 'reason' | 'target'>

export function createApi({ kernel, sinks, log }: { kernel: Kernel; sinks: readonly AuditSink[]; log: Log }): AuditApi {
  const queryable = <K extends 'list' | 'read' | 'heads' | 'replace'>(member: K): AuditSink & Required<Pick<AuditSink, K>> => {
    const found = sinks.find((sink) => sink[member] !== undefined)
    if (!found) throw new AuthError('auth.audit: no sink can be read. Add recordsSink() to `sink` of auditPlugin.')
    return found as AuditSink & Required<Pick<AuditSink, K>>
  }
  const contextFor = ({ tenant }: AuditTarget): Promise<AnyContext> =>
    kernel.contextOf({ job: 'audit', ...(tenant !== undefined && { tenant }) })
  return {
    audit: {
      async list({ tenant, ...query } = {}) {
        return queryable('list').list(await contextFor({ ...(tenant !== undefined && { tenant }) }), query)
      },
      async note(who, fact) {
        if (!(who instanceof Request)) return log.note(await contextFor(who), fact)
        const ctx = await kernel.contextOf(who)
        await log.note(ctx, { ...fact, actor: fact.actor ?? (await askerOf(ctx)) })
      },
      flush: () => log.flush(),
      state: () => log.state(),
      async verify({ lines, ...target } = {}) {
        const ctx = await contextFor(target)
        if (lines !== undefined) {
          const { records, heads, broken } = parseLines(lines)
          const found = await verifyRecords(ctx, records, heads, undefined)
          const faults = broken === 0 ? found.faults : [`${broken} lines are no JSON`, ...found.faults]
          return { ...found, faults, ok: faults.length === 0 }
        }
        const sink = queryable('read')
        // Ends first: what is written meanwhile is behind them.
        const heads = (await sink.heads?.(ctx)) ?? []
        const records: AuditRecord[] = []
        for await (const record of sink.read(ctx)) records.push(record)
        return verifyRecords(ctx, records, heads, sink.retention)
      },
      async erase({ userId, ...target }) {
        const [ctx, sink] = [await contextFor(target), queryable('replace')]
        await log.flush()
        let count = 0
        for (;;) {
          const { records } = await queryable('list').list(ctx, { userId, limit: 200 })
          if (records.length === 0) return count
          for (const record of records) {
            await sink.replace(ctx, await anonymised(ctx, record), '')
            count++
          }
        }
      },
    },
  }
}

/** The person, or the key or app that asks for one. Nobody where the session cannot be read. */
async function askerOf(ctx: Context): Promise<AuditActor> {
  const session = await ctx.currentSession().catch(() => null)
  const { user, apiKey, bearer } = (session ?? {}) as { user?: { id?: string }; apiKey?: { id?: string }; bearer?: { id?: string } }
  const machine = apiKey ?? bearer
  if (machine) return { type: 'machine', ...(machine.id !== undefined && { id: machine.id }) }
  return userOf(user?.id)
}
