/** What `adminPlugin` takes, and who may call it. */
import {
  assertOptions,
  AccessDenied,
  type AnyContext,
  AuthError,
  type Awaitable,
  jobFor,
  type Kernel,
  type OfTenant,
  type User,
} from 'authkernel/kernel'
import { findBan } from './table.ts'

/** What an administrator does. */
export type AdminAct = 'list' | 'get' | 'ban' | 'unban' | 'signOut' | 'newFactor' | 'verifyAddress'
/** Who does it: the person who is signed in on a request, or a stored user. `tenant` names the tenant where there are several. */
export type By = Request | ({ userId: string } & OfTenant)
/** What `can` is asked. */
export interface AdminQuestion {
  /** As it is stored now. */
  admin: User
  act: AdminAct
  /** To whom; null for `list`. */
  user: User | null
  ctx: AnyContext
}
/** What `adminPlugin` takes. */
export interface AdminOptions {
  /** Whether somebody may do it. Asked before every call; anything but true refuses it. Say here that nobody bans an equal or higher role. */
  can: (question: AdminQuestion) => Awaitable<boolean>
  /** Adds the pages `/admin` and `/admin/user`, and `client.admin`; default false. */
  pages?: boolean | undefined
}

/** Throws AuthError that names the option. */
export function checkOptions(options: AdminOptions): void {
  assertOptions('Plugin "admin"', options ?? {}, { can: true, pages: true })
  if (typeof (options as Partial<AdminOptions> | undefined)?.can !== 'function')
    throw new AuthError('Plugin "admin": the option `can` is missing. Give a function that says who may do what.')
}

/** An administrator at work. */
export interface Admin {
  ctx: AnyContext
  admin: User & { id: string }
}

/** Who asks. Throws AccessDenied for nobody, a banned user, an API key, and somebody who acts as another person. */
export async function findAdmin(kernel: Kernel, by: By, act: AdminAct): Promise<Admin> {
  const found = by instanceof Request ? await fromRequest(kernel, by, act) : await fromStoredUser(kernel, by)
  if (!found?.admin) throw new AccessDenied(`admin.${act}: nobody who could be asked about is signed in.`)
  const { ctx, admin } = found
  // The token of a banned administrator may be believed for some seconds in another process.
  if (await findBan(ctx, admin.id)) throw new AccessDenied(`admin.${act}: the user who asks is banned.`)
  return { ctx, admin }
}

/** Throws AccessDenied unless `can` says true. */
export async function assertAllowed({ can }: AdminOptions, { ctx, admin }: Admin, act: AdminAct, user: User | null): Promise<void> {
  if ((await can({ admin, act, user, ctx })) !== true) throw new AccessDenied(`admin.${act}: \`can\` refused it.`)
}

type FoundAdmin = { ctx: AnyContext; admin: Admin['admin'] | null }

async function fromRequest(kernel: Kernel, request: Request, act: AdminAct): Promise<FoundAdmin | null> {
  const ctx = await kernel.contextOf(request)
  const session = await ctx.currentSession()
  if (!session) return null
  const { apiKey, bearer, actor } = session as { apiKey?: unknown; bearer?: unknown; actor?: unknown }
  if (apiKey !== undefined || bearer !== undefined || actor !== undefined)
    throw new AccessDenied(`admin.${act}: an API key, an app, or somebody who acts as another person, is no administrator.`)
  const userId = (await ctx.session.user(ctx))?.id
  // What signed the request in may be another person than the cookie's.
  if (userId === undefined || (session.user?.id !== undefined && session.user.id !== userId)) return null
  return { ctx, admin: (await ctx.store?.getUser(userId)) ?? null }
}

async function fromStoredUser(kernel: Kernel, { userId, ...tenant }: Exclude<By, Request>): Promise<FoundAdmin> {
  const ctx = await kernel.contextOf(jobFor('admin', tenant))
  return { ctx, admin: (await ctx.store?.getUser(userId)) ?? null }
}
