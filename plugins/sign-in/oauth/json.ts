/** JSON from strangers: checked before anything reads it. */
import { fromBase64, type ReadAnswer } from 'authkernel/kernel'
import { isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import { Refusal } from './errors.ts'

const maxDepth = 32
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Body of an answer as a JSON object. Bytes that are not UTF-8 are rejected: decoders map them all to U+FFFD, which makes
 * different identifiers equal. `strict` demands a JSON content type (OpenID Connect Core 3.1.3.3, 5.3.2).
 */
export async function readJson(response: Response | ReadAnswer, what: string, strict: boolean): Promise<JsonObject> {
  const type = mediaTypeOf(response)
  const html = /^(?:text\/html|application\/xhtml\+xml)$/.test(type)
  if (html || (strict && !/^application\/(?:[\w.-]+\+)?json$/.test(type))) {
    throw new Refusal(`${what} has the content type "${type.slice(0, 100)}" (status ${response.status}) instead of JSON.`)
  }
  return parseJson('content' in response ? response.content : new Uint8Array(await response.arrayBuffer()), what)
}

/** Media type without parameters. */
export function mediaTypeOf(response: Pick<Response, 'headers'>): string {
  return (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** A JSON object of UTF-8 bytes. Throws `Refusal`. */
export function parseJson(bytes: Uint8Array, what: string): JsonObject {
  let value: unknown
  let suspect: boolean
  try {
    const text = utf8.decode(bytes)
    value = JSON.parse(text)
    // An escape can spell them, too.
    suspect = /__proto__|constructor|prototype|\\u/.test(text)
  } catch {
    throw new Refusal(`${what} is not JSON in UTF-8.`)
  }
  if (!isJsonObject(value)) throw new Refusal(`${what} is not a JSON object.`)
  assertShallow(value, what, maxDepth)
  return suspect ? (withoutPrototypeNames(value) as JsonObject) : value
}

/** The claims of a JWT whose signature was checked before, or is yet to be checked. Throws `Refusal`. */
export function decodeClaims(token: string): JsonObject {
  const [, payload, ...rest] = token.split('.')
  if (payload === undefined || rest.length !== 1 || !/^[\w-]+$/.test(payload)) throw new Refusal('The token is not a compact JWS.')
  return parseJson(fromBase64(payload), 'The token')
}

// Depth that would overflow a stack is refused.
function assertShallow(value: unknown, what: string, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth === 0) throw new Refusal(`${what} is nested too deeply.`)
  for (const member of Object.values(value)) assertShallow(member, what, depth - 1)
}

// Members that would reach a prototype when a host copies or merges the value are dropped.
function withoutPrototypeNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutPrototypeNames)
  const copy: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    if (key !== '__proto__' && key !== 'constructor' && key !== 'prototype') copy[key] = withoutPrototypeNames(member)
  }
  return copy
}
