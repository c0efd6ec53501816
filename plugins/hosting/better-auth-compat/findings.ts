/** What no plugin stores: it stays where it is and works, or the operator must know that it will not. */
import type { ImportProblem } from '../import/report.ts'
import type { Move } from './users.ts'
import { isTrue, type SourceFields, toDate, toText } from './source.ts'

const examples = 100

/** Looks at users, sessions, accounts and the tables of other plugins of better-auth. `factors`: how many were found. Writes nothing. */
export async function describeRest({ ctx, source }: Move, factors: number): Promise<ImportProblem[]> {
  const problems: ImportProblem[] = []
  const note = (name: string, count: number, subject: string, message: string, more: readonly string[] = []): void => {
    if (count > 0) problems.push({ name, level: 'note', count, message: `${subject}: ${count}. ${message}`, examples: more })
  }
  const facts = await readUsers(source.pages('user'))
  note(
    'unverified',
    facts.unverified.count,
    'Users with an unverified address',
    'Their passwords are parked: they sign in after the user opened a link that is mailed at the first sign-in. Where the address is proved in another way, passwords, factors, passkeys, keys and accounts of these users are removed.',
    facts.unverified.names,
  )
  note(
    'roles',
    facts.roles.count,
    'Users with a role of admin()',
    'Read it as `user.role`, and decide with `can` of adminPlugin.',
    facts.roles.names,
  )
  const custom = source.columns('user')
  note(
    'columns',
    custom.length,
    'Custom columns in the table of users',
    `They stay and are read as fields of the user: ${custom.join(', ')}.`,
    custom,
  )
  // better-auth stores no lengths, and a hash has none.
  note(
    'short-passwords',
    await source.count('account', [['password', 'is not', null]]),
    'Passwords whose length is not known',
    'better-auth accepts 8 characters. A user whose password is shorter than `minLength` of passwordsPlugin signs in, and must then choose a longer one.',
  )
  const sessions = await countSessions(source.pages('session'), ctx.now)
  note('sessions', sessions.going, 'Sessions that go on', 'Their users stay signed in.')
  note('sessions-ended', sessions.ended, 'Sessions that have ended', 'They stay ended. `npx authkernel cleanup` removes them.')
  const impersonated = source.has('session', 'impersonatedBy') ? await source.count('session', [['impersonatedBy', 'is not', null]]) : 0
  note(
    'sessions-impersonated',
    impersonated,
    'Sessions of administrators who act as a user',
    'They go on as sessions of that user. End them before you switch.',
  )
  const guests = source.has('user', 'isAnonymous') ? await source.count('user', [['isAnonymous', 'is', true]]) : 0
  note(
    'guests',
    guests,
    'Users of anonymous()',
    'They stay signed in as users with the address that better-auth made. They are no guests of guestPlugin.',
  )
  const enabled = source.has('user', 'twoFactorEnabled') ? await source.count('user', [['twoFactorEnabled', 'is', true]]) : 0
  if (enabled > factors)
    problems.push({
      name: 'factors-missing',
      level: 'factor',
      count: enabled - factors,
      message: `${enabled - factors} users have two-factor authentication on, and no factor of theirs was found: they would sign in without it. Look at \`schema\`: the table may have another name.`,
    })
  const users = await source.count('user')
  if (users > 0 && (await source.count('account')) === 0)
    problems.push({
      name: 'accounts-missing',
      level: 'loss',
      count: users,
      message: `There are ${users} users and no accounts: users could not sign in. Look at \`schema\`: the table may have another name.`,
    })
  const known = new Set<string>([...ctx.app.providers.keys(), 'credential'])
  const accounts = new Map<string, number>()
  for await (const rows of source.pages('account'))
    for (const row of rows) {
      const provider = String(row['providerId'])
      if (!known.has(provider)) accounts.set(provider, (accounts.get(provider) ?? 0) + 1)
    }
  for (const [provider, count] of accounts)
    note(
      `provider-${provider}`,
      count,
      `Accounts of the provider "${provider}"`,
      'They cannot sign in, because createAuth has no provider of this id.',
    )
  for (const [table, name, message] of foreign) {
    const count = (await source.countTable(table)) ?? 0
    if (count > 0) problems.push({ name, level: 'loss', count, message: `${count} rows of ${table} stay behind: ${message}` })
  }
  const keys = (await source.countTable('jwks')) ?? 0
  note(
    'jwks',
    keys,
    'Keys of the plugin jwt()',
    'They are not taken. Tokens that they signed count as long as a resource server keeps them.',
  )
  return problems
}

async function countSessions(pages: AsyncIterable<readonly SourceFields[]>, now: Date): Promise<{ going: number; ended: number }> {
  const counts = { going: 0, ended: 0 }
  // Databases keep dates in several forms.
  for await (const rows of pages) for (const row of rows) counts[(toDate(row['expiresAt']) ?? now) > now ? 'going' : 'ended']++
  return counts
}

async function readUsers(pages: AsyncIterable<readonly SourceFields[]>) {
  const [unverified, roles] = [emptyList(), emptyList()]
  for await (const users of pages)
    for (const user of users) {
      const name = toText(user['email']) ?? String(user['id'])
      if (!isTrue(user['emailVerified'])) add(unverified, name)
      const role = toText(user['role'])
      if (role !== null && role !== 'user') add(roles, `${name} (${role})`)
    }
  return { unverified, roles }
}

interface Names {
  count: number
  names: string[]
}

function emptyList(): Names {
  return { count: 0, names: [] }
}

function add(list: Names, name: string): void {
  list.count++
  if (list.names.length < examples) list.names.push(name)
}

/** Tables of plugins of better-auth that nothing here reads, by its names, with the names by which their loss is accepted. */
const foreign: readonly [table: string, name: string, message: string][] = [
  ['oauthRefreshToken', 'oauth-tokens', 'tokens of OAuth clients are not moved. Clients ask users again.'],
  ['walletAddress', 'wallets', 'not possible yet, it needs a plugin for Sign-In with Ethereum.'],
]
