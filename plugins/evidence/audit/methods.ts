/** `auth.audit`. */
import { type AnyContext, AuthError, type Context, jobFor, type Kernel } from 'authkernel/kernel'
import { anonymizeRecord } from './chain.ts'
import type { Log } from './log.ts'
import { endingOf, type FactDetails, userActor as auditUserId } from './message.ts'
import type { AuditActor, AuditAnchor, AuditRecord } from './record.ts'
import type { AuditPage, AuditQuery, AuditSink } from './sink.ts'
import { type AuditVerification, parseLines, verifyRecords } from './verify.ts'

/** The tenant of the log: null is the default tenant; needed where tenants are. */
export interface AuditTarget {
  tenant?: string | null
}
/** What the plugin puts on `auth`. */
export interface AuditApi {
  audit: {
    /** Records, newest first. Throws AuthError without `recordsSink()`. */
    list(query?: AuditQuery & AuditTarget): Promise<AuditPage>
    /** A record of the host's own, about a request or a job. Default of `actor`: the user who is signed in on the request. */
    note(who: Request | AuditTarget, fact: AuditNote): Promise<void>
    /** Writes all that waits; rejects when a sink does not take it. */
    flush(): Promise<void>
    /** How many records were dropped since the start, how many wait, and whether a sink fails. */
    state(): { dropped: number; waiting: number; failing: boolean }
    /** Looks at the chains: of `recordsSink()`, or of the text of a file of `jsonLines()`. */
    verify(what?: AuditTarget & { lines?: string; anchors?: readonly AuditAnchor[] }): Promise<AuditVerification>
    /** Takes ids, addresses and user agents out of the records of a user, whose chains stay whole. Answers how many records. */
    erase(whose: AuditTarget & { userId: string }): Promise<number>
  }
}
/** The service `auditLog`: the log of the tenant of a context. What waits is written before it is read. */
export interface AuditLog {
  /** Records, newest first. */
  list(ctx: AnyContext, query: AuditQuery): Promise<AuditPage>
  /** Looks at the chains. */
  verify(ctx: AnyContext): Promise<AuditVerification>
}

/** Provides the service, unless no sink can be read. */
export function provideLog(kernel: Kernel, sinks: readonly AuditSink[], log: Log): void {
  const sink = sinks.find(({ list, read }) => list !== undefined && read !== undefined)
  if (!sink) return
  kernel.provide('auditLog', {
    async list(ctx, query) {
      await log.flush()
      return (sink as Required<AuditSink>).list(ctx, query)
    },
    async verify(ctx) {
      await log.flush()
      return verifySink(ctx, sink as Required<AuditSink>)
    },
  })
}

/** Ends first: what is written meanwhile is behind them. */
async function verifySink(
  ctx: AnyContext,
  sink: AuditSink & Required<Pick<AuditSink, 'read'>>,
  anchors?: readonly AuditAnchor[],
): Promise<AuditVerification> {
  const heads = (await sink.heads?.(ctx)) ?? []
  const records: AuditRecord[] = []
  for await (const record of sink.read(ctx)) records.push(record)
  return verifyRecords(ctx, records, heads, sink.retention, anchors)
}

/** What a note may say. Without a `reason` a note of a failure or a denial has the reason `unspecified`. */
export interface AuditNote extends Pick<FactDetails, 'name' | 'actor' | 'subject' | 'target'> {
  outcome: 'success' | 'failure' | 'denied'
  reason?: string | undefined
}

export function createApi({ kernel, sinks, log }: { kernel: Kernel; sinks: readonly AuditSink[]; log: Log }): AuditApi {
  const queryable = <K extends 'list' | 'read' | 'heads' | 'replace'>(member: K): AuditSink & Required<Pick<AuditSink, K>> => {
    const found = sinks.find((sink) => sink[member] !== undefined)
    if (!found) throw new AuthError('auth.audit: no sink can be read. Add recordsSink() to `sink` of auditPlugin.')
    return found as AuditSink & Required<Pick<AuditSink, K>>
  }
  const contextFor = (target: AuditTarget): Promise<AnyContext> => kernel.contextOf(jobFor('audit', target))
  return {
    audit: {
      async list(what = {}) {
        const { tenant, ...query } = targetOf('list', what)
        return queryable('list').list(await contextFor({ ...(tenant !== undefined && { tenant }) }), query)
      },
      async note(who, note) {
        const fact = { ...note, ...endingOf(note.outcome, note.reason) }
        if (!(who instanceof Request)) return log.note(await contextFor(who), fact)
        const ctx = await kernel.contextOf(who)
        await log.note(ctx, { ...fact, actor: fact.actor ?? (await askerOf(ctx)) })
      },
      flush: () => log.flush(),
      state: () => log.state(),
      async verify(what = {}) {
        const { lines, anchors, ...target } = targetOf('verify', what)
        const ctx = await contextFor(target)
        if (lines !== undefined) {
          const { records, heads, broken } = parseLines(lines)
          const found = await verifyRecords(ctx, records, heads, undefined, anchors)
          const faults = broken === 0 ? found.faults : [`${broken} lines are no JSON`, ...found.faults]
          return { ...found, faults, ok: faults.length === 0 }
        }
        return verifySink(ctx, queryable('read'), anchors)
      },
      async erase(whose) {
        const { userId, ...target } = targetOf('erase', whose)
        // '' is what every erased record is listed under, and undefined would be the records of all users.
        if (typeof userId !== 'string' || userId === '')
          throw new AuthError(
            'auth.audit.erase: `userId` must be the id of a user. Pass { userId }, and { userId, tenant } where tenants are.',
          )
        const [ctx, sink] = [await contextFor(target), queryable('replace')]
        await log.flush()
        const replaced = new Set<string>()
        for (let cursor: string | undefined; ;) {
          const { records, cursor: next } = await queryable('list').list(ctx, { userId, limit: 200, cursor })
          // What was replaced is usually found no more, so the same page has others. A page without any is passed over:
          // its rows were altered, or the sink goes on listing what it replaced.
          const fresh = records.filter(({ id }) => !replaced.has(id))
          if (fresh.length === 0 && next === undefined) return replaced.size
          cursor = fresh.length === 0 ? next : cursor
          for (const record of fresh) {
            await sink.replace(ctx, await anonymizeRecord(ctx, record), '')
            replaced.add(record.id)
          }
        }
      },
    },
  }
}

/** What was asked for; rejects a request, whose tenant and user these functions do not read. */
function targetOf<T extends object>(member: string, given: T): T {
  if (typeof given === 'object' && given !== null && !(given instanceof Request)) return given
  throw new AuthError(
    `auth.audit.${member}: takes an object such as { userId, tenant }, not a Request. Read the user from auth.session(request).`,
  )
}

/** The user, or the API key or app of the request. Anonymous where the session cannot be read. */
async function askerOf(ctx: Context): Promise<AuditActor> {
  const session = await ctx.currentSession().catch(() => null)
  type Machine = { id?: string } | undefined
  const { user, apiKey, bearer, agent } = (session ?? {}) as { user?: { id?: string } } & Record<'apiKey' | 'bearer' | 'agent', Machine>
  const machine = apiKey ?? bearer ?? agent
  if (machine) return { type: 'machine', ...(machine.id !== undefined && { id: machine.id }) }
  return auditUserId(user?.id)
}
