/** What is registered, by whom: for `authkernel doctor`, tests and curious users. */
import type { Inspection } from '../contract/inspection.ts'
import type { Registration } from './registration.ts'
import type { Snapshot } from './snapshot.ts'

/** `auth`: what the APIs of plugins are on. */
export function inspectSnapshot(
  { draft, config, parts, providers, flows, fault }: Snapshot,
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
