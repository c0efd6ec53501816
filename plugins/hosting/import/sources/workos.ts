/**
 * WorkOS AuthKit: objects of its API (`/user_management/users`, `/organizations`, `/user_management/organization_memberships`). A user may have the list
 * `identities` of `/user_management/users/{id}/identities`. The API gives no hashes.
 */
import { accountOf, readDate, droppedOf, idOf, isTrue, nameOf, objectOf, rowsOf, textOf } from './fields.ts'
import { readHash } from './hashes.ts'
import type { ImportedRow, ImportedUser, Source, ExportedRow } from './shape.ts'

const providers = {
  GoogleOAuth: 'google',
  MicrosoftOAuth: 'microsoft-entra-id',
  GithubOAuth: 'github',
  GitHubOAuth: 'github',
  AppleOAuth: 'apple',
  GitLabOAuth: 'gitlab',
  LinkedInOAuth: 'linkedin',
  SlackOAuth: 'slack',
} as const

export const workos: Source = {
  lists: ['data', 'users'],
  read(row) {
    if (row['object'] === 'organization')
      return [{ kind: 'organization', id: idOf(row, 'id'), name: textOf(row['name']) ?? '', ...readDate('created', row['created_at']) }]
    if (row['object'] === 'organization_membership') return readMember(row)
    return [readUser(row)]
  },
}

function readUser(row: ExportedRow): ImportedUser {
  const stored = textOf(row['password_hash'])
  return {
    kind: 'user',
    id: idOf(row, 'id'),
    email: textOf(row['email']) ?? null,
    emailVerified: isTrue(row['email_verified']),
    name: nameOf(row['first_name'], row['last_name']) ?? nameOf(row['name']) ?? null,
    image: textOf(row['profile_picture_url']) ?? null,
    accounts: rowsOf(row['identities'])
      .filter(({ type }) => type === undefined || type === 'OAuth')
      .flatMap(({ provider, idp_id: id }) => accountOf(providers, provider, id)),
    // An API without hashes does not say who has a password, either.
    ...(stored === undefined ? { lostPassword: 'not-exported' as const } : readHash(stored)),
    ...droppedOf({
      factors: rowsOf(row['authentication_factors']).length > 0,
      metadata: Object.keys(objectOf(row['metadata'])).length > 0,
    }),
  }
}

function readMember(row: ExportedRow): ImportedRow[] {
  if (row['status'] !== undefined && row['status'] !== 'active') return []
  const role = textOf(objectOf(row['role'])['slug']) ?? 'member'
  return [
    {
      kind: 'member',
      organization: idOf(row, 'organization_id'),
      user: idOf(row, 'user_id'),
      // The highest built-in role of WorkOS.
      role: role === 'admin' ? 'owner' : role,
      ...readDate('joined', row['created_at']),
    },
  ]
}
