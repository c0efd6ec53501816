/** What a provider's word about an address is worth (D33, D85). */
import type { AdapterAccount, Profile, TokenSet } from 'authkernel/kernel'
import { decodeClaims } from './json.ts'
import type { OAuthProvider } from './types.ts'

/** What the provider says of the address: undefined when it says nothing. */
export function saysVerified(provider: OAuthProvider, profile: Profile, tokens: TokenSet): boolean | undefined {
  const said: unknown = provider.emailVerified ? provider.emailVerified(profile, tokens) : profile.email_verified
  if (said === undefined || typeof said === 'boolean') return said
  return typeof said === 'string' && provider.emailVerifiedStrings?.includes(said) === true
}

/** Whether the provider is trusted for the address, by `trustEmail`; undefined: nobody said. */
export function trusted({ trustEmail }: OAuthProvider, email: string): boolean | undefined {
  if (typeof trustEmail === 'boolean' || trustEmail === undefined) return trustEmail
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return trustEmail.some((name) => name.toLowerCase() === domain)
}

/**
 * Whether a stored account is a reason to believe the address of its user. It is not when the provider is not trusted for it, and when the ID
 * token that was stored names another address, or says that this one was not verified.
 */
export function vouches(provider: OAuthProvider, account: AdapterAccount | undefined, email: string): boolean {
  // A list was written because the provider claims addresses of other domains too.
  if (!account) return provider.trustEmail === undefined || provider.trustEmail === true
  if (trusted(provider, email) === false) return false
  const claims = claimsOf(account.id_token)
  if (!claims) return true
  if (typeof claims.email === 'string' && claims.email.toLowerCase() !== email.toLowerCase()) return false
  return saysVerified(provider, claims, account) !== false
}

// Our own row: its signature was checked when it was stored.
function claimsOf(token: unknown): Profile | undefined {
  try {
    return typeof token === 'string' ? (decodeClaims(token) as Profile) : undefined
  } catch {
    return undefined
  }
}
