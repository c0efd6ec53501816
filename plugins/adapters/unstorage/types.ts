/** What the adapter needs of an unstorage `Storage`, and what the engines under it offer. Structural: unstorage is an optional peer. */
import type { MissingPart } from 'authkernel/kernel'

/** The part of an unstorage `Storage` that is used. */
export interface KeyValueStorage {
  getItem(key: string): Promise<unknown>
  setItem(key: string, value: string, options?: { ttl?: number }): Promise<void>
  removeItem(key: string): Promise<void>
  getKeys(base?: string): Promise<string[]>
  getMount?(key?: string): { base: string; driver: KeyValueDriver }
  dispose?(): Promise<void>
}

/** The part of an unstorage driver that is used. */
export interface KeyValueDriver {
  name?: string
  options?: unknown
  getInstance?(): unknown
}

/** Where a value lies; `legacy` is where `@auth/unstorage-adapter` put it, when that is another place. */
export interface Key {
  path: string
  legacy?: string | undefined
}

/** Reads and buffered writes that happen together or not at all. Reads see the buffered writes. */
export interface Transaction {
  get(key: Key): Promise<unknown>
  /** `expires`: the value may vanish then. */
  put(key: Key, value: unknown, expires?: Date): void
  remove(key: Key): void
  /** Paths under a base. Not covered by the conflict check: for repairs only. */
  paths(base: string): Promise<string[]>
  /** Reads a path without the conflict check: a repair looks at all records, and others may change most of them meanwhile. */
  peek(path: string): Promise<unknown>
  /** Puts a text into a sorted set, or takes it out. */
  change(set: string, member: string, present: boolean): void
  /** Members of a set. Not covered by the conflict check. */
  members(set: string): Promise<readonly string[]>
}

/** Members of a sorted set to look at: `[` before a bound counts it in, `(` leaves it out; `-` and `+` are the ends. */
export interface SetRange {
  min: string
  max: string
  reverse: boolean
  limit: number
}

/** A buffered write; `value: undefined` removes. */
export interface Write {
  path: string
  value?: unknown
  expires?: Date | undefined
}

/** How values are read and written on one kind of driver. */
export interface Engine {
  /** Whether `transact` holds between processes. */
  readonly atomic: boolean
  /** Whether a sorted set of any size is quickly changed. Others are values, read and written whole. */
  readonly sorted: boolean
  get(key: Key): Promise<unknown>
  peek(path: string): Promise<unknown>
  /** Runs `work`, which may run again after a conflict, and then its writes as one. */
  transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  paths(base: string): Promise<string[]>
  /** The same by pages: there may be a million. */
  scan(base: string): AsyncIterable<readonly string[]>
  /** Throws AuthError where the store is set up so that operations would fail; local engines have nothing to look at before their first operation. */
  check?(): Promise<void>
  /** What the server lacks for what the adapter promises. */
  findFaults?(): Promise<readonly MissingPart[]>
  /** Members of a sorted set in the order of their bytes. */
  range(set: string, range: SetRange): Promise<readonly string[]>
  close(): Promise<void>
}
