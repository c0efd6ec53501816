/** Roles, statements and what they permit. */
import { AuthError } from 'authkernel/kernel'

/** Things, and what may be done with each. */
export type Statements = Readonly<Record<string, readonly string[]>>
/** What the plugin itself asks about. */
export const ownStatements = {
  organization: ['update', 'delete', 'transfer', 'history'],
  member: ['read', 'role', 'remove'],
  invitation: ['create', 'cancel'],
  team: ['create', 'update', 'delete', 'members'],
  role: ['create', 'update', 'delete'],
  domain: ['claim', 'provider', 'joining', 'remove'],
} as const
type Own = typeof ownStatements

/** `thing:action` for all of them. */
export type PermissionOf<S extends Statements> = Pairs<Own> | Pairs<S>
type Pairs<S extends Statements> = { [K in keyof S & string]: `${K}:${S[K][number]}` }[keyof S & string]

/** What a role may do: `'*'` for everything, or for all actions of one thing. */
export type RoleRights<S extends Statements> = '*' | Partial<{ readonly [K in keyof (Own & S)]: '*' | readonly (Own & S)[K][number][] }>

/** Roles with their permissions. `owner` may do everything. */
export type Roles = ReadonlyMap<string, ReadonlySet<string>>

/** Throws AuthError that names the role, the statement and the action. */
export function resolveRoles(
  statements: Statements,
  ownRoles: Readonly<Record<string, unknown>>,
): { all: ReadonlySet<string>; roles: Roles } {
  for (const name of Object.keys(statements)) {
    if (Object.hasOwn(ownStatements, name)) throw createFault(`the statement "${name}" is one of the plugin's own; choose another name`)
    if (!/^[a-zA-Z][\w-]{0,31}$/.test(name)) throw createFault(`the statement "${name}" must be up to 32 letters, digits, "-" and "_"`)
  }
  const whole: Statements = { ...ownStatements, ...statements }
  const all = new Set(Object.entries(whole).flatMap(([thing, actions]) => actions.map((action) => `${thing}:${action}`)))
  if ('owner' in ownRoles) throw createFault('the role "owner" may do everything and cannot be given')
  const admin = [...all].filter((one) => one !== 'organization:delete' && one !== 'organization:transfer')
  const roles = new Map<string, ReadonlySet<string>>([
    ['owner', all],
    ['admin', new Set(admin)],
    ['member', new Set(['member:read'])],
  ])
  for (const [role, rights] of Object.entries(ownRoles)) {
    if (!/^[a-zA-Z][\w-]{0,31}$/.test(role)) throw createFault(`the role "${role}" must be up to 32 letters, digits, "-" and "_"`)
    roles.set(role, new Set(rights === '*' ? all : [...permissionsOf(role, rights, whole)]))
  }
  return { all, roles }
}

function* permissionsOf(role: string, rights: unknown, statements: Statements): Generator<string> {
  if (typeof rights !== 'object' || rights === null) throw createFault(`the role "${role}" must be '*' or an object of statements`)
  for (const [thing, actions] of Object.entries(rights as Record<string, unknown>)) {
    const known = Object.hasOwn(statements, thing) ? statements[thing] : undefined
    if (!known) throw createFault(`the role "${role}" names the statement "${thing}", which is not there`)
    for (const action of actions === '*' ? known : (actions as readonly string[])) {
      if (!known.includes(action)) throw createFault(`the role "${role}" names "${thing}:${action}", which is not there`)
      yield `${thing}:${action}`
    }
  }
}

/** Whether one of the roles of a member may do it. An unknown role, for example one that was deleted, may do nothing. */
export function grantsPermission(roles: Roles, held: readonly string[], permission: string): boolean {
  return held.some((role) => roles.get(role)?.has(permission) === true)
}

/** Whether a member with some roles may give, change or take another role: never one that may do more. */
export function coversRole(roles: Roles, held: readonly string[], other: string): boolean {
  if (held.includes('owner')) return true
  return other !== 'owner' && held.some((role) => roles.has(role)) && coversPermissions(roles, held, roles.get(other) ?? [])
}

/** Whether the roles of a member permit all of these. */
export function coversPermissions(roles: Roles, held: readonly string[], permissions: Iterable<string>): boolean {
  return [...permissions].every((permission) => grantsPermission(roles, held, permission))
}

/** All roles of a member, the main one first. */
export function heldRoles({ role, roles }: { role: string; roles: readonly string[] | null }): string[] {
  return [role, ...(roles ?? [])]
}

function createFault(what: string): AuthError {
  return new AuthError(`Plugin "organizations": ${what}.`)
}
