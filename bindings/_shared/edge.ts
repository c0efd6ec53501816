/** What is known of a request at the edge of the server: its target, its host, and the address of the client. */
import { HttpError } from 'authkernel/kernel'

/** The parts of a Node request that say where it goes. */
export interface Target {
  url?: string | undefined
  originalUrl?: string | undefined
  headers: Readonly<Record<string, string | string[] | undefined>>
  socket: object
}
/** What the framework knows better than the raw headers, its own proxy settings applied. */
export interface Edge {
  /** `http` or `https`; default: whether the socket is encrypted. */
  protocol?: string | undefined
  /** `host[:port]`; default: the Host header. */
  host?: string | undefined
}

const hostPattern = /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/

/** The request's URL as the browser knows it. Throws HttpError 400 for a Host header that is none. */
export function publicUrl(req: Target, edge: Edge): string {
  const authority = req.headers[':authority']
  const host = edge.host ?? req.headers.host ?? authority ?? 'localhost'
  if (typeof host !== 'string' || !hostPattern.test(host)) throw badRequest()
  const protocol = edge.protocol ?? ('encrypted' in req.socket ? 'https' : 'http')
  if (protocol !== 'http' && protocol !== 'https') throw badRequest()
  return `${protocol}://${host}${requestPath(req)}`
}

/** What the first proxy wrote as the host, where proxies are trusted; undefined: the Host header counts. */
export function forwardedHost({ headers }: Target, trusted: boolean): string | undefined {
  const value = trusted ? headers['x-forwarded-host'] : undefined
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim() || undefined
}

/**
 * Path and query of the request target. An absolute target (`GET http://evil/auth/signin`, RFC 9112 section 3.2.2) counts
 * for its path alone: what it names as its host must not become our origin.
 */
function requestPath(req: Target): string {
  const target = req.originalUrl ?? req.url ?? '/'
  if (target.startsWith('/')) return target
  if (!/^https?:\/\//i.test(target)) return '/'
  const rest = target.slice(target.indexOf('//') + 2)
  const path = rest.search(/[/?#]/)
  return path === -1 ? '/' : rest[path] === '/' ? rest.slice(path) : `/${rest.slice(path)}`
}

/** Path of the request target, without the query. */
export function targetPath(req: Target): string {
  const target = requestPath(req)
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}

/** What a request gets that is none. */
export function badRequest(): HttpError {
  return new HttpError(400, 'Bad request.')
}

/** Address of the client as runtimes tell it: from Bun's server, Deno's info, or the `incoming` of Hono's Node server. Nothing else counts: workers pass their environment there. */
export function addressFrom(info: unknown, request: Request): string | undefined {
  if (typeof info !== 'object' || info === null) return undefined
  if ('requestIP' in info && typeof info.requestIP === 'function')
    return stringOrUndefined(stringMember(info.requestIP(request), 'address'))
  return (
    stringOrUndefined(stringMember(stringMember(info, 'remoteAddr'), 'hostname')) ??
    stringOrUndefined(stringMember(stringMember(stringMember(info, 'incoming'), 'socket'), 'remoteAddress'))
  )
}

function stringMember(from: unknown, key: string): unknown {
  return typeof from === 'object' && from !== null ? (from as Record<string, unknown>)[key] : undefined
}

function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
