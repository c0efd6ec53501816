/** `searchUsers` for adapters that have all users at hand, and instead of an adapter that lacks it. */
import type { AccountKey, AdapterUser, FoundUsers, UserSearchQuery } from '../contract/adapter.ts'

type OwnedKey = AccountKey & { userId: string }

/** The users of `all` that the query asks for. `accounts` is called once, and only where accounts count. */
export function searchAmong(all: readonly AdapterUser[], query: UserSearchQuery, accounts: () => Iterable<OwnedKey>): FoundUsers {
  const { text, verified, provider, among, except, sort = 'id', order = 'asc', offset = 0, limit, within = '' } = query
  const part = text?.toLowerCase()
  const [only, without] = [among && new Set(among), new Set(except)]
  const [ofProvider, ofText] = part === undefined && provider === undefined ? [] : ownersIn(accounts(), provider, part)
  const fits = (user: AdapterUser): boolean => {
    const email = ownAddress(user.email, within)
    if (email === undefined || (only && !only.has(user.id)) || without.has(user.id)) return false
    if (verified !== undefined && (user.emailVerified !== null && user.emailVerified !== undefined) !== verified) return false
    if (provider !== undefined && !ofProvider?.has(user.id)) return false
    return part === undefined || ofText?.has(user.id) === true || [email, user.name, user.id].some((one) => hasPart(one, part))
  }
  const sign = order === 'asc' ? 1 : -1
  const key = (user: AdapterUser): string => (sort === 'id' ? '' : (user[sort] ?? '').toLowerCase())
  const found = all.filter(fits).sort((a, b) => sign * (compareTexts(key(a), key(b)) || compareTexts(a.id, b.id)))
  return { users: found.slice(offset, offset + limit), total: found.length }
}

/** The address as the tenant knows it; undefined: it is the one of another tenant. */
function ownAddress(email: string | null, within: string): string | undefined {
  if (within !== '') return email?.startsWith(within) ? email.slice(within.length) : undefined
  return email?.startsWith('~') && !email.startsWith('~~') ? undefined : (email ?? '')
}

/** Ids of users with an account of the provider, and of users with an account whose id has the part. */
function ownersIn(accounts: Iterable<OwnedKey>, provider: string | undefined, part: string | undefined): [Set<string>, Set<string>] {
  const [ofProvider, ofText] = [new Set<string>(), new Set<string>()]
  for (const account of accounts) {
    if (account.provider === provider) ofProvider.add(account.userId)
    if (part !== undefined && hasPart(account.providerAccountId, part)) ofText.add(account.userId)
  }
  return [ofProvider, ofText]
}

function hasPart(value: string | null | undefined, part: string): boolean {
  return value?.toLowerCase().includes(part) === true
}
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
