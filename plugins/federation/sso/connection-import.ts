/** Connections of another product, for a move that may be run again: with the ids of their providers and the addresses that identity providers know. */
import { AdapterError, type AnyContext, type ImportTarget } from 'authkernel/kernel'
import { contentVersion, recordTarget } from 'authkernel/kernel/stores'
import { assertHostDomains, assertUsable, readSettings, writeDomains } from './connections.ts'
import { SsoInput } from './errors.ts'
import { readConnection } from './input.ts'
import { organizationsOf } from './organizations.ts'
import { formerConnectionId, isFormerId } from './provider.ts'
import type { ConnectionRow, FormerConnection } from './tables.ts'

/** A connection as another product has it. Keys of the rows are ids of providers. */
export interface ConnectionTaken {
  /** Null: of the host. */
  organizationId: string | null
  /** Domains that the product has proved for a connection of the host. Others are not believed. */
  domains: readonly string[]
  /** What `auth.sso.create` takes, without `domains`. */
  connection: Readonly<Record<string, unknown>>
  former: FormerConnection
  created: Date
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Stores connections of another product. */
    connectionImport: ImportTarget<ConnectionTaken>
  }
}

/** An address in a domain that is not proved stays unverified, and reaches no user who was there before. */
export function connectionTarget(): ImportTarget<ConnectionTaken> {
  return recordTarget<'ssoConnection', ConnectionTaken>({
    record: 'ssoConnection',
    rowId: formerConnectionId,
    refuse: findReason,
    toRow,
    // Every change raises it.
    factsOf: ({ version }) => [version],
    guard: ['version'],
    // What owners change here.
    keep: ['name', 'enabled', 'roles', 'join', 'otherDomains', 'product', 'contact', 'tested', 'created'],
    afterWrite: (ctx, { id }, { domains, organizationId }) => writeDomains(ctx, id, organizationId === null ? domains : []),
    async afterRemove(ctx, { id }) {
      await ctx.records('ssoDomain').deleteWhere({ where: { connectionId: id } })
    },
  })
}

/** Undefined: it can be stored. */
async function findReason(ctx: AnyContext, taken: ConnectionTaken): Promise<string | undefined> {
  const { providerId } = taken.former
  if (!isFormerId(providerId))
    return 'the id of the provider has capital letters or signs, or begins with "sso-". Make the connection again'
  if (ctx.app.providers.has(providerId)) return 'createAuth has a provider of the same id. Rename that one, or leave the connection behind'
  if (taken.organizationId !== null && !organizationsOf(ctx)) return 'it belongs to an organization. Use organizationsPlugin()'
  try {
    const id = await formerConnectionId(providerId)
    await assertUsable(ctx, { ...(await toRow(ctx, taken)), id })
    if (taken.organizationId === null) await assertHostDomains(ctx, taken.domains)
    return undefined
  } catch (error) {
    if (error instanceof SsoInput) return error.message
    // Before the first migration there is no table, and no organization has proved a domain.
    if (error instanceof AdapterError) return undefined
    throw error
  }
}

async function toRow(ctx: AnyContext, taken: ConnectionTaken): Promise<ConnectionRow> {
  const { organizationId, domains, connection, former, created } = taken
  const { fields, draft: _draft, ...read } = readConnection(connection)
  const { settings, secret } = await readSettings(ctx, read.type, fields, null)
  return {
    ...read,
    organizationId: organizationId ?? '',
    settings: { ...settings, former },
    secret,
    domains: null,
    // Accounts rest on it.
    used: true,
    tested: null,
    otherDomains: organizationId !== null || domains.length === 0,
    // Other settings are another version, and the provider is built anew.
    version: await contentVersion(taken),
    created,
  }
}
