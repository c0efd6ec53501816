/** What a provider's word about an address is worth (D33, D85). */
import { type AdapterAccount, type Profile, toAddress, type TokenSet } from 'authkernel/kernel'
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
 * Whether a stored account is a reason to believe an address that no `emailVerified` says is proved. A trusted provider that called the address
 * verified has set `emailVerified`: its account counts only with a stored ID token that says so of this very address, as rows of before have it.
 * `account` undefined: the adapter cannot list accounts.
 */
export function vouches(provider: OAuthProvider, account: AdapterAccount | undefined, email: string): boolean {
  const trust = trustsAddress(provider, email)
  if (trust === false) return false
  const claims = claimsOf(account?.id_token)
  // A provider without `trustEmail` is as good as in Auth.js, until it says no.
  if (!claims || !account) return trust === undefined
  if (trust === undefined && claims.email === undefined) return saysVerified(provider, claims, account) !== false
  if (
    typeof claims.email !== 'string' ||
    (toAddress(claims.email) ?? claims.email.toLowerCase()) !== (toAddress(email) ?? email.toLowerCase())
  )
    return false
  const verified = saysVerified(provider, claims, account)
  return trust ? verified === true : verified !== false
}

// Our own row: its signature was checked when it was stored.
function claimsOf(token: unknown): Profile | undefined {
  try {
    return typeof token === 'string' ? (decodeClaims(token) as Profile) : undefined
  } catch {
    return undefined
  }
}
