/** What all operations share: engine, keys, clock, and the lists of what belongs to a user. */
import type { AdapterAccount, AdapterSession, AdapterUser } from 'authkernel/kernel'
import { createKeys, type Keys } from './keys.ts'
import type { Engine, Key, Transaction } from './types.ts'
import { loadValue, type Reader } from './values.ts'

/** A reader that can look through all records. */
type Looker = Reader & Pick<Transaction, 'paths' | 'peek'>

export interface Model {
  engine: Engine
  keys: Keys
  now(): number
  /** The user of an id, or an error that names the operation. */
  needUser(tx: Transaction, userId: string, operation: string): Promise<AdapterUser>
  userByEmail(reader: Reader, email: string): Promise<AdapterUser | null>
  /** Accounts as `[provider, providerAccountId]`, sessions as `[sessionToken]`: all of them. */
  entries(reader: Looker, kind: 'account' | 'session', userId: string): Promise<Entry[]>
  /** Those whose names are known, for a change of the list: a sign-in must not look through all records of the store. */
  knownEntries(reader: Reader, kind: 'account' | 'session', userId: string): Promise<Entry[]>
  /** Entries of lists that never had another form: authenticators, tokens. */
  list(reader: Reader, key: Key): Promise<Entry[]>
  add(tx: Transaction, key: Key, entries: readonly Entry[], entry: Entry): void
  drop(tx: Transaction, key: Key, entries: readonly Entry[], entry: readonly string[]): void
  /** Takes an entry off a list; one that names only the latest record stays as it is, because mending it takes all records. */
  forget(tx: Transaction, key: Key, entry: readonly string[]): Promise<void>
  save(tx: Transaction, key: Key, entries: readonly Entry[]): void
}

export function createModel(engine: Engine, prefix: string, now: () => number): Model {
  const keys = createKeys(prefix)
  const index = createKeyLists(now)
  async function knownEntries(reader: Reader, kind: 'account' | 'session', userId: string): Promise<Entry[]> {
    const entries = await index.read(reader, await (kind === 'account' ? keys.accountsOf(userId) : keys.sessionsOf(userId)))
    return entries === 'legacy' ? [gap] : entries
  }
  return {
    engine,
    keys,
    now,
    async needUser(tx, userId, operation) {
      const user = await loadValue(tx, 'user', await keys.user(userId), userId)
      if (!user) throw new Error(`[unstorage] ${operation}: no user has the id it names`)
      return user
    },
    async userByEmail(reader, email) {
      const id = await reader.get(await keys.email(email))
      // Unquoted ids of digits come back as numbers.
      if (typeof id !== 'string' && typeof id !== 'number') return null
      const user = await loadValue(reader, 'user', await keys.user(String(id)), String(id))
      return user?.email === email ? user : null
    },
    async entries(reader, kind, userId) {
      const entries = await knownEntries(reader, kind, userId)
      return entries.some(isGap) ? repairEntries(reader, keys.folder(kind), kind, userId) : entries
    },
    knownEntries,
    async list(reader, key) {
      const entries = await index.read(reader, key)
      return entries === 'legacy' ? [] : entries
    },
    add: (tx, key, entries, entry) => index.write(tx, key, withEntry(entries, entry)),
    drop: (tx, key, entries, entry) => index.write(tx, key, withoutEntry(entries, entry)),
    async forget(tx, key, entry) {
      const entries = await index.read(tx, key)
      if (entries !== 'legacy') index.write(tx, key, withoutEntry(entries, entry))
    },
    save: (tx, key, entries) => index.write(tx, key, entries),
  }
}

// Reads that wait for one answer of Redis together.
const atOnce = 1_000

/** What belongs to a user whose list has a gap: all records are looked through, and those that are found are read in earnest. */
async function repairEntries(reader: Looker, folder: string, kind: 'account' | 'session', userId: string): Promise<Entry[]> {
  const entries: Entry[] = []
  const hasOwner = (row: unknown): boolean => (row as { userId?: unknown } | null | undefined)?.userId === userId
  const paths = (await reader.paths(folder)).filter((path) => !path.startsWith(`${folder}by-user-id:`))
  const found: string[] = []
  for (let at = 0; at < paths.length; at += atOnce) {
    const page = paths.slice(at, at + atOnce)
    const rows = await Promise.all(page.map((path) => reader.peek(path)))
    found.push(...page.filter((_path, index) => hasOwner(rows[index])))
  }
  for (const path of found) {
    const row = (await reader.get({ path })) as Partial<AdapterAccount & AdapterSession> | null
    if (!row || !hasOwner(row)) continue
    if (kind === 'account') entries.push({ key: [row.provider!, row.providerAccountId!] })
    else entries.push({ key: [row.sessionToken!], expires: new Date(row.expires!).getTime() })
  }
  return entries
}

/** An entry of an index: the values of a key, and when its record may vanish. */
interface Entry {
  key: string[]
  expires?: number
}

/** Stands in a list that `@auth/unstorage-adapter` began: it named the latest record alone, and there may be others. */
const gap: Entry = { key: [] }

function isGap({ key }: Entry): boolean {
  return key.length === 0
}

/** Reads and writes the lists of a user's accounts, sessions, authenticators, or of an address's tokens. */
function createKeyLists(now: () => number): {
  read(reader: Reader, key: Key): Promise<Entry[] | 'legacy'>
  write(tx: Transaction, key: Key, entries: readonly Entry[]): void
} {
  return {
    async read(reader, key) {
      const value = await reader.get(key)
      if (value === null || value === undefined) return []
      // `@auth/unstorage-adapter` kept one key name, of the latest record; its authenticators are a list of ids.
      if (!Array.isArray(value)) return 'legacy'
      const entries = value.map((entry: unknown): Entry => (typeof entry === 'string' ? { key: [entry] } : (entry as Entry)))
      return entries.filter(({ expires }) => expires === undefined || expires > now())
    },
    write(tx, key, entries) {
      if (entries.length === 0) return tx.remove(key)
      const last = Math.max(...entries.map(({ expires }) => expires ?? Number.POSITIVE_INFINITY))
      tx.put(key, entries, Number.isFinite(last) ? new Date(last) : undefined)
    },
  }
}

/** Adds an entry, instead of one of the same key. */
function withEntry(entries: readonly Entry[], entry: Entry): Entry[] {
  return [...withoutEntry(entries, entry.key), entry]
}

function withoutEntry(entries: readonly Entry[], key: readonly string[]): Entry[] {
  return entries.filter((other) => other.key.length !== key.length || other.key.some((part, index) => part !== key[index]))
}
