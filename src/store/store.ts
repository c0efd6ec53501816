/** The border to the data layer: missing operations throw, calls end in time, failures are AdapterErrors, dates are Dates, ids are texts. */
import type {
  AdapterTables,
  AdditionalFields,
  Adapter,
  AdapterMethod,
  AdapterUser,
  Store,
  TenantAdapter,
  UserQuery,
} from '../contract/adapter.ts'
import { withTimeout } from '../errors/timeout.ts'
import { AdapterError } from '../errors/index.ts'
import { typed, withDefaults } from './field-values.ts'
import { decodeRow, encodeArgs, isNoAddress, keyedFields } from './namespaced-rows.ts'
import { ownUsersOnly } from './own-users.ts'
import { mayBeNull, required } from './store-answers.ts'
import { inEights, isThere, listOwn } from './store-lists.ts'
import { checkFields, storeFacts, storeMethods } from './lazy-store.ts'
import { isTime, sameAddress } from './store-values.ts'
import { failedCall, isAbsence, lateCall, withoutTokens } from './store-error.ts'
import { type Ids, ownerFields, restoreIds } from './store-ids.ts'

/** Milliseconds until a call is given up; default 5000 (D31). */
export interface StoreOptions {
  /** Milliseconds; `deleteExpired` has none. */
  deadline?: number | undefined
}
interface Border {
  adapter: Adapter & AdapterTables
  deadline: number
  namespace: string
  /** Whether there are others. */
  tenants: boolean
  /** How the adapter's own ids are made of texts: of the adapter, whatever the namespace. */
  ids: Ids
  fields: AdditionalFields | undefined
}

// A clean-up takes as long as there are rows: each of its statements is short, and nobody who signs in waits for it.
const unhurried = new Set<AdapterMethod>(['deleteExpired'])
// Milliseconds; timers know no longer time.
const longest = 2 ** 31 - 1
const dateFields = ['expires', 'emailVerified', 'createdAt']

/** A `Store` over any adapter, published ones of Auth.js included. Throws AdapterError from every operation that fails. */
export function createStore(adapter: Adapter & AdapterTables, options: StoreOptions = {}): Store {
  const { additionalFields: fields } = adapter
  if (fields) checkFields(fields)
  return storeOf({ adapter, deadline: options.deadline ?? 5_000, namespace: '', tenants: false, ids: {}, fields })
}

function storeOf(own: Border): Store {
  const { adapter, deadline, namespace, tenants, ids, fields } = own
  const store: Record<string, unknown> = {
    ...storeFacts(adapter, namespace),
    namespaced: (other: string) => {
      const apart = other === '' ? undefined : (adapter as Partial<TenantAdapter>).namespaced?.(other)
      // An adapter with tenants of its own needs no prefix.
      return apart ? createStore(apart, { deadline }) : storeOf({ ...own, namespace: other, tenants: true })
    },
  }
  for (const method of storeMethods) {
    store[method] = (...given: unknown[]): unknown => {
      const args = fields && method.startsWith('createUser') ? [withDefaults(fields, given[0] as object), ...given.slice(1)] : given
      const operation = adapter[method] as ((...args: unknown[]) => unknown) | undefined
      if (typeof operation !== 'function') {
        throw new AdapterError(`The adapter has no ${method}(). Add it, or use an adapter that has it.`, { cause: { method } })
      }
      if (mayBeNull.has(method) && isUnstorable(args)) return null
      if (method === 'getUserByEmail' && namespace !== '' && isNoAddress(args[0])) return null
      const encoded = namespace === '' && typeof args[0] === 'string' && args[0][0] !== '~' ? args : encodeArgs(namespace, method, args)
      const stored = ids.type ? restoreIds(ids, method, encoded) : encoded
      return run({ method, args: encoded, ids, namespace, fields }, operation.bind(adapter, ...stored), deadline)
    }
  }
  const whole = store as unknown as Store
  if (tenants) {
    const asStored = (method: 'getUser' | 'listAccountsByUserId', id: string): unknown => {
      const stored = ids.type ? restoreIds(ids, method, [id]) : [id]
      const call: Call = { method, args: [id], ids, namespace, fields: undefined, asStored: true }
      return run(call, (adapter[method] as (...args: unknown[]) => unknown).bind(adapter, ...stored), deadline)
    }
    ownUsersOnly(whole, namespace, asStored)
  }
  const { getUser, deleteSession, listUsers } = whole
  if (!adapter.getUsers) store['getUsers'] = (ids: readonly string[]) => inEights(ids, getUser).then((users) => users.filter(isThere))
  if (!adapter.deleteSessions)
    store['deleteSessions'] = (tokens: readonly string[]) => inEights(tokens, deleteSession).then(() => undefined)
  store['listUsers'] = (query: UserQuery) => listOwn(listUsers, query)
  return whole
}

/** An answer that came after the deadline: whoever gave up may still have to undo it. */
export function lateAnswer(error: unknown): Promise<unknown> | undefined {
  return error instanceof AdapterError ? (error.cause?.['late'] as (() => Promise<unknown>) | undefined)?.() : undefined
}

