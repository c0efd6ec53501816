/** From a path to a route. */
import { addRoute, createRouter, findRoute, type RouterContext } from 'rou3'
import type { Match, Route, RouteInfo, RouteMethod, Routes } from '../contract/route.ts'
import { didYouMean } from '../errors/did-you-mean.ts'
import { AuthError } from '../errors/index.ts'
import { assertNames } from '../options/option-names.ts'
import type { OwnedBy } from './draft.ts'

type Entry = { route: Route; info: RouteInfo }

const star = /\*$/
const methods: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Builds the router. Throws AuthError on two routes of one method and shape, and on a path that cannot be mounted. */
export function createRoutes(routes: readonly OwnedBy<Route>[]): Routes {
  const base = createRouter<Entry>()
  const root = createRouter<Entry>()
  const known = new Map<string, OwnedBy<Route>>()
  const list: RouteInfo[] = []
  // Fallbacks come last, so that what is no fallback is known by then. Of two patterns for the same paths the first counts: a name before a last `*`.
  const rank = ({ value: { fallback, path } }: OwnedBy<Route>): number => (fallback ? 2 : 0) + Number(star.test(path))
  const ordered = [...routes].sort((a, b) => rank(a) - rank(b))
  for (const { value: route, owner } of ordered) {
    const { method, path, at = 'base', optional, flow, takes, client } = route
    assertKinds(route, owner)
    assertPath(route, owner)
    const id = `${at} ${method} ${shapeOf(path)}`
    const other = known.get(id)
    // The same object twice is one route: a provider type may be brought by several plugins.
    if (other?.value === route || (other && route.fallback)) continue
    if (other) {
      throw new AuthError(
        `The route ${method} ${path} is registered by plugin "${other.owner}" and by plugin "${owner}". Change one of the paths.`,
      )
    }
    known.set(id, { value: route, owner })
    const info: RouteInfo = Object.freeze({
      method,
      path,
      at,
      plugin: owner,
      flow,
      ...(takes && { takes }),
      ...(client && { client }),
      ...(optional && { optional }),
    })
    list.push(info)
    addRoute(at === 'root' ? root : base, method, patternOf(path), { route, info })
  }
  return {
    list,
    rootPaths: [...new Set(list.filter(({ at }) => at === 'root').map(({ path }) => path))],
    find: (method, path) => lookUp(base, method, path),
    findRoot: (method, path) => lookUp(root, method, path),
  }
}

/** Those of a configuration whose routes are wrong. */
export const noRoutes: Routes = { list: [], rootPaths: [], find: () => undefined, findRoot: () => undefined }

function lookUp(router: RouterContext<Entry>, method: string, path: string): Match | undefined {
  const found = findRoute(router, method, path)
  if (found) {
    const { route, info } = found.data
    return { route, info, params: decodeParams(found.params) }
  }
  const others = methods.flatMap((other) => findRoute(router, other, path)?.data ?? [])
  const [first] = others
  if (!first) return undefined
  // A plugin's GET answers HEAD without its body. A step of a sign-in is not run for a scanner that only looks (D17).
  const get = others.find(({ info }) => info.method === 'GET')
  if (method === 'HEAD' && get && get.info.plugin !== 'kernel' && !get.info.flow) return lookUp(router, 'GET', path)
  return { allow: others.map(({ info }) => info.method), info: first.info }
}

/** The library lets a last `*` stand for nothing, too; a name, which gets the number of that `*`, stands for one segment. */
function patternOf(path: string): string {
  return path.replace(star, `:${path.split('/*').length - 2}`)
}

// What the library reads as a group or a modifier is no path of ours.
const segment = /^(?:[\w.~!$&',;=@-]+|:[A-Za-z]\w*|\*)$/

// What a path at the root of an origin must be.
const rootPath = /^\/\.well-known\/[\w./-]+$/

const kinds: Readonly<Record<string, readonly unknown[]>> = {
  at: ['base', 'root'],
  csrf: ['token', 'origin', 'crossSite', 'bearer'],
  fallback: [true, false],
  optional: [true, false],
  flow: ['signIn', 'callback'],
  takes: ['typed', 'proof'],
}
const members = [...Object.keys(kinds), 'method', 'path', 'public', 'cors', 'body', 'handler', 'failure', 'refusal', 'client']

/** A misspelt protection would be none. */
function assertKinds(route: Route, owner: string): void {
  const where = `The route ${route.method} ${route.path} of plugin "${owner}"`
  for (const [name, value] of Object.entries(route)) {
    if (!members.includes(name) && value !== undefined)
      throw new AuthError(
        `${where} has an unknown member \`${name}\`.${didYouMean(name, members) || ` Known: ${members.toSorted().join(', ')}.`}`,
      )
    const known = kinds[name]
    if (value === undefined || !known || known.includes(value)) continue
    const words = known.filter((one) => typeof one === 'string')
    // `csrf: false` reads as "no check".
    const hint = name === 'csrf' && value === false ? ' Did you mean "crossSite"?' : didYouMean(String(value), words)
    throw new AuthError(
      `${where} has \`${name}: ${JSON.stringify(value)}\`.${hint} Known: ${known.map((one) => JSON.stringify(one)).join(', ')}.`,
    )
  }
  if (typeof route.handler !== 'function') throw new AuthError(`${where} has no function \`handler\`.`)
  if (route.body !== undefined) assertNames(where, route.body, { bytes: true, types: true }, 'body')
  if (route.cors !== undefined) assertNames(where, route.cors, { origins: true, headers: true }, 'cors')
  const types = route.body?.types?.find((type) => !['form', 'json', 'text', 'binary'].includes(type))
  if (types !== undefined) throw new AuthError(`${where} has the body type ${JSON.stringify(types)}. Known: form, json, text, binary.`)
}

function assertPath({ method, path, at, cors, csrf, public: isPublic }: Route, owner: string): void {
  const where = `The route ${method} ${path} of plugin "${owner}"`
  if (!methods.includes(method)) throw new AuthError(`${where} has a method that cannot be served: use ${methods.join(', ')}.`)
  const [first, ...segments] = typeof path === 'string' ? path.split('/') : []
  const last = segments.at(-1) ?? ''
  const plain = /^\*\*:[A-Za-z]\w*$/.test(last) ? segments.slice(0, -1) : segments
  if (first !== '' || (path !== '/' && !plain.every((part) => segment.test(part)))) {
    throw new AuthError(`${where} cannot be served: segments are static, ":name", "*", and as the last one "**:rest".`)
  }
  if (at === 'root' && !rootPath.test(path)) throw new AuthError(`${where} is at the root: that is for exact paths below "/.well-known/".`)
  if (cors && csrf !== 'bearer' && !isPublic)
    throw new AuthError(`${where} has \`cors\`, which is for routes with \`csrf: 'bearer'\` or \`public\`: others read cookies.`)
}

/** Two paths of one shape answer the same requests. */
function shapeOf(path: string): string {
  return path.replace(/\*\*[^/]*/g, '**').replace(/:[^/]+/g, ':')
}

function decodeParams(params: Record<string, string> | undefined): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const name in params) {
    const value = params[name] as string
    plain[name] = value.includes('%') ? decodeSegment(value) : value
  }
  return plain
}

function decodeSegment(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    // Only callers that did not ask `pathBelow` come with such a path.
    return value
  }
}
