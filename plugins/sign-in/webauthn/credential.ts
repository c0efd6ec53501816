/**
 * Credentials as they travel and as they are stored. Browsers and the library speak base64url; rows hold standard base64 with padding,
 * as Auth.js wrote them, so that its databases go on working (rows 173, 259).
 */
import { type AdapterAuthenticator, fromBase64, toBase64, toBase64Url } from 'authkernel/kernel'

/** What a browser posts after a ceremony; verified by the library, so only the members read here are typed. */
export interface CredentialAnswer {
  id: string
  response: { clientDataJSON?: unknown; transports?: unknown; userHandle?: unknown }
}

// WebAuthn section 4: a credential id has at most 1023 bytes, 1364 characters of base64url.
const credentialId = /^[\w+/=-]{1,1368}$/
const transport = /^[a-z-]{1,20}$/

/** The posted `data`: a JSON text in a form or in JSON, or the object itself. Undefined for anything else. */
export function readAnswer(data: unknown): CredentialAnswer | undefined {
  const value = typeof data === 'string' ? parseJson(data) : data
  if (!isRecord(value) || typeof value['id'] !== 'string' || !credentialId.test(value['id']) || !toStored(value['id'])) return undefined
  return { ...value, id: value['id'], response: isRecord(value['response']) ? value['response'] : {} }
}

/** The challenge that a browser says it signed; the library compares it with the expected one. */
export function challengeOf(answer: CredentialAnswer): string | undefined {
  const { clientDataJSON } = answer.response
  const client = typeof clientDataJSON === 'string' ? parseJson(decodeBase64Text(clientDataJSON)) : undefined
  return isRecord(client) && typeof client['challenge'] === 'string' ? client['challenge'] : undefined
}

/** A row as a descriptor for `allowCredentials` and `excludeCredentials`. */
export function descriptorOf(row: AdapterAuthenticator): { id: string; transports: string[] } {
  return {
    id: toBase64Url(fromBase64(row.credentialID)),
    transports: (row.transports ?? '').split(',').filter((name) => transport.test(name)),
  }
}

/** Standard base64 of a base64url or base64 id; empty when it is neither. */
export function toStored(id: string): string {
  try {
    return toBase64(fromBase64(id))
  } catch {
    return ''
  }
}

/** Comma-joined transports of a registration, or null (row 173). They come from the browser, so they are filtered. */
export function transportsOf(answer: CredentialAnswer): string | null {
  const given: unknown[] = Array.isArray(answer.response.transports) ? answer.response.transports : []
  const known = given.filter((name): name is string => typeof name === 'string' && transport.test(name))
  return known.slice(0, 8).join(',') || null
}

function decodeBase64Text(base64url: string): string {
  try {
    return new TextDecoder().decode(fromBase64(base64url))
  } catch {
    return ''
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
