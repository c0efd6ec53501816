/** What a framework hands to a route: a web request, a context of Hono, or request and response of Node as Express has them. */
import { HttpError } from 'authkernel/kernel'
import { setHostRequest } from 'authkernel/kernel'

/** The parts of a request of Node or Express that are used here. */
export interface NodeLikeRequest {
  method?: string | undefined
  url?: string | undefined
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** Target before a router took its mount path off (Express). */
  originalUrl?: string | undefined
  /** `http` or `https`, the proxy settings of Express applied. */
  protocol?: string | undefined
  socket?: object | null | undefined
  app?: { get(setting: string): unknown } | undefined
}
/** The parts of a response of Node or Express that are used here. */
export interface NodeLikeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body: string): unknown
}
/** The part of a context of Hono that is used here. */
export interface HonoLikeContext {
  req: { raw: Request }
}

/** The web request of a web request or of a context of Hono; undefined: it is neither. */
export function webRequestOf(from: unknown): Request | undefined {
  if (isWebRequest(from)) return from
  const raw = (from as Partial<HonoLikeContext> | null)?.req?.raw
  return isWebRequest(raw) ? raw : undefined
}

/** A web request without the body of a request of Node, which is for the handler to read. Throws HttpError 400 for a Host header that is none. */
export function requestOfNode(req: NodeLikeRequest): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers))
    if (value !== undefined && !name.startsWith(':')) for (const one of [value].flat()) headers.append(name, one)
  const protocol = req.protocol ?? (req.socket && 'encrypted' in req.socket ? 'https' : 'http')
  const target = req.originalUrl ?? req.url ?? '/'
  const url = `${protocol}://${hostOf(req)}${target.startsWith('/') ? target : '/'}`
  const method = req.method ?? 'GET'
  if (!URL.canParse(url) || !/^[A-Z]+$/.test(method) || ['TRACE', 'TRACK', 'CONNECT'].includes(method)) throw badRequest()
  return setHostRequest(new Request(url, { method, headers }), req)
}

/** Sends a response that has a text. */
export async function sendToNode(res: NodeLikeResponse, response: Response): Promise<void> {
  const text = await response.text()
  res.writeHead(response.status, Object.fromEntries(response.headers))
  res.end(text)
}

function isWebRequest(value: unknown): value is Request {
  return typeof (value as Request | null)?.headers?.get === 'function' && typeof (value as Request).url === 'string'
}

function hostOf({ headers, app }: NodeLikeRequest): string {
  // Express says by its own setting whether proxies are trusted.
  const forwarded = app?.get('trust proxy') ? [headers['x-forwarded-host']].flat()[0]?.split(',')[0]?.trim() : undefined
  const host = forwarded || [headers['host'] ?? headers[':authority']].flat()[0] || 'localhost'
  if (!/^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/.test(host)) throw badRequest()
  return host
}

function badRequest(): HttpError {
  return new HttpError(400, 'Bad request.')
}
