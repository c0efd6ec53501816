/** What each plugin registered, through its `kernel`, as a list of small steps in its own record: removing a plugin is deleting a record. */
import type { Awaitable } from '../contract/data.ts'
import type { EntryPoints } from '../contract/entry-points.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { HandlerPlace, Kernel, Plugin, Requirement } from '../contract/plugin.ts'
import type { Decorator, Draft, Rank } from './draft.ts'
import type { ResolvedConfig } from '../contract/config.ts'
import type { Context } from '../contract/context.ts'
import type { CookieHandle, CookieSpec, PendingList, PendingSpec } from '../contract/cookie.ts'
import type { Provider } from '../contract/provider.ts'
import type { PageDraw } from '../contract/page.ts'
import type { RecordSpec } from '../contract/records.ts'
import type { Route } from '../contract/route.ts'
import { AuthError } from '../errors/index.ts'
import { createCookie, createPending } from '../http/cookie-handle.ts'
import type { Verb } from './hooks.ts'

/** `preset` plugins give way to the host's of the same name. */
export type Layer = 'preset' | 'plugin' | 'host'
/** One registration, replayed at each compile. */
export type Step = (draft: Draft) => void
/** What runs at `auth.close()`; `first`: before those that close a store. */
export interface Closer {
  run(): Awaitable<void>
  first: boolean
}
/** Everything one plugin registered. */
export interface Registration {
  readonly name: string
  readonly layer: Layer
  readonly requires: readonly Requirement[]
  readonly prefers: readonly Requirement[]
  /** File and line of the `.use()` call. */
  readonly place: string
  readonly steps: Step[]
  readonly closers: Closer[]
  readonly api: PropertyKey[]
  /** What `setup` returned, with the members that `api` names. */
  made: object
  /** `setup` is over. */
  ready: boolean
  removed: boolean
}
/** `entry`: the function that the caller called, so that messages can say where. */
export function createRegistration(
  plugin: Pick<Plugin, 'name' | 'requires' | 'prefers'>,
  layer: Layer,
  entry: CallableFunction,
): Registration {
  return {
    name: plugin.name,
    layer,
    requires: plugin.requires ?? [],
    prefers: plugin.prefers ?? [],
    place: placeOf(entry),
    steps: [],
    closers: [],
    api: [],
    made: {},
    ready: false,
    removed: false,
  }
}

/** Records in the order they are replayed: preset plugins that were not replaced, the host's plugins, the host itself. */
export function replayOrder(records: readonly Registration[]): Registration[] {
  const replaced = new Set(records.filter(({ layer }) => layer === 'plugin').map(({ name }) => name))
  const of = (layer: Layer): Registration[] => records.filter((record) => record.layer === layer)
  return [...of('preset').filter(({ name }) => !replaced.has(name)), ...of('plugin'), ...of('host')]
}

/** Where `entry` was called. Stack formats differ between runtimes, so this is a hint and nothing more. */
function placeOf(entry: CallableFunction): string {
  const holder: { stack?: string } = {}
  if (Error.captureStackTrace) Error.captureStackTrace(holder, entry)
  const frame = (holder.stack ?? '').split('\n').find((line) => /:\d+/.test(line))
  return frame?.trim().replace(/^at /, '') ?? 'unknown place'
}

/** What the kernel lends to the plugin side. */
export interface KernelParts {
  config: ResolvedConfig
  invalidate(): void
  entryPoints: Kernel['entryPoints']
  inspect: Kernel['inspect']
  contextOf: Kernel['contextOf']
  answer: Kernel['answer']
  job: Kernel['job']
  matches: Kernel['matches']
  placeOf: Kernel['placeOf']
  service: Kernel['service']
}

