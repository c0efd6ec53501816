/** What `adminPlugin` takes. */
import { type AnyContext, assertOptions, AuthError, type Awaitable, type OfTenant, type User } from 'authkernel/kernel'

/** What an administrator does. */
export type AdminAct = 'list' | 'get' | 'ban' | 'unban' | 'signOut' | 'newFactor' | 'verifyAddress'
/** Who does it: the user who is signed in on a request, or a stored user. `tenant` names the tenant where there are several. */
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
  /** Whether the administrator may do it. Asked before every call; anything but true refuses it. Refuse bans of an equal or higher role here. */
  can: (question: AdminQuestion) => Awaitable<boolean>
  /** Adds the pages `/admin` and `/admin/user`, and `client.admin`; default false. */
  pages?: boolean | undefined
}

/** Throws AuthError that names the option. */
export function checkAdminOptions(options: AdminOptions): void {
  assertOptions('Plugin "admin"', options ?? {}, { can: true, pages: true })
  if (typeof (options as Partial<AdminOptions> | undefined)?.can !== 'function')
    throw new AuthError('Plugin "admin": the option `can` is missing. Give a function that says who may do what.')
}
