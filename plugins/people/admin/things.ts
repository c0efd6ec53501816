/** Organizations and API keys of all users, a page at a time. */
import { type AnyContext, HttpError } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/api-keys'
import type {} from 'authkernel/plugins/organizations'

/** Which page. */
export interface ThingQuery {
  /** `cursor` of the page before. */
  cursor?: string | undefined
  /** Default 50, at most 200. */
  limit?: number | undefined
}
/** An organization. */
export interface ListedOrganization {
  id: string
  name: string
  slug: string
  members: number
  created: Date
}
/** An API key, without what opens it. */
export interface ListedKey {
  id: string
  name: string
  /** The last 4 characters. */
  tail: string
  scopes: readonly string[]
  /** Id of the owner; null: the key is of a service, or of the tenant. */
  userId: string | null
  organization: string | null
  created: Date
  expires: Date
  lastUsed: Date | null
}
/** One page. */
export interface ThingPage<T> {
  items: T[]
  /** Of the next page; undefined: this was the last one. */
  cursor: string | undefined
}

/** In the order of their ids. Throws HttpError 409 without organizationsPlugin. */
export async function readOrganizations(ctx: AnyContext, query: ThingQuery): Promise<ThingPage<ListedOrganization>> {
  assertPlugin(ctx, 'organizations', 'listOrganizations')
  const { rows, cursor } = await ctx.records('organization').find(readQuery('listOrganizations', query))
  return { items: rows.map(({ id, name, slug, members, created }) => ({ id, name, slug, members, created })), cursor }
}

/** In the order of their ids, or of one user, the newest first. Throws HttpError 409 without apiKeysPlugin. */
export async function readKeys(
  ctx: AnyContext,
  { userId, ...query }: ThingQuery & { userId?: string | undefined },
): Promise<ThingPage<ListedKey>> {
  assertPlugin(ctx, 'api-keys', 'listKeys')
  const of = userId === undefined ? {} : ({ where: { userId }, order: 'desc' } as const)
  const { rows, cursor } = await ctx.records('apiKey').find({ ...of, ...readQuery('listKeys', query) })
  return {
    items: rows.map(({ id, name, tail, scopes, userId: owner, organization, created, expires, used }) => ({
      id,
      name,
      tail,
      scopes,
      userId: owner,
      organization,
      created,
      expires,
      lastUsed: used,
    })),
    cursor,
  }
}

/** Throws HttpError 409 without the plugin that keeps it. */
export function assertPlugin(ctx: AnyContext, plugin: string, what: string): void {
  if (!ctx.app.plugins.includes(plugin)) throw new HttpError(409, `admin.${what}: needs the plugin "${plugin}".`)
}

function readQuery(what: string, { cursor, limit = 50 }: ThingQuery): { limit: number; cursor?: string } {
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new HttpError(400, `admin.${what}: \`limit\` must be a whole number from 1 to 200.`)
  if (cursor !== undefined && typeof cursor !== 'string') throw new HttpError(400, `admin.${what}: \`cursor\` must be a text.`)
  return { limit, ...(cursor !== undefined && { cursor }) }
}
