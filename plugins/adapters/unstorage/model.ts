/** What all operations share: engine, keys, clock, and the lists of what belongs to a person. */
import type { AdapterAccount, AdapterSession, AdapterUser } from 'authkernel/kernel'
import { createKeys, type Keys } from './keys.ts'
import { createIndex, type Entry, gap, isGap, load, type Reader, withEntry, withoutEntry } from './records.ts'
import type { Engine, Key, Transaction } from './types.ts'

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
  /** Those whose names are known, for whoever changes the list: a sign-in must not look through all records of the store. */
  known(reader: Reader, kind: 'account' | 'session', userId: string): Promise<Entry[]>
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
  const index = createIndex(now)
  async function known(reader: Reader, kind: 'account' | 'session', userId: string): Promise<Entry[]> {
    const entries = await index.read(reader, await (kind === 'account' ? keys.accountsOf(userId) : keys.sessionsOf(userId)))
    return entries === 'legacy' ? [gap] : entries
  }
  return {
    engine,
    keys,
    now,
    async needUser(tx, userId, operation) {
      const user = await load(tx, 'user', await keys.user(userId), userId)
      if (!user) throw new Error(`[unstorage] ${operation}: no user has the id it names`)
      return user
    },
    async userByEmail(reader, email) {
      const id = await reader.get(await keys.email(email))
      // Unquoted ids of digits come back as numbers.
      if (typeof id !== 'string' && typeof id !== 'number') return null
      const user = await load(reader, 'user', await keys.user(String(id)), String(id))
      return user?.email === email ? user : null
    },
    async entries(reader, kind, userId) {
      const entries = await known(reader, kind, userId)
      return entries.some(isGap) ? repair(reader, keys.folder(kind), kind, userId) : entries
    },
    known,
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

/** What belongs to a person whose list has a gap: all records are looked through, and those that are found are read in earnest. */
async function repair(reader: Looker, folder: string, kind: 'account' | 'session', userId: string): Promise<Entry[]> {
  const entries: Entry[] = []
  const owned = (row: unknown): boolean => (row as { userId?: unknown } | null | undefined)?.userId === userId
  const paths = (await reader.paths(folder)).filter((path) => !path.startsWith(`${folder}by-user-id:`))
  const found: string[] = []
  for (let at = 0; at < paths.length; at += atOnce) {
    const page = paths.slice(at, at + atOnce)
    const rows = await Promise.all(page.map((path) => reader.peek(path)))
    found.push(...page.filter((_path, index) => owned(rows[index])))
  }
  for (const path of found) {
    const row = (await reader.get({ path })) as Partial<AdapterAccount & AdapterSession> | null
    if (!row || !owned(row)) continue
    if (kind === 'account') entries.push({ key: [row.provider!, row.providerAccountId!] })
    else entries.push({ key: [row.sessionToken!], expires: new Date(row.expires!).getTime() })
  }
  return entries
}
