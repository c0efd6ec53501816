/** Tables of plugins: how one is declared, what can be done with it, and what an adapter brings for it. Types only. */
import type { Awaitable } from './data.ts'

/** What a field of a record holds. */
export interface FieldSpec {
  /**
   * `string`: at most `max` characters, compared and sorted by bytes, may be indexed. `text`: any length, never indexed. `json`: plain data.
   * `integer`: safe integers. `date`: milliseconds, UTC.
   */
  type: 'string' | 'text' | 'json' | 'integer' | 'boolean' | 'date'
  /** Characters of a `string`; default 255. */
  max?: number
  /** The value may be null. */
  optional?: true
  /** For rows that were written before the field existed, and for rows that leave it out. */
  default?: string | number | boolean | null
  /** Encrypted at rest, bound to row and field; `text` and `json` only. */
  sealed?: true
  /** A hash, or something else that only the plugin may see: `auth.users.export` leaves it out, as it does `sealed` fields. */
  secret?: true
  /** What a value is that no secret decrypts any more: null, the default, or the whole row counts as absent and gives way to a new one of its key. */
  unreadable?: 'absent'
}
/** A table of a plugin. Every row also has an `id` and belongs to the tenant that wrote it. */
export interface RecordSpec<T = Record<string, unknown>> {
  /** Fields by name. Every row also has an `id`. */
  fields: { readonly [K in keyof T & string]: FieldSpec }
  /** Groups of fields whose values are unique together. */
  unique?: readonly (readonly (keyof T & string)[])[]
  /** Groups of fields that `find`, `count` and `deleteWhere` may ask by. */
  index?: readonly (readonly (keyof T & string)[])[]
  /** The field that holds a user's id: deleting the user deletes the row. `user` is short for `{ field: 'userId', of: 'user' }`. */
  owner?: 'user' | { field: keyof T & string; of: 'user' }
  /** A date field: once it has passed, the row is gone for all readers. */
  expires?: keyof T & string
  /**
   * For rows that give access to their owner, or replace a proof: the date field that says since when. A user who recovers a stolen account removes
   * the rows that are younger than the theft. Null: no field says it, and all such rows go. Absent: the row gives no access.
   */
  added?: (keyof T & string) | null
  /** `given`: the plugin chooses ids. Default: random. */
  id?: 'given'
}

/** Fields of a kept session; its id is the id of the session. */
export interface SessionFields {
  /** Whose session it is. */
  userId: string
  /** What opens it, for strategies that must delete by it. */
  token: string | null
  /** Id of the provider that was signed in with. */
  provider: string
  /** As `indexedName` makes them. */
  sub: string | null
  sid: string | null
  /** `SessionAttributes`. */
  attributes: unknown
  /** When the user signed in. */
  started: Date
  lastUsed: Date
  /** When the session ends. */
  expires: Date
}

/** Records by name. Plugins add the fields of theirs by declaration merging. */
export interface Records {
  /** What is kept of sessions: declared by session strategies, and by plugins that list sessions. */
  sessionRecord: SessionFields
}
/** The fields of a record, or anything where no plugin merged it in. */
export type RecordFields<K extends string> = K extends keyof Records ? Records[K] : Record<string, unknown>
/** A stored row. */
export type Row<T> = T & { id: string }

/** Condition of a query: fields and the values that they must equal. */
export type Where<T> = Partial<T>
/** Bounds of the field that follows the fields of `where` in an index. */
export type Range<T> = { readonly [K in keyof T]?: { gt?: T[K]; gte?: T[K]; lt?: T[K]; lte?: T[K] } }
/** What `find` of a record takes. */
export interface FindOptions<T> {
  /** Values of the first fields of an index; default: all rows. */
  where?: Where<T>
  /** Bounds of one field, which follows those of `where` in the index. */
  range?: Range<T>
  /** By the field that follows those of `where` in the index, then by id; default `asc`. */
  order?: 'asc' | 'desc'
  /** Default 100, at most 100,000. */
  limit?: number
  /** Of the page before. */
  cursor?: string | undefined
}
/** Changes one number. */
export interface IncrementOptions<T> {
  /** Rejects a result below; default: no bound. */
  min?: number
  /** Rejects a result above; default: no bound. */
  max?: number
  /** Values that the row must have, or nothing is changed. */
  if?: Where<T>
  /** Other fields to set with it. */
  set?: Partial<T>
}

