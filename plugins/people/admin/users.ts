/** Users as administrators see them: searched, made and invited. */
import { type AdapterUser, type AnyContext, AuthError, HttpError, randomUUID, type Store, toAddress, type User } from 'authkernel/kernel'
import { searchAmong } from 'authkernel/kernel/stores'
import { writeAddress } from 'authkernel/kernel/users'
import type {} from 'authkernel/plugins/organizations'
import type {} from 'authkernel/plugins/two-factor'
import { readProfile } from './acts.ts'
import type { Admin } from './administrator.ts'
import { type Ban, banId, findBan } from './bans.ts'
import type { Counts } from './overview.ts'

/** A user as administrators see it. */
export interface ListedUser {
  id: string
  name: string | null
  email: string | null
  emailVerified: Date | null
  image: string | null
  /** Null: not banned. */
  ban: Ban | null
  /** Last sign-in; null: none since the plugin is in use. Absent where pages go by `email` or `after`. */
  lastSeen?: Date | null
}
/** Which users. All filters must hold. */
export interface UserSearch {
  /** Part of the address, name, id, or id of an account, in any case; default: any. At most 254 characters. */
  text?: string | undefined
  /** Beginning of the address, in any case; default: any. Not together with other filters. */
  email?: string | undefined
  /** Whether the address was verified. */
  verified?: boolean | undefined
  /** Whether the user is banned now. */
  banned?: boolean | undefined
  /** Whether the user has a second factor. Needs twoFactorPlugin. */
  factor?: boolean | undefined
  /** Users with an account of this provider. */
  provider?: string | undefined
  /** Id of an organization: its members. Needs organizationsPlugin. */
  organization?: string | undefined
  /** Users who signed in then or later. */
  seenSince?: Date | undefined
  /** Users who signed in before, and not since. */
  seenBefore?: Date | undefined
  /** Default `id`. */
  sort?: 'id' | 'email' | 'name' | undefined
  /** Default `asc`. */
  order?: 'asc' | 'desc' | undefined
  /** Page, from 1 to 100000; default 1. */
  page?: number | undefined
  /** `next` of the page before: pages by the id, for programs that read all users. Together with `email` alone. */
  after?: string | undefined
  /** Default 50, at most 200. */
  limit?: number | undefined
}
/** One page of users. */
export interface UserPage {
  users: ListedUser[]
  /** Of all pages. Absent where pages go by `after`, or by `email`. */
  total?: number
  /** Give it as `after`; undefined: this was the last page, or pages go by number. */
  next: string | undefined
}

/** Ids that a filter may find: beyond, the answer is 400 and says what to do. */
const mostIds = 10_000
/** Users that an adapter without `searchUsers` is asked for. */
const mostUsers = 10_000

/** One page. Throws HttpError 400 for a filter that is wrong. */
export async function searchUsers(actor: Admin, search: UserSearch): Promise<UserPage> {
  const { email, after, limit = 50, page = 1, text, sort = 'id', order = 'asc' } = search
  const { ctx } = actor
  const store = ctx.store as Store
  const wrong = (rule: string): HttpError => new HttpError(400, `admin.list: ${rule}.`)
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw wrong('`limit` must be a whole number from 1 to 200')
  if (!Number.isInteger(page) || page < 1 || page > 100_000) throw wrong('`page` must be a whole number from 1 to 100000')
  for (const name of ['email', 'after', 'text', 'provider', 'organization'] as const) {
    const value = search[name]
    if (value !== undefined && (typeof value !== 'string' || value.length > 254 || /[\0\p{Cs}]/u.test(value)))
      throw wrong('`email`, `after`, `text`, `provider` and `organization` must be texts of at most 254 characters')
  }
  for (const name of ['verified', 'banned', 'factor'] as const)
    if (search[name] !== undefined && typeof search[name] !== 'boolean') throw wrong(`\`${name}\` must be true or false`)
  if (!['id', 'email', 'name'].includes(sort) || !['asc', 'desc'].includes(order)) throw wrong('`sort` or `order` is unknown')
  if ((email !== undefined && email !== '') || after !== undefined) {
    // One more tells whether there is a next page.
    const query = { email: (email ?? '').trim().toLowerCase(), limit: limit + 1, ...(after !== undefined && { after }) }
    const found = await store.listUsers(query)
    const shown = found.slice(0, limit)
    const users = (await toListedUsers(ctx, shown)).map(({ lastSeen: _lastSeen, ...user }) => user)
    return { users, next: found.length > limit ? shown.at(-1)?.id : undefined }
  }
  const query = {
    ...(text?.trim() && { text: text.trim() }),
    ...(search.verified !== undefined && { verified: search.verified }),
    ...(search.provider && { provider: search.provider }),
    ...(await idsOf(ctx, search)),
    sort,
    order,
    offset: (page - 1) * limit,
    limit,
  }
  const { users, total } = store.supports('searchUsers') ? await store.searchUsers(query) : await searchListed(store, query)
  const next = sort === 'id' && order === 'asc' && page === 1 && total > limit && !isFiltered(search) ? users.at(-1)?.id : undefined
  return { users: await toListedUsers(ctx, users), total, next }
}

/** With ban and last sign-in: two queries, whatever their number. */
export async function toListedUsers(
  ctx: AnyContext,
  users: readonly (User & { id: string; emailVerified?: Date | null })[],
): Promise<ListedUser[]> {
  const ids = await Promise.all(users.map(({ id }) => banId(id)))
  const seen = new Map((await ctx.records('userSeen').getMany(ids)).map(({ userId, at }) => [userId, at]))
  return Promise.all(
    users.map(async ({ id, name = null, email = null, image = null, emailVerified = null }) => ({
      id,
      name,
      email,
      emailVerified,
      image,
      ban: await findBan(ctx, id),
      lastSeen: seen.get(id) ?? null,
    })),
  )
}

