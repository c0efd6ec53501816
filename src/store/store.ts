/** The border to the data layer: missing operations throw, calls end in time, failures are AdapterErrors, dates are Dates, ids are texts. */
import type {
  AccountKey,
  Adapter,
  AdapterMethod,
  AdapterTables,
  AdapterUser,
  AdditionalFields,
  NewUserWithAccounts,
  Store,
  TenantAdapter,
  UserQuery,
  UserSearchQuery,
} from '../contract/adapter.ts'
import { withTimeout } from '../errors/deadlines.ts'
import { AdapterError } from '../errors/index.ts'
import { type Call, checkAnswer, cleanRow, type Ids, nullableMethods, restoreIds, withFieldDefaults } from './answers.ts'
import { encodeKey } from './namespaces.ts'
import { encodeArgs, isNoAddress, ownUsersOnly } from './tenant-rows.ts'
import { checkFields, storeFacts, storeMethods } from './lazy-store.ts'
import { withoutTokens } from './error-tokens.ts'
import { failedCall, isAbsence, lateCall } from './store-error.ts'
import type { Awaitable } from '../contract/data.ts'

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

// A clean-up takes as long as there are rows: each of its statements is short, and no sign-in waits for it.
const withoutDeadline = new Set<AdapterMethod>(['deleteExpired'])
// Milliseconds; timers know no longer time.
const longestTimer = 2 ** 31 - 1

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
      const args = fields && method.startsWith('createUser') ? withDefaults(fields, method, given) : given
      const operation = adapter[method] as ((...args: unknown[]) => unknown) | undefined
      if (typeof operation !== 'function') {
        throw new AdapterError(`The adapter has no ${method}(). Add it, or use an adapter that has it.`, { cause: { method } })
      }
      if (nullableMethods.has(method) && isUnstorable(args)) return null
      if (method === 'getUserByEmail' && namespace !== '' && isNoAddress(args[0])) return null
      const encoded = namespace === '' && typeof args[0] === 'string' && args[0][0] !== '~' ? args : encodeArgs(namespace, method, args)
      const stored = ids.type ? restoreIds(ids, method, encoded) : encoded
      return callAdapter({ method, args: encoded, ids, namespace, fields }, operation.bind(adapter, ...stored), deadline)
    }
  }
  // All methods are there now.
  const whole = store as unknown as Store
  if (tenants) {
    const asStored = (method: 'getUser' | 'listAccountsByUserId', id: string): unknown => {
      const stored = ids.type ? restoreIds(ids, method, [id]) : [id]
      const call: Call = { method, args: [id], ids, namespace, fields: undefined, asStored: true }
      return callAdapter(call, (adapter[method] as (...args: unknown[]) => unknown).bind(adapter, ...stored), deadline)
    }
    ownUsersOnly(whole, namespace, asStored)
  }
  const { getUser, getAccount, deleteSession, listUsers } = whole
  if (!adapter.getUsers) store['getUsers'] = (ids: readonly string[]) => inEights(ids, getUser).then((users) => users.filter(isThere))
  if (!adapter.listAccountOwners)
    store['listAccountOwners'] = (keys: readonly AccountKey[]) =>
      inEights(keys, ({ provider, providerAccountId }) => getAccount(providerAccountId, provider)).then((accounts) =>
        accounts.filter(isThere),
      )
  if (!adapter.deleteSessions)
    store['deleteSessions'] = (tokens: readonly string[]) => inEights(tokens, deleteSession).then(() => undefined)
  const { searchUsers } = whole
  store['searchUsers'] = (query: UserSearchQuery) => searchUsers({ ...query, within: namespace === '' ? '' : encodeKey(namespace, '') })
  store['listUsers'] = (query: UserQuery) => listOwn(listUsers, query)
  return whole
}

/** Arguments of an operation that creates users, with the defaults of additional fields. */
function withDefaults(fields: AdditionalFields, method: AdapterMethod, [first, ...rest]: readonly unknown[]): unknown[] {
  if (method !== 'createUsers') return [withFieldDefaults(fields, first as object), ...rest]
  return [(first as NewUserWithAccounts[]).map((each) => ({ ...each, user: withFieldDefaults(fields, each.user) })), ...rest]
}

/** An answer that came after the deadline: the caller that gave up may still have to undo it. */
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

function callAdapter(asked: Call, call: () => unknown, deadline: number): unknown {
  let answer: unknown
  try {
    answer = call()
  } catch (error) {
    return absentOrThrow(asked, error)
  }
  // Synchronous stores stay synchronous: no promise, no timer.
  const isPromise = typeof (answer as PromiseLike<unknown> | null | undefined)?.then === 'function'
  if (!isPromise) return checkAnswer(asked, answer)
  return withCallDeadline(asked, answer as PromiseLike<unknown>, withoutDeadline.has(asked.method) ? longestTimer : deadline)
}

async function withCallDeadline(asked: Call, answer: PromiseLike<unknown>, deadline: number): Promise<unknown> {
  const { method } = asked
  const late = (): AdapterError => {
    const error = lateCall(method, deadline)
    // Not enumerable: a promise means nothing in a log.
    Object.defineProperty(error.cause ?? error, 'late', {
      // One that makes no sense is told as it came: there may be something to undo all the same.
      value: () =>
        Promise.resolve(answer)
          .then((row) => cleanRow(asked, row))
          .catch(() => answer),
      enumerable: false,
    })
    return error
  }
  try {
    return checkAnswer(asked, await withTimeout(answer, deadline, late))
  } catch (error) {
    return absentOrThrow(asked, error)
  }
}

function absentOrThrow({ method, args }: Call, error: unknown): null {
  if (isAbsence(method, error)) return null
  throw failedCall(method, error, (err) => withoutTokens(err, method, args))
}

const atOnce = 8

/** Asks for each, eight at a time: a pool has few connections. */
async function inEights<T, R>(values: readonly T[], ask: (value: T) => Awaitable<R>): Promise<R[]> {
  const answers: R[] = []
  for (let at = 0; at < values.length; at += atOnce) answers.push(...(await Promise.all(values.slice(at, at + atOnce).map(ask))))
  return answers
}

/** Whether a row was found. */
function isThere<T>(row: T | null | undefined): row is T {
  return row !== null && row !== undefined
}

/** A page of one tenant. `ask` answers the id alone for rows of others; the next page makes up for them. */
async function listOwn(ask: (query: UserQuery) => Awaitable<(AdapterUser | string)[]>, query: UserQuery): Promise<AdapterUser[]> {
  const found: AdapterUser[] = []
  for (let { after } = query; ;) {
    // Always given: the tenant is a beginning of the stored address.
    const page = await ask({ ...query, email: query.email ?? '', after })
    found.push(...page.filter((row) => typeof row !== 'string'))
    const last = page.at(-1)
    if (found.length >= query.limit || page.length < query.limit || last === undefined) return found.slice(0, query.limit)
    after = typeof last === 'string' ? last : last.id
  }
}
