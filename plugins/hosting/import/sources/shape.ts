/** The one shape that every source is brought into. A row of an export becomes one or several of these. */

export const sourceNames = [
  'clerk',
  'auth0',
  'supabase',
  'firebase',
  'cognito',
  'workos',
  'supertokens',
  'lucia',
  'passport',
  'keycloak',
] as const

/** Names of products whose exports are read. */
export type SourceName = (typeof sourceNames)[number]

/** A user of a source. Only `id` is needed; a field that is absent is left as it is here. */
export interface ImportedUser {
  kind: 'user'
  /** Id at the source, 1 to 255 characters. It becomes the id of the user here. */
  id: string
  /** Address, in any letter case. Null: the user has none. */
  email?: string | null
  /** Whether the source has proved the address. Default false: the hash is parked until its owner opens a magic link. */
  emailVerified?: boolean
  /** Display name. */
  name?: string | null
  /** URL of a picture. */
  image?: string | null
  /** Username; taken where `usernamesPlugin()` is used. */
  username?: string | null
  /** Number in E.164 (`+4915123456789`). One that is not verified is not taken. */
  phone?: { number: string; verified: boolean } | null
  /** Hash of the password in a form that `passwordsPlugin({ verify })` reads. */
  hash?: string | null
  /** The source has a password for this user, and its hash cannot be taken: why not. */
  lostPassword?: LostPassword
  /** Accounts at providers. `provider` is the id of the provider here. */
  accounts?: readonly ImportedAccount[]
  /** Secret of an authenticator app: base32, codes of 6 digits, 30 seconds, SHA-1. */
  totp?: string | null
  /** Backup codes in clear text, as the user has them; taken together with `totp`. */
  backupCodes?: readonly string[]
  /** The user may not sign in: why, and until when (default: without an end). */
  ban?: { reason: string; until?: Date } | null
  /** Names of roles; written to the field `role` of users where `additionalFields` declares it. */
  roles?: readonly string[]
  /** Values of `additionalFields`. Names that are not declared are reported. */
  fields?: Readonly<Record<string, string | number | boolean | null>>
  /** Parts of the row that no plugin takes, by the name under which they are reported: `passkeys`, `second-addresses`. */
  dropped?: readonly string[]
}
/** An account at a provider. */
export interface ImportedAccount {
  /** Id of the provider here: `google`. */
  provider: string
  /** Id of the user at the provider: `sub` of OpenID Connect. */
  providerAccountId: string
}
/** A hash that comes in a separate file, after its user. */
export interface ImportedPassword {
  kind: 'password'
  /** Id of the user at the source. */
  user: string
  hash?: string | null
  /** Whether the source has verified the address. Absent: as the user who is here. */
  verified?: boolean
  lostPassword?: LostPassword
}
/** An organization of a source. */
export interface ImportedOrganization {
  kind: 'organization'
  /** Id at the source; it becomes the id here. */
  id: string
  name: string
  /** 1 to 48 of a-z, 0-9 and "-"; default: the id. */
  slug?: string | null
  /** Default: the time of the import. */
  created?: Date
}
/** A member of an organization. Its file comes after those of users and organizations. */
export interface ImportedMember {
  kind: 'member'
  /** Id of the organization at the source. */
  organization: string
  /** Id of the user at the source. */
  user: string
  /** A role of `organizationsPlugin({ roles })`. */
  role: string
  /** Default: the time of the import. */
  joined?: Date
}
/** What a row of an export becomes. */
export type ImportedRow = ImportedUser | ImportedPassword | ImportedOrganization | ImportedMember

/**
 * Why a password does not come along. `weak`: one round of MD5, SHA-1 or SHA-2. `peppered`: it needs a key that stays at the source. `unknown`: no format
 * that is known here. `not-exported`: the source gives no hashes.
 */
export type LostPassword = 'weak' | 'peppered' | 'unknown' | 'not-exported'

/** A row of an export, or of a table. */
export type ExportedRow = Readonly<Record<string, unknown>>

/** How one product exports its users. */
export interface Source {
  /** Keys of a JSON document whose lists hold the rows. */
  readonly lists: readonly string[]
  /** What a row becomes; an empty list for a row that means nothing. Throws TypeError that names what the row lacks. */
  read(row: ExportedRow): ImportedRow[]
  /** Tables of a source that is a library over a database of the host. */
  readonly tables?: SourceTables
}
/** The tables of a source: each user is one row with lists of the rows that point to it. */
export interface SourceTables {
  /** Schema of the tables; default: that of the connection. */
  readonly schema?: string
  /** Table of users, with the column `id`. The first name that exists counts. */
  readonly users: readonly string[]
  /** Other tables by the name that their rows get in the row of the user. A table that does not exist gives no rows. */
  readonly more: Readonly<Record<string, { tables: readonly string[]; column: string }>>
}
