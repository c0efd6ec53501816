/** Organizations of another product with everything in them, for a move that may be run again. */
import {
  type AnyContext,
  type ImportTarget,
  type Kernel,
  type NewRow,
  RecordConflict,
  type Records,
  type Row,
  sha256,
  toAddress,
  toHex,
} from 'authkernel/kernel'
import { type PluginInstance, rowsOf } from './actor.ts'

/** An organization of another product. Its id stays. */
export interface OrganizationTaken {
  id: string
  name: string
  slug: string
  created: Date
}
/** A membership. Keys are the ids of organization and user, with a slash between. */
export interface MemberTaken {
  organizationId: string
  userId: string
  role: string
  joined: Date
}
/** A team. Its id stays. */
export interface TeamTaken {
  id: string
  organizationId: string
  name: string
  created: Date
}
/** A membership in a team. */
export interface TeamMemberTaken {
  teamId: string
  organizationId: string
  userId: string
  joined: Date
}
/** An open invitation. */
export interface InvitationTaken {
  organizationId: string
  email: string
  role: string
  teamId: string | null
  inviterId: string | null
  /** 64 hex digits: who has them may accept it with the address. */
  token: string
  created: Date
  expires: Date
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Store what another product knows of organizations. */
    organizationImport: ImportTarget<OrganizationTaken>
    memberImport: ImportTarget<MemberTaken>
    teamImport: ImportTarget<TeamTaken>
    teamMemberImport: ImportTarget<TeamMemberTaken>
    invitationImport: ImportTarget<InvitationTaken>
  }
}

/** Provides the services. */
export function provideImports(kernel: Kernel, plugin: PluginInstance): void {
  const { roles } = plugin.options
  const refuseRole = (role: string): string | undefined =>
    roles.has(role) ? undefined : `organizationsPlugin has no role "${role}": add it to \`roles\`.`
  const refuseLong = (text: string, max: number, what: string): string | undefined =>
    text.length === 0 || text.length > max ? `${what} has no, or more than ${max} characters` : undefined
  kernel.provide(
    'organizationImport',
    createTarget<'organization', OrganizationTaken>(plugin, {
      record: 'organization',
      facts: ['name', 'slug'],
      refuse: ({ name, slug }) => refuseLong(name, 100, 'the name') ?? refuseLong(slug, 64, 'the slug'),
      // Members are counted when they are stored.
      toRow: async (_rows, { id, name, slug, created }) => ({ id, name, slug, members: 0, version: 0, closing: false, created }),
      keep: ['members', 'version', 'closing'],
    }),
  )
  kernel.provide(
    'teamImport',
    createTarget<'organizationTeam', TeamTaken>(plugin, {
      record: 'organizationTeam',
      facts: ['name'],
      refuse: ({ name }) => refuseLong(name, 100, 'the name of a team'),
      toRow: async (_rows, team) => ({ ...team }),
    }),
  )
  kernel.provide(
    'memberImport',
    createTarget<'organizationMember', MemberTaken>(plugin, {
      record: 'organizationMember',
      facts: ['role', 'joined'],
      refuse: ({ role }) => refuseRole(role),
      toRow: async (_rows, member) => ({ id: await idOf(`${member.organizationId}/${member.userId}`), ...member }),
      counts: true,
    }),
  )
  kernel.provide(
    'teamMemberImport',
    createTarget<'organizationTeamMember', TeamMemberTaken>(plugin, {
      record: 'organizationTeamMember',
      facts: ['joined'],
      toRow: async (_rows, member) => ({ id: await idOf(`${member.teamId}/${member.userId}`), ...member, role: null }),
    }),
  )
  kernel.provide(
    'invitationImport',
    createTarget<'organizationInvitation', InvitationTaken>(plugin, {
      record: 'organizationInvitation',
      facts: ['email', 'role', 'expires'],
      refuse: ({ email, role }) =>
        refuseRole(role) ?? (toAddress(email) === undefined ? 'the address of an invitation cannot be used' : undefined),
      toRow: async (rows, { token, email, ...invitation }) => ({
        id: await idOf(`${invitation.organizationId}/${email}`),
        ...invitation,
        email: toAddress(email) ?? email,
        token: await rows.digest('organization invitation', token),
      }),
    }),
  )
}

type OrganizationRecord = 'organization' | 'organizationTeam' | 'organizationMember' | 'organizationTeamMember' | 'organizationInvitation'

interface TargetSpec<K extends OrganizationRecord, T> {
  record: K
  /** Fields that users change: another value of one is another version. */
  facts: readonly (keyof Records[K] & string)[]
  refuse?: (value: T) => string | undefined
  /** Its id is made of the key, so that a page of rows is read at once. */
  toRow(rows: AnyContext, value: T): Promise<NewRow<Records[K]> & { id: string }>
  /** Fields that a refresh leaves. */
  keep?: readonly string[]
  /** Rows are members of their organization. */
  counts?: true
}

