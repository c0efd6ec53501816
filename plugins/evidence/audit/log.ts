/** The log: events in, records to the sinks. */
import type { AnyContext, AnyEvent, EventMessage, Events, Kernel } from 'authkernel/kernel'
import { type Moment, toRecord } from './build.ts'
import { AuditChain } from './chain.ts'
import { eventFacts, isDurable } from './facts.ts'
import type { Fact } from './message.ts'
import type { AuditOptions } from './options.ts'
import { AuditQueue, type Waiting } from './queue.ts'
import type { AuditHead, AuditRecord } from './record.ts'
import type { AuditSink } from './sink.ts'

/** What the API needs of the log. */
export interface Log {
  hear(event: AnyEvent): Promise<void> | undefined
  note(ctx: AnyContext, fact: Fact): Promise<void>
  flush(): Promise<void>
  close(): Promise<void>
  state(): { dropped: number; waiting: number; failing: boolean }
}

/** One sink, its queue, and its chains by tenant, each with a context of the tenant. */
interface Place {
  sink: AuditSink
  queue: AuditQueue
  chains: Map<string, { chain: AuditChain; ctx: AnyContext }>
  headAt: number
  anchorAt: number
}

const batchSize = 200
const headEvery = 60_000

export function createLog(kernel: Kernel, sinks: readonly AuditSink[], options: AuditOptions): Log {
  const { addresses = 'full', chain = false, durable = false, maxRecords = 10_000, maxBytes = 8 * 1024 * 1024, pause = 1_000 } = options
  const { logger, deadlines } = kernel.config
  const places = sinks.map((sink): Place => {
    const recordDropped = async (count: number, ctx: AnyContext): Promise<AuditRecord> => {
      const fact: Fact = { name: 'audit.dropped', outcome: 'failure', reason: 'full', actor: { type: 'system' }, target: { count } }
      return linkRecord(place, ctx, await toRecord(ctx, fact, momentOf(ctx), addresses))
    }
    const write = (batch: readonly Waiting[]): Promise<void> => writeBatch(place, batch)
    const queue = new AuditQueue({
      maxRecords,
      maxBytes,
      batch: batchSize,
      pause,
      deadline: deadlines.network,
      logger,
      write,
      recordDropped: recordDropped,
    })
    const place: Place = { sink, queue, chains: new Map(), headAt: -headEvery, anchorAt: -headEvery }
    return place
  })
  // One record after the other, so that they are in the order of what happened.
  let tail: Promise<unknown> = Promise.resolve()
  let making = 0
  let count = 0
  const momentOf = (ctx: AnyContext): Moment => ({ time: ctx.runtime.now(), count: count++ })

  async function linkRecord(place: Place, ctx: AnyContext, unlinked: AuditRecord): Promise<AuditRecord> {
    const { sink } = place
    const record = sink.until ? { ...unlinked, until: sink.until(unlinked.time) } : unlinked
    if (!chain) return record
    const { namespace } = ctx.facts
    const known = place.chains.get(namespace)?.chain ?? new AuditChain(ctx)
    place.chains.set(namespace, { chain: known, ctx })
    return known.link(ctx, record)
  }
  function enqueue(ctx: AnyContext, fact: Fact): Promise<void> {
    // Asked before the record is made: one that is dropped must not have a place in the chain.
    const open = places.filter(({ queue }) => queue.admits(making))
    if (open.length === 0) return Promise.resolve()
    making++
    const moment = momentOf(ctx)
    const queued = tail.then(async () => {
      const record = await toRecord(ctx, fact, moment, addresses)
      for (const place of open) place.queue.add(await linkRecord(place, ctx, record), ctx)
    })
    const report = (error: unknown): void => logger.error(error instanceof Error ? error : new Error(String(error)))
    tail = queued.catch(report).finally(() => making--)
    return queued
  }
  async function writeBatch(place: Place, batch: readonly Waiting[]): Promise<void> {
    const contexts = new Map(batch.map(({ record, ctx }) => [record.tenant, ctx]))
    await place.sink.write(
      batch.map(({ record }) => record),
      ({ tenant }) => contexts.get(tenant)!,
    )
    const now = performance.now()
    if (chain && options.anchor && place === places[0] && now - place.anchorAt >= headEvery) {
      place.anchorAt = now
      const ends = new Map(batch.map(({ record }) => [record.tenant, record]))
      for (const [tenant, record] of ends) {
        const known = place.chains.get(tenant)
        if (known) await callAnchor(await known.chain.headAt(known.ctx, record))
      }
    }
    // Where the end has a place of its own it is always the present one.
    if (!chain || !(place.sink.heads || now - place.headAt >= headEvery)) return
    place.headAt = now
    const last = batch.reduce((ends, { record }) => ends.set(record.tenant, record), new Map<string, AuditRecord>())
    for (const [tenant, record] of last) {
      const known = place.chains.get(tenant)
      if (known) await place.sink.head?.(await known.chain.headAt(known.ctx, record), known.ctx)
    }
  }
  async function callAnchor({ chainId, tenant, seq, mac, time }: AuditHead): Promise<void> {
    try {
      await options.anchor?.({ chainId, tenant, seq, mac, count: seq, time })
    } catch (error) {
      logger.error(error instanceof Error ? error : new Error(String(error)))
    }
  }
  async function flush(): Promise<void> {
    await tail
    await Promise.all(places.map(({ queue }) => queue.flush()))
  }

  return {
    hear(event) {
      const { ctx } = event.message as EventMessage<keyof Events>
      const facts = eventFacts(event)
      const written = facts.map((fact) => enqueue(ctx, fact))
      // The request does not wait for the log, unless a record must not be lost.
      if (!durable || !facts.some(({ name }) => isDurable(name))) return undefined
      return Promise.all(written).then(flush)
    },
    async note(ctx, fact) {
      await enqueue(ctx, fact)
      if (durable && isDurable(fact.name)) await flush()
    },
    flush,
    async close() {
      await flush()
      for (const { sink, chains } of places) {
        for (const { chain: one, ctx } of chains.values()) {
          const end = await one.end(ctx)
          await sink.head?.(end, ctx)
          if (chain && sink === places[0]?.sink) await callAnchor(end)
        }
        await sink.close?.()
      }
    },
    state() {
      const states = places.map(({ queue }) => queue.state)
      return {
        dropped: states.reduce((sum, state) => sum + state.dropped, 0),
        waiting: making + Math.max(...states.map(({ waiting }) => waiting)),
        failing: states.some(({ failing }) => failing),
      }
    },
  }
}
