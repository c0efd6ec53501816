/** What an ID token says about how the person signed in at the provider (OpenID Connect Core section 2, RFC 8176). */
import type { Proof } from 'authkernel/kernel'
import { namedBy } from './issuer.ts'
import type { JsonObject, OAuthProvider } from './types.ts'

const maxMethods = 20
const maxText = 200

/** From the claims of the validated ID token, never from userinfo or `profile()`; undefined without `trustAssurance`. */
export function proofOf(provider: OAuthProvider, claims: JsonObject | undefined): Proof | undefined {
  if (provider.type !== 'oidc' || !provider.trustAssurance || !claims) return undefined
  const { amr: methods, acr, auth_time: authTime } = claims
  const listed: unknown[] = Array.isArray(methods) ? methods.slice(0, maxMethods) : []
  const amr = listed.filter(isText)
  return {
    amr,
    ...(isText(acr) && { acr }),
    ...(Number.isSafeInteger(authTime) && { authTime: authTime as number }),
    factors: amr.includes('mfa') ? 2 : 1,
  }
}

/** What the provider calls the person and the session in the validated ID token: its sign-outs and signals name them so, whatever `profile()` makes of it. */
export function namesIn(provider: OAuthProvider, claims: JsonObject | undefined): Pick<Proof, 'sub' | 'sid'> {
  if (provider.type !== 'oidc' || !claims) return {}
  const { iss, sub, sid } = claims
  const named = (name: unknown): string | undefined => (typeof name === 'string' && name !== '' ? namedBy(provider, iss, name) : undefined)
  const [person, session] = [named(sub), named(sid)]
  return { ...(person !== undefined && { sub: person }), ...(session !== undefined && { sid: session }) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxText
}