function createTarget<K extends OrganizationRecord, T>(plugin: PluginInstance, spec: TargetSpec<K, T>): ImportTarget<T> {
  // Rows by their own ids are named by their keys.
  const rowId = (key: string): Promise<string> | string => (key.includes('/') ? idOf(key) : key)
  const factsOf = (row: object): unknown[] => spec.facts.map((fact) => (row as Record<string, unknown>)[fact])
  const versionOf = async (row: object): Promise<string> => toHex(await sha256(JSON.stringify(factsOf(row))))
  const tableOf = async (ctx: AnyContext) => {
    const rows = await rowsOf(plugin, ctx)
    // One piece of code imports five kinds of rows. `Table` is what it uses of their tables.
    return { rows, table: rows.records(spec.record as 'organizationTeam') as unknown as Table }
  }
  return {
    refuse: (_ctx, value) => spec.refuse?.(value),
    isEmpty: async (ctx) => (await (await tableOf(ctx)).table.count({}, { max: 1 })) === 0,
    async read(ctx, given) {
      const { rows, table } = await tableOf(ctx)
      const ids = await Promise.all(given.map(({ key }) => rowId(key)))
      const found = new Map((await table.getMany(ids)).map((row) => [row.id, row]))
      return Promise.all(
        given.map(async ({ value }, at) => {
          const row = found.get(ids[at]!)
          if (!row) return undefined
          const version = await versionOf(row)
          return { version, same: value !== undefined && version === (await versionOf(await spec.toRow(rows, value))) }
        }),
      )
    },
    async write(ctx, given) {
      const { rows, table } = await tableOf(ctx)
      const drafts = await Promise.all(given.map(async ({ value, over }) => ({ over, row: await spec.toRow(rows, value) })))
      const fresh = drafts.filter(({ over }) => over === undefined).map(({ row }) => row)
      const stored = new Map<string, object>((await createRows(table, fresh)).map((row) => [row.id, row]))
      if (spec.counts) await addMembers(rows, [...stored.values()] as { organizationId: string }[], 1)
      for (const { over, row } of drafts) {
        if (over === undefined) continue
        const former = await table.get(row.id)
        if (!former || (await versionOf(former)) !== over) continue
        const change = Object.fromEntries(Object.entries(row).filter(([field]) => field !== 'id' && !spec.keep?.includes(field)))
        const done = await updateRow(table, row.id, change, Object.fromEntries(spec.facts.map((fact) => [fact, former[fact]])))
        if (done) stored.set(row.id, done)
      }
      return Promise.all(drafts.map(({ row: { id } }) => (stored.has(id) ? versionOf(stored.get(id)!) : undefined)))
    },
    async remove(ctx, given) {
      const { rows, table } = await tableOf(ctx)
      let removed = 0
      for (const { key, version } of given) {
        const row = await table.get(await rowId(key))
        if (!row || (await versionOf(row)) !== version) continue
        if (!(await table.take(row.id, { if: Object.fromEntries(spec.facts.map((fact) => [fact, row[fact]])) }))) continue
        // Rows of kinds that count have the id of their organization.
        if (spec.counts) await addMembers(rows, [row as unknown as { organizationId: string }], -1)
        removed++
      }
      return removed
    },
  }
}

/** As much of a table as is used here, whatever its record is. */
interface Table {
  count(where: object, options: { max: number }): Promise<number>
  get(id: string): Promise<Row<Record<string, unknown>> | null>
  getMany(ids: readonly string[]): Promise<Row<Record<string, unknown>>[]>
  create(row: object): Promise<Row<Record<string, unknown>>>
  createMany(rows: readonly object[]): Promise<Row<Record<string, unknown>>[]>
  update(id: string, change: object, options: { if: object }): Promise<Row<Record<string, unknown>> | null>
  take(id: string, options: { if: object }): Promise<object | null>
}

/** All at once, or one by one where a slug, a name or an address is taken: that one is left out. */
async function createRows(table: Table, rows: readonly object[]): Promise<Row<Record<string, unknown>>[]> {
  try {
    return await table.createMany(rows)
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
  }
  const stored: Row<Record<string, unknown>>[] = []
  for (const row of rows) {
    const made = await orConflict(() => table.create(row))
    if (made) stored.push(made)
  }
  return stored
}

function updateRow(table: Table, id: string, change: object, condition: object): Promise<object | null> {
  return orConflict(() => table.update(id, change, { if: condition }))
}

async function orConflict<T>(write: () => Promise<T>): Promise<T | null> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof RecordConflict) return null
    throw error
  }
}

// As many as one commit takes.
const atOnce = 20

async function addMembers(rows: AnyContext, members: readonly { organizationId: string }[], by: 1 | -1): Promise<void> {
  const counts = new Map<string, number>()
  for (const { organizationId } of members) counts.set(organizationId, (counts.get(organizationId) ?? 0) + by)
  // In order, so that two pages wait for each other, and never for a deadlock.
  const changes = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (let at = 0; at < changes.length; at += atOnce) {
    const some = changes.slice(at, at + atOnce)
    const done = await rows.atomic(
      some.map(([increment, count]) => ({ record: 'organization' as const, increment, field: 'members' as const, by: count, min: 0 })),
    )
    // One of the organizations is gone.
    if (!done) for (const [id, count] of some) await rows.records('organization').increment(id, 'members', count, { min: 0 })
  }
}

async function idOf(key: string): Promise<string> {
  return toHex(await sha256(key))
}
