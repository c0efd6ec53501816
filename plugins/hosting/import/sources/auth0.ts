/**
 * Auth0: the users of an export job or of `GET /api/v2/users`; the file of hashes that its support sends (`passwordHash` and `_id`); objects of the
 * Organizations API, and its members with `organization_id` added to each.
 */
import { accountOf, droppedOf, idOf, isTrue, listOf, nameOf, numberOf, objectOf, rowsOf, textOf } from './fields.ts'
import { type HashFound, readHash } from './hashes.ts'
import type { ImportedRow, ImportedUser, Source, ExportedRow } from './shape.ts'

// Providers whose name at Auth0 is another one than here.
const providers = {
  'google-oauth2': 'google',
  windowslive: 'microsoft-entra-id',
  waad: 'microsoft-entra-id',
} as const
// Connections of Auth0 itself: their users are users here.
const own = new Set(['auth0', 'sms', 'email'])

export const auth0: Source = {
  lists: ['users', 'organizations', 'members'],
  read(row) {
    if (row['passwordHash'] !== undefined || row['_id'] !== undefined) return [readHashRow(row)]
    if (row['organization_id'] !== undefined) return readMembers(row)
    const id = textOf(row['id'])
    if (id?.startsWith('org_') === true) return [{ kind: 'organization', id, ...organizationName(row) }]
    return [readUser(row)]
  },
}

function readUser(row: ExportedRow): ImportedUser {
  const identities = rowsOf(row['identities'])
  const number = numberOf(row['phone_number'])
  const totp = rowsOf(row['mfa_factors'])
    .map((factor) => textOf(objectOf(factor['totp'])['secret']))
    .find((secret) => secret !== undefined)
  const app = objectOf(row['app_metadata'])
  const roles = listOf(app['roles'])
  return {
    kind: 'user',
    id: readUserId(row),
    email: textOf(row['email']) ?? null,
    emailVerified: isTrue(row['email_verified']),
    name: nameOf(row['name']) ?? nameOf(row['given_name'], row['family_name']) ?? null,
    image: textOf(row['picture']) ?? null,
    username: textOf(row['username']) ?? null,
    phone: number === undefined ? null : { number, verified: isTrue(row['phone_verified']) },
    accounts: identities
      .filter(({ provider }) => !own.has(String(provider)))
      .flatMap(({ provider, user_id: user }) => accountOf(providers, provider, user)),
    ban: isTrue(row['blocked']) ? { reason: 'Blocked in Auth0.' } : null,
    ...(roles.length > 0 && { roles }),
    ...(totp !== undefined && { totp }),
    ...passwordOf(row, identities),
    ...droppedOf({
      metadata: [row['user_metadata'], Object.fromEntries(Object.entries(app).filter(([name]) => name !== 'roles'))].some(
        (data) => Object.keys(objectOf(data)).length > 0,
      ),
      factors: totp === undefined && listOf(row['multifactor']).length > 0,
    }),
  }
}

/** A user of the import format has its hash here; one of an export job has it in a file of its own. */
function passwordOf(row: ExportedRow, identities: readonly ExportedRow[]): Partial<HashFound> {
  const plain = textOf(row['password_hash'])
  if (plain !== undefined) return readHash(plain)
  if (row['custom_password_hash'] !== undefined) return readCustom(objectOf(row['custom_password_hash']))
  return identities.some(({ provider }) => provider === 'auth0') ? { lostPassword: 'not-exported' } : {}
}

/** `custom_password_hash` of the schema for bulk imports. */
function readCustom({ algorithm, hash }: ExportedRow): HashFound {
  const value = textOf(objectOf(hash)['value']) ?? ''
  switch (algorithm) {
    case 'argon2':
    case 'bcrypt':
    case 'scrypt':
    case 'pbkdf2':
      return readHash(value)
    case 'md5':
    case 'sha1':
    case 'sha256':
    case 'sha512':
    case 'ldap':
    case 'hmac':
      return { lostPassword: 'weak' }
    default:
      return { lostPassword: 'unknown' }
  }
}

/** `{ "_id": { "$oid" }, "passwordHash", "alt_id"? }`: the id of the user is `auth0|` and `alt_id`, or the object id. */
function readHashRow(row: ExportedRow): ImportedRow {
  const id = textOf(row['alt_id']) ?? textOf(objectOf(row['_id'])['$oid']) ?? textOf(row['_id'])
  if (id === undefined) throw new TypeError('the row has no `_id.$oid`')
  const stored = textOf(row['passwordHash'])
  return {
    kind: 'password',
    user: `auth0|${id}`,
    verified: isTrue(row['email_verified']),
    ...(stored === undefined ? { lostPassword: 'not-exported' } : readHash(stored)),
  }
}

function readUserId(row: ExportedRow): string {
  const id = idOf(row, 'user_id', 'Id')
  return id.includes('|') ? id : `auth0|${id}`
}

function readMembers(row: ExportedRow): ImportedRow[] {
  const roles = rowsOf(row['roles']).flatMap(({ name }) => textOf(name) ?? [])
  const given = roles.length > 0 ? roles : listOf(row['roles'])
  return [{ kind: 'member', organization: idOf(row, 'organization_id'), user: idOf(row, 'user_id'), role: given[0] ?? 'member' }]
}

function organizationName(row: ExportedRow): { name: string; slug: string | null } {
  return { name: textOf(row['display_name']) ?? textOf(row['name']) ?? '', slug: textOf(row['name']) ?? null }
}
