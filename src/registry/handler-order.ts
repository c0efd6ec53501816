/** Puts the handlers of one hook or event into the order that their plugins ask for. */
import type { PluginOrder } from '../contract/plugin.ts'
import { AuthError } from '../errors/index.ts'

/** A handler with the plugin that added it, and the plugins that it wants to be asked before and after. */
export interface PlacedHandler {
  owner?: string
  before?: PluginOrder | undefined
  after?: PluginOrder | undefined
}

/**
 * The handlers in the order in which they are asked. Those without a wish keep their order among each other. Names of plugins without a handler here
 * change nothing. Throws AuthError for a circle, with the plugins of it. `what` names the hook or event: `the hook "login"`.
 */
export function orderHandlers<T extends PlacedHandler>(what: string, handlers: readonly T[]): T[] {
  const owned = (names: PluginOrder | undefined): T[] => {
    const plugins = new Set(pluginsOf(names).map(({ plugin }) => plugin))
    return handlers.filter(({ owner }) => owner !== undefined && plugins.has(owner))
  }
  const earlier = new Map<T, Set<T>>(handlers.map((handler) => [handler, new Set(owned(handler.after))]))
  // A handler that moves ahead of another one takes the place of that one.
  const place = new Map<T, number>(handlers.map((handler, index) => [handler, index]))
  for (const handler of handlers) {
    for (const follower of owned(handler.before)) {
      earlier.get(follower)?.add(handler)
      place.set(handler, Math.min(place.get(handler) as number, handlers.indexOf(follower)))
    }
  }
  const remaining = [...handlers]
  const ordered: T[] = []
  while (remaining.length > 0) {
    const ready = remaining.filter((handler) => !remaining.some((other) => earlier.get(handler)?.has(other)))
    if (ready.length === 0) throw createCircleFault(what, findCircle(remaining, earlier))
    const next = ready.reduce((a, b) => ((place.get(b) as number) < (place.get(a) as number) ? b : a))
    ordered.push(next)
    remaining.splice(remaining.indexOf(next), 1)
  }
  return ordered
}

/** The plugins of `before` or `after`, one by one. */
export function pluginsOf(order: PluginOrder | undefined): { plugin: string; optional?: true }[] {
  if (order === undefined) return []
  return [order].flat().map((one) => (typeof one === 'string' ? { plugin: one } : (one as { plugin: string; optional?: true })))
}

/** Each of the remaining handlers waits for another one of them, so that a walk from one to the next comes back. */
function findCircle<T extends PlacedHandler>(remaining: readonly T[], earlier: ReadonlyMap<T, ReadonlySet<T>>): string[] {
  const walk: T[] = []
  let next = remaining[0]
  while (next && !walk.includes(next)) {
    walk.push(next)
    next = remaining.find((other) => earlier.get(walk.at(-1) as T)?.has(other))
  }
  const circle = walk.slice(walk.indexOf(next as T)).toReversed()
  return [...circle, circle[0] as T].map(({ owner = '' }) => owner)
}

function createCircleFault(what: string, circle: readonly string[]): AuthError {
  const [plugin] = circle
  return new AuthError(
    circle.length === 2
      ? `Plugin "${plugin}" wants to answer ${what} before or after itself. Take its own name out of \`before\` and \`after\`.`
      : `The order of ${what} is a circle: ${circle.map((name) => `"${name}"`).join(' before ')}. Take one of these names out of \`before\` or \`after\`.`,
  )
}