/**
 * One record of one tenant. Reads see live rows only. Writes are atomic, also between processes when the service `records` is shared.
 * Throws AdapterError when the store fails, TypeError for values that do not fit, RecordConflict for a unique key that is taken.
 */
export interface RecordTable<T> {
  /** By id, or by all fields of a unique key. */
  get(key: string | Where<T>): Promise<Row<T> | null>
  /** The live rows of these ids, at most 500, in no order. An id without a row is left out. */
  getMany(ids: readonly string[]): Promise<Row<T>[]>
  /** Rows in the order of an index, a page at a time. Throws TypeError without a fitting index. */
  find(options?: FindOptions<T>): Promise<{ rows: Row<T>[]; cursor: string | undefined }>
  /** Counts to `max` (default 1000) and stops. */
  count(where?: Where<T>, options?: { range?: Range<T>; max?: number }): Promise<number>
  /** Stores a new row. Throws RecordConflict for a unique key that is taken. */
  create(row: NewRow<T>): Promise<Row<T>>
  /** All or none, at most 500. */
  createMany(rows: readonly NewRow<T>[]): Promise<Row<T>[]>
  /** Creates or replaces by id. */
  put(row: NewRow<T> & { id: string }): Promise<Row<T>>
  /** Null when the row is gone or a field of `if` has another value. */
  update(id: string, change: Partial<T>, options?: { if?: Where<T> }): Promise<Row<T> | null>
  /** The new number; null when the row is gone, `if` fails or a bound would be crossed: nothing changes then. */
  increment(id: string, field: keyof T & string, by: number, options?: IncrementOptions<T>): Promise<number | null>
  /** Removes and answers the row, to one of many callers. */
  take(key: string | Where<T>, options?: { if?: Where<T> }): Promise<Row<T> | null>
  /** Whether there was such a row. */
  delete(id: string): Promise<boolean>
  /** Number of rows removed, at most `max` (default: all). */
  deleteWhere(options: { where?: Where<T>; range?: Range<T> }, limits?: { max?: number }): Promise<number>
}
/** Fields with a default, and optional ones, may be left out. */
export type NewRow<T> = Partial<T> & { id?: string }

/** One write of `ctx.atomic`, which does up to 20 of them together or none. */
export type AtomicWrite = {
  [K in keyof Records & string]:
    | { record: K; create: NewRow<Records[K]> }
    | { record: K; put: NewRow<Records[K]> & { id: string } }
    | { record: K; update: string; change: Partial<Records[K]>; if?: Where<Records[K]> }
    | ({ record: K; increment: string; field: keyof Records[K] & string; by: number } & IncrementOptions<Records[K]>)
    | { record: K; take: string | Where<Records[K]>; if?: Where<Records[K]> }
    | { record: K; delete: string }
}[keyof Records & string]

// ---- what an adapter brings

