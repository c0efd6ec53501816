/** From profile and tokens to the `Identity` that the kernel completes (rows 193 to 200, D15, D33). */
import {
  type Account,
  type Context,
  type Identity,
  type Profile,
  type ProviderUser,
  randomUUID,
  sha256,
  toAddress,
  toHex,
  type TokenSet,
  type User,
} from 'authkernel/kernel'
import { OAuthProfileParseError } from 'authkernel/errors'
import { isJsonObject, unverifiedJwt } from 'authkernel/kernel/protocols'
import { followWord } from './denials.ts'
import { saysVerified, trustsAddress } from './email-trust.ts'
import { Refusal } from './errors.ts'
import { withoutSecrets } from './failure.ts'
import { checkSubject, namedBy, proofOfClaims, providerNames } from './id-token.ts'
import type { OAuthProvider } from './provider.ts'
import { fetchOf } from './server.ts'
import type { TokenExchange } from './tokens.ts'

const storedTokens = ['access_token', 'id_token', 'refresh_token', 'expires_at', 'scope', 'token_type', 'session_state'] as const

/** What a profile is mapped with. */
type ProfileSource = Pick<TokenExchange, 'ctx' | 'provider' | 'tokens' | 'secrets' | 'claims'>

/** Maps a profile. Throws OAuthProfileParseError, and what the store throws. */
export async function identityOf(exchange: ProfileSource, profile: Profile): Promise<Identity> {
  const { ctx, provider, tokens } = exchange
  const identity = await mapProfile(exchange, profile)
  return withDenial(ctx, provider, identity, saysVerified(provider, profile, tokens))
}

async function mapProfile({ ctx, provider, tokens, secrets, claims }: ProfileSource, profile: Profile): Promise<Identity> {
  try {
    const described: unknown =
      typeof provider.profile === 'function'
        ? await provider.profile(profile, tokens, { fetch: fetchOf(ctx, provider) })
        : defaultProfile(profile)
    if (!isJsonObject(described)) throw new Refusal(`\`profile\` of provider "${provider.id}" returned no user.`)
    const { id, email, ...rest } = described as ProviderUser & { email?: unknown }
    const own = accountIdOf(ctx, id)
    const providerAccountId = await fitAccountId(namedBy(provider, claims?.['iss'], own))
    const owner = { provider: provider.id, type: provider.type, providerAccountId }
    const account: Account = { ...tokens, ...owner }
    const user: User = { ...withStorableTexts(rest), id: randomUUID(ctx.runtime), ...emailOf(email) }
    const [proof, { sub, sid }] = [proofOfClaims(provider, claims), providerNames(provider, claims)]
    // Sessions take the name from the profile, unless that has another one.
    const names = { ...(sub !== undefined && sub !== profile.sub && { sub }), ...(sid !== undefined && { sid }) }
    const verified = saysVerified(provider, profile, tokens)
    const identity: Identity = {
      user,
      account,
      profile,
      record: { ...storedTokensOf(provider, tokens), ...owner },
      match: 'account',
      // D33: absent is as good as Auth.js; anything but true is a no.
      trustsEmail: provider.allowDangerousEmailAccountLinking === true && verified !== false,
      provesEmail: verified === true && typeof user.email === 'string' && trustsAddress(provider, user.email) === true,
      refreshTokens: provider.updateAccount === true,
    }
    if (proof || sub !== undefined) identity.proof = { amr: [], ...proof, ...names }
    // Accounts from before issuers were told apart have the plain id. Their ID token says whose they are.
    if (providerAccountId !== own && claims)
      identity.former = {
        providerAccountId: own,
        owns: ({ id_token: token }) => {
          const stored = typeof token === 'string' ? unverifiedJwt(token)?.claims : undefined
          return stored !== undefined && stored['iss'] === claims['iss'] && stored['sub'] === claims['sub']
        },
      }
    return identity
  } catch (error) {
    throw new OAuthProfileParseError(`The profile of provider "${provider.id}" could not be used.`, {
      cause: { err: withoutSecrets(error, secrets), provider: provider.id },
    })
  }
}

