/** Helpers to write plugins: the factory of one that brings a provider type, and a type for a literal. */
import type { ProviderFlow } from '../contract/flow.ts'
import type { Kernel, Plugin } from '../contract/plugin.ts'
import type { Provider, ProviderOf, ProviderType } from '../contract/provider.ts'
import type { Route } from '../contract/route.ts'
import { InvalidProvider } from '../errors/index.ts'
import { asProvider } from '../options/providers.ts'

/** A provider as a host gives it to the plugin of its type: `type`, `id` and `name` have defaults. */
export type ProviderOptionsOf<T extends ProviderType> = T extends ProviderType
  ? Omit<ProviderOf<T>, 'type' | 'id' | 'name'> & { type?: T | undefined; id?: string | undefined; name?: string | undefined }
  : never

/** What a type consists of. */
export interface ProviderPluginSpec<T extends ProviderType, Ext = void> {
  /** Name of the provider type. */
  type: T
  /** Its `options` name what a host may write; other names are rejected at compile, with the nearest known one. */
  flow: ProviderFlow<ProviderOf<T>>
  /** Stands under a provider that has no `id`. With an `id`, `name` defaults to it. */
  defaults: { id: string; name: string } & Partial<ProviderOf<T>>
  /** Adds the provider of `defaults` when the host gives none of this type. Default false: the plugin brings the type alone. */
  alone?: boolean
  /** Routes of the type, beside those of every sign-in. */
  routes?: readonly Route[]
  /** Registers what else the type needs: cookies, pending lists, hooks, records. What it returns is the plugin's API on `auth`. */
  setup?(kernel: Kernel): Ext
}

/**
 * A plugin factory that takes any number of providers, or functions that answer one. The plugin is named `<type>:<ids>` after the providers'
 * ids (`options.id` of a preset counts first), and `<type>` without any.
 */
export function providerPlugin<T extends ProviderType, Ext = void>(
  spec: ProviderPluginSpec<T, Ext>,
): (...providers: readonly (ProviderOptionsOf<T> | (() => ProviderOptionsOf<T>))[]) => Plugin<Ext> {
  const { type, flow, defaults, alone = false, routes = [], setup } = spec
  return (...providers) => {
    const ids = providers.flatMap((provider) => idOf(provider, defaults.id) ?? [])
    return {
      name: [type, ids.join(',')].filter(Boolean).join(':'),
      setup(kernel) {
        kernel.providerType(type, flow)
        const api = setup?.(kernel)
        for (const route of routes) kernel.route(route)
        for (const provider of providers) {
          if (typeof provider === 'function') kernel.provider(() => completeProvider(spec, callProvider(provider)))
          else kernel.provider(completeProvider(spec, provider as PluginInput))
        }
        if (alone && providers.length === 0) kernel.provider(asProvider({ ...defaults, type }), { fallback: true })
        return api as Ext
      },
    }
  }
}

type PluginInput = { type?: string; id?: string; name?: string; options?: { id?: string } }

function completeProvider({ type, defaults }: { type: string; defaults: { id: string; name: string } }, given: PluginInput): Provider {
  if (typeof given !== 'object' || given === null) {
    throw new InvalidProvider(
      `${type}Plugin() was given ${given === null ? 'null' : `a ${typeof given}`}. Give it the options of a provider.`,
    )
  }
  const other = given.type ?? type
  if (other !== type) {
    throw new InvalidProvider(`${type}Plugin() was given provider "${given.id}" of type "${other}". Give it to ${other}Plugin().`)
  }
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const symbols = Object.fromEntries(Object.getOwnPropertySymbols(given).map((key) => [key, (given as Record<symbol, unknown>)[key]]))
  const hasId = given.id !== undefined || given.options?.id !== undefined
  return asProvider({ ...(!hasId && defaults), ...said, ...symbols, type })
}

// Presets may be given uncalled: `oidcPlugin(google)`.
function callProvider(provider: CallableFunction): PluginInput {
  return provider({}) as PluginInput
}

// A function that throws is called again at compile, where its error becomes the configuration mistake.
function idOf(provider: unknown, fallback: string): string | undefined {
  try {
    const { id, options } = (typeof provider === 'function' ? callProvider(provider) : provider) as PluginInput
    return options?.id ?? id ?? fallback
  } catch {
    return undefined
  }
}

/** Types a plugin literal; the type of its api is inferred. */
export function definePlugin<Ext>(plugin: Plugin<Ext>): Plugin<Ext> {
  return plugin
}
