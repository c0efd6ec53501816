/** What a store makes of the answers of an adapter: shapes are checked, ids become texts, dates Dates, and columns of a host have their types. */
import type { AdapterMethod, AdapterUser, AdditionalFields } from '../contract/adapter.ts'
import { AdapterError } from '../errors/index.ts'
import { isDate } from '../runtime/runtime.ts'
import { decodeRow, keyedFields } from './tenant-rows.ts'

/** A call of an operation, as its answer is read. */
export interface Call {
  method: AdapterMethod
  args: readonly unknown[]
  ids: Ids
  namespace: string
  fields: AdditionalFields | undefined
  /** Rows of all namespaces, with the values that the data layer has. */
  asStored?: boolean
}
/**
 * How an adapter's own ids are made of texts, once an answer has shown that they are numbers. Here ids of users are texts, whatever the database counts
 * with: cookies, JWTs and comparisons know nothing else.
 */
export interface Ids {
  type?: typeof Number | typeof BigInt
}
type Row = Record<string, unknown>

// What must be there in an answer for it to count as one: a store that lies must not sign a user in.
const requiredFields: Partial<Record<AdapterMethod, readonly string[]>> = {
  createUser: ['id'],
  createUserWithAccount: ['id'],
  getUser: ['id'],
  getUserByEmail: ['id'],
  getUserByAccount: ['id'],
  updateUser: ['id'],
  createSession: ['sessionToken', 'userId'],
  getSessionAndUser: ['session', 'user'],
  useVerificationToken: ['identifier', 'token', 'expires'],
  getAuthenticator: ['credentialID', 'userId'],
}
/** Operations that may find nothing. */
export const nullableMethods: ReadonlySet<AdapterMethod> = /* @__PURE__ */ new Set<AdapterMethod>(
  /* @__PURE__ */ 'getUser getUserByEmail getUserByAccount getSessionAndUser useVerificationToken getAuthenticator'.split(
    ' ',
  ) as AdapterMethod[],
)
// Where a row says whose it is; the own `id` of a session or an account is nothing that the kernel looks at.
const ownerFields: readonly string[] = ['userId', 'identifier', 'id']
const dateFields = ['expires', 'emailVerified', 'createdAt']

/** Checks the shape of an answer and makes dates of strings and numbers (D26). */
export function checkAnswer(asked: Call, answer: unknown): unknown {
  const { method, args } = asked
  const fields = requiredFields[method]
  if (fields) {
    const row = answer as Record<string, unknown> | null | undefined
    if ((row === undefined || row === null) && nullableMethods.has(method)) return null
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
  if (method === 'searchUsers') {
    const { users, total } = Object(answer) as { users?: unknown; total?: unknown }
    if (!Array.isArray(users) || !Number.isSafeInteger(total))
      throw new AdapterError("The adapter's searchUsers() answered with something else than `{ users, total }`.", { cause: { method } })
    return { users: users.map((user) => cleanRow(asked, user)).filter((user) => user !== null), total }
  }
  if (method === 'getSessionAndUser' && answer) {
    const { session, user } = answer as { session: Record<string, unknown>; user: Record<string, unknown> }
    if (!session['expires'] || !user['id'] || String(session['userId']) !== String(user['id'])) {
      throw new AdapterError("The adapter's getSessionAndUser() answered with a session that does not belong to its user.", {
        cause: { method },
      })
    }
    const owner = cleanRow(asked, user)
    return owner && { session: cleanRow(asked, session), user: owner }
  }
  if (!Array.isArray(answer)) return cleanRow(asked, answer)
  const own = answer.map((item) => cleanRow(asked, item))
  // Whose id is needed to ask for the next page.
  if (method === 'listUsers') return own.map((item, at) => item ?? String((answer[at] as { id: unknown }).id))
  return own.filter((item) => item !== null)
}

/** A row of the namespace, with ids as texts, dates as Dates and columns of the host in their types; null: it belongs to another namespace. */
export function cleanRow({ method, ids, namespace, fields, asStored }: Call, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const row = value as Record<string, unknown>
  let owned: Record<string, unknown> | null = row
  if (!asStored)
    for (const name of keyedFields) if (namespace !== '' || String(row[name] ?? '')[0] === '~') owned = decodeRow(namespace, row)
  if (!owned) return null
  let result = fields ? toTypedRow(fields, owned) : owned
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
    const parsed = date instanceof Date ? date : isDateInput(date) ? new Date(date) : undefined
    if (!parsed || Number.isNaN(parsed.getTime())) {
      throw new AdapterError(`The adapter's ${method}() answered with a ${field} that is not a date.`, { cause: { method, field } })
    }
    // A copy: rows belong to the adapter.
    if (parsed !== date) result = { ...result, [field]: parsed }
  }
  return result
}

/**
 * Whether an answer is for the address that was asked. MySQL's default collation ignores accents: the user at "exámple.com" must not be taken for the one at
 * "example.com". Capitals do not count,
 * but U+212A, whose lower case is an ASCII k, is another letter.
 */
function sameAddress(stored: unknown, asked: unknown): boolean {
  const fold = (address: string): string => address.replace(/[^\u212A]+/g, (part) => part.toLowerCase()).normalize('NFC')
  return typeof stored !== 'string' || typeof asked !== 'string' || fold(stored) === fold(asked)
}

/** What a date can be made of; a `Date` of another realm is one. */
function isDateInput(value: unknown): value is string | number | Date {
  return typeof value === 'string' || typeof value === 'number' || isDate(value)
}

/** Arguments with ids as the adapter gave them: some, like Prisma's, take no text for a number. */
export function restoreIds({ type }: Ids, method: AdapterMethod, args: readonly unknown[]): readonly unknown[] {
  const restoreId = (id: unknown): unknown => (type && /^\d+$/.test(id as string) ? type(id as string) : id)
  return args.map((arg, at) => {
    if (Array.isArray(arg)) return method === 'getUsers' ? arg.map(restoreId) : arg
    if (typeof arg !== 'object' || arg === null) return at === 0 && /^(get|delete)User$|ByUserId$/.test(method) ? restoreId(arg) : arg
    if (method === 'searchUsers') {
      const lists = (['among', 'except'] as const).filter((name) => Array.isArray((arg as Record<string, unknown>)[name]))
      return { ...arg, ...Object.fromEntries(lists.map((name) => [name, (arg as Record<string, unknown[]>)[name]!.map(restoreId)])) }
    }
    const field = ownerFields.find((name) => name in arg)
    // An identifier may be a telephone number.
    if (!field || field === 'identifier') return arg
    return { ...arg, [field]: restoreId((arg as Record<string, unknown>)[field]) }
  })
}

/** A new user with the defaults of what is not given. */
export function withFieldDefaults(fields: AdditionalFields, user: object): object {
  const defaults = Object.entries(fields).filter(([name, field]) => field.default !== undefined && (user as Row)[name] === undefined)
  return { ...user, ...Object.fromEntries(defaults.map(([name, field]) => [name, field.default])) }
}

/** A row with booleans and numbers as what they are: databases have 0, 1 and digits for them. */
function toTypedRow(fields: AdditionalFields, row: Row): Row {
  const read = { ...row }
  for (const [name, { type }] of Object.entries(fields)) {
    const value = row[name]
    if (value === undefined || value === null) continue
    if (type === 'boolean') read[name] = value === true || Number(value) === 1
    if (type === 'number') read[name] = Number(value)
  }
  return read
}
