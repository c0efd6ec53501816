/** The event `scimChanged`: what a directory did. */
import type { Row } from 'authkernel/kernel'
import type { MemberChange } from './members.ts'
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
  /**
   * Their values, by name. For what is new all of them are in `after`. Of `members` of a group `before` has the ids that the request removed, and `after` those that
   * it added. `before` is `all` where the request replaced or removed all members.
   */
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

/**
 * Fires the event for a group. `before`: the row as it was; `members`: what the request adds and removes. Long lists are cut, as every long value.
 */
export async function emitGroupChange(
  { ctx, directory }: Caller,
  act: ScimAct,
  row: Row<ScimGroupRow>,
  { before, members = [] }: { before?: ScimGroupRow; members?: readonly MemberChange[] } = {},
): Promise<void> {
  const isGone = act === 'group.removed'
  const [former, next] = [before ?? (isGone ? row : undefined), isGone ? undefined : row]
  const own = (['displayName', 'externalId'] as const).filter((name) => (former?.[name] ?? null) !== (next?.[name] ?? null))
  const changes = Object.fromEntries(
    own.map((name): [string, AttributeChange] => [name, { before: former?.[name] ?? null, after: next?.[name] ?? null }]),
  )
  const [removed, added] = [listIds(members, ['remove']), listIds(members, ['add', 'replace'])]
  const isEmptied = members.some(({ op }) => op === 'all' || op === 'replace')
  if (members.length > 0) changes['members'] = { before: isEmptied ? 'all' : shorten(removed), after: shorten(added) }
  await ctx.emit('scimChanged', {
    act,
    directoryId: directory.id,
    organizationId: directory.organizationId,
    id: row.id,
    ...(before && { attributes: Object.keys(changes) }),
    changes,
  })
}

function listIds(changes: readonly MemberChange[], ops: readonly MemberChange['op'][]): string[] | null {
  const ids = changes.filter(({ op }) => ops.includes(op)).flatMap((change) => change.ids.slice(0, 50))
  return ids.length > 0 ? ids : null
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
