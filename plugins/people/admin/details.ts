/** One user with everything that plugins keep about the user: nothing of it opens anything. */
import type { AdapterUser, AnyContext, Store } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/api-keys'
import type {} from 'authkernel/plugins/bearer'
import type {} from 'authkernel/plugins/organizations'
import type {} from 'authkernel/plugins/two-factor'
import type { ResolvedOptions } from './options.ts'
import { findRole } from './roles.ts'
import { type ListedUser, toListedUsers } from './users.ts'

/** What `getDetails` answers. A list is empty where its plugin is not in use. */
export interface UserDetails extends ListedUser {
  /** Role as an administrator; null: none. */
  role: string | null
  /** Custom fields that the adapter declares. */
  fields: Readonly<Record<string, unknown>>
  /** Accounts at providers, without tokens. */
  accounts: { provider: string; providerAccountId: string; type: string }[]
  /** Passkeys. `id` is the beginning of the credential id. */
  passkeys: { id: string; synced: boolean }[]
  /** Second factors. */
  factors: { kind: string; created: Date }[]
  /** Sessions of browsers, the newest first. Null: the session strategy cannot list them. */
  sessions:
    | { id: string; created: Date | null; lastUsed: Date | null; expires: Date; address: string | null; userAgent: string | null }[]
    | null
  /** API keys. */
  keys: { id: string; name: string; scopes: readonly string[]; created: Date; expires: Date; lastUsed: Date | null }[]
  /** Apps with access. */
  apps: { id: string; client: string; scopes: readonly string[]; started: Date; expires: Date }[]
  /** Organizations with the role there. */
  organizations: { id: string; name: string; role: string; joined: Date }[]
}

/** Rows of each list, at most. */
const most = 100

export async function readDetails(options: ResolvedOptions, ctx: AnyContext, user: AdapterUser): Promise<UserDetails> {
  const has = (plugin: string): boolean => ctx.app.plugins.includes(plugin)
  const where = { where: { userId: user.id }, limit: most }
  const [[listed], role, accounts, passkeys, factors, sessions, keys, apps, organizations] = await Promise.all([
    toListedUsers(ctx, [user]),
    options.roles ? findRole(options, ctx, user) : null,
    readAccounts(ctx, user.id),
    readPasskeys(ctx, user.id),
    has('two-factor') ? readFactors(ctx, user.id) : [],
    readSessions(ctx, user.id),
    has('api-keys') ? ctx.records('apiKey').find({ ...where, order: 'desc' }) : { rows: [] },
    has('bearer') ? ctx.records('appSession').find({ ...where, order: 'desc' }) : { rows: [] },
    has('organizations') ? readOrganizations(ctx, user.id) : [],
  ])
  // Fields of the host have no types here.
  const row = user as unknown as Record<string, unknown>
  const fields = Object.fromEntries((ctx.store?.fieldNames ?? []).map((name) => [name, row[name] ?? null]))
  return {
    ...(listed as ListedUser),
    role,
    fields,
    accounts,
    passkeys,
    factors,
    sessions,
    keys: keys.rows.map(({ id, name, scopes, created, expires, used }) => ({ id, name, scopes, created, expires, lastUsed: used })),
    apps: apps.rows.map(({ id, clientId, scopes, started, expires }) => ({ id, client: clientId, scopes, started, expires })),
    organizations,
  }
}

async function readAccounts(ctx: AnyContext, userId: string): Promise<UserDetails['accounts']> {
  const store = ctx.store as Store
  if (!store.supports('listAccountsByUserId')) return []
  const all = await store.listAccountsByUserId(userId)
  return all.slice(0, most).map(({ provider, providerAccountId, type }) => ({ provider, providerAccountId, type }))
}

async function readPasskeys(ctx: AnyContext, userId: string): Promise<UserDetails['passkeys']> {
  const store = ctx.store as Store
  if (!store.supports('listAuthenticatorsByUserId') || ![...ctx.app.providers.values()].some(({ type }) => type === 'webauthn')) return []
  const all = await store.listAuthenticatorsByUserId(userId)
  return all.slice(0, most).map(({ credentialID, credentialBackedUp }) => ({ id: credentialID.slice(0, 8), synced: credentialBackedUp }))
}

async function readFactors(ctx: AnyContext, userId: string): Promise<UserDetails['factors']> {
  const { rows } = await ctx.records('twoFactor').find({ where: { userId }, limit: most })
  return rows.filter(({ confirmed }) => confirmed).map(({ kind, created }) => ({ kind, created }))
}

async function readSessions(ctx: AnyContext, userId: string): Promise<UserDetails['sessions']> {
  const { session } = ctx
  if (!session.abilities?.has('list') || !session.list) return null
  const all = await session.list(ctx, userId)
  return all.slice(0, most).map(({ id, createdAt, lastUsed, expires, attributes }) => ({
    id,
    created: createdAt,
    lastUsed,
    expires,
    address: attributes?.address ?? null,
    userAgent: attributes?.userAgent ?? null,
  }))
}

async function readOrganizations(ctx: AnyContext, userId: string): Promise<UserDetails['organizations']> {
  const { rows } = await ctx.records('organizationMember').find({ where: { userId }, limit: most })
  const found = await ctx.records('organization').getMany(rows.map(({ organizationId }) => organizationId))
  const names = new Map(found.map(({ id, name }) => [id, name]))
  return rows.map(({ organizationId, role, joined }) => ({
    id: organizationId,
    name: names.get(organizationId) ?? organizationId,
    role,
    joined,
  }))
}
