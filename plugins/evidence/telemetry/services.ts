/** Spans and measurements of services: the store, records, mails, limits, session reads. */
import type { Kernel, Limit, RecordStore, SessionStrategy, Store } from 'authkernel/kernel'
import { RecordConflict } from 'authkernel/kernel'
import type { Loader } from './library.ts'
import { errorType, inSpan, secondsSince } from './span.ts'

// They ask nothing of the data layer, or are no part of a request.
const silent = new Set(['supports', 'namespaced', 'missingTables', 'close'])
type Call = (...args: unknown[]) => unknown

/** Decorates them. `system` is `db.system.name` of the semantic conventions. */
export function decorateServices(kernel: Kernel, loader: Loader, system: string): void {
  const measureCall = (operation: string, collection: string | undefined, work: () => unknown): unknown => {
    const telemetry = loader.now()
    if (!telemetry) return work()
    const attributes = {
      'db.system.name': system,
      'db.operation.name': operation,
      ...(collection !== undefined && { 'db.collection.name': collection }),
    }
    const started = performance.now()
    const record = (error?: unknown): void => {
      telemetry.storeCalls.record(secondsSince(started), attributes)
      // A key that is taken is an answer.
      if (error === undefined || error instanceof RecordConflict) return
      telemetry.storeFailures.add(1, { 'db.operation.name': operation, 'error.type': errorType(error) })
    }
    const name = collection === undefined ? operation : `${operation} ${collection}`
    return inSpan(telemetry, { name, kind: 'CLIENT', attributes }, () => recordOutcome(work, record))
  }

  kernel.decorate('store', (inner) => {
    // Each function of the store is wrapped, by its name.
    const members = inner as unknown as Readonly<Record<string, unknown>>
    const names = Object.keys(members).filter((name) => typeof members[name] === 'function' && !silent.has(name))
    const seen = names.map((name): [string, Call] => [
      name,
      (...args) => measureCall(name, undefined, () => (members[name] as Call)(...args)),
    ])
    return Object.fromEntries(seen) as Partial<Store>
  })
  kernel.decorate('records', (inner) => {
    const see = <K extends 'get' | 'find' | 'count' | 'deleteWhere' | 'deleteExpired'>(name: K): RecordStore[K] =>
      ((table: string, ...rest: unknown[]) => measureCall(name, table, () => (inner[name] as Call)(table, ...rest))) as RecordStore[K]
    return {
      get: see('get'),
      find: see('find'),
      count: see('count'),
      deleteWhere: see('deleteWhere'),
      deleteExpired: see('deleteExpired'),
      write: (writes, now) => measureCall('write', writes[0]?.table, () => inner.write(writes, now)) as ReturnType<RecordStore['write']>,
    }
  })
  kernel.decorate('mail', (inner) => ({
    send(ctx, to, template, ...rest) {
      const telemetry = loader.now()
      const work = (): Promise<void> => inner.send(ctx, to, template, ...rest)
      if (!telemetry) return work()
      return inSpan(telemetry, { name: `mail ${template}`, kind: 'CLIENT', attributes: { 'authkernel.mail.template': template } }, work)
    },
  }))
  kernel.decorate('limit', (inner) => ({
    async take(key, rule): Promise<Awaited<ReturnType<Limit['take']>>> {
      const answer = await inner.take(key, rule)
      if (!answer.allowed) loader.now()?.limitsHit.add(1)
      return answer
    },
  }))
  kernel.decorate('session', (inner) => ({
    async read(ctx): Promise<Awaited<ReturnType<SessionStrategy['read']>>> {
      const telemetry = loader.now() ?? (await loader.load())
      if (!telemetry) return inner.read(ctx)
      const started = performance.now()
      let outcome = 'error'
      try {
        const session = await inner.read(ctx)
        outcome = session ? 'found' : 'none'
        return session
      } finally {
        telemetry.sessionReads.record(secondsSince(started), { 'authkernel.outcome': outcome })
      }
    },
  }))
}

function recordOutcome(work: () => unknown, record: (error?: unknown) => void): unknown {
  const recordFailure = (error: unknown): never => {
    record(error)
    throw error
  }
  let answer: unknown
  try {
    answer = work()
  } catch (error) {
    return recordFailure(error)
  }
  if (!(answer instanceof Promise)) {
    record()
    return answer
  }
  return answer.then((value: unknown) => {
    record()
    return value
  }, recordFailure)
}
