/** createKernel: registration and snapshots. */

import type { AuthConfig, Settings } from '../contract/config.ts'
import type { EventHandler, Events, HookHandler, Hooks } from '../contract/messages.ts'
import type { EntryPoints } from '../contract/entry-points.ts'
import type { Kernel, Plugin, With } from '../contract/plugin.ts'
import type { SharedState } from '../contract/services.ts'
import { AuthError } from '../errors/index.ts'
import { defaultKeyInfo } from '../keys/crypto.ts'
import { resolveConfig } from '../options/config.ts'
import { checkHostNames } from '../options/host-options.ts'
import { compileSnapshot } from '../registry/compile.ts'
import type { Inspection } from '../contract/inspection.ts'
import { inspectSnapshot } from '../registry/inspect.ts'
import {
  type KernelParts,
  createPluginKernel,
  type Layer,
  type Registration,
  createRegistration,
  replayOrder,
} from '../registry/registration.ts'
import { coreRoutes } from '../request/routes.ts'
import { knownDeviceCookie } from '../request/sign-in-names.ts'
import { createLimit, createOnce, createShared } from '../runtime/shared.ts'
import { lazily, lazyObject } from '../runtime/lazy.ts'
import { type Current, createEntryPoints } from './entry-points.ts'
import type { LoggerInstance } from '../contract/data.ts'
import type { Observer } from '../contract/observer.ts'
import type { RecordSpec } from '../contract/records.ts'
import type { Draft } from '../registry/draft.ts'
import { accessRecord, accessRecordName } from '../access/tables.ts'
import { createPublicFetch } from './public-fetch.ts'
import { parkedCookies, parkedRecord } from '../sign-in/parked-parts.ts'

// Loaded by the first value that is sealed or opened: registering and compiling need no cryptography.
const sealing = /* @__PURE__ */ lazily(() => import('../keys/sealer.ts'))

/** What `createAuth` returns, without the APIs of plugins. */
export interface Core<Ext> extends EntryPoints {
  /** Adds a plugin, also while requests run; they keep the snapshot they began with. Throws when the name or the api is taken. */
  use<E>(plugin: Plugin<E>): Auth<With<Ext, E>>
  /** Takes a plugin away; a preset plugin of the same name, which it replaced, takes its place again. Throws for an unknown name, with the list of names. */
  remove(name: string): void
  /** Adds a handler to a hook; returns a function that removes it. Handlers of the host run last. */
  readonly hook: Kernel['hook']
  /** Listens to an event, or to every one (`*`); returns a function that removes it. */
  readonly on: Kernel['on']
  /** Several at once, in the shape of the options; returns a function that takes all back. */
  hooks(handlers: Pick<AuthConfig, 'callbacks' | 'events'>): () => void
  /** Plugins, routes, providers, services and handlers with their owners. */
  inspect(): Inspection
  /** Stops timers and closes adapters. */
  close(): Promise<void>
}
/** A kernel with the APIs of its plugins. */
export type Auth<Ext = unknown> = Core<Ext> & Ext

/** For bindings whose configuration is a function of the request: what several kernels share. */
export interface KernelOptions {
  /** State that kernels of one process have in common; default: a new one. Make it with `createShared()`. */
  shared?: SharedState
  /** Plugins of `createAuth`, which give way to the host's. */
  preset?: readonly Plugin[]
}

