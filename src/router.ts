/** From a path to a route (rows 1 to 6). */
import { addRoute, createRouter, findRoute } from 'rou3'
import { AuthError } from './errors.ts'
import type { Owned } from './draft.ts'
import type { Route } from './plugin.ts'

/** Answer of a look-up. */
export type Match = { route: Route; params: Record<string, string> } | 'wrong-method' | undefined
/** The compiled route table. */
export interface Routes {
  find(method: string, path: string): Match
}

/** Builds the router. Throws on two routes of one method and path. */
export function createRoutes(routes: readonly Owned<Route>[]): Routes {
  const router = createRouter<Route>()
  const known = new Map<string, Owned<Route>>()
  for (const { value: route, owner } of routes) {
    const id = `${route.method} ${route.path.replace(/:[^/]+/g, ':')}`
    const other = known.get(id)
    // The same object twice is one route: a provider type may be brought by several plugins.
    if (other?.value === route) continue
    if (other) {
      throw new AuthError(
        `The route ${route.method} ${route.path} is registered by plugin "${other.owner}" and by plugin "${owner}". Change one of the paths.`,
      )
    }
    known.set(id, { value: route, owner })
    addRoute(router, route.method, route.path, route)
  }
  return {
    find(method, path) {
      const found = findRoute(router, method, path)
      if (found) return { route: found.data, params: decoded(found.params) }
      return findRoute(router, method === 'GET' ? 'POST' : 'GET', path) ? 'wrong-method' : undefined
    },
  }
}

const withProvider: ReadonlySet<string> = new Set(['signin', 'callback', 'webauthn-options'])

/** Path below the base path with empty segments dropped (row 4); undefined outside of it (row 13, D23). */
export function pathBelow(basePath: string, pathname: string): string | undefined {
  const base = basePath === '/' ? '' : basePath
  if (!pathname.startsWith(base)) return undefined
  const rest = pathname.slice(base.length)
  // "/authors" is not below "/auth".
  if (rest !== '' && !rest.startsWith('/')) return undefined
  const segments = rest.split('/').filter((segment) => segment !== '')
  // The literal id "undefined" is what clients send for no provider (row 6).
  if (segments.length === 2 && segments[1] === 'undefined' && withProvider.has(segments[0] ?? '')) segments.pop()
  return `/${segments.join('/')}`
}

function decoded(params: Record<string, string> | undefined): Record<string, string> {
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(params ?? {})) {
    try {
      result[name] = decodeURIComponent(value)
    } catch {
      result[name] = value
    }
  }
  return result
}
