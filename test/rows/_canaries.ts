/** What opens something in the exchanges of a journey: none of it may stand in a log, a record or a span. */
import { inspect } from 'node:util'
import { parseSetCookie } from 'cookie-es'
import type { Ground } from './_ground.ts'

/** Names of fields whose values open something. */
const opens = /token|secret|^code$|user_code|device_code|password|ticket|verifier|current|^key$|assertion|^data$/i
/** Values that are told on purpose or say nothing. */
const harmless = new Set(['none', 'allow', 'deny', 'bearer', 'Bearer', 'authorization_code', 'refresh_token'])

export function secretsOf({ seen, mails, texts, op }: Ground, config: readonly string[]): Set<string> {
  const found = new Set<string>()
  const add = (value: unknown): void => {
    if (typeof value !== 'string' || harmless.has(value) || value.length < 6) return
    found.add(value)
    found.add(encodeURIComponent(value))
  }
  const fields = (name: string, value: unknown): void => {
    if (typeof value === 'object' && value !== null) for (const [key, inner] of Object.entries(value)) fields(key, inner)
    else if (opens.test(name)) add(value)
  }
  for (const { request, sent, response } of seen) {
    for (const [name, value] of new URLSearchParams(sent.startsWith('{') ? '' : sent)) fields(name, value)
    if (sent.startsWith('{')) fields('', JSON.parse(sent))
    for (const [name, value] of new URL(request.url).searchParams) fields(name, value)
    for (const pair of (request.headers.get('cookie') ?? '').split('; '))
      cookie(pair.split('=')[0]!, pair.slice(pair.indexOf('=') + 1), add)
    for (const line of response.headers.getSetCookie()) cookie(parseSetCookie(line)?.name ?? '', parseSetCookie(line)?.value ?? '', add)
    add(request.headers.get('authorization')?.replace(/^bearer /i, ''))
    add(request.headers.get('x-api-key'))
    const location = response.headers.get('location') ?? ''
    const query = URL.canParse(location) ? new URL(location).searchParams : new URLSearchParams()
    // Beside `error`, `code` says which mistake it was.
    if (!query.has('error')) for (const [name, value] of query) fields(name === 'state' ? 'token' : name, value)
  }
  for (const { text } of mails) for (const [value] of text.matchAll(/[0-9a-f]{64}|\b\d{6}\b/g)) add(value)
  for (const { code } of texts) add(code)
  for (const value of [op.clientSecret, ...config]) add(value)
  return found
}

/** The answers as text, with what pages show once: secrets of factors, backup codes, tickets. */
export async function shownSecrets({ seen }: Ground): Promise<Set<string>> {
  const found = new Set<string>()
  for (const { response } of seen) {
    const text = await response.clone().text()
    const inJson = /"(?:access_token|refresh_token|device_code|user_code|key|csrfToken|secret)":"([^"]{6,})"/g
    const inPage = /name="(?:ticket|csrfToken)" value="([^"]{6,})"|<code>([A-Z2-7 ]{32,}|[A-Z2-9-]{11})<\/code>/g
    for (const pattern of [inJson, inPage]) for (const [, one, two] of text.matchAll(pattern)) found.add((one ?? two)!.replaceAll(' ', ''))
  }
  return found
}

/** The secrets that a text holds. Codes of six digits count where they stand alone. */
export function leaks(written: unknown, secrets: Iterable<string>): string[] {
  const text = typeof written === 'string' ? written : inspect(written, { depth: null, maxStringLength: null, maxArrayLength: null })
  return [...secrets].filter((secret) =>
    /^\d{6}$/.test(secret) ? new RegExp(`(?<![\\w.-])${secret}(?![\\w-])`).test(text) : text.includes(secret),
  )
}

function cookie(name: string, value: string, add: (value: unknown) => void): void {
  // It holds a path of the host.
  if (!name.endsWith('callback-url') && value.length >= 16) add(value)
}
