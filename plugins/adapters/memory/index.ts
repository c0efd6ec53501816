/**
 * The reference implementation of the adapter contract: everything in maps of this process.
 * Every operation runs to its end without an `await`, so each of them is atomic by the rules of JavaScript. Those that reject are `async`:
 * a caller that starts many at once gets rejected promises, as from a database, and no error in the middle of starting them.
 */
import type {
  AccountKey,
  Adapter,
  AdapterAccount,
  AdapterAuthenticator,
  AdapterSession,
  AdapterUser,
  CleanUpOptions,
  ExpiredRows,
  RecordStore,
  VerificationToken,
} from 'authkernel/kernel'
import { searchAmong } from 'authkernel/kernel/stores'
import { memoryRecords, type RecordData } from './records.ts'

export { memoryRecords, type RecordData } from './records.ts'

/** What `memoryAdapter` makes. */
export interface MemoryAdapter extends Required<Adapter> {
  readonly records: RecordStore
  /** Removes what ended before `now`; default: the present. */
  deleteExpired(now?: Date, options?: CleanUpOptions): ExpiredRows
}

/** What `memoryAdapter` keeps. Give the same one to two adapters and they share it, as two processes share a database. */
export interface MemoryData {
  users: Map<string, AdapterUser>
  accounts: Map<string, AdapterAccount>
  sessions: Map<string, AdapterSession>
  tokens: Map<string, VerificationToken>
  authenticators: Map<string, AdapterAuthenticator>
  /** Rows of plugins' records, by table. */
  records?: RecordData
}

/** An empty store for `memoryAdapter`. */
export function memoryData(): MemoryData {
  return {
    users: new Map(),
    accounts: new Map(),
    sessions: new Map(),
    tokens: new Map(),
    authenticators: new Map(),
  }
}

/**
 * Keeps users, accounts, sessions, tokens and authenticators in memory: for tests, demos and as the measure of other adapters.
 * Nothing outlives the process. Writes throw when an email, an account or a credential is already taken, and when the user is unknown.
 */
export function memoryAdapter(data: MemoryData = memoryData()): MemoryAdapter {
  const records = memoryRecords((data.records ??= new Map()))
  return {
    records: { ...records, erases: true },
    ...userMethods(data, records.erase),
    ...accountMethods(data),
    ...sessionMethods(data),
    ...tokenMethods(data),
    ...authenticatorMethods(data),
    keepsCreatedAt: true,
    nullableEmail: true,
    close: async () => {},
  }
}

type Part<K extends keyof Adapter> = Pick<Required<Adapter>, K>

function userMethods(
  data: MemoryData,
  erase: (userId: string) => void,
): Part<
  | 'createUser'
  | 'getUser'
  | 'getUsers'
  | 'listUsers'
  | 'searchUsers'
  | 'getUserByEmail'
  | 'getUserByAccount'
  | 'updateUser'
  | 'deleteUser'
  | 'createUserWithAccount'
  | 'createUsers'
