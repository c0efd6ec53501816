/**
 * Keycloak: a realm with its users, as `kc.sh export --users realm_file` or `different_files` writes it. Hashes are PBKDF2 and argon2, secrets of
 * authenticator apps are in the file.
 */
import { accountOf, droppedOf, idOf, isTrue, listOf, nameOf, numberOf, objectOf, rowsOf, textOf } from './fields.ts'
import { fromBase64, type HashFound, writeArgon2, writePbkdf2 } from './hashes.ts'
import type { ImportedRow, ImportedUser, Source, ExportedRow } from './shape.ts'

// Roles that every user of a realm has.
const everyUser = /^(?:default-roles-.*|offline_access|uma_authorization)$/

/** Members of organizations are named by their usernames, so ids of users are kept by these: users come before organizations. */
export function createKeycloak(): Source {
  const ids = new Map<string, string>()
  return {
    lists: ['users', 'organizations'],
    read(row) {
      if (row['username'] === undefined && row['alias'] !== undefined) return readOrganization(row, ids)
      const user = readUser(row)
      const username = textOf(row['username'])
      if (username !== undefined && username !== user.id) ids.set(username, user.id)
      return [user]
    },
  }
}

function readUser(row: ExportedRow): ImportedUser {
  const credentials = rowsOf(row['credentials'])
  const password = credentials.find(({ type }) => type === 'password')
  const otp = credentials.filter(({ type }) => type === 'otp')
  const totp = otp.map(readTotp).find((secret) => secret !== undefined)
  const [email, username] = [textOf(row['email']), textOf(row['username'])]
  const attributes = objectOf(row['attributes'])
  const number = numberOf(listOf(attributes['phoneNumber'] ?? attributes['phone_number'])[0])
  const roles = listOf(row['realmRoles']).filter((role) => !everyUser.test(role))
  return {
    kind: 'user',
    id: idOf(row, 'id', 'username'),
    email: email ?? null,
    emailVerified: isTrue(row['emailVerified']),
    name: nameOf(row['firstName'], row['lastName']) ?? null,
    // Realms whose usernames are addresses have no names.
    username: username !== undefined && username !== email && !username.includes('@') ? username : null,
    phone:
      number === undefined
        ? null
        : { number, verified: isTrue(listOf(attributes['phoneNumberVerified'] ?? attributes['phone_number_verified'])[0]) },
    accounts: rowsOf(row['federatedIdentities']).flatMap(({ identityProvider, userId }) => accountOf({}, identityProvider, userId)),
    ban: row['enabled'] === false || row['enabled'] === 'false' ? { reason: 'Disabled in Keycloak.' } : null,
    ...(roles.length > 0 && { roles }),
    ...(password !== undefined && readPassword(password)),
    ...(totp !== undefined && { totp }),
    ...droppedOf({
      factors: otp.length > (totp === undefined ? 0 : 1) || credentials.some(({ type }) => type === 'webauthn'),
      passkeys: credentials.some(({ type }) => type === 'webauthn-passwordless'),
      groups: listOf(row['groups']).length > 0,
    }),
  }
}

/** `secretData` and `credentialData` are texts of JSON. */
function readPassword(credential: ExportedRow): HashFound {
  const [secret, data] = [objectOf(credential['secretData']), objectOf(credential['credentialData'])]
  const [salt, key] = [fromBase64(textOf(secret['salt']) ?? ''), fromBase64(textOf(secret['value']) ?? '')]
  const algorithm = textOf(data['algorithm']) ?? ''
  if (algorithm !== 'argon2') return writePbkdf2(algorithm, Number(data['hashIterations']), salt, key)
  const more = objectOf(data['additionalParameters'])
  const first = (name: string): string => listOf(more[name])[0] ?? ''
  if (first('version') !== '1.3') return { lostPassword: 'unknown' }
  const cost = { memory: Number(first('memory')), passes: Number(data['hashIterations']), lanes: Number(first('parallelism')) }
  return writeArgon2(first('type'), cost, salt, key)
}

/** Keycloak shows apps the base32 of the letters that it stores, unless `secretEncoding` says that they are base32 already. */
function readTotp(credential: ExportedRow): string | undefined {
  const [secret, data] = [objectOf(credential['secretData']), objectOf(credential['credentialData'])]
  const value = textOf(secret['value'])
  const usual =
    data['subType'] === 'totp' && Number(data['digits']) === 6 && Number(data['period']) === 30 && data['algorithm'] === 'HmacSHA1'
  if (value === undefined || !usual) return undefined
  return data['secretEncoding'] === 'BASE32' ? value.replaceAll('=', '') : encodeBase32(new TextEncoder().encode(value))
}

function readOrganization(row: ExportedRow, ids: ReadonlyMap<string, string>): ImportedRow[] {
  const organization = textOf(row['id']) ?? idOf(row, 'alias')
  return [
    { kind: 'organization', id: organization, name: textOf(row['name']) ?? '', slug: textOf(row['alias']) ?? null },
    ...rowsOf(row['members']).flatMap(({ id, username }): ImportedRow[] => {
      const name = textOf(username)
      const user = textOf(id) ?? (name !== undefined ? (ids.get(name) ?? name) : undefined)
      return user === undefined ? [] : [{ kind: 'member', organization, user, role: 'member' }]
    }),
  ]
}

/** RFC 4648 without padding. */
function encodeBase32(data: Uint8Array): string {
  let [bits, rest, text] = [0, 0, '']
  for (const byte of data) {
    rest = (rest << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[(rest >>> (bits - 5)) & 31]
    rest &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[(rest << (5 - bits)) & 31]
}
