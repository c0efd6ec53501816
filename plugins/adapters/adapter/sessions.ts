/** An adapter whose sessions are in the store of the options, by code that loads late. */
import { type Adapter, type AdapterTables, lazily, lazyObject, type TenantAdapter } from 'authkernel/kernel'
import { storeMethods } from 'authkernel/kernel/stores'
import { sessionMethods, type SessionOptions } from './session-options.ts'

// Loaded by the first call.
const splitCode = /* @__PURE__ */ lazily(() => import('./split.ts'))

/** The adapter with its sessions in the store of the options; the adapter itself where they name none. `logFailure`: the adapter answered in its place; called once a minute. */
export function addSessions(
  adapter: Adapter & AdapterTables,
  { sessions, sessionFallback, moveSessions }: SessionOptions,
  { now }: { now(): number },
  logFailure: (error: unknown) => void,
): Adapter & AdapterTables {
  if (!sessions) return adapter
  const failures = { now, nextReport: 0, log: logFailure }
  const addTo = (own: Adapter & AdapterTables, namespace: string): Adapter & AdapterTables => {
    const names = storeMethods.filter((name) => typeof own[name] === 'function' || (sessionMethods as readonly string[]).includes(name))
    const tenants = (own as Partial<TenantAdapter>).namespaced?.bind(own)
    const facts = {
      keepsCreatedAt: sessionFallback ? own.keepsCreatedAt === true : true,
      nullableEmail: own.nullableEmail === true,
      ...(own.additionalFields && { additionalFields: own.additionalFields }),
      replica: own.replica === true,
      encryptsTokens: own.encryptsTokens === true,
      ...(tenants && { namespaced: (name: string) => addTo(tenants(name), name) }),
    }
    const split = lazyObject(
      [...names, 'missingTables', 'close'] as never[],
      splitCode,
      ({ splitSessions }) =>
        // Each of the names is a method of it.
        splitSessions(own, sessions, { namespace, fallback: sessionFallback, move: moveSessions, failures }) as never,
    )
    return { ...(split as Adapter & AdapterTables), ...facts }
  }
  return addTo(adapter, '')
}