/** Before the session: a user whose address the provider denies is never stored without that. One that it proves here has `emailVerified` instead. */
async function withDenial(ctx: Context, provider: OAuthProvider, identity: Identity, verified: boolean | undefined): Promise<Identity> {
  const { email } = identity.user
  if (verified === undefined || !email || (verified && trustsAddress(provider, email) === true)) return identity
  const onLinked = await followWord(ctx, { account: identity.account, former: identity.former?.providerAccountId, email, verified })
  return onLinked ? { ...identity, onLinked } : identity
}

/** Row 193: what most providers call these. */
export function defaultProfile(profile: Profile): ProviderUser {
  const { sub, id, name, nickname, preferred_username: username, email, picture } = profile
  const known: Record<string, unknown> = { id: sub ?? id, name: name ?? nickname ?? username, email, image: picture }
  const user: Record<string, unknown> = {}
  for (const field of ['id', 'name', 'email', 'image']) if (known[field] !== undefined) user[field] = known[field]
  return user
}

// Text made from nothing, as String(profile.id) makes it when an answer lacks the field: one account for all users.
const emptyTexts = new Set(['undefined', 'null', 'NaN', 'true', 'false', '[object Object]'])

function accountIdOf(ctx: Context, id: unknown): string {
  // There is nothing to know the account by, so it is a new one each time.
  if (id === undefined || id === null) return randomUUID(ctx.runtime)
  if (typeof id === 'number' && !Number.isSafeInteger(id)) throw new Refusal('The id of the profile is a number that is not exact.')
  const text = typeof id === 'number' || typeof id === 'bigint' ? String(id) : id
  checkSubject(text, 'The id of the profile')
  if (emptyTexts.has(text)) throw new Refusal(`The id of the profile is the text "${text}": the field it was made from is missing.`)
  return text
}

// What a column of accounts holds everywhere.
const maxAccountId = 255

async function fitAccountId(id: string): Promise<string> {
  return id.length <= maxAccountId ? id : `sha256:${toHex(await sha256(id))}`
}

function emailOf(email: unknown): { email?: string | null } {
  if (email === undefined || email === null || email === '') return {}
  if (typeof email !== 'string') throw new Refusal('The email of the profile is not a string.')
  if (/[\p{Cc}\s\p{DI}]|\p{Surrogate}/u.test(email))
    throw new Refusal('The email of the profile holds blanks, control or invisible characters.')
  // U+212A lower-cases to an ASCII k: a foreign address must not become that of another user.
  const lower = email.includes('\u212A') ? email.replace(/[^\u212A]+/g, (part) => part.toLowerCase()) : email.toLowerCase()
  // A domain has several spellings; a part before the @ that is not ASCII may be another mailbox than the one it looks like.
  return { email: (/^[\x21-\x7e]+@[^@]+$/.test(lower) && toAddress(lower)) || lower }
}

// Columns of text refuse NUL and lone surrogates; a name is not worth a failed sign-in.
function withStorableTexts(user: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const texts: Record<string, unknown> = {}
  for (const key of Object.keys(user)) {
    const value = user[key]
    if (value !== undefined && key !== '__proto__')
      texts[key] = typeof value === 'string' ? value.replace(/\p{Surrogate}|\p{Cc}/gu, '\uFFFD') : value
  }
  return texts
}

// Row 195.
function storedTokensOf(provider: OAuthProvider, tokens: TokenSet): Partial<Account> {
  if (provider.account) return Object.fromEntries(Object.entries(provider.account(tokens) ?? {}).filter(([, value]) => value !== undefined))
  const account: Record<string, unknown> = {}
  for (const name of storedTokens) if (tokens[name] !== undefined) account[name] = tokens[name]
  return account
}
