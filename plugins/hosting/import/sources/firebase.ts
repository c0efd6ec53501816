/** Firebase Authentication: `firebase auth:export users.json`. Its hashes are a scrypt of its own, with parameters of the project. */
import { accountOf, droppedOf, idOf, isTrue, listOf, nameOf, numberOf, objectOf, rowsOf, textOf } from './fields.ts'
import type { ImportedUser, Source, ExportedRow } from './shape.ts'

const providers = {
  'google.com': 'google',
  'apple.com': 'apple',
  'facebook.com': 'facebook',
  'github.com': 'github',
  'twitter.com': 'twitter',
  'microsoft.com': 'microsoft-entra-id',
  'yahoo.com': 'yahoo',
  'gc.apple.com': 'apple-game-center',
  'playgames.google.com': 'google-play-games',
} as const

export const firebase: Source = { lists: ['users'], read: (row) => [readUser(row)] }

function readUser(row: ExportedRow): ImportedUser {
  const number = numberOf(row['phoneNumber'])
  const [hash, salt] = [textOf(row['passwordHash']), textOf(row['salt'])]
  const claims = objectOf(row['customAttributes'] ?? row['customClaims'])
  const roles = [...listOf(claims['roles']), ...listOf(claims['role']), ...(claims['admin'] === true ? ['admin'] : [])]
  const others = Object.keys(claims).filter((name) => !['roles', 'role', 'admin'].includes(name))
  return {
    kind: 'user',
    id: idOf(row, 'localId', 'uid'),
    email: textOf(row['email']) ?? null,
    emailVerified: isTrue(row['emailVerified']),
    name: nameOf(row['displayName']) ?? null,
    image: textOf(row['photoUrl']) ?? null,
    // A number is in the export only after its code was typed.
    phone: number === undefined ? null : { number, verified: true },
    accounts: rowsOf(row['providerUserInfo'])
      .filter(({ providerId }) => providerId !== 'password' && providerId !== 'phone')
      .flatMap(({ providerId, rawId }) => accountOf(providers, providerId, rawId)),
    ban: isTrue(row['disabled']) ? { reason: 'Disabled in Firebase.' } : null,
    ...(roles.length > 0 && { roles }),
    // A user who was imported into Firebase with another algorithm has no salt before the first sign-in.
    ...(hash !== undefined && (salt === undefined ? { lostPassword: 'unknown' as const } : { hash: `firebase:${salt}:${hash}` })),
    ...droppedOf({ factors: rowsOf(row['mfaInfo']).length > 0, metadata: others.length > 0 }),
  }
}
