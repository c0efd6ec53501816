/** What each plugin registered, as a list of small steps in its own record: removing a plugin is deleting a record. */
import type { Awaitable } from '../contract/data.ts'
import type { Plugin, Requirement } from '../contract/plugin.ts'
import type { Draft } from './draft.ts'

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

/** Records in the order they are replayed: preset plugins that nobody replaced, the host's plugins, the host itself. */
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