/** The `kernel` that a plugin's `setup` gets. */
export function createPluginKernel(record: Registration, parts: KernelParts): Kernel {
  const { name } = record
  const add = (step: Step): (() => void) => {
    record.steps.push(step)
    parts.invalidate()
    return () => {
      const index = record.steps.indexOf(step)
      if (index !== -1) record.steps.splice(index, 1)
      parts.invalidate()
    }
  }
  /** An API outlives its plugin in a variable of the host app: it must say so instead of half working. */
  const alive = <A extends unknown[], R>(entry: (...args: A) => R): ((...args: A) => R) => {
    return (...args) => {
      if (record.removed) throw new Error(`plugin ${name} was removed`)
      return entry(...args)
    }
  }
  const entryPoints: EntryPoints = {
    handler: alive(parts.entryPoints.handler),
    dispatch: alive(parts.entryPoints.dispatch),
    session: alive(parts.entryPoints.session),
    read: alive(parts.entryPoints.read),
    ready: alive(parts.entryPoints.ready),
    cleanup: alive(parts.entryPoints.cleanup),
    reseal: alive(parts.entryPoints.reseal),
    login: parts.entryPoints.login,
    get rootPaths() {
      return alive(() => parts.entryPoints.rootPaths)()
    },
  }
  const declareHook: Kernel['declareHook'] = (hook, verb, ...carry) =>
    void add((draft) => draft.declareHook(hook, verb as Verb, carry[0], name))
  return {
    config: parts.config,
    runtime: parts.config.runtime,
    inspect: alive(parts.inspect),
    entryPoints,
    contextOf: alive(parts.contextOf as (...args: unknown[]) => unknown) as Kernel['contextOf'],
    answer: alive(parts.answer),
    job: alive(parts.job as (...args: unknown[]) => unknown) as Kernel['job'],
    matches: alive(parts.matches),
    placeOf: alive(parts.placeOf),
    service: (service) => {
      if (!record.ready)
        throw new AuthError(
          `Plugin "${name}" asks for the service "${service}" in \`setup\`, before services exist. Ask in a handler or in its API.`,
        )
      // `alive` knows functions of any type.
      return alive(parts.service)(service) as never
    },
    defaults: ({ cookies, trustProxyFollowsHost, ...settings }) => {
      add((draft) => {
        draft.settings = { ...draft.settings, ...settings }
        draft.cookies = { ...draft.cookies, ...cookies }
        draft.trustProxyFollowsHost ||= trustProxyFollowsHost === true
      })
    },
    declareHook,
    declareEvent: (...events) => void add((draft) => draft.declareEvents(events, name)),
    provide: (service, value, options) => void add((draft) => draft.provide(service, value, rankOf(record, options?.fallback), name)),
    records: (table, spec, optional) =>
      void add((draft) => {
        if (!optional) return draft.record(table, spec as RecordSpec, name)
        draft.optionalRecords.push({ name: table, spec: spec as RecordSpec, owner: name, when: optional.when })
      }),
    sessionStrategy: (strategy, make, { suits, remedies } = {}) =>
      void add((draft) => draft.strategies.push({ name: strategy, make, suits, remedies, owner: name, rank: rankOf(record, undefined) })),
    sessionKind: (kind) => void add((draft) => draft.sessionKind(kind, name)),
    cookie: (named: string | CookieHandle, spec?: CookieSpec) => {
      const handle = typeof named === 'string' ? createCookie(named, spec) : named
      add((draft) => draft.cookie(handle, name))
      return handle
    },
    pending: <E extends object>(named: string | PendingList<E>, spec?: PendingSpec<E>) => {
      const list = typeof named === 'string' ? createPending<E>(named, spec as PendingSpec<E>) : named
      add((draft) => draft.cookie(list.cookie, name))
      return list
    },
    decorate: (service, make) => void add((draft) => draft.decorators.push({ name: service, value: make as Decorator, owner: name })),
    providerType: (type, flow, options) =>
      // A flow is given providers of its own type alone.
      void add((draft) => draft.providerType(type, flow as unknown as ProviderFlow<Provider>, name, options?.fallback === true)),
    provider: (provider, { fallback } = {}) => {
      // A plugin of the preset brings a type. Its providers are those that the host lists.
      if (fallback && record.layer === 'preset') return
      add((draft) => draft.providers.push({ value: provider, owner: name, fallback: fallback === true }))
    },
    route: (route) => void add((draft) => draft.routes.push({ value: route, owner: name })),
    page: (page, draw, { path } = {}) => {
      add((draft) => draft.parts.page(page, draw, path, name))
      if (path === undefined) return
      const handler = (ctx: Context): Promise<Response> => ctx.render(page, Object.fromEntries(ctx.url.searchParams))
      // The same function again is the same page with one route.
      const value = pageRoutes.get(draw) ?? { method: 'GET', path, handler }
      pageRoutes.set(draw, value)
      add((draft) => draft.routes.push({ value, owner: name }))
    },
    slot: (page, place, draw, order = 0) => void add((draft) => draft.parts.slot({ page, place, draw, order, plugin: name })),
    accountSection: (section) => void add((draft) => draft.parts.section(section, name)),
    messages: (texts) => void add((draft) => draft.parts.messages(texts, name)),
    mailTemplate: (mail, template) => void add((draft) => draft.parts.template(mail, template, name)),
    hook: (hook: string, handler: unknown, options?: HandlerPlace & { last?: boolean; of?: string | readonly string[] }) =>
      // The overloads of `Kernel.hook` have checked it.
      add((draft) => draft.handler('hook', hook, handler as never, name, options)),
    on: (event: string, handler: unknown, options?: HandlerPlace & { reads?: boolean; of?: string | readonly string[] }) =>
      // The overloads of `Kernel.on` have checked it.
      add((draft) => draft.handler('on', event, handler as never, name, options)),
    credential: (read, { header = 'authorization' } = {}) => void add((draft) => draft.credentials.push({ read, header })),
    preload: (load) => void add((draft) => draft.preloads.push(load)),
    observe: (observer) => void add((draft) => draft.observers.push(observer)),
    onAccessEnd: (step, end) => void add((draft) => draft.endSteps.push({ step, end, owner: name })),
    onClose: (run, { first = false } = {}) => void record.closers.push({ run, first }),
  }
}

// One function draws one page.
const pageRoutes: WeakMap<PageDraw, Route> = new WeakMap()

/** Plugins of the preset give way to the host's; what the kernel brings itself gives way to all others. */
function rankOf({ layer }: Registration, fallback: true | 'last' | undefined): Rank {
  if (layer === 'preset') return 'fallback'
  if (fallback === 'last' || (fallback && layer === 'host')) return 'last'
  return fallback ? 'fallback' : 'explicit'
}
