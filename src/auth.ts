/** createKernel: registration, snapshots and the five doors. */
import { compile, type Compiled } from './compile.ts'
import { type AuthConfig, resolveConfig } from './config.ts'
import type { Context } from './context.ts'
import { bareFailure, dispatch } from './dispatch.ts'
import { AuthError } from './errors.ts'
import { type Inspection, inspect } from './inspect.ts'
import { defaultKeyInfo } from './jwe.ts'
import type { DecisionHandler, Decisions, EventHandler, Events, Settings } from './messages.ts'
import { createLimit, createOnce } from './once.ts'
import type { Doors, HandleOptions, Plugin, With } from './plugin.ts'
import { createPluginKernel, createRecord, type KernelParts, type Layer, type Record as PluginRecord, replayOrder } from './registry.ts'
import { RequestContext } from './request-context.ts'
import { coreRoutes } from './routes.ts'
import { createSealer } from './sealer.ts'
import { resolveSettings } from './settings.ts'
import { createShared, type Shared } from './shared.ts'
import { raw } from './symbols.ts'
import type { Awaitable } from './types.ts'

/** What `createAuth` returns, without the faces of plugins. */
export interface Core<Ext> extends Doors {
  /** Adds a plugin, also while requests run; they keep the snapshot they began with. Throws when the name or the face is taken. */
  use<E>(plugin: Plugin<E>): Auth<With<Ext, E>>
  /** Takes a plugin away. Throws for an unknown name, with the list of names. */
  remove(name: string): void
  /** Answers a decision; returns a function that takes it back. The host's answers come last, so it has the last word. */
  hook<K extends keyof Decisions>(name: K, handler: DecisionHandler<K>): () => void
  /** Listens to an event; returns a function that takes it back. */
  on<K extends keyof Events>(name: K, handler: EventHandler<K>): () => void
  /** Several at once, in the shape of the options; returns a function that takes all back. */
  hooks(handlers: Pick<AuthConfig, 'callbacks' | 'events'>): () => void
  /** Plugins, routes, providers, services and handlers with their owners. */
  inspect(): Inspection
  /** Stops timers and closes adapters. */
  close(): Promise<void>
}
/** A kernel with the faces of its plugins. */
export type Auth<Ext = unknown> = Core<Ext> & Ext

/** For bindings whose configuration is a function of the request: what several kernels share. */
export interface KernelOptions {
  shared?: Shared
  /** Plugins of `createAuth`, which give way to the host's. */
  preset?: readonly Plugin[]
}

