/** Routes before the router is loaded, which the first request does: registering needs no more than their paths. */
import type { Route, Routes } from '../contract/route.ts'
import type { Owned } from './draft.ts'

/** Finds nothing; `createRoutes` becomes its members. A path that cannot be mounted is not in `rootPaths`. */
export function lateRoutes(routes: readonly Owned<Route>[]): Routes {
  const paths = routes.filter(({ value: { at, path } }) => at === 'root' && isRootPath(path)).map(({ value: { path } }) => path)
  return { list: [], rootPaths: [...new Set(paths)], find: () => undefined, findRoot: () => undefined }
}

/** What a path at the root of an origin must be. */
export function isRootPath(path: string): boolean {
  return /^\/\.well-known\/[\w./-]+$/.test(path)
}

/** Whether a route has the path, whatever its method: as the router finds it. */
export function isRouted(routes: readonly Owned<Route>[], place: 'base' | 'root', path: string): boolean {
  const asked = segmentsOf(path)
  return routes.some(({ value: { at = 'base', path: pattern } }) => at === place && fits(segmentsOf(pattern), asked))
}

function segmentsOf(path: string): string[] {
  return path === '/' || path === '' ? ['', ''] : path.replace(/\/$/, '').split('/')
}

function fits(pattern: readonly string[], asked: readonly string[]): boolean {
  if (pattern.at(-1)?.startsWith('**') ? asked.length < pattern.length : asked.length !== pattern.length) return false
  // No parameter stands for nothing.
  if (asked.length > 1 && asked.at(-1) === '' && pattern.at(-1) !== '') return false
  return pattern.every((segment, at) => /^[:*]/.test(segment) || segment === asked[at])
}