/** Stores a user. Throws HttpError 400 for what no user may have, 409 for an address that is taken. */
export async function createUser({ ctx }: Admin, what: string, given: Readonly<Record<string, unknown>>): Promise<AdapterUser> {
  const store = ctx.store as Store
  const { verified = false } = given
  const { email, name = null, image = null } = readProfile(what, given) as { email?: string; name?: string | null; image?: string | null }
  if (email === undefined) throw new HttpError(400, `admin.${what}: \`email\` must be a mail address.`)
  if (typeof verified !== 'boolean') throw new HttpError(400, `admin.${what}: \`verified\` must be true or false.`)
  if (!store.supports('createUser')) throw new HttpError(409, `admin.${what}: the adapter has no createUser().`)
  const id = randomUUID(ctx.runtime)
  // The hook `createUser` is for visitors: an administrator admits.
  const write = async (): Promise<AdapterUser> => store.createUser({ id, email, name, image, emailVerified: verified ? ctx.now : null })
  const user = await writeAddress(ctx, email, id, write)
  if (!user) throw new HttpError(409, `admin.${what}: another user has this address.`)
  await ctx.emit('createUser', { user })
  return user
}

/** The user of an address, if nothing shows that the user has signed in or verified the address. */
export async function findInvited({ ctx }: Admin, counts: Counts, email: unknown): Promise<AdapterUser | null> {
  const address = typeof email === 'string' ? toAddress(email) : undefined
  const store = ctx.store as Store
  const user = address === undefined ? null : await store.getUserByEmail(address)
  if (!user || user.emailVerified || !store.supports('listAccountsByUserId')) return null
  await counts.flush(ctx)
  if (await ctx.records('userSeen').get(await banId(user.id))) return null
  return (await store.listAccountsByUserId(user.id)).length === 0 ? user : null
}

/** Where the user of an invitation signs in. Throws AuthError where the origin is not known. */
export function signInUrl(ctx: AnyContext): string {
  if (ctx.request) return `${ctx.base}/signin`
  const { origin, basePath } = ctx.settings
  if (!origin) throw new AuthError('admin.inviteUser: without a request the origin must be set: `origin` of the options, or AUTH_URL.')
  return `${origin}${basePath === '/' ? '' : basePath}/signin`
}

function isFiltered({ text, verified, banned, factor, provider, organization, seenSince, seenBefore }: UserSearch): boolean {
  return [text || undefined, verified, banned, factor, provider, organization, seenSince, seenBefore].some((one) => one !== undefined)
}

/** Ids that the filters over records permit and exclude. */
async function idsOf(
  ctx: AnyContext,
  { banned, factor, organization, seenSince, seenBefore }: UserSearch,
): Promise<{ among?: string[]; except?: string[] }> {
  let among: Set<string> | undefined
  const except = new Set<string>()
  const keep = (ids: readonly string[]): void => {
    const [before, found] = [among, new Set(ids)]
    among = before ? new Set([...before].filter((id) => found.has(id))) : found
  }
  const apply = (wanted: boolean, ids: readonly string[]): void => {
    if (wanted) keep(ids)
    else for (const id of ids) except.add(id)
  }
  if (banned !== undefined) apply(banned, await readOwners(ctx, 'userBan', 'banned'))
  if (factor !== undefined) {
    assertPlugin(ctx, 'two-factor', 'factor')
    apply(factor, await readOwners(ctx, 'twoFactor', 'factor', {}, (row) => row['confirmed'] === true))
  }
  if (organization !== undefined) {
    assertPlugin(ctx, 'organizations', 'organization')
    const where = { where: { organizationId: organization } }
    keep(await readOwners(ctx, 'organizationMember', 'organization', where))
  }
  const range = { ...(seenSince && { gte: readMoment(seenSince) }), ...(seenBefore && { lt: readMoment(seenBefore) }) }
  if (Object.keys(range).length > 0) keep(await readOwners(ctx, 'userSeen', 'seenSince', { range: { at: range } }))
  return { ...(among && { among: [...among] }), ...(except.size > 0 && { except: [...except] }) }
}

/** Owners of rows. Throws HttpError 400 where there are too many for one statement. */
async function readOwners(
  ctx: AnyContext,
  record: string,
  filter: string,
  query: object = {},
  counts: (row: Record<string, unknown>) => boolean = () => true,
): Promise<string[]> {
  const { rows } = await ctx.records(record).find({ ...query, limit: mostIds + 1 })
  if (rows.length > mostIds)
    throw new HttpError(
      400,
      `admin.list: more than ${mostIds} users have what \`${filter}\` asks for. Add another filter in your own query.`,
    )
  return rows.filter((row) => counts(row)).flatMap(({ userId }) => (typeof userId === 'string' ? [userId] : []))
}

function assertPlugin(ctx: AnyContext, plugin: string, filter: string): void {
  if (!ctx.app.plugins.includes(plugin)) throw new HttpError(400, `admin.list: the filter \`${filter}\` needs the plugin "${plugin}".`)
}
function readMoment(value: unknown): Date {
  if (value instanceof Date && Number.isFinite(value.getTime())) return value
  throw new HttpError(400, 'admin.list: `seenSince` and `seenBefore` must be dates.')
}

/** For adapters without `searchUsers`: the first users, by their ids. */
async function searchListed(store: Store, query: Parameters<typeof searchAmong>[1]): Promise<{ users: AdapterUser[]; total: number }> {
  if (query.provider !== undefined)
    throw new HttpError(400, 'admin.list: the adapter has no searchUsers(), so that users cannot be found by their provider.')
  const all = await store.listUsers({ limit: mostUsers })
  return searchAmong(all, query, () => [])
}