/** A bare kernel: nothing works that was not `.use()`d. Reads no environment (D41). Throws what a preset plugin's `setup` throws. */
export function createKernel(config: AuthConfig = {}, { shared = createShared(), preset = [] }: KernelOptions = {}): Auth {
  const resolved = resolveConfig(config)
  const base: Settings = {
    secret: resolved.secret,
    origin: resolved.origin ?? '',
    basePath: resolved.basePath,
    cookiePrefix: 'authkernel',
    keyInfo: defaultKeyInfo,
    encryption: ['A256CBC-HS512'],
  }
  const records: PluginRecord[] = []
  const owners = new Map<PropertyKey, PluginRecord>()
  // A removed plugin may still serve the requests that began with it, so what it opened stays open until the end.
  const leftOpen: PluginRecord['closers'] = []
  let compiled: Compiled | undefined
  const invalidate = (): void => {
    compiled = undefined
  }
  const current = (): Compiled => compile(replayOrder(records), resolved, shared, base)

  /** A promise only where a decision must be waited for. */
  function contextFor(request: Request, options: HandleOptions = {}, canSetCookies = true): Awaitable<RequestContext> {
    const app = (compiled ??= current())
    if (!app.bus.known.has('hook:settings')) return new RequestContext(app, request, app.settings, options, canSetCookies)
    return resolveSettings(app, request).then((settings) => new RequestContext(app, request, settings, options, canSetCookies))
  }

  const doors: Doors = {
    async handler(request, options) {
      let ctx: RequestContext
      try {
        ctx = await contextFor(request, options)
      } catch (error) {
        resolved.logger.error(error as Error)
        return bareFailure()
      }
      return dispatch(ctx, resolved.raw === raw)
    },
    dispatch: async (request, options) => dispatch(await contextFor(request, options), true),
    async session(request, options) {
      const ctx = await contextFor(request, options, false)
      if (ctx.app.fault) throw ctx.app.fault
      return ctx.currentSession()
    },
    async read(request, options) {
      const ctx = await contextFor(request, options)
      if (ctx.app.fault) throw ctx.app.fault
      const session = await ctx.currentSession()
      const headers = new Headers()
      ctx.jar.write(headers)
      return { session, headers }
    },
    async ready() {
      const { fault } = (compiled ??= current())
      if (fault) throw fault
    },
  }
  const parts: KernelParts = {
    config: resolved,
    invalidate,
    doors,
    context: async (request, options): Promise<Context> => contextFor(request, options),
  }

  function register(plugin: Plugin, layer: Layer): unknown {
    if (typeof plugin?.setup !== 'function' || typeof plugin.name !== 'string')
      throw new AuthError(`use() takes a plugin, an object with \`name\` and \`setup\`: call the factory, as in \`.use(oidcPlugin())\`.`)
    const record = createRecord(plugin, layer)
    const twin = records.find(({ name, layer: other }) => name === plugin.name && other === layer)
    if (twin)
      throw new AuthError(
        `The plugin "${plugin.name}" is used twice: ${twin.place} and ${record.place}. Remove one, or give it another name.`,
      )
    const face = plugin.setup(createPluginKernel(record, parts))
    if (face instanceof Promise) {
      face.catch(() => {})
      throw new AuthError(
        `Plugin "${plugin.name}": \`setup\` must not be async, it only registers. Do the work in a handler, on first use.`,
      )
    }
    claimFace(record, face, layer)
    records.push(record)
    invalidate()
    return face
  }

  function claimFace(record: PluginRecord, face: unknown, layer: Layer): void {
    if (typeof face !== 'object' || face === null) return
    for (const key of Reflect.ownKeys(face)) {
      const owner = owners.get(key)
      const replaces = owner?.layer === 'preset' && layer === 'plugin' && owner.name === record.name
      if (owner ? !owner.removed && !replaces : key in auth) {
        throw new AuthError(
          `Plugin "${record.name}" wants to put "${String(key)}" on auth, which is taken by ${owner ? `plugin "${owner.name}"` : 'the kernel'}. Rename it.`,
        )
      }
    }
    for (const key of Reflect.ownKeys(face)) {
      owners.set(key, record)
      record.face.push(key)
      const { get, value } = Object.getOwnPropertyDescriptor(face, key) as PropertyDescriptor
      Object.defineProperty(auth, key, { ...(get ? { get: () => get.call(face) } : { value }), configurable: true, enumerable: true })
    }
  }

  const host = createRecord({ name: 'host' }, 'host')
  const hostKernel = createPluginKernel(host, parts)
  records.push(host)
  const auth: Core<unknown> = {
    ...doors,
    use(plugin) {
      register(plugin, 'plugin')
      return auth as never
    },
    remove(name) {
      const named = records.filter((record) => record.name === name && record.layer !== 'host')
      if (named.length === 0) {
        const names = records.filter(({ layer }) => layer !== 'host').map((record) => record.name)
        throw new AuthError(`There is no plugin "${name}" to remove. Plugins: ${names.join(', ')}.`)
      }
      for (const record of named) {
        record.removed = true
        leftOpen.push(...record.closers.splice(0))
        records.splice(records.indexOf(record), 1)
        for (const key of record.face) {
          if (owners.get(key) !== record) continue
          Object.defineProperty(auth, key, { get: () => fail(name), configurable: true, enumerable: false })
        }
      }
      invalidate()
    },
    hook: (name, handler) => hostKernel.hook(name, handler),
    on: (name, handler) => hostKernel.on(name, handler),
    hooks({ callbacks = {}, events = {} }) {
      const undo = [
        ...entries(callbacks).map(([name, handler]) =>
          hostKernel.hook(name as keyof Decisions, handler as DecisionHandler<keyof Decisions>),
        ),
        ...entries(events).map(([name, handler]) => hostKernel.on(name as keyof Events, handler as EventHandler<keyof Events>)),
      ]
      return () => undo.forEach((take) => take())
    },
    inspect: () => inspect((compiled ??= current()), replayOrder(records)),
    async close() {
      const closing = [...records.flatMap(({ closers }) => closers.splice(0)), ...leftOpen.splice(0)]
      const failures: unknown[] = []
      for (const close of closing) {
        try {
          await close()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }

  host.steps.push((draft) => draft.routes.push(...coreRoutes))
  hostKernel.provide('sealer', createSealer(resolved.runtime, shared), { fallback: true })
  hostKernel.provide('once', createOnce(resolved.runtime, shared), { fallback: true })
  hostKernel.provide('limit', createLimit(resolved.runtime, shared), { fallback: true })
  for (const plugin of preset) register(plugin, 'preset')
  for (const provider of config.providers ?? []) hostKernel.provider(provider)
  auth.hooks(config)
  return auth as Auth
}

function entries(handlers: object): [string, unknown][] {
  return Object.entries(handlers).filter(([, handler]) => typeof handler === 'function')
}

function fail(name: string): never {
  throw new Error(`plugin ${name} was removed`)
}
