/** The record of API keys, and how it is shown. */
import type { RecordSpec, Row } from 'authkernel/kernel'

/** Who a key acts for: a stored user, the whole tenant, or a service by its name. */
export type KeyOwner = { userId: string } | { service: string } | { tenant: true }

/** An organization, and what the owner of a key is in it. */
export interface KeyOrganization {
  id: string
  role: string
}

/** A row of `apiKey`. */
export interface ApiKeyRow {
  /** The same for a key and those it was rotated to. */
  family: string
  name: string
  env: string
  /** SHA-256 of the secret in hex. */
  hash: string
  /** The last 4 characters of the key. */
  tail: string
  scopes: string[]
  /** Owner of the row: deleting the user deletes it. Null for a tenant and a service. */
  userId: string | null
  /** `service:<name>` or `tenant`; null for a user. */
  owner: string | null
  /** Id of the organization that the key is for; null: it is for none. */
  organization: string | null
  created: Date
  expires: Date
  used: Date | null
  max: number | null
  seconds: number | null
  /** Set when it was rotated: it lives on until `expires` and cannot be rotated again. */
  rotated: boolean
}

declare module 'authkernel/kernel' {
  interface Records {
    apiKey: ApiKeyRow
  }
}

/** Dates end within the range that every database holds. */
export const never: Date = new Date(Date.UTC(9999, 0, 1))

export const apiKeyTable: RecordSpec<ApiKeyRow> = {
  id: 'given',
  fields: {
    family: { type: 'string', max: 32 },
    name: { type: 'string', max: 100 },
    env: { type: 'string', max: 16 },
    hash: { type: 'string', max: 64, secret: true },
    tail: { type: 'string', max: 4 },
    scopes: { type: 'json' },
    userId: { type: 'string', optional: true },
    owner: { type: 'string', max: 120, optional: true },
    organization: { type: 'string', max: 64, optional: true },
    created: { type: 'date' },
    expires: { type: 'date' },
    used: { type: 'date', optional: true },
    max: { type: 'integer', optional: true },
    seconds: { type: 'integer', optional: true },
    rotated: { type: 'boolean', default: false },
  },
  index: [
    ['userId', 'created'],
    ['owner', 'created'],
    ['family', 'created'],
    ['organization', 'userId'],
  ],
  owner: { field: 'userId', of: 'user' },
  added: 'created',
  expires: 'expires',
}

/** A key as users and programs may see it: nothing of it opens anything. */
export interface ApiKey {
  id: string
  name: string
  env: string
  /** `ak_live_3f…9xYz`: the prefix, the beginning of the id and the last 4 characters. */
  shown: string
  scopes: readonly string[]
  owner: KeyOwner
  /** Id of the organization that the key is for; null: it is for none. */
  organization: string | null
  created: Date
  /** Null: it does not expire. */
  expires: Date | null
  /** Accurate to a minute. */
  lastUsed: Date | null
  /** It was rotated and ends at `expires`. */
  rotated: boolean
  limit: { max: number; seconds: number } | null
}

export function toApiKey(row: Row<ApiKeyRow>, prefix: string): ApiKey {
  return {
    id: row.id,
    name: row.name,
    env: row.env,
    shown: `${prefix}_${row.env}_${row.id.slice(0, 4)}…${row.tail}`,
    scopes: row.scopes,
    owner: keyOwnerOf(row),
    organization: row.organization,
    created: row.created,
    expires: row.expires.getTime() === never.getTime() ? null : row.expires,
    lastUsed: row.used,
    rotated: row.rotated,
    limit: row.max !== null && row.seconds !== null ? { max: row.max, seconds: row.seconds } : null,
  }
}

/** Whose key a row is. */
export function keyOwnerOf({ userId, owner }: ApiKeyRow): KeyOwner {
  if (userId !== null) return { userId }
  return owner === 'tenant' || owner === null ? { tenant: true } : { service: owner.slice('service:'.length) }
}

/** The fields that an owner is stored in. */
export function ownerFields(owner: KeyOwner): Pick<ApiKeyRow, 'userId' | 'owner'> {
  if ('userId' in owner) return { userId: owner.userId, owner: null }
  return { userId: null, owner: 'service' in owner ? `service:${owner.service}` : 'tenant' }
}

/** What finds an owner's keys. */
export function ownerQuery(owner: KeyOwner): { userId: string } | { owner: string } {
  const fields = ownerFields(owner)
  return fields.userId === null ? { owner: fields.owner as string } : { userId: fields.userId }
}