/** Values as a store keeps them: JSON and sealed values are text. */
export type StoredValue = string | number | boolean | Date | null
/** With `ns` and `id`. */
export type StoredRow = { readonly ns: string; readonly id: string; readonly [field: string]: StoredValue }
/** A declared table as a store sees it. */
export interface StoredTable {
  readonly name: string
  readonly fields: readonly StoredField[]
  readonly unique: readonly (readonly string[])[]
  /** Without `ns`, which comes first in each of them. The index of the owner is among them. */
  readonly index: readonly (readonly string[])[]
  /** The field with a user's id. */
  readonly owner: string | undefined
  readonly expires: string | undefined
}
/** A field of a record as a store sees it. */
export interface StoredField {
  readonly name: string
  readonly type: 'string' | 'text' | 'integer' | 'boolean' | 'date'
  readonly max: number
  readonly optional: boolean
  readonly default: StoredValue | undefined
}
/** `id`, or all fields of one unique key. */
export type StoredKey = Readonly<Record<string, StoredValue>>
/** A query as a store gets it. */
export interface StoredQuery {
  /** Namespace of the tenant; '' is the default one. */
  readonly ns: string
  /** Values that a row must have. */
  readonly where: Readonly<Record<string, StoredValue>>
  /** The field that is ranged and sorted by, and the index that serves it; undefined: sorted by id. */
  readonly by: string | undefined
  /** Fields of the index, without `ns`. */
  readonly index: readonly string[]
  /** Bounds of `by`; empty: none. */
  readonly range: { gt?: StoredValue; gte?: StoredValue; lt?: StoredValue; lte?: StoredValue }
  /** Of `by`, then of the id. */
  readonly order: 'asc' | 'desc'
  /** Rows that are returned, at most. */
  readonly limit: number
  /** Rows after this one, by the value of `by` and the id. */
  readonly after: { readonly value: StoredValue; readonly id: string } | undefined
}
/** One write. Conditions and keys see live rows only. */
export type StoredWrite =
  | { readonly op: 'create'; readonly table: string; readonly row: StoredRow }
  | { readonly op: 'put'; readonly table: string; readonly row: StoredRow }
  | {
      readonly op: 'update'
      readonly table: string
      readonly ns: string
      readonly id: string
      readonly change: StoredKey
      readonly if: StoredKey
    }
  | {
      readonly op: 'increment'
      readonly table: string
      readonly ns: string
      readonly id: string
      readonly field: string
      readonly by: number
      readonly min: number | undefined
      readonly max: number | undefined
      readonly if: StoredKey
      readonly set: StoredKey
    }
  | { readonly op: 'take'; readonly table: string; readonly ns: string; readonly key: StoredKey; readonly if: StoredKey }
  | { readonly op: 'delete'; readonly table: string; readonly ns: string; readonly id: string }

/**
 * What an adapter brings for records. `now` is milliseconds since the epoch: a row whose `expires` is not after it is gone, also for unique keys.
 * Dates are `Date`s, integers numbers, booleans booleans in both directions.
 */
export interface RecordStore {
  /** Whether several processes may write at once. */
  readonly shared: boolean
  /** `deleteUser` of the adapter also deletes the rows that the user owns. */
  readonly erases?: boolean
  /** Called at each compile, before anything else. */
  define(tables: readonly StoredTable[]): void
  /** One row by its key; null for none. */
  get(table: string, ns: string, key: StoredKey, now: number): Awaitable<StoredRow | null>
  /** The rows of these ids, in any order. Without it they are read one by one. */
  getMany?(table: string, ns: string, ids: readonly string[], now: number): Awaitable<StoredRow[]>
  /** Rows of a query. */
  find(table: string, query: StoredQuery, now: number): Awaitable<StoredRow[]>
  /** Counts to `query.limit`. */
  count(table: string, query: StoredQuery, now: number): Awaitable<number>
  /**
   * One commit. The answers in order: the row of `create`, `put`, `update` and `take`, the number of `increment`, a boolean of `delete`.
   * Null, and nothing is written, when an `update`, `increment` or `take` finds no row that fits. Throws RecordConflict for a unique key that is taken.
   */
  write(writes: readonly StoredWrite[], now: number): Awaitable<readonly unknown[] | null>
  /** Removes up to `query.limit` rows and answers how many. */
  deleteWhere(table: string, query: StoredQuery, now: number): Awaitable<number>
  /** Removes up to `limit` rows that expired before `now`, of all tenants. */
  deleteExpired(table: string, now: number, limit: number): Awaitable<number>
  /** What is not there yet for the defined tables, in words; `auth.ready()` and `doctor` tell it with the command that makes it. */
  missing?(): Awaitable<readonly string[]>
  /** Statements that bring the store up to the defined tables, run when `apply` is true. */
  migrate?(options: { apply: boolean }): Awaitable<{ statements: readonly string[]; notes?: readonly string[] }>
  /** Frees connections and timers. */
  close?(): Awaitable<void>
}
