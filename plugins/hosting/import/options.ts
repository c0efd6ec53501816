/** Options of `importPlugin`, with their defaults. */
import { assertOptions, AuthError, type Awaitable, type Context, type User } from 'authkernel/kernel'
import type { ExportedRow, ImportedUser } from './sources/shape.ts'

/** What `importPlugin` takes. */
export interface ImportOptions {
  /** The Kysely instance of the database in which Lucia, Passport or Supabase keep their tables. Default: none, and the command reads files. */
  db?: ImportDatabase | undefined
  /**
   * Changes a user of an export before it is stored, for custom columns: `(user, row) => ({ ...user, fields: { role: String(row.role) } })`. Null leaves the
   * user out. Default: as it is.
   */
  map?: ((user: ImportedUser, row: ExportedRow) => ImportedUser | null) | undefined
  /** Ids of providers here by those of the export: `{ 'my-saml': 'okta' }`. Default: the usual names (`google-oauth2` is `google`). */
  providers?: Readonly<Record<string, string>> | undefined
  /**
   * Asks the former service whether a password is right, at a sign-in of a user without a hash and of an address without a user. A right answer stores a hash
   * here, and this user is never asked about again. Null: wrong. If it throws, the response has status 503. Default: nothing is asked.
   */
  legacyPassword?: ((question: LegacyPasswordQuestion) => Awaitable<LegacyPasswordAnswer | null>) | undefined
  /** Milliseconds for `legacyPassword`; default 5000. */
  legacyTimeout?: number | undefined
}
/** What `legacyPassword` is asked. */
export interface LegacyPasswordQuestion {
  /** An address in its canonical form, or a username. */
  name: string
  /** As it was typed. Send it to the former service, and log it nowhere. */
  password: string
  /** The user here; null: the address has none. */
  user: User | null
  /** Aborted after `legacyTimeout`. Give it to `fetch`. */
  signal: AbortSignal
  ctx: Context
}
/** The password is right. */
export interface LegacyPasswordAnswer {
  /** Whether the former service has verified the address. False: a magic link decides. */
  emailVerified: boolean
  /** Of a user who is made now. */
  name?: string | null | undefined
  /** URL of a picture, of a user who is made now. */
  image?: string | null | undefined
}
/** Any Kysely instance. */
export interface ImportDatabase {
  readonly schema: object
  readonly introspection: object
  selectFrom: unknown
}
/** With the defaults in place. */
export interface ResolvedOptions {
  db: ImportDatabase | undefined
  map: (user: ImportedUser, row: ExportedRow) => ImportedUser | null
  providers: Readonly<Record<string, string>>
  legacyPassword: ImportOptions['legacyPassword']
  legacyTimeout: number
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: ImportOptions): ResolvedOptions {
  assertOptions('Plugin "import"', options, { db: true, map: true, providers: true, legacyPassword: true, legacyTimeout: true })
  const { db, map = (user) => user, providers = {}, legacyPassword, legacyTimeout = 5_000 } = options
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "import": ${what}`)
  }
  if (db !== undefined && typeof db.selectFrom !== 'function') refuse('`db` must be a Kysely instance.')
  if (typeof map !== 'function') refuse('`map` must be a function of a user and its row.')
  if (Object.values(providers).some((id) => typeof id !== 'string')) refuse('`providers` must have ids of providers as its values.')
  if (legacyPassword !== undefined && typeof legacyPassword !== 'function') refuse('`legacyPassword` must be a function.')
  if (!(Number.isInteger(legacyTimeout) && legacyTimeout >= 100 && legacyTimeout <= 20_000))
    refuse('`legacyTimeout` must be 100 to 20000 milliseconds.')
  return { db, map, providers, legacyPassword, legacyTimeout }
}
