/** The only maker of redirects to targets that come from outside (rows 70 to 76, D57). */
import { HttpError } from '../errors/base.ts'

/** Default rule: a path or a URL on the own origin (or an allowed one), else the origin. */
export function sameOrigin(target: string, origin: string, allowed: readonly string[] = []): string {
  const url = parseTarget(target, origin)
  if (!url) return origin
  // Paths keep their spelling; "//host" and "/\host" are paths here, never hosts (row 74).
  if (target.startsWith('/')) return url.origin === origin ? url.href : origin
  if (url.origin === origin) return target === url.origin ? origin : url.href
  return allowed.includes(url.origin) ? url.href : origin
}

/** Whether a value is a path of the own origin: `//host` and `/\\host` name another one. */
export function isLocalPath(value: unknown): value is string {
  return typeof value === 'string' && /^\/(?![/\\])/.test(value)
}

/** The option `returnTo` of a method as a path of the own origin. Throws HttpError 400 that begins with `act`. */
export function toLocalPath(returnTo: unknown, act: string): string {
  if (isLocalPath(returnTo)) return returnTo
  throw new HttpError(400, `${act}: \`returnTo\` must be a path that begins with one "/".`)
}

/** Whether a candidate can be a callback URL at all: http(s), or a path; not too long; no control characters. */
export function isCallbackUrl(candidate: unknown, origin: string, maxLength: number): candidate is string {
  if (typeof candidate !== 'string' || candidate === '' || candidate.length > maxLength) return false
  // Browsers drop tab and newline inside a URL: "/\t/evil.example" would become a host.
  if (/[\u0000-\u001F\u007F\\]/.test(candidate)) return false
  if (!candidate.startsWith('/') && !/^https?:\/\//i.test(candidate)) return false
  return parseTarget(candidate, origin) !== undefined
}

/** Appends query parameters to a URL or path that may already have some (row D21). */
export function withParams(target: string, params: Readonly<Record<string, string | undefined>>): string {
  const hash = target.indexOf('#')
  const head = hash === -1 ? target : target.slice(0, hash)
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(params)) if (value !== undefined) query.append(key, value)
  const text = query.toString()
  if (text === '') return target
  return `${head}${head.includes('?') ? '&' : '?'}${text}${hash === -1 ? '' : target.slice(hash)}`
}

// What a host's own callback decides may leave http, for an app link; a script URL is never a destination.
const scripts = /^\s*(?:javascript|data|vbscript|blob|file):/i

/** What the host's own callback answered, fit for a Location. Throws TypeError for a script URL, and for no URL. */
export function checkedTarget(target: string, origin: string): string {
  if (typeof target === 'string' && target.startsWith('/')) return localPath(target, origin)
  if (typeof target !== 'string' || !URL.canParse(target) || scripts.test(target) || /[\u0000-\u001F\u007F]/.test(target)) {
    throw new TypeError(`The redirect callback returned ${JSON.stringify(target)}, which is not a URL to go to.`)
  }
  // A header takes ASCII only.
  return /[^\u0020-\u007E]/.test(target) ? new URL(target).href : target
}

/** A path as the parser writes it. "//host", "/\host" and "/<tab>/host" would leave the origin, which a path is not meant to do. */
function localPath(target: string, origin: string): string {
  const { href } = new URL(origin + target)
  const path = href.slice(origin.length)
  return path.startsWith('//') ? href : path
}

function parseTarget(target: string, origin: string): URL | undefined {
  // "//host/x" on our own origin: joined as a path, so that no scheme-relative host can appear.
  const text = target.startsWith('/') ? origin + target : target
  try {
    const url = new URL(text)
    if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '') return undefined
    return url
  } catch {
    return undefined
  }
}
