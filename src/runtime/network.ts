/** Calls to foreign servers: https, no redirects, one deadline for the whole answer, a size limit. */
import { isSecureUrl } from './runtime.ts'
import { withDeadline } from '../errors/deadlines.ts'

/** What every call is held to. */
export interface NetworkLimits {
  /** Sends the request: `ctx.runtime.fetch`, for example. */
  fetch: typeof fetch
  /** Milliseconds from the call to the last byte: total, so that a server that sends one byte a second delays no request. */
  deadline: number
  /** Bytes of the answer after decompression. */
  limit: number
  /** Permits plain http beyond loopback. */
  insecure?: boolean | undefined
  /** Ends the call early: the request it was made for is over. */
  signal?: AbortSignal | undefined
}

/** Why a call gave no answer. */
export type NetworkCode =
  | 'INSECURE'
  | 'REDIRECT'
  | 'TIMEOUT'
  | 'TOO_LARGE'
  | 'UNREACHABLE'
  /** Of `publicFetch`: an address that is not public; another status than 200; another content type; a runtime that cannot check. */
  | 'PRIVATE'
  | 'STATUS'
  | 'TYPE'
  | 'UNSUPPORTED'

/** A call that gave no usable answer. The message names host and path, never a query: that may hold a token. */
export class NetworkError extends Error {
  readonly code: NetworkCode
  /** The request certainly did not reach the server. */
  readonly unsent: boolean
  constructor(code: NetworkCode, message: string, unsent: boolean = code === 'INSECURE') {
    super(message)
    this.name = 'NetworkError'
    this.code = code
    this.unsent = unsent
  }
}

/** An answer with its whole body: what a Response would copy and hand out once more. */
export interface ReadAnswer {
  /** HTTP status. */
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  /** The body after decompression. */
  readonly content: Uint8Array<ArrayBuffer>
}

/** A `fetch` within limits; the answer is complete when it returns. Throws NetworkError. */
export function boundedFetch(limits: NetworkLimits): typeof fetch {
  const read = boundedRead(limits)
  return async (input, init) => toResponse(await read(input, init))
}

/** The same without a Response around the bytes. Throws NetworkError. */
export function boundedRead(limits: NetworkLimits): (...request: Parameters<typeof fetch>) => Promise<ReadAnswer> {
  // Called on its own: as a method of something the platform's `fetch` is an "Illegal invocation" in workers.
  const { fetch: send } = limits
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const place = `${url.origin}${url.pathname}`
    if (!isSecureUrl(url, limits.insecure)) {
      throw new NetworkError(
        'INSECURE',
        `${place} is not https. Plain http is for loopback only; the symbol allowInsecureRequests permits more.`,
      )
    }
    const outer = [limits.signal, init?.signal].filter((signal) => signal !== undefined && signal !== null)
    const late = (givenUp: boolean): NetworkError =>
      givenUp
        ? new NetworkError('TIMEOUT', `The call to ${place} was given up: the request it was made for ended.`)
        : new NetworkError('TIMEOUT', `${place} did not answer within ${limits.deadline} ms.`)
    const call = async (signal: AbortSignal): Promise<ReadAnswer> => {
      const options: RequestInit = { ...init, redirect: 'manual', signal }
      let response: Response
      try {
        response = await send(input, options)
      } catch (error) {
        throw new NetworkError('UNREACHABLE', `${place} could not be reached: ${describeFailure(error)}.`, wasNeverSent(error))
      }
      return toReadAnswer(response, place, limits.limit)
    }
    return withDeadline(limits.deadline, outer, call, late)
  }
}

/** The answer as `fetch` gives it. */
export function toResponse({ status, statusText, headers, content }: ReadAnswer): Response {
  return new Response(status === 204 || status === 205 ? null : content, { status, statusText, headers })
}

async function toReadAnswer(response: Response, place: string, limit: number): Promise<ReadAnswer> {
  // Browsers and workers hide a redirect behind status 0.
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    discardBody(response)
    throw new NetworkError(
      'REDIRECT',
      `${place} answered with a redirect, which is not followed: credentials would travel to another place.`,
    )
  }
  if (response.status < 200) throw new NetworkError('UNREACHABLE', `${place} gave no answer.`)
  const content = await readBody(response, place, limit)
  return { status: response.status, statusText: response.statusText, headers: plainHeaders(response.headers), content }
}

/** Headers of a body that is decoded, its type in lower case: copied only where they say something else. */
function plainHeaders(given: Headers): Headers {
  const type = given.get('content-type')
  const spelt = type?.replace(/^[^;]*/, (essence) => essence.trim().toLowerCase())
  if (spelt === (type ?? undefined) && !given.has('content-encoding') && !given.has('content-length')) return given
  const headers = new Headers(given)
  headers.delete('content-encoding')
  headers.delete('content-length')
  if (spelt !== undefined) headers.set('content-type', spelt)
  return headers
}

async function readBody(response: Response, place: string, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = (): NetworkError => new NetworkError('TOO_LARGE', `${place} answered with more than ${limit} bytes.`)
  if (Number(response.headers.get('content-length') ?? 0) > limit) {
    discardBody(response)
    throw tooLarge()
  }
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  if (!reader) return new Uint8Array()
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw new NetworkError('UNREACHABLE', `${place} broke off its answer: ${describeFailure(error)}.`)
    })
    if (done) break
    // Counted after decompression: a few compressed kilobytes may stand for gigabytes.
    size += value.byteLength
    if (size > limit) {
      reader.cancel().catch(() => {})
      throw tooLarge()
    }
    chunks.push(value)
  }
  return joinBytes(chunks, size)
}

// No connection, or none that is trusted: names as Node.js and undici give them.
const connecting =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_ALTNAME_INVALID|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/

function wasNeverSent(error: unknown): boolean {
  const { code, cause } = Object(error) as { code?: unknown; cause?: { code?: unknown } }
  return [cause?.code, code].some((value) => typeof value === 'string' && connecting.test(value))
}

function discardBody(response: Response): void {
  response.body?.cancel().catch(() => {})
}

// The platform's message may quote the URL with its query; its code does not.
function describeFailure(error: unknown): string {
  if (error instanceof NetworkError) return error.message
  const { code, cause } = Object(error) as { code?: unknown; cause?: { code?: unknown } }
  const known = [cause?.code, code].find((value) => typeof value === 'string')
  return known === undefined ? 'the connection failed' : String(known)
}

/** Bytes in one piece. `size`: of all of them. */
export function joinBytes(
  parts: readonly Uint8Array[],
  size: number = parts.reduce((sum, part) => sum + part.byteLength, 0),
): Uint8Array<ArrayBuffer> {
  const [first] = parts
  // A part of a larger buffer would keep all of it.
  if (first && parts.length === 1 && first.buffer.byteLength === size) return first as Uint8Array<ArrayBuffer>
  const whole = new Uint8Array(size)
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.byteLength
  }
  return whole
}
