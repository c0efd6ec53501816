/** All that a trace sees: requests and hooks by the observer, and calls to services: the store, records, mails, limits, replay protection, session reads. */
import type { AdapterMethod, Facts, LoggerInstance, Observer, RecordStore, Services, Store } from 'authkernel/kernel'
import { foundOf } from './describe.ts'
import { cookiesOf, createObserver } from './observer.ts'
import { createTrace, type Trace } from './trace.ts'

type Call = (...args: unknown[]) => unknown
type RecordRead = 'get' | 'find' | 'count' | 'deleteWhere' | 'deleteExpired'
/** The observer of a trace, and what decorates services with it. */
export interface Tracing {
  observer: Required<Observer>
  traceStore<K extends AdapterMethod>(inner: Store, names: readonly K[]): Pick<Store, K>
  traceRecords(inner: RecordStore): Pick<RecordStore, RecordRead | 'write'>
  traceMail(inner: Services['mail']): Pick<Services['mail'], 'send'>
  traceLimit(inner: Services['limit']): Pick<Services['limit'], 'take'>
  traceOnce(inner: Services['once']): Pick<Services['once'], 'take'>
  traceSession(inner: Services['session']): Pick<Services['session'], 'read'>
}

export function createTracing(logger: LoggerInstance): Tracing {
  const trace = createTrace((text, { requestId, job } = {} as Facts) => {
    const whose = job === undefined ? (requestId?.slice(-12) ?? '') : `job ${job}`
    logger.debug(whose === '' ? text : `${whose}  ${text}`)
  })
  return {
    observer: createObserver(trace),
    traceStore: (inner, names) => traceStore(trace, inner, names),
    traceRecords: (inner) => traceRecords(trace, inner),
    traceMail: (inner) => ({
      send: (ctx, to, template, ...rest) =>
        trace.timeWork(
          `mail ${template}`,
          () => inner.send(ctx, to, template, ...rest),
          () => 'sent',
          ctx,
        ),
    }),
    traceLimit: (inner) => ({
      take: (key, rule) =>
        trace.timeWork(
          'limit',
          () => inner.take(key, rule),
          ({ allowed, retryAfter }) => (allowed ? 'allowed' : `rejected, again in ${retryAfter} s`),
        ),
    }),
    traceOnce: (inner) => ({
      take: (key, seconds) =>
        trace.timeWork(
          'one-time value',
          () => inner.take(key, seconds),
          (first) => (first ? 'not used before' : 'used before'),
        ),
    }),
    traceSession: (inner) => ({
      read(ctx) {
        const what = trace.running() ? 'session' : `session of a request${cookiesOf(ctx.request)}`
        return trace.within(ctx, () =>
          trace.timeWork(
            what,
            () => inner.read(ctx),
            (session) => (session ? 'found' : 'signed out'),
            ctx,
          ),
        )
      },
    }),
  }
}

/** Each function of the store is wrapped, by its name. */
function traceStore<K extends AdapterMethod>(trace: Trace, inner: Store, names: readonly K[]): Pick<Store, K> {
  const calls = names.map((name) => [
    name,
    (...args: unknown[]) => trace.timeWork(`store ${name}`, () => (inner[name] as Call)(...args), foundOf),
  ])
  return Object.fromEntries(calls) as Pick<Store, K>
}

function traceRecords(trace: Trace, inner: RecordStore): Pick<RecordStore, RecordRead | 'write'> {
  const traceCall = <K extends RecordRead>(name: K): RecordStore[K] =>
    ((table: string, ...rest: unknown[]) =>
      trace.timeWork(`records ${name} ${table}`, () => (inner[name] as Call)(table, ...rest), foundOf)) as RecordStore[K]
  return {
    get: traceCall('get'),
    find: traceCall('find'),
    count: traceCall('count'),
    deleteWhere: traceCall('deleteWhere'),
    deleteExpired: traceCall('deleteExpired'),
    write: (writes, now) =>
      trace.timeWork(
        `records ${writes.map(({ op, table }) => `${op} ${table}`).join(', ')}`,
        () => inner.write(writes, now),
        (results) => (results ? 'written' : 'refused'),
      ),
  }
}