> {
  const byEmail = (email: string): AdapterUser | undefined => findInMap(data.users, (user) => user.email === email)
  function create(user: AdapterUser): AdapterUser {
    const row = deepCopy({ ...user, id: user.id ?? crypto.randomUUID() })
    if (data.users.has(row.id)) throw takenError('user id')
    if (row.email && byEmail(row.email)) throw takenError('email')
    data.users.set(row.id, row)
    return deepCopy(row)
  }
  return {
    createUser: async (user) => create(user),
    async createUserWithAccount(user, account) {
      if (data.accounts.has(accountKey(account))) throw takenError('account')
      const row = create(user)
      data.accounts.set(accountKey(account), deepCopy({ ...account, userId: row.id }))
      return row
    },
    async createUsers(entries) {
      const made: AdapterUser[] = []
      const linked: string[] = []
      try {
        for (const { user, accounts } of entries) {
          made.push(create(user))
          for (const account of accounts) {
            if (data.accounts.has(accountKey(account))) throw takenError('account')
            data.accounts.set(accountKey(account), deepCopy({ ...account, userId: made.at(-1)!.id }))
            linked.push(accountKey(account))
          }
        }
        return made
      } catch (error) {
        for (const { id } of made) data.users.delete(id)
        for (const key of linked) data.accounts.delete(key)
        throw error
      }
    },
    getUser: (id) => deepCopy(data.users.get(id) ?? null),
    getUsers: (ids) => ids.flatMap((id) => deepCopy(data.users.get(id)) ?? []),
    listUsers({ email = '', after = '', limit }) {
      const found = listRows(data.users, (user) => user.id > after && (user.email ?? '').startsWith(email))
      return found.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit)
    },
    searchUsers: (query) => deepCopy(searchAmong([...data.users.values()], query, () => data.accounts.values())),
    getUserByEmail: (email) => deepCopy(byEmail(email) ?? null),
    getUserByAccount(key) {
      const account = data.accounts.get(accountKey(key))
      return deepCopy((account && data.users.get(account.userId)) ?? null)
    },
    async updateUser(change) {
      const user = data.users.get(change.id)
      if (!user) throw new Error('[memory] updateUser: no user has this id')
      const owner = change.email ? byEmail(change.email) : undefined
      if (owner && owner.id !== change.id) throw takenError('email')
      return assignFields(user, change)
    },
    deleteUser(id) {
      const user = data.users.get(id)
      if (!user) return null
      data.users.delete(id)
      for (const map of [data.accounts, data.sessions, data.authenticators]) dropRows<{ userId: string }>(map, (row) => row.userId === id)
      // A link that is still in the mail must not bring the user back.
      dropRows(data.tokens, (token) => token.identifier === user.email)
      erase(id)
      return user
    },
  }
}

function accountMethods(
  data: MemoryData,
): Part<'linkAccount' | 'unlinkAccount' | 'getAccount' | 'updateAccount' | 'listAccountsByUserId' | 'listAccountOwners'> {
  return {
    async linkAccount(account) {
      assertUser(data, account.userId, 'linkAccount')
      if (data.accounts.has(accountKey(account))) throw takenError('account')
      data.accounts.set(accountKey(account), deepCopy(account))
      return deepCopy(account)
    },
    unlinkAccount: (key) => removeRow(data.accounts, accountKey(key)),
    getAccount: (providerAccountId, provider) => deepCopy(data.accounts.get(accountKey({ provider, providerAccountId })) ?? null),
    updateAccount({ userId: _owner, ...change }) {
      // The owner is not a token field: an account never moves to another user.
      const account = data.accounts.get(accountKey(change))
      return account ? assignFields(account, change) : null
    },
    listAccountsByUserId: (userId) => listRows(data.accounts, (account) => account.userId === userId),
    listAccountOwners: (keys) =>
      keys.flatMap((key) => {
        const account = data.accounts.get(accountKey(key))
        return account ? [{ provider: account.provider, providerAccountId: account.providerAccountId, userId: account.userId }] : []
      }),
  }
}

function sessionMethods(
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
      assertUser(data, session.userId, 'createSession')
      if (data.sessions.has(session.sessionToken)) throw takenError('session token')
      data.sessions.set(session.sessionToken, deepCopy(session))
      return deepCopy(data.sessions.get(session.sessionToken)!)
    },
    getSessionAndUser(sessionToken) {
      const session = data.sessions.get(sessionToken)
      const user = session && data.users.get(session.userId)
      return session && user ? deepCopy({ session, user }) : null
    },
    updateSession(change) {
      const session = data.sessions.get(change.sessionToken)
      return session ? assignFields(session, change) : null
    },
    deleteSession: (sessionToken) => removeRow(data.sessions, sessionToken),
    listSessionsByUserId: (userId) => listRows(data.sessions, (session) => session.userId === userId),
    deleteSessionsByUserId(userId, except) {
      dropRows(data.sessions, (session) => session.userId === userId && session.sessionToken !== except?.sessionToken)
    },
    deleteSessions(sessionTokens) {
      for (const sessionToken of sessionTokens) data.sessions.delete(sessionToken)
    },
    deleteExpired(now = new Date(), { max = Number.POSITIVE_INFINITY, onProgress } = {}) {
      const counts: ExpiredRows = { sessions: 0, tokens: 0, once: 0, limit: 0 }
      counts.sessions = dropRows<{ expires: Date }>(data.sessions, ({ expires }) => expires < now, max)
      counts.tokens = dropRows<{ expires: Date }>(data.tokens, ({ expires }) => expires < now, max - counts.sessions)
      onProgress?.({ ...counts })
      return counts
    },
  }
}

