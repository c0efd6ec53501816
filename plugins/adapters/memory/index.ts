/**
 * The reference implementation of the adapter contract: everything in maps of this process.
 * Every operation runs to its end without an `await`, so each of them is atomic by the rules of JavaScript. Those that refuse are `async`:
 * whoever starts many at once gets rejected promises, as from a database, and no error in the middle of starting them.
 */
import type { AccountKey, Adapter, AdapterUser, RecordStore, CleanUpOptions, ExpiredRows } from 'authkernel/kernel'
import { type MemoryData, memoryData, needUser } from './data.ts'
import { memoryRecords } from './records.ts'

export { type MemoryData, memoryData } from './data.ts'
export { memoryRecords, type RecordData } from './records.ts'

/** What `memoryAdapter` makes. */
export interface MemoryAdapter extends Required<Adapter> {
  readonly records: RecordStore
  /** Removes what ended before `now`; default: the present. */
  deleteExpired(now?: Date, options?: CleanUpOptions): ExpiredRows
}

/**
 * Keeps users, accounts, sessions, tokens and authenticators in memory: for tests, demos and as the measure of other adapters.
 * Nothing outlives the process. Writes throw when an email, an account or a credential is already taken, and when the user is unknown.
 */
export function memoryAdapter(data: MemoryData = memoryData()): MemoryAdapter {
  const records = memoryRecords((data.records ??= new Map()))
  return {
    records: { ...records, erases: true },
    ...users(data, records.erase),
    ...accounts(data),
    ...sessions(data),
    ...tokens(data),
    ...authenticators(data),
    keepsCreatedAt: true,
    nullableEmail: true,
    close: async () => {},
  }
}

type Part<K extends keyof Adapter> = Pick<Required<Adapter>, K>

function users(
  data: MemoryData,
  erase: (userId: string) => void,
): Part<
  | 'createUser'
  | 'getUser'
  | 'getUsers'
  | 'listUsers'
  | 'getUserByEmail'
  | 'getUserByAccount'
  | 'updateUser'
  | 'deleteUser'
  | 'createUserWithAccount'
> {
  const byEmail = (email: string): AdapterUser | undefined => find(data.users, (user) => user.email === email)
  function create(user: AdapterUser): AdapterUser {
    const stored = copy({ ...user, id: user.id ?? crypto.randomUUID() })
    if (data.users.has(stored.id)) throw taken('user id')
    if (stored.email && byEmail(stored.email)) throw taken('email')
    data.users.set(stored.id, stored)
    return copy(stored)
  }
  return {
    createUser: async (user) => create(user),
    async createUserWithAccount(user, account) {
      if (data.accounts.has(accountKey(account))) throw taken('account')
      const stored = create(user)
      data.accounts.set(accountKey(account), copy({ ...account, userId: stored.id }))
      return stored
    },
    getUser: (id) => copy(data.users.get(id) ?? null),
    getUsers: (ids) => ids.flatMap((id) => copy(data.users.get(id)) ?? []),
    listUsers({ email = '', after = '', limit }) {
      const found = list(data.users, (user) => user.id > after && (user.email ?? '').startsWith(email))
      return found.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit)
    },
    getUserByEmail: (email) => copy(byEmail(email) ?? null),
    getUserByAccount(key) {
      const account = data.accounts.get(accountKey(key))
      return copy((account && data.users.get(account.userId)) ?? null)
    },
    async updateUser(change) {
      const user = data.users.get(change.id)
      if (!user) throw new Error('[memory] updateUser: no user has this id')
      const owner = change.email ? byEmail(change.email) : undefined
      if (owner && owner.id !== change.id) throw taken('email')
      return assign(user, change)
    },
    deleteUser(id) {
      const user = data.users.get(id)
      if (!user) return null
      data.users.delete(id)
      for (const map of [data.accounts, data.sessions, data.authenticators]) drop<{ userId: string }>(map, (row) => row.userId === id)
      // A link that is still in the mail must not bring the person back.
      drop(data.tokens, (token) => token.identifier === user.email)
      erase(id)
      return user
    },
  }
}

function accounts(data: MemoryData): Part<'linkAccount' | 'unlinkAccount' | 'getAccount' | 'updateAccount' | 'listAccountsByUserId'> {
  return {
    async linkAccount(account) {
      needUser(data, account.userId, 'linkAccount')
      if (data.accounts.has(accountKey(account))) throw taken('account')
      data.accounts.set(accountKey(account), copy(account))
      return copy(account)
    },
    unlinkAccount: (key) => pop(data.accounts, accountKey(key)),
    getAccount: (providerAccountId, provider) => copy(data.accounts.get(accountKey({ provider, providerAccountId })) ?? null),
    updateAccount({ userId: _owner, ...change }) {
      // The owner is not a token field: an account never moves to another user.
      const account = data.accounts.get(accountKey(change))
      return account ? assign(account, change) : null
    },
    listAccountsByUserId: (userId) => list(data.accounts, (account) => account.userId === userId),
  }
}

function sessions(
  data: MemoryData,
): Part<
  | 'createSession'
  | 'getSessionAndUser'
  | 'updateSession'
  | 'deleteSession'
  | 'listSessionsByUserId'
  | 'deleteSessionsByUserId'
  | 'deleteSessions'
