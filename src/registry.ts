/** What each plugin registered, as a list of small steps in its own record: removing a plugin is deleting a record. */
import type { ResolvedConfig } from './config.ts'
import type { Context } from './context.ts'
import type { Draft, Rank } from './draft.ts'
import type { Verb } from './hooks.ts'
import type { HandleOptions, Kernel, Plugin } from './plugin.ts'
import type { Services } from './services.ts'
import type { Awaitable } from './types.ts'

/** `preset` plugins give way to the host's of the same name. */
export type Layer = 'preset' | 'plugin' | 'host'
/** One registration, replayed at each compile. */
export type Step = (draft: Draft) => void
/** Everything one plugin registered. */
export interface Record {
  readonly name: string
  readonly layer: Layer
  readonly requires: readonly (keyof Services)[]
  /** File and line of the `.use()` call. */
  readonly place: string
  readonly steps: Step[]
  readonly closers: (() => Awaitable<void>)[]
  readonly face: PropertyKey[]
  removed: boolean
}
/** What the kernel lends to the plugin side. */
export interface KernelParts {
  config: ResolvedConfig
  invalidate(): void
  doors: Kernel['doors']
  context(request: Request, options?: HandleOptions): Promise<Context>
}

export function createRecord(plugin: Pick<Plugin, 'name' | 'requires'>, layer: Layer): Record {
  return {
    name: plugin.name,
    layer,
    requires: plugin.requires ?? [],
    place: callerPlace(),
    steps: [],
    closers: [],
    face: [],
    removed: false,
  }
}

/** The `kernel` that a plugin's `setup` gets. */
export function createPluginKernel(record: Record, parts: KernelParts): Kernel {
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
  /** A face outlives its plugin in somebody's variable: it must say so instead of half working. */
  const alive = <A extends unknown[], R>(door: (...args: A) => R): ((...args: A) => R) => {
    return (...args) => {
      if (record.removed) throw new Error(`plugin ${name} was removed`)
      return door(...args)
    }
  }
  const { doors } = parts
  return {
    config: parts.config,
    runtime: parts.config.runtime,
    doors: {
      handler: alive(doors.handler),
      dispatch: alive(doors.dispatch),
      session: alive(doors.session),
      read: alive(doors.read),
      ready: alive(doors.ready),
    },
    context: alive(parts.context),
    defaults: ({ cookies, trustProxyFollowsHost, ...settings }) => {
      add((draft) => {
        draft.settings = { ...draft.settings, ...settings }
        draft.cookies = { ...draft.cookies, ...cookies }
        draft.trustProxyFollowsHost ||= trustProxyFollowsHost === true
      })
    },
    decision: (decision, verb, ...carry) => void add((draft) => draft.decision(decision, verb as Verb, carry[0], name)),
    provide: (service, value, options) => void add((draft) => draft.provide(service, value, rankOf(record, options?.fallback), name)),
    providerType: (type, flow, options) => void add((draft) => draft.providerType(type, flow as never, name, options?.fallback === true)),
    provider: (provider) => void add((draft) => draft.providers.push({ value: provider, owner: name })),
    route: (route) => void add((draft) => draft.routes.push({ value: route, owner: name })),
    hook: (decision, handler) => add((draft) => draft.handler('hook', decision, handler as never, name)),
    on: (event, handler) => add((draft) => draft.handler('on', event, handler as never, name)),
    onClose: (callback) => void record.closers.push(callback),
  }
}

/** Plugins of the preset give way to the host's; what the kernel brings itself gives way to everybody's. */
function rankOf({ layer }: Record, fallback: boolean | undefined): Rank {
  if (layer === 'preset') return 'fallback'
  return fallback ? (layer === 'host' ? 'kernel' : 'fallback') : 'explicit'
}

/** Records in the order they are replayed: preset plugins that nobody replaced, the host's plugins, the host itself. */
export function replayOrder(records: readonly Record[]): Record[] {
  const replaced = new Set(records.filter(({ layer }) => layer === 'plugin').map(({ name }) => name))
  const of = (layer: Layer): Record[] => records.filter((record) => record.layer === layer)
  return [...of('preset').filter(({ name }) => !replaced.has(name)), ...of('plugin'), ...of('host')]
}

// The first frame outside of the kernel. Stack formats differ between runtimes, so this is a hint and nothing more.
function callerPlace(): string {
  const frames = (new Error('place').stack ?? '').split('\n').slice(1)
  const outside = frames.find((frame) => !/[\\/](?:registry|auth|preset)\.[mt]?[jt]s/.test(frame))
  return outside?.trim().replace(/^at /, '') ?? 'unknown place'
}