/** Creates a kernel without preset plugins. Add plugins with `.use()`. Reads no environment variables (D41). Throws if `setup` of a plugin throws. */
export function createKernel(config: AuthConfig = {}, { shared = createShared(), preset = [] }: KernelOptions = {}): Auth {
  checkHostNames(config, 'createKernel')
  const options = resolveConfig(config)
  const logger = observeLogger(options.logger, () => current.compiled?.observers ?? [])
  const resolved = Object.freeze({ ...options, logger })
  const base: Settings = {
    secret: resolved.secret,
    origin: resolved.origin ?? '',
    basePath: resolved.basePath,
    cookiePrefix: 'authkernel',
    namespace: '',
    keyInfo: defaultKeyInfo,
    encryption: ['A256CBC-HS512'],
  }
  const records: Registration[] = []
  const owners = new Map<PropertyKey, Registration>()
  // A removed plugin may still serve the requests that began with it, so what it opened stays open until the end.
  const leftOpen: Registration['closers'] = []
  const current: Current = {
    compiled: undefined,
    compile: () => compileSnapshot(replayOrder(records), resolved, shared, base, registerOwnParts),
  }
  const invalidate = (): void => {
    current.compiled = undefined
  }
  const points = createEntryPoints(current, resolved)
  const parts: KernelParts = { ...points, config: resolved, invalidate, inspect: () => auth.inspect() }

  function register(plugin: Plugin, layer: Layer, entry: CallableFunction): unknown {
    if (typeof plugin?.setup !== 'function' || typeof plugin.name !== 'string')
      throw new AuthError(`use() takes a plugin, an object with \`name\` and \`setup\`: call the factory, as in \`.use(oidcPlugin())\`.`)
    const record = createRegistration(plugin, layer, entry)
    const twin = records.find(({ name, layer: other }) => name === plugin.name && other === layer)
    if (twin)
      throw new AuthError(
        `The plugin "${plugin.name}" is used twice: ${twin.place} and ${record.place}. Remove one, or give it another name.`,
      )
    const api = plugin.setup(createPluginKernel(record, parts))
    if (api instanceof Promise) {
      api.catch(() => {})
      throw new AuthError(
        `Plugin "${plugin.name}": \`setup\` must not be async, it only registers. Do the work in a handler, on first use.`,
      )
    }
    claimApi(record, api, layer)
    record.ready = true
    records.push(record)
    invalidate()
    return api
  }

  function claimApi(record: Registration, api: unknown, layer: Layer): void {
    if (typeof api !== 'object' || api === null) return
    for (const key of Reflect.ownKeys(api)) {
      const owner = owners.get(key)
      const replaces = owner?.layer === 'preset' && layer === 'plugin' && owner.name === record.name
      if (owner ? !owner.removed && !replaces : key in auth) {
        throw new AuthError(
          `Plugin "${record.name}" wants to put "${String(key)}" on auth, which is taken by ${owner ? `plugin "${owner.name}"` : 'the kernel'}. Rename it.`,
        )
      }
    }
    record.made = api
    for (const key of Reflect.ownKeys(api)) {
      record.api.push(key)
      show(record, key)
    }
  }

  function show(record: Registration, key: PropertyKey): void {
    owners.set(key, record)
    const { made } = record
    const { get, value } = Object.getOwnPropertyDescriptor(made, key) as PropertyDescriptor
    Object.defineProperty(auth, key, { ...(get ? { get: () => get.call(made) } : { value }), configurable: true, enumerable: true })
  }

  const host = createRegistration({ name: 'host' }, 'host', createKernel)
  const hostKernel = createPluginKernel(host, parts)
  records.push(host)
  const auth: Core<unknown> = {
    ...points.entryPoints,
    get rootPaths() {
      return points.entryPoints.rootPaths
    },
    use(plugin) {
      register(plugin, 'plugin', auth.use)
      // What the plugin adds was put on `auth` by `register`.
      return auth as never
    },
    remove(name) {
      // A plugin of the preset that the host's replaced is not removed with it: it takes its place again.
      const [named] = records.filter((record) => record.name === name && record.layer !== 'host').toReversed()
      if (!named) {
        const names = records.filter(({ layer }) => layer !== 'host').map((record) => record.name)
        throw new AuthError(`There is no plugin "${name}" to remove. Plugins: ${names.join(', ')}.`)
      }
      named.removed = true
      leftOpen.push(...named.closers.splice(0))
      records.splice(records.indexOf(named), 1)
      for (const key of named.api) {
        if (owners.get(key) !== named) continue
        const former = records.find(({ name: other, api }) => other === name && api.includes(key))
        if (former) show(former, key)
        else Object.defineProperty(auth, key, { get: () => throwRemoved(name), configurable: true, enumerable: false })
      }
      invalidate()
    },
    hook: hostKernel.hook,
    on: hostKernel.on,
    hooks({ callbacks = {}, events = {} }) {
      const undo = [
        ...handlerEntries(callbacks).map(([name, handler]) => hostKernel.hook(name as keyof Hooks, handler as HookHandler<keyof Hooks>)),
        ...handlerEntries(events).map(([name, handler]) => hostKernel.on(name as keyof Events, handler as EventHandler<keyof Events>)),
      ]
      return () => undo.forEach((removeHandler) => removeHandler())
    },
    inspect: () => inspectSnapshot((current.compiled ??= current.compile()), replayOrder(records), auth),
    async close() {
      const all = [...records.flatMap(({ closers }) => closers.splice(0)), ...leftOpen.splice(0)]
      const closing = [...all.filter(({ first }) => first), ...all.filter(({ first }) => !first)]
      const failures: unknown[] = []
      for (const { run } of closing) {
        try {
          await run()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }

  host.steps.push((draft) => draft.routes.push(...coreRoutes))
  const sealer = lazyObject(['seal', 'open'], sealing, ({ createSealer }) => createSealer(resolved.runtime, shared))
  hostKernel.provide('sealer', sealer, { fallback: true })
  hostKernel.preload(async () => sealing())
  hostKernel.provide('once', createOnce(resolved.runtime, shared), { fallback: true })
  hostKernel.provide('limit', createLimit(resolved.runtime, shared), { fallback: true })
  hostKernel.provide('publicFetch', createPublicFetch(), { fallback: true })
  hostKernel.cookie(knownDeviceCookie)
  for (const plugin of preset) register(plugin, 'preset', createKernel)
  for (const provider of config.providers ?? []) hostKernel.provider(provider)
  auth.hooks(config)
  return auth as Auth
}

function handlerEntries(handlers: object): [string, unknown][] {
  return Object.entries(handlers).filter(([, handler]) => typeof handler === 'function')
}

function throwRemoved(name: string): never {
  throw new Error(`plugin ${name} was removed`)
}

/** Tells errors and warnings to the observers that there are at the moment, then to the logger. */
function observeLogger(logger: LoggerInstance, observers: () => readonly Observer[]): LoggerInstance {
  const tell: NonNullable<Observer['log']> = (entry) => observers().forEach(({ log }) => log?.(entry))
  return {
    ...logger,
    error: (error) => {
      tell({ error })
      logger.error(error)
    },
    warn: (code, details) => {
      tell({ code })
      logger.warn(code, details)
    },
  }
}

const leaseRecord: RecordSpec = {
  fields: { holder: { type: 'string', max: 64 }, until: { type: 'date' } },
  expires: 'until',
  id: 'given',
}

/**
 * What the kernel registers itself, after all plugins: cookies and records of parked logins, endings of access, and leases. Tables appear in a database
 * only where they are needed: for a plugin with a record of its own, or a `login` hook.
 */
function registerOwnParts(draft: Draft): void {
  for (const cookie of parkedCookies) draft.cookie(cookie, 'kernel')
  const needed = draft.records.size > 0 || draft.bus.has('hook', 'login')
  if (!needed || !draft.serviceNames().includes('records')) return
  draft.record('lease', leaseRecord, 'kernel')
  draft.record(accessRecordName, accessRecord, 'kernel')
  draft.record('parkedLogin', parkedRecord, 'kernel')
}
