/**
 * Lucia 1 to 3: users of the host's own tables with the rows of `user_key` (Lucia 1 and 2) or `oauth_account` (Lucia 3) in them, from the database itself
 * or from a file. The columns of users are the host's: what is named in another way is given by the option `map`.
 */
import { accountOf, idOf, isTrue, nameOf, rowsOf, textOf } from './fields.ts'
import { readHash } from './hashes.ts'
import type { ImportedUser, Source, ExportedRow } from './shape.ts'

export const lucia: Source = {
  lists: ['users'],
  tables: {
    users: ['auth_user', 'user', 'users'],
    more: {
      keys: { tables: ['user_key', 'auth_key', 'key'], column: 'user_id' },
      accounts: { tables: ['oauth_account', 'oauth_accounts'], column: 'user_id' },
    },
  },
  read: (row) => [readUser(row)],
}

function readUser(row: ExportedRow): ImportedUser {
  // The id of a key is `<provider>:<id at the provider>`.
  const keys = rowsOf(row['keys']).flatMap((key) => {
    const [provider = '', ...rest] = (textOf(key['id']) ?? '').split(':')
    return [{ provider, id: rest.join(':'), hash: textOf(key['hashed_password']) }]
  })
  const byPassword = keys.find(({ hash }) => hash !== undefined)
  const email = textOf(row['email']) ?? keys.find(({ provider }) => provider === 'email')?.id
  const stored = byPassword?.hash ?? textOf(row['password_hash']) ?? textOf(row['hashed_password'])
  const username = textOf(row['username']) ?? keys.find(({ provider }) => provider === 'username')?.id
  return {
    kind: 'user',
    id: idOf(row, 'id'),
    email: email ?? null,
    emailVerified: isTrue(row['email_verified'] ?? row['emailVerified']),
    name: nameOf(row['name']) ?? null,
    username: username ?? null,
    accounts: [
      ...keys
        .filter(({ hash, provider }) => hash === undefined && provider !== 'email' && provider !== 'username')
        .flatMap(({ provider, id }) => accountOf({}, provider, id)),
      ...rowsOf(row['accounts']).flatMap((account) =>
        accountOf({}, account['provider_id'] ?? account['provider'], account['provider_user_id'] ?? account['providerUserId']),
      ),
    ],
    ...(stored !== undefined && readHash(stored)),
  }
}
