/** Directories of another product with their tokens, users and groups, for a move that may be run again. Ids of users and groups stay, because directories know them. */
import type { AnyContext, ImportTarget, Kernel } from 'authkernel/kernel'
import { contentVersion, idOfKey, recordTarget } from 'authkernel/kernel/stores'
import { indexEmails } from './emails.ts'
import { endDirectoryAccess } from './access.ts'
import { ScimError } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { readResource } from './resource.ts'
import { splitResource } from './users.ts'

/** A directory. Its key names it in the other values, too. */
export interface DirectoryTaken {
  key: string
  organizationId: string
  /** 1 to 100 characters. */
  name: string
  created: Date
}
/** A token of a directory. */
export interface ScimTokenTaken {
  directory: string
  /** 64 hex digits: one of those that the service `scimTokenDigests` answers for the text of the token. */
  digest: string
  scope: 'read' | 'write'
  created: Date
  /** Null: `tokenDays` after it was taken. */
  expires: Date | null
}
/** A user of a directory. Keys are ids: 1 to 64 letters, digits, `-` and `_`. */
export interface ScimUserTaken {
  id: string
  directory: string
  organizationId: string
  userId: string
  /** As the directory sends it (RFC 7643 section 4.1), with `active`. */
  resource: Readonly<Record<string, unknown>>
  created: Date
  modified: Date
}
/** A group of a directory. Keys are ids, as those of users. */
export interface ScimGroupTaken {
  id: string
  directory: string
  displayName: string
  externalId: string | null
  created: Date
  modified: Date
}
/** A user of a group. */
export interface ScimMemberTaken {
  groupId: string
  directory: string
  scimUserId: string
  userId: string
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Store what another product knows of directories. */
    directoryImport: ImportTarget<DirectoryTaken>
    scimTokenImport: ImportTarget<ScimTokenTaken>
    scimUserImport: ImportTarget<ScimUserTaken>
    scimGroupImport: ImportTarget<ScimGroupTaken>
    scimMemberImport: ImportTarget<ScimMemberTaken>
    /** Asked for texts that are no token of this plugin. */
    scimTokenDigests: {
      /** Digests, 64 hex digits each, by which a product that was here before knows the text of a token. */
      digestsOf(ctx: AnyContext, token: string): Promise<readonly string[]>
    }
  }
}

/** Provides the services. */
export function provideImports(kernel: Kernel, options: ResolvedOptions): void {
  kernel.provide('directoryImport', directoryTarget())
  kernel.provide('scimTokenImport', tokenTarget(options))
  kernel.provide('scimUserImport', userTarget(options))
  kernel.provide('scimGroupImport', groupTarget())
  kernel.provide('scimMemberImport', memberTarget())
}

function directoryTarget(): ImportTarget<DirectoryTaken> {
  return recordTarget<'scimDirectory', DirectoryTaken>({
    record: 'scimDirectory',
    toRow: async (_ctx, { organizationId, name, created }) => ({
      organizationId,
      name: name.slice(0, 100),
      rules: {},
      users: 0,
      groups: 0,
      dialect: null,
      detected: null,
      created,
    }),
    factsOf: ({ name, rules, organizationId }) => [name, rules, organizationId],
    guard: ['name', 'organizationId'],
    keep: ['rules', 'users', 'groups', 'created'],
    async afterRemove(ctx, { id }) {
      await ctx.records('scimToken').deleteWhere({ where: { directoryId: id } })
    },
  })
}

function tokenTarget({ tokenDays }: ResolvedOptions): ImportTarget<ScimTokenTaken> {
  return recordTarget<'scimToken', ScimTokenTaken>({
    record: 'scimToken',
    refuse: (_ctx, { digest }) => (/^[0-9a-f]{64}$/.test(digest) ? undefined : 'the form of the token is not known. Issue a new one'),
    toRow: async (ctx, { directory, digest, scope, created, expires }) => ({
      directoryId: await idOfKey(directory),
      digest,
      tail: '',
      scope,
      created,
      expires: expires ?? new Date(ctx.now.getTime() + tokenDays * 86_400_000),
      used: null,
    }),
    // The digest becomes another one at the first use.
    factsOf: ({ scope, expires }) => [scope, expires],
    guard: ['scope', 'expires'],
    keep: ['digest', 'tail', 'created', 'used'],
  })
}

function userTarget({ userType }: ResolvedOptions): ImportTarget<ScimUserTaken> {
  const read = ({ resource }: ScimUserTaken) => splitResource(readResource(userType, resource))
  return recordTarget<'scimUser', ScimUserTaken>({
    record: 'scimUser',
    refuse(_ctx, user) {
      if (!isId(user.id)) return 'the id of the resource has other signs than letters, digits, - and _'
      try {
        read(user)
        return undefined
      } catch (error) {
        if (error instanceof ScimError) return error.message
        throw error
      }
    },
    rowId: (key) => key,
    async toRow(_ctx, user) {
      const { directory, organizationId, userId, created, modified } = user
      const version = await contentVersion(user)
      return { directoryId: await idOfKey(directory), organizationId, userId, ...read(user), version, created, modified }
    },
    // Every change raises it.
    factsOf: ({ version }) => [version],
    guard: ['version'],
    async afterWrite(ctx, row, _user, isNew) {
      if (isNew) await ctx.records('scimDirectory').increment(row.directoryId, 'users', 1)
      await indexEmails(ctx, row)
      if (!row.active) await endDirectoryAccess(ctx, row)
    },
    async afterRemove(ctx, row) {
      await ctx.records('scimMember').deleteWhere({ where: { scimUserId: row.id } })
      await ctx.records('scimEmail').deleteWhere({ where: { scimUserId: row.id } })
      await ctx.records('scimDirectory').increment(row.directoryId, 'users', -1, { min: 0 })
    },
  })
}

function groupTarget(): ImportTarget<ScimGroupTaken> {
  return recordTarget<'scimGroup', ScimGroupTaken>({
    record: 'scimGroup',
    refuse: (_ctx, { id, displayName }) =>
      isId(id) && displayName !== '' && displayName.length <= 255 ? undefined : 'the id or the name of the group cannot be stored',
    rowId: (key) => key,
    async toRow(_ctx, group) {
      const { directory, displayName, externalId, created, modified } = group
      const names = { displayName, nameKey: displayName.toLowerCase(), externalId }
      return { directoryId: await idOfKey(directory), ...names, version: await contentVersion(group), created, modified }
    },
    factsOf: ({ version }) => [version],
    guard: ['version'],
    async afterWrite(ctx, { directoryId }, _group, isNew) {
      if (isNew) await ctx.records('scimDirectory').increment(directoryId, 'groups', 1)
    },
    async afterRemove(ctx, row) {
      await ctx.records('scimMember').deleteWhere({ where: { groupId: row.id } })
      await ctx.records('scimDirectory').increment(row.directoryId, 'groups', -1, { min: 0 })
    },
  })
}

function memberTarget(): ImportTarget<ScimMemberTaken> {
  return recordTarget<'scimMember', ScimMemberTaken>({
    record: 'scimMember',
    toRow: async (_ctx, { groupId, directory, scimUserId, userId }) => ({
      groupId,
      directoryId: await idOfKey(directory),
      scimUserId,
      userId,
    }),
    factsOf: ({ groupId, scimUserId }) => [groupId, scimUserId],
    guard: ['groupId', 'scimUserId'],
  })
}

function isId(id: string): boolean {
  return /^[\w-]{1,64}$/.test(id)
}
