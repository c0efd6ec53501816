/** What a provider's word about an address is worth (D33, D85). */
import { type AdapterAccount, type AnyContext, type Profile, toAddress, type TokenSet } from 'authkernel/kernel'
import { hasRecords, isDenied } from './denials.ts'
import { decodeClaims } from './json.ts'
import type { OAuthProvider } from './provider.ts'

/** What the provider says of the address: undefined when it says nothing. */
export function saysVerified(provider: OAuthProvider, profile: Profile, tokens: TokenSet): boolean | undefined {
  const value: unknown = provider.emailVerified ? provider.emailVerified(profile, tokens) : profile.email_verified
  if (value === undefined || typeof value === 'boolean') return value
  return typeof value === 'string' && provider.emailVerifiedStrings?.includes(value) === true
}

/** Whether the provider is trusted for the address, by `trustEmail`; undefined: the host does not say. */
export function trustsAddress({ trustEmail }: OAuthProvider, email: string): boolean | undefined {
  if (typeof trustEmail === 'boolean' || trustEmail === undefined) return trustEmail
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return trustEmail.some((name) => name.toLowerCase() === domain)
}

/**
 * Whether a stored account is a reason to believe an email without `emailVerified`. A trusted provider that called the email verified has set `emailVerified`. Its account counts only with a stored ID token that says so of this email, as older rows have it.
 * `account` undefined: the adapter cannot list accounts.
 */
export async function vouchesForEmail(
  provider: OAuthProvider,
  account: AdapterAccount | undefined,
  email: string,
  ctx: AnyContext,
): Promise<boolean | 'silent' | 'denied'> {
  const trust = trustsAddress(provider, email)
  if (!account) return trust === undefined && 'silent'
  if (await isDenied(ctx, account, email)) return 'denied'
  // What cannot be read may be the provider's no.
  if (trust === false || account.unreadable?.includes('id_token')) return false
  const claims = claimsOf(account.id_token)
  if (claims?.email === undefined) {
    if (trust !== undefined || (claims && saysVerified(provider, claims, account) === false)) return false
    // A provider without `trustEmail` is as good as in Auth.js, until it says no. Without records a no is remembered nowhere.
    return (hasRecords(ctx) || !canDeny(provider)) && 'silent'
  }
  const verified = saysVerified(provider, claims, account)
  if (typeof claims.email !== 'string' || !isSameAddress(claims.email, email)) return false
  if (verified === false) return 'denied'
  return verified === true || (trust === undefined && 'silent')
}

function isSameAddress(one: string, other: string): boolean {
  return (toAddress(one) ?? one.toLowerCase()) === (toAddress(other) ?? other.toLowerCase())
}

/** Whether a profile of this provider may say that the address is not verified. Providers of type oauth have no claim for it, unless the host reads one. */
function canDeny({ type, emailVerified }: OAuthProvider): boolean {
  return type === 'oidc' || emailVerified !== undefined
}

// Our own row: its signature was checked when it was stored.
function claimsOf(token: unknown): Profile | undefined {
  try {
    return typeof token === 'string' ? (decodeClaims(token) as Profile) : undefined
  } catch {
    return undefined
  }
}
