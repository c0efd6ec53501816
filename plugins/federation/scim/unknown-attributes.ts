/** Attributes that no schema has are ignored, and logged once for each directory and name. */
import type { Caller } from './caller.ts'

// Bounded, so that a client which invents names fills no memory.
const loggedNames = new Set<string>()
const most = 1000

/** The callback for readers of resources: warns of a name once in this process. */
export function noteUnknown({ ctx, directory }: Caller): (name: string) => void {
  return (name) => {
    const key = `${directory.id} ${name.slice(0, 100)}`
    if (loggedNames.has(key) || loggedNames.size >= most) return
    loggedNames.add(key)
    ctx.logger.debug('scim-unknown-attribute', { directory: directory.name, attribute: name.slice(0, 100) })
  }
}
