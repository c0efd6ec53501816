/** Where a handler is mounted, as the path that matched it tells: by the pattern of a wildcard route, or by what Express took off (D23). */
import { isBelow } from 'authkernel/kernel'
import { targetPath, type Target } from './edge.ts'

/**
 * Base path of a handler at `pattern` (`/api/auth/*`, `/t/:tenant/auth/**`, `/api/auth/:rest{.+}`) for a request to `path`; undefined: that of the options.
 * The options win where they fit: `app.use('/api/*', handler)` with base path `/api/auth` is no mount at `/api`.
 */
export function mountedAt(pattern: string | undefined, path: string, basePath: string): string | undefined {
  if (basePath !== '/' && isBelow(basePath, path)) return undefined
  const fixed = /^(\/.*[^/])\/(?:\*\*?(?::\w+)?|:\w+\{\.[*+]\})$/.exec(pattern ?? '')?.[1]
  if (fixed === undefined) return undefined
  const count = fixed.split('/').length
  const segments = path.split('/')
  return segments.length < count ? undefined : segments.slice(0, count).join('/')
}

/**
 * Path of the mount as the client sees it, or undefined when the handler is mounted at the root or under a pattern that does
 * not tell. `/auth` keeps its path in `baseUrl`; wildcards (`/auth/*`, `/auth/*splat`, `/auth/{*splat}`) swallow the route
 * into `params`, so that `baseUrl` is the whole path or nothing.
 */
export function mountPath(req: Target & { baseUrl: string; params: unknown }): string | undefined {
  const path = targetPath(req)
  const tail = wildcardMatch(req.params)
  const base = tail === undefined ? undefined : pathWithout(path, tail)
  return (base ?? trimEndSlashes(req.baseUrl)) || undefined
}

/** What the last wildcard matched: Express 5 gives named lists of segments, Express 4 numbered texts. */
function wildcardMatch(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null) return undefined
  let found: string | undefined
  for (const [name, value] of Object.entries(params)) {
    if (Array.isArray(value)) found = value.join('/')
    else if (/^\d+$/.test(name) && typeof value === 'string') found = value
  }
  return found === undefined ? undefined : trimSlashes(found)
}

/** `path` less `tail`, which Express has percent-decoded: the end of the path that decodes to it. */
function pathWithout(path: string, tail: string): string | undefined {
  const segments = trimEndSlashes(path).split('/')
  for (let at = segments.length - 1; at > 0; at--) {
    if (trimSlashes(decodePath(segments.slice(at).join('/'))) === tail) return segments.slice(0, at).join('/')
  }
  return undefined
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function trimSlashes(text: string): string {
  return trimEndSlashes(text).replace(/^\/+/, '')
}

function trimEndSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
