/** The event `scimChanged`: what a directory did. */
import type { Row } from 'authkernel/kernel'
import type { ScimGroupRow, ScimUserRow } from './tables.ts'
import type { Caller } from './caller.ts'

/** What a directory did. */
export type ScimAct =
  | `user.${'created' | 'changed' | 'suspended' | 'restored' | 'removed'}`
  | `group.${'created' | 'changed' | 'removed' | 'members'}`

/** An attribute that a directory changed. Null: there was, or is, none. Values of more than 500 characters as JSON are cut to a text. */
export interface AttributeChange {
  before: unknown
  after: unknown
}

/** The event `scimChanged`. Attributes that schemas mark as `returned: 'never'` are not in it. */
export interface ScimChange {
  act: ScimAct
  directoryId: string
  organizationId: string
  /** Id of the resource. */
  id: string
  /** Of the stored user; absent for groups. */
  userId?: string
  /** Names of the attributes that differ; absent for what is new or gone. */
  attributes?: readonly string[]
  /** Their values, by name; absent for groups. For a new user all of them are in `after`. */
  changes?: Readonly<Record<string, AttributeChange>>
}
declare module 'authkernel/kernel' {
  interface Events {
    /** A directory created, changed or removed a user or a group. */
    scimChanged: ScimChange
  }
}

/** Fires the event for a user. `before`: the row as it was. */
export async function emitChange(caller: Caller, act: ScimAct, row: Row<ScimUserRow>, before?: ScimUserRow): Promise<void> {
  const { ctx, directory } = caller
  const isGone = act === 'user.removed'
  const changes = listChanges(caller, before ? flatten(before) : isGone ? flatten(row) : {}, isGone ? {} : flatten(row))
  await ctx.emit('scimChanged', {
    act,
    directoryId: directory.id,
    organizationId: directory.organizationId,
    id: row.id,
    userId: row.userId,
    ...(before && { attributes: Object.keys(changes) }),
    changes,
  })
}

/** Fires the event for a group. */
export async function emitGroupChange({ ctx, directory }: Caller, act: ScimAct, row: Row<ScimGroupRow>): Promise<void> {
  await ctx.emit('scimChanged', { act, directoryId: directory.id, organizationId: directory.organizationId, id: row.id })
}

function listChanges(
  { options }: Caller,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, AttributeChange> {
  const hidden = options.userType.extensions.filter(({ attributes }) => attributes.some(({ returned }) => returned === 'never'))
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const changed = names.filter((name) => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null))
  return Object.fromEntries(
    changed.map((name) => {
      const isHidden = hidden.some(({ id }) => id === name)
      return [name, isHidden ? { before: null, after: null } : { before: shorten(before[name]), after: shorten(after[name]) }]
    }),
  )
}

function shorten(value: unknown): unknown {
  const text = JSON.stringify(value ?? null)
  return text.length > 500 ? `${text.slice(0, 500)}…` : (value ?? null)
}

function flatten({ data, active, externalId }: ScimUserRow): Record<string, unknown> {
  return { ...(data as Record<string, unknown>), active, externalId }
}
