/** What is registered, by whom: for `authkernel doctor`, tests and curious people. */
import type { Registration } from './registration.ts'
import type { Compiled } from './snapshot.ts'

/** Plain data. */
export interface Inspection {
  /** `layer`: `preset` for plugins of `createAuth`, `plugin` for those of `.use()`. */
  plugins: { name: string; layer: string }[]
  /** Routes of plugins, and those of the kernel with the plugin `kernel`. */
  routes: { method: string; path: string; plugin: string }[]
  /** Providers that people can sign in with. */
  providers: { id: string; name: string; type: string }[]
  /** Types that a provider may have. */
  providerTypes: string[]
  /** Name of the plugin by the name of the service; `host` for those of the kernel. */
  services: Record<string, string>
  /** In their order: the first is the innermost. */
  decorators: { name: string; plugin: string }[]
  /** Handlers of hooks, in the order of registration. */
  hooks: { name: string; plugin: string }[]
  /** Listeners, in the order of registration. */
  events: { name: string; plugin: string }[]
  /** Names of tables that plugins declared. */
  records: { name: string; plugin: string }[]
  /** Fields of records that are encrypted in the store. `unreadable`: what a value is that no secret decrypts. */
  sealed: { record: string; field: string; unreadable: 'null' | 'absent' }[]
  /** Functions that plugins put on `auth`, such as `sessions.list`. */
  apis: { name: string; plugin: string }[]
  /** Names of pages that plugins draw. */
  pages: { name: string; plugin: string }[]
  /** Texts that a plugin lacks in a language that others speak: English is shown. */
  gaps: { plugin: string; lang: string; keys: string[] }[]
  /** The first configuration mistake. */
  fault?: string
}

/** `auth`: what the APIs of plugins are on. */
export function inspectSnapshot(
  { draft, config, parts, providers, flows, fault }: Compiled,
  records: readonly Registration[],
  auth: object,
): Inspection {
  const handlers = (kind: 'hook' | 'on'): { name: string; plugin: string }[] =>
    draft.handlers.filter((handler) => handler.kind === kind).map(({ name, owner }) => ({ name, plugin: owner }))
  return {
    plugins: records.filter(({ layer }) => layer !== 'host').map(({ name, layer }) => ({ name, layer })),
    routes: draft.routes.map(({ value: { method, path }, owner }) => ({ method, path, plugin: owner })),
    providers: [...providers.values()].map(({ id, name, type }) => ({ id, name, type })),
    providerTypes: [...flows.keys()],
    services: Object.fromEntries(draft.serviceOwners),
    decorators: draft.decorators.map(({ name, owner }) => ({ name, plugin: owner })),
    hooks: handlers('hook'),
    events: handlers('on'),
    records: [...draft.records].map(([name, { owner }]) => ({ name, plugin: owner })),
    sealed: [...draft.records].flatMap(([record, { fields }]) =>
      [...fields].filter(([, { sealed }]) => sealed).map(([field, { unreadable = 'null' as const }]) => ({ record, field, unreadable })),
    ),
    apis: records.flatMap(({ name: plugin, api }) =>
      api
        .filter((key) => typeof key === 'string')
        .flatMap((key) => functionsIn(Object.getOwnPropertyDescriptor(auth, key)?.value, key).map((name) => ({ name, plugin }))),
    ),
    pages: [...parts.pages.values()].map(({ name, plugin }) => ({ name, plugin })),
    gaps: draft.parts.gaps(config.messages),
    ...(fault && { fault: fault.message }),
  }
}

function functionsIn(value: unknown, path: string): string[] {
  if (typeof value === 'function') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap((key) => functionsIn(Reflect.get(value, key), `${path}.${key}`))
}
