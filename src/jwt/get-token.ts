/** Reads the session token of a request without a kernel (rows 103 to 109). */
import type { Awaitable, JWT, LoggerInstance } from '../contract/data.ts'
import type { DecodeParams, KeyInfo } from '../contract/config.ts'
import { MissingSecret } from '../errors/index.ts'
import { CookieJar } from '../http/cookies.ts'
import { decode as defaultDecode } from '../keys/token.ts'

/** What `getToken` needs. */
export interface GetTokenParams<Raw extends boolean = false> {
  /** Its headers are read. Throws an Error without it. */
  req: Request | { headers: Headers | Record<string, string | string[] | undefined> }
  /** Not needed with `raw`. */
  secret?: string | readonly string[] | undefined
  /** Default: the cookie name. */
  salt?: string | undefined
  /** Default: the session cookie of this library. */
  cookieName?: string | undefined
  /** The `__Secure-` name; default: whether the environment's AUTH_URL is https. */
  secureCookie?: boolean | undefined
  /** Replaces `decode` of `authkernel/jwt`. */
  decode?: ((params: DecodeParams) => Awaitable<JWT | null>) | undefined
  /** HKDF info of the key by `salt`, for hosts that changed it. */
  keyInfo?: KeyInfo | undefined
  /** Its `debug` receives a token that cannot be decoded; default: nothing is logged. */
  logger?: Partial<LoggerInstance> | undefined
  /** The token as it is, not decoded (row 105). */
  raw?: Raw | undefined
}

/**
 * The payload of the session cookie, else of `Authorization: Bearer`; null when absent, not readable or over. No store is asked: a session that was ended
 * on the server still has a payload. `act` names who acts as the user (RFC 8693); `ses.kinds` has `guest` for guests and `bound` for sessions whose
 * device only the server can check.
 * Throws an Error without `req` and MissingSecret without `secret` (row 107).
 */
export async function getToken<Raw extends boolean = false>(
  params: GetTokenParams<Raw>,
): Promise<(Raw extends true ? string : JWT) | null> {
  const { req, secret, decode = defaultDecode, keyInfo, logger, raw } = params
  if (!req) throw new Error('getToken needs `req`: a Request, or an object with `headers`.')
  const secure = params.secureCookie ?? configuredUrl()?.startsWith('https://') ?? false
  const cookieName = params.cookieName ?? `${secure ? '__Secure-' : ''}authkernel.session-token`
  if (!raw && (!secret || secret.length === 0)) throw new MissingSecret('getToken needs `secret`: the same value that createAuth uses.')

  const token =
    new CookieJar(readHeader(req.headers, 'cookie')).getChunked(cookieName) ?? readBearer(readHeader(req.headers, 'authorization'))
  if (!token) return null
  if (raw) return token as Raw extends true ? string : JWT
  try {
    const payload = await decode({ token, secret: secret ?? [], salt: params.salt ?? cookieName, ...(keyInfo && { keyInfo }) })
    return (isOver(payload as JWT | null) ? null : payload) as (Raw extends true ? string : JWT) | null
  } catch {
    // Every client can send a bad token: worth a debug line, not an error.
    logger?.debug?.('getToken: the token could not be decoded')
    return null
  }
}

/** A session with a fixed end ends exactly then: no tolerance for clocks, which `decode` has. */
function isOver(payload: JWT | null): boolean {
  const { until } = Object(payload?.['ses']) as { until?: unknown }
  return until !== undefined && !(typeof until === 'number' && Date.now() < until)
}

function readBearer(value: string | null): string | undefined {
  const encoded = /^Bearer (\S+)$/i.exec(value ?? '')?.[1]
  if (!encoded) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

function readHeader(headers: Headers | Record<string, string | string[] | undefined>, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name)
  const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name)
  const value = key === undefined ? undefined : headers[key]
  return Array.isArray(value) ? value.join('; ') : (value ?? null)
}

function configuredUrl(): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env['AUTH_URL']
}
