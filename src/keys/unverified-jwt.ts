/** What a signed JWT says before its signature is checked. */
import { fromBase64 } from './crypto.ts'

/** Header and claims as they are stated. */
export interface UnverifiedJwt {
  /** Algorithm and id of the key. */
  readonly header: Readonly<Record<string, unknown>>
  /** What the token states. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Header and claims of a signed JWT; undefined for any other text. The signature is not checked: refuse by them, and give no access. */
export function unverifiedJwt(jwt: string): UnverifiedJwt | undefined {
  const [header, claims] = jwt.split('.').slice(0, 2).map(toObject)
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt) && header && claims ? { header, claims } : undefined
}

function toObject(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(fromBase64(part)))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