function tokenMethods(data: MemoryData): Part<'createVerificationToken' | 'useVerificationToken' | 'deleteVerificationTokens'> {
  const rowKey = (token: { identifier: string; token: string }): string => JSON.stringify([token.identifier, token.token])
  return {
    async createVerificationToken(token) {
      if (data.tokens.has(rowKey(token))) throw takenError('verification token')
      data.tokens.set(rowKey(token), deepCopy(token))
      return deepCopy(token)
    },
    useVerificationToken: (key) => removeRow(data.tokens, rowKey(key)),
    deleteVerificationTokens(identifier) {
      dropRows(data.tokens, (token) => token.identifier === identifier)
    },
  }
}

function authenticatorMethods(
  data: MemoryData,
): Part<'createAuthenticator' | 'getAuthenticator' | 'listAuthenticatorsByUserId' | 'updateAuthenticatorCounter' | 'deleteAuthenticator'> {
  return {
    async createAuthenticator(authenticator) {
      assertUser(data, authenticator.userId, 'createAuthenticator')
      if (data.authenticators.has(authenticator.credentialID)) throw takenError('credential')
      data.authenticators.set(authenticator.credentialID, deepCopy(authenticator))
      return deepCopy(authenticator)
    },
    getAuthenticator: (credentialID) => deepCopy(data.authenticators.get(credentialID) ?? null),
    listAuthenticatorsByUserId: (userId) => listRows(data.authenticators, (authenticator) => authenticator.userId === userId),
    async updateAuthenticatorCounter(credentialID, newCounter) {
      const authenticator = data.authenticators.get(credentialID)
      if (!authenticator) throw new Error('[memory] updateAuthenticatorCounter: no authenticator has this credential id')
      // WebAuthn 7.2 step 22: a counter that does not grow means a cloned authenticator; 0 after 0 is a synced passkey.
      if (newCounter <= authenticator.counter && (newCounter !== 0 || authenticator.counter !== 0)) {
        throw new Error(`[memory] updateAuthenticatorCounter: ${newCounter} does not exceed the stored ${authenticator.counter}`)
      }
      return assignFields(authenticator, { counter: newCounter })
    },
    deleteAuthenticator: (credentialID) => removeRow(data.authenticators, credentialID),
  }
}

function accountKey(key: AccountKey): string {
  return JSON.stringify([key.provider, key.providerAccountId])
}

// Callers may change what they got, and what they gave: neither may reach the stored row.
function deepCopy<T>(value: T): T {
  return structuredClone(value)
}

// `undefined` means "leave as it is", `null` is a value.
function assignFields<T extends object>(row: T, change: Partial<T>): T {
  for (const [name, value] of Object.entries(change)) if (value !== undefined) Object.assign(row, { [name]: deepCopy(value) })
  return deepCopy(row)
}

function findInMap<T>(map: Map<string, T>, matches: (row: T) => boolean): T | undefined {
  for (const row of map.values()) if (matches(row)) return row
  return undefined
}

function listRows<T>(map: Map<string, T>, matches: (row: T) => boolean): T[] {
  return deepCopy([...map.values()].filter(matches))
}

function removeRow<T>(map: Map<string, T>, key: string): T | null {
  const row = map.get(key) ?? null
  map.delete(key)
  return row
}

function dropRows<T>(map: Map<string, T>, matches: (row: T) => boolean, max = Number.POSITIVE_INFINITY): number {
  let dropped = 0
  for (const [key, row] of map) {
    if (dropped >= max) break
    if (matches(row) && map.delete(key)) dropped++
  }
  return dropped
}

function takenError(what: string): Error {
  return new Error(`[memory] this ${what} is already taken`)
}

/** Throws when no user has the id. */
export function assertUser(data: MemoryData, userId: string, operation: string): void {
  if (!data.users.has(userId)) throw new Error(`[memory] ${operation}: no user has the id it names`)
}
