/** What one user of a source becomes here: a row for each plugin that keeps a part of it. */
import { type AnyContext, type ImportedFactor, type PasswordTaken, toAddress } from 'authkernel/kernel'
import { type OwnedAccount } from './accounts.ts'
import type { Problems } from './problems.ts'
import type { ImportedAccount, ImportedUser, LostPassword } from './sources/shape.ts'
import type { AccountTaken, UserTaken } from './users.ts'

/** A user of a source, in parts. */
export interface UserParts {
  id: string
  user: UserTaken
  password?: PasswordTaken
  factor?: ImportedFactor
  accounts: readonly OwnedAccount[]
  fields?: Readonly<Record<string, unknown>>
  ban?: BanTaken | null
  userName?: string
  phone?: string
}
/** A ban to store. */
export interface BanTaken {
  userId: string
  reason: string
  until: Date | null
  /** The name of the source. */
  by: string
}
/** What the app has, which decides where parts go. */
export interface Abilities {
  passwords: boolean
  factors: boolean
  phones: boolean
  bans: boolean
  userNames: boolean
  /** Whether `legacyPassword` is given. */
  asks: boolean
  /** Names of additional fields. */
  fields: ReadonlySet<string>
  /** Names of providers here, by those of the source. */
  providers: Readonly<Record<string, string>>
}

const lostNames: Readonly<Record<Exclude<LostPassword, 'not-exported'>, string>> = {
  weak: 'weak-passwords',
  peppered: 'peppered-passwords',
  unknown: 'unknown-hashes',
}

/** Splits a user, and notes what has no place here. */
export function splitUser(ctx: AnyContext, source: string, given: ImportedUser, able: Abilities, problems: Problems): UserParts {
  const { id, name, image } = given
  const email = given.email === undefined || given.email === null ? given.email : (toAddress(given.email) ?? given.email)
  const verified = given.emailVerified === true
  const fields = readFields(given, able, problems)
  const accounts = readAccounts(ctx, given, able, problems).map((account): OwnedAccount => ({ ...account, userId: id }))
  for (const part of given.dropped ?? []) problems.note(part, id)
  notePassword(given, able, problems)
  const takesHash = typeof given.hash === 'string' && able.passwords
  if (takesHash && email && !verified) problems.note('unverified-users', id)
  const totp = given.totp ?? undefined
  if (totp !== undefined && !able.factors) problems.note('factor-plugin', id)
  const banned = given.ban && (given.ban.until === undefined || given.ban.until > ctx.now) ? given.ban : undefined
  if (banned && !able.bans) problems.note('bans', id)
  const userName = given.username ?? undefined
  if (userName !== undefined && !able.userNames) problems.note('user-names', id)
  return {
    id,
    user: {
      email,
      emailVerified: verified,
      name,
      image,
      ...(Object.keys(fields).length > 0 && { fields }),
      accounts: accounts.map(({ userId: _owner, ...account }) => account),
    },
    // A user without an address has nothing to verify.
    ...(takesHash && { password: { userId: id, hash: given.hash!, verified: verified || !email } }),
    ...(totp !== undefined && able.factors && { factor: { userId: id, secret: totp, backupCodes: given.backupCodes ?? [] } }),
    accounts,
    ...(Object.keys(fields).length > 0 && { fields }),
    ...(able.bans &&
      given.ban !== undefined && { ban: banned ? { userId: id, reason: banned.reason, until: banned.until ?? null, by: source } : null }),
    ...(userName !== undefined && able.userNames && { userName }),
    ...(given.phone?.verified === true && able.phones && { phone: given.phone.number }),
  }
}

/** Notes what is wrong with the password of a row, which may be one of a file of hashes. */
export function notePassword(
  { id, hash, lostPassword }: { id: string; hash?: string | null; lostPassword?: LostPassword },
  able: Abilities,
  problems: Problems,
): void {
  if (typeof hash === 'string') {
    if (!able.passwords) problems.note('passwords-plugin', id)
  } else if (lostPassword === 'not-exported') problems.note(able.asks ? 'passwords-by-hook' : 'passwords-not-exported', id)
  else if (lostPassword !== undefined) problems.note(lostNames[lostPassword], id)
}

function readAccounts(ctx: AnyContext, { id, accounts = [], phone }: ImportedUser, able: Abilities, problems: Problems): AccountTaken[] {
  const found = accounts.map(({ provider, providerAccountId }: ImportedAccount): AccountTaken => {
    const name = Object.hasOwn(able.providers, provider) ? able.providers[provider]! : provider
    const known = ctx.app.providers.get(name)
    if (!known) problems.note('providers', name)
    const type = known?.type === 'oauth' || known?.type === 'oidc' ? known.type : 'oidc'
    return { provider: name, providerAccountId, type }
  })
  if (phone) {
    if (!phone.verified) problems.note('unverified-phones', id)
    else if (!able.phones) problems.note('phone-plugin', id)
  }
  const keys = new Set<string>()
  return found.filter(({ provider, providerAccountId }) => {
    const key = `${provider} ${providerAccountId}`
    return !keys.has(key) && keys.add(key)
  })
}

function readFields({ id, roles = [], fields = {} }: ImportedUser, able: Abilities, problems: Problems): Record<string, unknown> {
  const known = Object.entries(fields).filter(([name]) => able.fields.has(name))
  if (known.length < Object.keys(fields).length) problems.note('fields', id)
  if (roles.length > 0 && !able.fields.has('role')) problems.note('roles', id)
  return { ...Object.fromEntries(known), ...(roles.length > 0 && able.fields.has('role') && { role: roles.join(',') }) }
}
