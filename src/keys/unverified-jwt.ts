/** What a signed JWT says before its signature is checked, and the shape of JSON objects. */
import { fromBase64 } from './crypto.ts'

/** Header and claims as they are stated. */
export interface UnverifiedJwt {
  /** Algorithm and id of the key. */
  readonly header: Readonly<Record<string, unknown>>
  /** What the token states. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Header and claims of a signed JWT; undefined for any other text. The signature is not checked: reject by them, and give no access. */
export function unverifiedJwt(jwt: string): UnverifiedJwt | undefined {
  const [header, claims] = jwt.split('.').slice(0, 2).map(toObject)
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt) && header && claims ? { header, claims } : undefined
}

/** Members of a JSON object by name. */
export type JsonObject = Record<string, unknown>

/** Whether a parsed JSON value is an object: not null, and no array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function toObject(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(fromBase64(part)))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
