/**
 * SuperTokens: the JSON of its bulk import (`{ "users": [{ "loginMethods": […] }] }`), which a query over its tables makes as well: see
 * `docs/migrating-from-services.md`.
 */
import { accountOf, droppedOf, idOf, isTrue, listOf, nameOf, numberOf, objectOf, rowsOf, textOf } from './fields.ts'
import { type HashFound, readHash } from './hashes.ts'
import type { ImportedUser, Source, ExportedRow } from './shape.ts'

const providers = { 'google-workspaces': 'google', 'active-directory': 'microsoft-entra-id' } as const

export const supertokens: Source = { lists: ['users'], read: (row) => [readUser(row)] }

function readUser(row: ExportedRow): ImportedUser {
  const methods = rowsOf(row['loginMethods'])
  const primary = methods.find(({ isPrimary }) => isTrue(isPrimary)) ?? methods[0] ?? {}
  const email = textOf(primary['email']) ?? methods.map((method) => textOf(method['email'])).find((found) => found !== undefined)
  const password = methods.find(({ recipeId }) => recipeId === 'emailpassword')
  const texted = methods.find((method) => method['recipeId'] === 'passwordless' && numberOf(method['phoneNumber']) !== undefined)
  const devices = rowsOf(row['totpDevices']).filter(({ verified }) => verified === undefined || isTrue(verified))
  const totp = devices.find(({ period }) => period === undefined || Number(period) === 30)
  const roles = rowsOf(row['userRoles']).flatMap(({ role }) => textOf(role) ?? [])
  const profile = objectOf(row['userMetadata'])
  const addresses = new Set(methods.flatMap((method) => textOf(method['email'])?.toLowerCase() ?? []))
  return {
    kind: 'user',
    id: idOf({ ...row, first: primary['superTokensUserId'] }, 'externalUserId', 'id', 'userId', 'first'),
    email: email ?? null,
    // One of the methods that has this address was verified.
    emailVerified: methods.some((method) => email !== undefined && textOf(method['email']) === email && isTrue(method['isVerified'])),
    name: nameOf(profile['name']) ?? nameOf(profile['first_name'], profile['last_name']) ?? null,
    phone: texted ? { number: numberOf(texted['phoneNumber'])!, verified: isTrue(texted['isVerified'] ?? true) } : null,
    accounts: methods
      .filter(({ recipeId }) => recipeId === 'thirdparty')
      .flatMap((method) => accountOf(providers, method['thirdPartyId'], method['thirdPartyUserId'])),
    roles: [...roles, ...listOf(row['roles'])],
    ...(password !== undefined && readPassword(password, email)),
    ...(totp !== undefined && { totp: textOf(totp['secretKey'])?.toUpperCase().replaceAll('=', '') ?? null }),
    ...droppedOf({ 'second-addresses': addresses.size > 1, factors: devices.length > (totp ? 1 : 0) }),
  }
}

/** The hash of an address other than the one that signs in here would open this user by that one. */
function readPassword(method: ExportedRow, email: string | undefined): Partial<HashFound> {
  const stored = textOf(method['passwordHash'])
  if (stored === undefined) return { lostPassword: 'not-exported' }
  if (textOf(method['email'])?.toLowerCase() !== email?.toLowerCase()) return { lostPassword: 'unknown' }
  // `$f_scrypt$<hash>$<salt>$m=14$r=8$s=<separator>`: hash and salt are those of Firebase.
  const [, hash, salt] = /^\$f_scrypt\$([\w+/=-]{1,128})\$([\w+/=-]{1,128})\$/.exec(stored) ?? []
  return hash !== undefined && salt !== undefined ? { hash: `firebase:${salt}:${hash}` } : readHash(stored)
}
