/** Calls to services: the store, records, mails, limits, one-time use, session reads. */
import type { Kernel, RecordStore, Store } from 'authkernel/kernel'
import { foundOf } from './describe.ts'
import { cookiesOf } from './observer.ts'
import type { Trace } from './trace.ts'

// They ask nothing of the data layer.
const silent = new Set(['supports', 'namespaced', 'close'])
type Call = (...args: unknown[]) => unknown

export function traceServices(kernel: Kernel, trace: Trace): void {
  kernel.decorate('store', (inner) => {
    // Each function of the store is wrapped, by its name.
    const members = inner as unknown as Readonly<Record<string, unknown>>
    const names = Object.keys(members).filter((name) => typeof members[name] === 'function' && !silent.has(name))
    const seen = names.map((name): [string, Call] => [
      name,
      (...args) => trace.timeWork(`store ${name}`, () => (members[name] as Call)(...args), foundOf),
    ])
    return Object.fromEntries(seen) as Partial<Store>
  })
  kernel.decorate('records', (inner) => {
    const see = <K extends 'get' | 'find' | 'count' | 'deleteWhere' | 'deleteExpired'>(name: K): RecordStore[K] =>
      ((table: string, ...rest: unknown[]) =>
        trace.timeWork(`records ${name} ${table}`, () => (inner[name] as Call)(table, ...rest), foundOf)) as RecordStore[K]
    return {
      get: see('get'),
      find: see('find'),
      count: see('count'),
      deleteWhere: see('deleteWhere'),
      deleteExpired: see('deleteExpired'),
      write: (writes, now) =>
        trace.timeWork(
          `records ${writes.map(({ op, table }) => `${op} ${table}`).join(', ')}`,
          () => inner.write(writes, now),
          (results) => (results ? 'written' : 'refused'),
        ),
    }
  })
  kernel.decorate('mail', (inner) => ({
    send: (ctx, to, template, ...rest) =>
      trace.timeWork(
        `mail ${template}`,
        () => inner.send(ctx, to, template, ...rest),
        () => 'sent',
        ctx,
      ),
  }))
  kernel.decorate('limit', (inner) => ({
    take: (key, rule) =>
      trace.timeWork(
        'limit',
        () => inner.take(key, rule),
        ({ allowed, retryAfter }) => (allowed ? 'allowed' : `refused, again in ${retryAfter} s`),
      ),
  }))
  kernel.decorate('once', (inner) => ({
    take: (key, seconds) =>
      trace.timeWork(
        'one-time value',
        () => inner.take(key, seconds),
        (first) => (first ? 'not used before' : 'used before'),
      ),
  }))
  kernel.decorate('session', (inner) => ({
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
  }))
}
