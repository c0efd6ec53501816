/** What is kept of a session beside its token: made from a login, by the kernel alone. */
import type { Facts } from '../contract/context.ts'
import type { Login } from '../contract/login.ts'
import type { SessionAttributes } from '../contract/session.ts'
import { fromBase64 } from '../keys/crypto.ts'

const utf8 = new TextDecoder()

/** `before`: of the session that the login renews. */
export function attributesOf(login: Login, { address, userAgent, at }: Facts, before: SessionAttributes | null): SessionAttributes {
  const { account, profile, proof, session } = login
  const now = Math.floor(at / 1000)
  // A provider whose clock is ahead proves nothing about the future.
  const proved = Math.min(proof.authTime ?? now, now)
  const methods = Object.fromEntries(proof.amr.map((method) => [method, proved]))
  if (session === 'renew' && before) {
    const factors = before.factors === 2 || proof.factors === 2 ? 2 : 1
    const authTime = proof.amr.length > 0 ? proved : before.authTime
    return { ...before, ...(proof.acr !== undefined && { acr: proof.acr }), authTime, methods: { ...before.methods, ...methods }, factors }
  }
  // Only an ID token says which session it belongs to; elsewhere a claim of that name means something else.
  const claims = account.type === 'oidc' ? profile : undefined
  // The profile may come from userinfo, which knows no session.
  const sid = textOf(claims?.['sid'] ?? (claims && claimsOf(account.id_token)['sid']))
  const made: { -readonly [K in keyof SessionAttributes]: SessionAttributes[K] } = {
    provider: account.provider,
    sub: textOf(claims?.sub) ?? account.providerAccountId,
    authTime: proved,
    methods,
    factors: proof.factors ?? 1,
    started: at,
  }
  if (sid !== undefined) made.sid = sid
  if (proof.acr !== undefined) made.acr = proof.acr
  if (address !== undefined) made.address = address
  if (userAgent !== undefined) made.userAgent = userAgent
  return made
}

/** Of an ID token that its type has validated. */
function claimsOf(token: string | undefined): Readonly<Record<string, unknown>> {
  const payload = token?.split('.')[1]
  if (!payload) return {}
  try {
    return JSON.parse(utf8.decode(fromBase64(payload))) as Record<string, unknown>
  } catch {
    return {}
  }
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' ? claim : undefined
}
