/** Cookies of a request and of its answer: reading, chunks, Set-Cookie. */
import { type SetCookie, parseCookie, serializeCookie } from 'cookie-es'
import type { CookieOptions } from '../contract/data.ts'
import { JWTSessionError } from '../errors/index.ts'
import { expiredElsewhere, isDoubled } from './doubled-cookies.ts'

// A cookie of 4096 bytes less its name and attributes.
const chunkSize = 4096 - 160
const maxWritten = 5
const maxStale = 20
// Longer single values are not ours: browsers store 4096 bytes.
const maxValue = 8_192

/** What an answer says of one cookie. */
interface CookieWrite {
  /** The header, or options for what expires: that header is made last, because a deletion is often followed by a value of the same name. */
  line: string | CookieOptions
  /** Whether it also goes out when the flow failed. */
  lasts: boolean
}

/** Cookies of one request and those of its response. */
export class CookieJar {
  private readonly sent: Record<string, string | undefined>
  /** Created by the first cookie that is written: most requests write none. */
  private written: Map<string, CookieWrite> | undefined
  private readonly sealed: boolean
  private readonly header: string

  /** `sealed`: nothing is written either, for routes without cookies. */
  constructor(header: string | null, sealed = false) {
    this.sealed = sealed
    this.header = header ?? ''
    this.sent = header === null ? {} : parseCookie(header)
  }

  /** First value of a name; over-long values are ignored (D20). */
  get(name: string): string | undefined {
    const value = this.sent[name]
    return value === undefined || value.length > maxValue ? undefined : value
  }

  /** Whether the browser sent different values under the name: it is not known which of them is its own. */
  isDoubled(name: string): boolean {
    const { header } = this
    return header.includes(name, header.indexOf(name) + name.length) && isDoubled(header, name)
  }

  /** Expires what other places may have set under the name. Before the own value is written, for frameworks that keep the last line of a name. */
  expireElsewhere(name: string, options: CookieOptions, host: string, basePath: string): void {
    for (const line of expiredElsewhere(this.header, name, options, host, basePath))
      (this.written ??= new Map()).set(line, { line, lasts: true })
  }

  /**
   * Value of `name`, or of `name.0`, `name.1` … in numeric order; other names that share the prefix do not count (D22). Undefined when the name is
   * doubled: a planted session must not take the place of the user's own.
   */
  getChunked(name: string): string | undefined {
    if (this.isDoubled(name)) return undefined
    const whole = this.sent[name]
    if (whole && whole.length <= maxValue) return whole
    const chunks = this.chunks(name)
    if (chunks.length === 0 || chunks.length > maxStale) return undefined
    return chunks.map((chunk) => this.get(chunk) ?? '').join('')
  }

  /** With `always` the value also goes out when the flow fails: a list that lost a used entry. */
  set(name: string, value: string, options: CookieOptions = {}, when?: 'always'): void {
    const line = lineOf(name, value, options)
    ;(this.written ??= new Map()).set(name, { line, lasts: when === 'always' })
  }

  /** Splits what does not fit into one cookie. Throws JWTSessionError above 5 chunks (D55). */
  setChunked(name: string, value: string, options: CookieOptions = {}): void {
    const count = Math.ceil(value.length / chunkSize)
    if (count > maxWritten) {
      throw new JWTSessionError(
        `The session token has ${value.length} characters and would need ${count} cookies; at most ${maxWritten} are written. ` +
          'Keep less in the token (the jwt callback), or use the database strategy.',
      )
    }
    this.delete(name, options)
    if (count <= 1) return this.set(name, value, options)
    for (let i = 0; i < count; i++) this.set(`${name}.${i}`, value.slice(i * chunkSize, (i + 1) * chunkSize), options)
  }

  /** Expires a cookie and its chunks, as far as the browser sent them. */
  delete(name: string, options: CookieOptions = {}): void {
    const stale = this.chunks(name).slice(0, maxStale)
    if (this.sent[name] !== undefined || this.written?.has(name)) stale.unshift(name)
    for (const cookie of stale) (this.written ??= new Map()).set(cookie, { line: options, lasts: true })
  }

  /** Values are dropped when a flow failed; deletions stay. */
  dropValues(): void {
    for (const [name, { lasts }] of this.written ?? []) if (!lasts) this.written?.delete(name)
  }

  /** Whether there is nothing to write. */
  get empty(): boolean {
    return this.sealed || !this.written?.size
  }

  /** Appends Set-Cookie headers. */
  write(headers: Headers): void {
    if (this.sealed) return
    for (const [name, { line }] of this.written ?? [])
      headers.append('Set-Cookie', typeof line === 'string' ? line : lineOf(name, '', line, 0))
  }

  /** The same, and forgets them: for an answer that is made here and goes out as it is. */
  flush(headers: Headers): void {
    if (!this.written) return
    this.write(headers)
    this.written = undefined
  }

  private chunks(name: string): string[] {
    const lead = `${name}.`
    const found: string[] = []
    for (const key of Object.keys(this.sent)) if (key.startsWith(lead) && /^\d{1,4}$/.test(key.slice(lead.length))) found.push(key)
    return found.length < 2 ? found : found.sort((a, b) => Number(a.slice(lead.length)) - Number(b.slice(lead.length)))
  }
}

/** `end`: seconds that count instead of those of the options, and without their date. */
function lineOf(name: string, value: string, options: CookieOptions, end?: number): string {
  const { domain, path, httpOnly, secure, partitioned, priority, sameSite, encode } = options
  const maxAge = end ?? options.maxAge
  const expires = end === undefined ? options.expires : undefined
  // Always the same fields: handed over beside name and value, options are copied, which takes longer than all the rest.
  const cookie = { name, value, maxAge, expires, domain, path, httpOnly, secure, partitioned, priority, sameSite }
  return serializeCookie(cookie as SetCookie, encode && { encode })
}

/** The cookies of a request whose credential is in a header. Reads and writes the cookies of which `keeps` says yes; all others are not there, and stay as they are in the browser. */
export class PlainJar extends CookieJar {
  readonly #keeps: (name: string) => boolean

  constructor(header: string | null, keeps: (name: string) => boolean) {
    const kept = (header ?? '').split(/; */).filter((pair) => keeps(pair.slice(0, pair.indexOf('=')).trim()))
    super(kept.join('; '))
    this.#keeps = keeps
  }

  override set(name: string, value: string, options?: CookieOptions, when?: 'always'): void {
    if (this.#keeps(name)) super.set(name, value, options, when)
  }

  override delete(name: string, options?: CookieOptions): void {
    if (this.#keeps(name)) super.delete(name, options)
  }
}
