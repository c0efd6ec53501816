/** Switching plugins while requests run, and what each of them registered. */
import type { Auth } from 'authkernel/kernel'
import type { Switch } from './catalogue.ts'

/** What a plugin registered, by name. */
export interface Registered {
  routes: readonly string[]
  hooks: readonly string[]
  events: readonly string[]
  records: readonly string[]
  services: readonly string[]
  pages: readonly string[]
}
/** A switch as it is now. */
export interface Switched extends Switch {
  active: boolean
  registered: Registered
}
/** The board of switches. */
export interface Board {
  groups(): Readonly<Record<string, readonly Switched[]>>
  /** Undefined: done. Else why it stays as it was. Throws RangeError for an unknown id. */
  set(id: string, on: boolean): Promise<string | undefined>
}

export function createBoard(auth: Auth, catalogue: Readonly<Record<string, readonly Switch[]>>): Board {
  const all = Object.values(catalogue).flat()
  // Names of the plugins that are in use: a plugin may be called otherwise than its page.
  const active = new Map<string, string>()
  const standIns = new Set<string>()
  const add = (entry: Switch): void => {
    const plugin = entry.make()
    const other = [...active].find(([, name]) => name === plugin.name)?.[0]
    if (other !== undefined) throw new Error(`Switch off ${other} first: both are the plugin "${plugin.name}".`)
    if (standIns.delete(plugin.name)) auth.remove(plugin.name)
    auth.use(plugin)
    active.set(entry.id, plugin.name)
  }
  for (const entry of all) if (entry.on) add(entry)
  // One at a time: a configuration that is refused is taken back before the next one is tried.
  let line: Promise<unknown> = Promise.resolve()

  async function change(entry: Switch, on: boolean): Promise<string | undefined> {
    if (active.has(entry.id) === on) return undefined
    const take = (): void => {
      const name = active.get(entry.id)!
      auth.remove(name)
      active.delete(entry.id)
      if (!entry.otherwise) return
      auth.use(entry.otherwise())
      standIns.add(name)
    }
    try {
      if (on) add(entry)
      else take()
      await auth.ready()
      return undefined
    } catch (error) {
      if (on && active.has(entry.id)) take()
      else if (!on) add(entry)
      await auth.ready()
      return error instanceof Error ? error.message : String(error)
    }
  }

  return {
    groups() {
      const found = auth.inspect()
      const of = (list: readonly { name: string; plugin: string }[], plugin: string): string[] => [
        ...new Set(list.filter((each) => each.plugin === plugin).map(({ name }) => name)),
      ]
      const look = (entry: Switch): Switched => {
        const plugin = active.get(entry.id)
        const name = plugin ?? ''
        return {
          ...entry,
          active: plugin !== undefined,
          registered: {
            routes: found.routes.filter((each) => each.plugin === name).map(({ method, path }) => `${method} ${path}`),
            hooks: of(found.hooks, name),
            events: of(found.events, name),
            records: of(found.records, name),
            services: Object.entries(found.services)
              .filter(([, owner]) => owner === name)
              .map(([service]) => service),
            pages: of(found.pages, name),
          },
        }
      }
      return Object.fromEntries(Object.entries(catalogue).map(([group, entries]) => [group, entries.map(look)]))
    },
    set(id, on) {
      const entry = all.find((each) => each.id === id)
      if (!entry) throw new RangeError(`There is no plugin ${JSON.stringify(id)} in the playground.`)
      const done = line.then(() => change(entry, on))
      line = done.catch(() => {})
      return done
    },
  }
}
