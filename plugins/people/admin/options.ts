/** What `adminPlugin` takes. */
import { type AnyContext, assertOptions, AuthError, type Awaitable, didYouMean, type OfTenant, type User } from 'authkernel/kernel'

/** Acts that only read. */
export const readingActs = ['list', 'get', 'overview', 'audit', 'organizations', 'keys', 'clients', 'agents', 'configuration'] as const
/** Acts that may need a second administrator. */
const approvableActs = ['updateUser', 'setRole', 'resetPassword', 'ban', 'signOut', 'newFactor', 'verifyAddress', 'deleteUser'] as const
/** Acts that one administrator does alone. */
const soloActs = [
  'createUser',
  'inviteUser',
  'unban',
  'revokeKey',
  'impersonate',
  'createClient',
  'updateClient',
  'rotateClient',
  'disableClient',
  'enableClient',
  'deleteClient',
  'stopAgent',
  'startAgent',
] as const
/** Acts on a user, a key, a client or an agent. Each takes a reason. */
export const changingActs: readonly ((typeof approvableActs)[number] | (typeof soloActs)[number])[] = [...approvableActs, ...soloActs]
/** What an administrator does. */
export type AdminAct = (typeof readingActs)[number] | (typeof changingActs)[number]
/** Acts that may need a second administrator. */
export type ApprovableAct = (typeof approvableActs)[number]
/** Who does it: the user who is signed in on a request, or a stored user. `tenant` names the tenant where there are several. */
export type By = Request | ({ userId: string } & OfTenant)
/** Why: 1 to 500 characters. The audit log keeps it. */
export interface Order {
  reason: string
}
/** What `can` is asked. */
export interface AdminQuestion {
  /** As it is stored now. */
  admin: User
  act: AdminAct
  /** To whom; null for acts without a user: `list`, `createUser`, `audit` and others. */
  user: User | null
  ctx: AnyContext
}
/** What `adminPlugin` takes: at least one of `can`, `roles`, `administrators` and `roleOf`. */
export interface AdminOptions {
  /**
   * Whether the administrator may do it. Called before each act; each answer but true rejects it. Beside roles it can only reject. Reject bans of an
   * equal or higher role here, unless you use roles.
   */
  can?: ((question: AdminQuestion) => Awaitable<boolean>) | undefined
  /**
   * Roles of administrators: `reader`, `support` and `administrator` for `true`, and own ones with their acts. `auth.admin.setRole` gives them.
   * Default: no roles, and `can` alone decides.
   */
  roles?: true | Readonly<Record<string, readonly AdminAct[]>> | undefined
  /** Ids of users who always have the role `administrator`, such as the first one. Default none. */
  administrators?: readonly string[] | undefined
  /** The role of a user where the host stores roles itself; null: none. `setRole` is rejected then. Default: what `setRole` stored. */
  roleOf?: ((user: User & { id: string }, ctx: AnyContext) => Awaitable<string | null | undefined>) | undefined
  /** How many administrators an act needs, the one who asks for it included: `{ deleteUser: 2 }`. 1 to 5; default 1. */
  approvals?: Readonly<Partial<Record<ApprovableAct, number>>> | undefined
  /** Seconds that a request waits for other administrators; default 86400. */
  approvalAge?: number | undefined
  /** Adds the console below `/admin`, and `client.admin`; default false. */
  pages?: boolean | undefined
}

/** Options with defaults. */
export interface ResolvedOptions {
  can: AdminOptions['can']
  /** Acts by the name of the role; undefined: `can` alone decides. */
  roles: ReadonlyMap<string, ReadonlySet<AdminAct>> | undefined
  administrators: ReadonlySet<string>
  roleOf: AdminOptions['roleOf']
  approvals: Readonly<Partial<Record<AdminAct, number>>>
  /** Milliseconds. */
  approvalAge: number
  pages: boolean
}

const supportActs: readonly AdminAct[] = [
  'inviteUser',
  'resetPassword',
  'ban',
  'unban',
  'signOut',
  'newFactor',
  'verifyAddress',
  'revokeKey',
  'disableClient',
  'stopAgent',
]
const builtIn: Readonly<Record<string, readonly AdminAct[]>> = {
  reader: readingActs,
  support: [...readingActs, ...supportActs],
  administrator: [...readingActs, ...changingActs],
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: AdminOptions): ResolvedOptions {
  assertOptions('Plugin "admin"', options ?? {}, {
    can: true,
    roles: true,
    administrators: true,
    roleOf: true,
    approvals: true,
    approvalAge: true,
    pages: true,
  })
  const { can, roles, administrators, roleOf, approvals = {}, approvalAge = 86_400, pages = false } = (options ?? {}) as AdminOptions
  if (can !== undefined && typeof can !== 'function') throw optionFault('`can` must be a function that says who may do what')
  if (!can && !roles && !administrators && !roleOf)
    throw optionFault('the option `can` is missing. Give a function that says who may do what, or `roles: true` and `administrators`')
  if (!Number.isFinite(approvalAge) || approvalAge < 60) throw optionFault('`approvalAge` must be seconds, at least 60')
  for (const [act, count] of Object.entries(approvals)) {
    if (!(approvableActs as readonly string[]).includes(act))
      throw optionFault(`\`approvals\` names "${act}", which needs no approval.${didYouMean(act, [...changingActs])}`)
    if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > 5) throw optionFault(`\`approvals.${act}\` must be 1 to 5`)
  }
  return {
    can,
    roles: roles || administrators || roleOf ? resolveRoles(roles === true ? {} : (roles ?? {})) : undefined,
    administrators: new Set(administrators),
    roleOf,
    approvals,
    approvalAge: approvalAge * 1000,
    pages,
  }
}

function resolveRoles(own: Readonly<Record<string, readonly AdminAct[]>>): ReadonlyMap<string, ReadonlySet<AdminAct>> {
  const known: readonly string[] = [...readingActs, ...changingActs]
  for (const [name, acts] of Object.entries(own)) {
    if (name === 'administrator') throw optionFault('the role "administrator" may do everything and cannot be given')
    if (!/^[a-zA-Z][\w-]{0,31}$/.test(name)) throw optionFault(`the role "${name}" must be up to 32 letters, digits, "-" and "_"`)
    for (const act of Array.isArray(acts) ? acts : ['?'])
      if (!known.includes(act)) throw optionFault(`the role "${name}" has the unknown act "${act}".${didYouMean(act, known)}`)
  }
  return new Map(Object.entries({ ...builtIn, ...own }).map(([name, acts]) => [name, new Set(acts)]))
}

function optionFault(text: string): AuthError {
  return new AuthError(`Plugin "admin": ${text}.`)
}
