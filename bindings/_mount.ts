/** Where an Express handler is mounted, for every form of mounting (D23). */
import { pathOf, type Target } from './_target.ts'

/**
 * Path of the mount as the client sees it, or undefined when the handler is mounted at the root or under a pattern that does
 * not tell. `/auth` keeps its path in `baseUrl`; wildcards (`/auth/*`, `/auth/*splat`, `/auth/{*splat}`) swallow the route
 * into `params`, so that `baseUrl` is the whole path or nothing.
 */
export function mountPath(req: Target & { baseUrl: string; params: unknown }): string | undefined {
  const path = pathOf(req)
  const tail = wildcard(req.params)
  const base = tail === undefined ? undefined : without(path, tail)
  return (base ?? trimEnd(req.baseUrl)) || undefined
}

/** What the last wildcard matched: Express 5 gives named lists of segments, Express 4 numbered texts. */
function wildcard(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null) return undefined
  let found: string | undefined
  for (const [name, value] of Object.entries(params)) {
    if (Array.isArray(value)) found = value.join('/')
    else if (/^\d+$/.test(name) && typeof value === 'string') found = value
  }
  return found === undefined ? undefined : trim(found)
}

/** `path` less `tail`, which Express has percent-decoded: the end of the path that decodes to it. */
function without(path: string, tail: string): string | undefined {
  const segments = trimEnd(path).split('/')
  for (let at = segments.length - 1; at > 0; at--) {
    if (trim(decode(segments.slice(at).join('/'))) === tail) return segments.slice(0, at).join('/')
  }
  return undefined
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function trim(text: string): string {
  return trimEnd(text).replace(/^\/+/, '')
}

function trimEnd(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
