/** `auth.scim`: directories and their tokens, for the host app. */
import { type AnyContext, jobFor, type Kernel, type OfTenant } from 'authkernel/kernel'
import { listCalls, type ScimCall } from './calls.ts'
import { connectClient, disconnectClient, listClients, type ScimClient } from './clients.ts'
import type { Connection } from './caller.ts'
import type { Dialect } from './dialects.ts'
import { type DifferencePage, listDifferences } from './differences.ts'
import {
  createDirectory,
  deleteDirectory,
  type Directory,
  listDirectories,
  type NewDirectory,
  readOwnRules,
  updateDirectory,
} from './directories.ts'
import { resyncDirectory, type ResyncReport } from './resync.ts'
import type { DirectoryRules, ResolvedOptions } from './options.ts'
import { createToken, type CreatedToken, listTokens, revokeToken, rotateToken, type ScimToken, type TokenScope } from './tokens.ts'

/** A page of a list. */
export interface OfPage {
  /** Of the page before. */
  cursor?: string | undefined
  limit?: number | undefined
}

/** What the plugin puts on `auth`. It asks no permission: check who calls before you call it. `tenant` names the tenant where there are several. */
export interface ScimApi {
  scim: {
    /** Directories of organizations. */
    directories: {
      /** Throws TypeError for a wrong name, rule or dialect, and an organization that does not exist. */
      create(wanted: NewDirectory & OfTenant): Promise<Directory>
      /** Oldest first, at most 100. */
      list(of: { organizationId: string } & OfTenant): Promise<Directory[]>
      /** Rules apply to users when their groups change next, and to all of them by `resync`. Null: no such directory. */
      update(change: { id: string; name?: string; rules?: DirectoryRules; dialect?: Dialect | null } & OfTenant): Promise<Directory | null>
      /** Ends tokens and removes what the directory stored. Users and memberships stay. False: no such directory. */
      delete(of: { id: string } & OfTenant): Promise<boolean>
    }
    /** Tokens of directories. */
    tokens: {
      /** The only time that the text of the token is returned. `scope`: default `write`; `days`: default `tokenDays`. Throws TypeError. */
      create(wanted: { directoryId: string; scope?: TokenScope; days?: number } & OfTenant): Promise<CreatedToken>
      /** Oldest first, without their texts. */
      list(of: { directoryId: string } & OfTenant): Promise<ScimToken[]>
      /** The next token of the same scope. The former one ends after `overlapDays`. Null: no such token. */
      rotate(of: { id: string } & OfTenant): Promise<CreatedToken | null>
      /** The token is rejected from now on. False: no such token. */
      revoke(of: { id: string } & OfTenant): Promise<boolean>
    }
    /** Clients of authorizationServerPlugin that speak for a directory, instead of a token. */
    clients: {
      /** `scope`: default `write`. Throws TypeError without authorizationServerPlugin, for an unknown directory or client, and for a client of another directory. */
      connect(wanted: { directoryId: string; clientId: string; scope?: TokenScope } & OfTenant): Promise<ScimClient>
      /** Oldest first, at most 100. */
      list(of: { directoryId: string } & OfTenant): Promise<ScimClient[]>
      /** Its tokens are rejected from now on. False: it is not connected to this directory. */
      disconnect(of: { directoryId: string; clientId: string } & OfTenant): Promise<boolean>
    }
    /**
     * Where the app differs from the directory: what a resync would change. `rules`: as if the directory had these rules. `limit`: users that are looked at, default
     * 100, at most 500. Throws TypeError for an unknown directory and wrong rules, HttpError 400 for a cursor of another list.
     */
    differences(of: { directoryId: string; rules?: DirectoryRules } & OfPage & OfTenant): Promise<DifferencePage>
    /**
     * Brings the app to what the directory said last, a page of users at a time. `restore`: memberships that an owner removed or suspended come back; default false.
     * Nothing that ended comes back. Throws as `differences`.
     */
    resync(of: { directoryId: string; restore?: boolean } & OfPage & OfTenant): Promise<ResyncReport>
    /** The last changes and rejections of a directory, newest first. `limit`: default 50, at most 200. */
    calls(of: { directoryId: string; limit?: number } & OfTenant): Promise<ScimCall[]>
  }
}

/** The methods of `auth.scim`. */
export function createApi(kernel: Kernel, options: ResolvedOptions): ScimApi['scim'] {
  const contextOf = (of: OfTenant): Promise<AnyContext> => kernel.contextOf(jobFor('scim', of))
  return {
    directories: {
      create: async (wanted) => createDirectory(await contextOf(wanted), wanted),
      list: async (of) => listDirectories(await contextOf(of), of.organizationId),
      update: async (change) => updateDirectory(await contextOf(change), change.id, change),
      delete: async (of) => deleteDirectory(await contextOf(of), of.id),
    },
    tokens: {
      create: async (wanted) => createToken(await contextOf(wanted), options, wanted),
      list: async (of) => listTokens(await contextOf(of), of.directoryId),
      rotate: async (of) => rotateToken(await contextOf(of), options, of.id),
      revoke: async (of) => revokeToken(await contextOf(of), of.id),
    },
    clients: {
      connect: async (wanted) => connectClient(await contextOf(wanted), wanted),
      list: async (of) => listClients(await contextOf(of), of.directoryId),
      disconnect: async (of) => disconnectClient(await contextOf(of), of),
    },
    differences: async (of) => {
      const connection = await connectionOf(await contextOf(of), options, of.directoryId)
      const { ctx, directory } = connection
      const rules = of.rules && (await readOwnRules(ctx, directory.organizationId, of.rules))
      return listDifferences(connection, { cursor: of.cursor, limit: readLimit(of.limit), rules })
    },
    resync: async (of) => {
      const connection = await connectionOf(await contextOf(of), options, of.directoryId)
      return resyncDirectory(connection, { cursor: of.cursor, limit: readLimit(of.limit), restore: of.restore === true })
    },
    calls: async (of) => listCalls(await contextOf(of), of.directoryId, of.limit),
  }
}

async function connectionOf(ctx: AnyContext, options: ResolvedOptions, directoryId: string): Promise<Connection> {
  const directory = await ctx.records('scimDirectory').get(directoryId)
  if (!directory) throw new TypeError('scim: there is no such directory.')
  return { ctx, options, directory }
}

function readLimit(limit = 100): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) throw new TypeError('scim: `limit` must be a whole number from 1 to 500.')
  return limit
}
