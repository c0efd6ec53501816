/**
 * Clerk: the CSV of "Export all users" in the dashboard, which has hashes; and objects of the Backend API (`GET /users`, `/organizations`,
 * `/organizations/{id}/memberships`), which have accounts, bans and organizations. Both may be given: the CSV first.
 */
import { accountOf, readDate, droppedOf, idOf, isTrue, listOf, nameOf, numberOf, objectOf, rowsOf, textOf } from './fields.ts'
import { type HashFound, readHash } from './hashes.ts'
import type { ImportedRow, ImportedUser, Source, ExportedRow } from './shape.ts'

export const clerk: Source = {
  lists: ['data', 'users'],
  read(row) {
    if (row['object'] === 'organization') return [readOrganization(row)]
    if (row['object'] === 'organization_membership') return [readMember(row)]
    return [row['object'] === 'user' || Array.isArray(row['email_addresses']) ? readApiUser(row) : readExported(row)]
  },
}

/** A line of the CSV. Lists are separated by `|`. */
function readExported(row: ExportedRow): ImportedUser {
  const verified = listOf(row['verified_email_addresses'])
  const unverified = listOf(row['unverified_email_addresses'])
  const email = textOf(row['primary_email_address']) ?? verified[0] ?? unverified[0]
  const phones = listOf(row['verified_phone_numbers'])
  const number = numberOf(row['primary_phone_number']) ?? numberOf(phones[0])
  const digest = textOf(row['password_digest'])
  const totp = textOf(row['totp_secret'])
  return {
    kind: 'user',
    id: idOf(row, 'id'),
    email: email ?? null,
    emailVerified: email !== undefined && verified.includes(email),
    name: nameOf(row['first_name'], row['last_name']) ?? null,
    username: textOf(row['username']) ?? null,
    phone: number === undefined ? null : { number, verified: phones.some((phone) => numberOf(phone) === number) },
    ...(digest !== undefined && readDigest(digest, textOf(row['password_hasher']))),
    ...(totp !== undefined && { totp }),
    ...(isTrue(row['banned']) && { ban: { reason: 'Banned in Clerk.' } }),
    ...droppedOf({ 'second-addresses': verified.length + unverified.length > 1 }),
  }
}

/** `User` of the Backend API: it has no hashes. */
function readApiUser(row: ExportedRow): ImportedUser {
  const addresses = rowsOf(row['email_addresses'])
  const primary = addresses.find(({ id }) => id === row['primary_email_address_id']) ?? addresses[0]
  const phones = rowsOf(row['phone_numbers'])
  const phone = phones.find(({ id }) => id === row['primary_phone_number_id']) ?? phones[0]
  const number = numberOf(phone?.['phone_number'])
  return {
    kind: 'user',
    id: idOf(row, 'id'),
    email: textOf(primary?.['email_address']) ?? null,
    emailVerified: isVerified(primary),
    name: nameOf(row['first_name'], row['last_name']) ?? null,
    image: textOf(row['image_url']) ?? null,
    username: textOf(row['username']) ?? null,
    phone: number === undefined ? null : { number, verified: isVerified(phone) },
    accounts: rowsOf(row['external_accounts'])
      .filter((account) => account['verification'] === null || account['verification'] === undefined || isVerified(account))
      .flatMap((account) => accountOf({}, textOf(account['provider'])?.replace(/^oauth_/, ''), account['provider_user_id'])),
    ban: isTrue(row['banned']) ? { reason: 'Banned in Clerk.' } : null,
    ...(isTrue(row['password_enabled']) && { lostPassword: 'not-exported' as const }),
    ...droppedOf({
      'second-addresses': addresses.length > 1,
      factors: isTrue(row['totp_enabled']),
      passkeys: rowsOf(row['passkeys']).length > 0,
      wallets: rowsOf(row['web3_wallets']).length > 0,
      metadata: ['public_metadata', 'private_metadata', 'unsafe_metadata'].some((name) => Object.keys(objectOf(row[name])).length > 0),
    }),
  }
}

function readOrganization(row: ExportedRow): ImportedRow {
  return {
    kind: 'organization',
    id: idOf(row, 'id'),
    name: textOf(row['name']) ?? '',
    slug: textOf(row['slug']) ?? null,
    ...readDate('created', row['created_at']),
  }
}

// Clerk names roles `org:admin`; its `org:admin` is what an owner is here.
function readMember(row: ExportedRow): ImportedRow {
  const role = textOf(row['role'])?.replace(/^org:/, '') ?? 'member'
  return {
    kind: 'member',
    organization: idOf(objectOf(row['organization']), 'id'),
    user: idOf(objectOf(row['public_user_data']), 'user_id'),
    role: role === 'admin' ? 'owner' : role,
    ...readDate('joined', row['created_at']),
  }
}

/** The forms are those of `password_hasher` in Clerk's API. */
function readDigest(digest: string, hasher = ''): HashFound {
  if (/^(?:md5|sha256|ldap_ssha)/.test(hasher)) return { lostPassword: 'weak' }
  if (hasher.endsWith('peppered')) return { lostPassword: 'peppered' }
  if (hasher === 'scrypt_firebase') {
    const [hash = '', salt = ''] = digest.split('$')
    return { hash: `firebase:${salt}:${hash}` }
  }
  // Their salt is written in a form that the documentation leaves open.
  if (/^pbkdf2_sha(?:1|256|512)$/.test(hasher)) return { lostPassword: 'unknown' }
  return readHash(digest)
}

function isVerified(row: ExportedRow | undefined): boolean {
  const { status } = objectOf(row?.['verification'])
  return status === 'verified'
}
