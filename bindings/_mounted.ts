/** Where a wildcard route is mounted, for frameworks that tell the pattern which matched. */
import { isBelow } from 'authkernel/kernel'

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