/** A NUL, which PostgreSQL cannot hold, or half a character, which is no UTF-8: drivers fail on them. A query may carry both; nothing has such a key. */
function isUnstorable(args: readonly unknown[]): boolean {
  for (const arg of args) {
    for (const value of typeof arg === 'object' && arg ? Object.values(arg) : [arg]) {
      if (typeof value === 'string' && /[\0\ud800-\udfff]/u.test(value)) return true
    }
  }
  return false
}

interface Call {
  method: AdapterMethod
  args: readonly unknown[]
  ids: Ids
  namespace: string
  fields: AdditionalFields | undefined
  /** Rows of all namespaces, with the values that the data layer has. */
  asStored?: boolean
}

function run(asked: Call, call: () => unknown, deadline: number): unknown {
  let answer: unknown
  try {
    answer = call()
  } catch (error) {
    return failed(asked, error)
  }
  // Synchronous stores stay synchronous: no promise, no timer.
  const later = typeof (answer as PromiseLike<unknown> | null | undefined)?.then === 'function'
  if (!later) return normalise(asked, answer)
  return inTime(asked, answer as PromiseLike<unknown>, unhurried.has(asked.method) ? longest : deadline)
}

async function inTime(asked: Call, answer: PromiseLike<unknown>, deadline: number): Promise<unknown> {
  const { method } = asked
  const late = (): AdapterError => {
    const error = lateCall(method, deadline)
    // Not enumerable: a promise means nothing in a log.
    Object.defineProperty(error.cause ?? error, 'late', {
      // One that makes no sense is told as it came: there may be something to undo all the same.
      value: () =>
        Promise.resolve(answer)
          .then((row) => clean(asked, row))
          .catch(() => answer),
      enumerable: false,
    })
    return error
  }
  try {
    return normalise(asked, await withTimeout(answer, deadline, late))
  } catch (error) {
    return failed(asked, error)
  }
}

function failed({ method, args }: Call, error: unknown): null {
  if (isAbsence(method, error)) return null
  throw failedCall(method, error, (err) => withoutTokens(err, method, args))
}

/** Checks the shape of an answer and makes dates of strings and numbers (D26). */
function normalise(asked: Call, answer: unknown): unknown {
  const { method, args } = asked
  const fields = required[method]
  if (fields) {
    const row = answer as Record<string, unknown> | null | undefined
    if ((row === undefined || row === null) && mayBeNull.has(method)) return null
    for (const field of fields) {
      if (row?.[field] !== undefined && row[field] !== null) continue
      throw new AdapterError(`The adapter's ${method}() answered without ${field}: it must return the stored record.`, {
        cause: { method },
      })
    }
  }
  if ((method.startsWith('list') || method === 'getUsers') && !Array.isArray(answer)) {
    throw new AdapterError(`The adapter's ${method}() answered with something else than a list.`, { cause: { method } })
  }
  if (method === 'getUserByEmail' && answer && !sameAddress((answer as AdapterUser).email, args[0])) {
    throw new AdapterError(
      "The adapter's getUserByEmail() answered with the user of another address: a collation of the database holds the two for equal. " +
        'Compare addresses byte by byte there.',
      { cause: { method } },
    )
  }
  if (method === 'getSessionAndUser' && answer) {
    const { session, user } = answer as { session: Record<string, unknown>; user: Record<string, unknown> }
    if (!session['expires'] || !user['id'] || String(session['userId']) !== String(user['id'])) {
      throw new AdapterError("The adapter's getSessionAndUser() answered with a session that does not belong to its user.", {
        cause: { method },
      })
    }
    const owner = clean(asked, user)
    return owner && { session: clean(asked, session), user: owner }
  }
  if (!Array.isArray(answer)) return clean(asked, answer)
  const own = answer.map((item) => clean(asked, item))
  // Whose id is needed to ask for the next page.
  if (method === 'listUsers') return own.map((item, at) => item ?? String((answer[at] as { id: unknown }).id))
  return own.filter((item) => item !== null)
}

function clean({ method, ids, namespace, fields, asStored }: Call, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const row = value as Record<string, unknown>
  let owned: Record<string, unknown> | null = row
  if (!asStored)
    for (const name of keyedFields) if (namespace !== '' || String(row[name] ?? '')[0] === '~') owned = decodeRow(namespace, row)
  if (!owned) return null
  let result = fields ? typed(fields, owned) : owned
  let field = 'id'
  for (const name of ownerFields) if (name in row && field === 'id') field = name
  const id = result[field]
  if (typeof id === 'number' || typeof id === 'bigint') {
    ids.type = typeof id === 'number' ? Number : BigInt
    result = { ...result, [field]: String(id) }
  }
  for (const field of dateFields) {
    const date = result[field]
    if (date === undefined || date === null) continue
    const parsed = date instanceof Date ? date : isTime(date) ? new Date(date) : undefined
    if (!parsed || Number.isNaN(parsed.getTime())) {
      throw new AdapterError(`The adapter's ${method}() answered with a ${field} that is not a date.`, { cause: { method, field } })
    }
    // A copy: rows belong to the adapter.
    if (parsed !== date) result = { ...result, [field]: parsed }
  }
  return result
}