> &
  Pick<MemoryAdapter, 'deleteExpired'> {
  return {
    async createSession(session) {
      needUser(data, session.userId, 'createSession')
      if (data.sessions.has(session.sessionToken)) throw taken('session token')
      data.sessions.set(session.sessionToken, copy(session))
      return copy(data.sessions.get(session.sessionToken)!)
    },
    getSessionAndUser(sessionToken) {
      const session = data.sessions.get(sessionToken)
      const user = session && data.users.get(session.userId)
      return session && user ? copy({ session, user }) : null
    },
    updateSession(change) {
      const session = data.sessions.get(change.sessionToken)
      return session ? assign(session, change) : null
    },
    deleteSession: (sessionToken) => pop(data.sessions, sessionToken),
    listSessionsByUserId: (userId) => list(data.sessions, (session) => session.userId === userId),
    deleteSessionsByUserId(userId, except) {
      drop(data.sessions, (session) => session.userId === userId && session.sessionToken !== except?.sessionToken)
    },
    deleteSessions(sessionTokens) {
      for (const sessionToken of sessionTokens) data.sessions.delete(sessionToken)
    },
    deleteExpired(now = new Date(), { max = Number.POSITIVE_INFINITY, onProgress } = {}) {
      const removed: ExpiredRows = { sessions: 0, tokens: 0, once: 0, limit: 0 }
      removed.sessions = drop<{ expires: Date }>(data.sessions, ({ expires }) => expires < now, max)
      removed.tokens = drop<{ expires: Date }>(data.tokens, ({ expires }) => expires < now, max - removed.sessions)
      onProgress?.({ ...removed })
      return removed
    },
  }
}

function tokens(data: MemoryData): Part<'createVerificationToken' | 'useVerificationToken' | 'deleteVerificationTokens'> {
  const keyOf = (token: { identifier: string; token: string }): string => JSON.stringify([token.identifier, token.token])
  return {
    async createVerificationToken(token) {
      if (data.tokens.has(keyOf(token))) throw taken('verification token')
      data.tokens.set(keyOf(token), copy(token))
      return copy(token)
    },
    useVerificationToken: (key) => pop(data.tokens, keyOf(key)),
    deleteVerificationTokens(identifier) {
      drop(data.tokens, (token) => token.identifier === identifier)
    },
  }
}

function authenticators(
  data: MemoryData,
): Part<'createAuthenticator' | 'getAuthenticator' | 'listAuthenticatorsByUserId' | 'updateAuthenticatorCounter' | 'deleteAuthenticator'> {
  return {
    async createAuthenticator(authenticator) {
      needUser(data, authenticator.userId, 'createAuthenticator')
      if (data.authenticators.has(authenticator.credentialID)) throw taken('credential')
      data.authenticators.set(authenticator.credentialID, copy(authenticator))
      return copy(authenticator)
    },
    getAuthenticator: (credentialID) => copy(data.authenticators.get(credentialID) ?? null),
    listAuthenticatorsByUserId: (userId) => list(data.authenticators, (authenticator) => authenticator.userId === userId),
    async updateAuthenticatorCounter(credentialID, newCounter) {
      const authenticator = data.authenticators.get(credentialID)
      if (!authenticator) throw new Error('[memory] updateAuthenticatorCounter: no authenticator has this credential id')
      // WebAuthn 7.2 step 22: a counter that does not grow means a cloned authenticator; 0 after 0 is a synced passkey (D27).
      if (newCounter <= authenticator.counter && (newCounter !== 0 || authenticator.counter !== 0)) {
        throw new Error(`[memory] updateAuthenticatorCounter: ${newCounter} does not exceed the stored ${authenticator.counter}`)
      }
      return assign(authenticator, { counter: newCounter })
    },
    deleteAuthenticator: (credentialID) => pop(data.authenticators, credentialID),
  }
}

function accountKey(key: AccountKey): string {
  return JSON.stringify([key.provider, key.providerAccountId])
}

// Callers may change what they got, and what they gave: neither may reach the stored row.
function copy<T>(value: T): T {
  return structuredClone(value)
}

// `undefined` means "leave as it is", `null` is a value.
function assign<T extends object>(row: T, change: Partial<T>): T {
  for (const [name, value] of Object.entries(change)) if (value !== undefined) Object.assign(row, { [name]: copy(value) })
  return copy(row)
}

function find<T>(map: Map<string, T>, matches: (row: T) => boolean): T | undefined {
  for (const row of map.values()) if (matches(row)) return row
  return undefined
}

function list<T>(map: Map<string, T>, matches: (row: T) => boolean): T[] {
  return copy([...map.values()].filter(matches))
}

function pop<T>(map: Map<string, T>, key: string): T | null {
  const row = map.get(key) ?? null
  map.delete(key)
  return row
}

function drop<T>(map: Map<string, T>, matches: (row: T) => boolean, max = Number.POSITIVE_INFINITY): number {
  let dropped = 0
  for (const [key, row] of map) {
    if (dropped >= max) break
    if (matches(row) && map.delete(key)) dropped++
  }
  return dropped
}

function taken(what: string): Error {
  return new Error(`[memory] this ${what} is already taken`)
}
