/** Options of `scimPlugin`, and the rules of one directory. */
import { type AnyContext, assertOptions, AuthError } from 'authkernel/kernel'
import { createUserType, type ResourceType, type ScimSchema } from './schemas.ts'

/** Options of `scimPlugin`. */
export interface ScimOptions {
  /** Days that a token lives; default 365, at most 3650. */
  tokenDays?: number
  /** Days that the former token lives on after `rotate`; default 7, at most 90. */
  overlapDays?: number
  /** Requests of one token; default 6000 in 60 seconds. */
  limit?: { max: number; seconds: number }
  /** Bytes of a body; default 1,000,000. */
  maxBody?: number
  /** Serves `POST /scim/v2/Bulk` with at most this many operations; default 0: not served. At most 1000. */
  bulk?: number
  /** Days that the log of calls is kept; default 7, at most 90. */
  logDays?: number
  /** Puts a record of each read that was served into the audit log; default true. Changes and rejections are always there. */
  auditReads?: boolean
  /** Schemas of the host app for users, such as `urn:example:params:scim:schemas:extension:acme:2.0:User`. Their attributes are kept and answered. */
  extensions?: readonly ScimSchema[]
  /** What the stored user gets beside name and email, from the resource: fields of your users table. Called at each change. */
  toUser?: (resource: Readonly<Record<string, unknown>>, ctx: AnyContext) => Readonly<Record<string, unknown>>
}

/** What a directory changes in its organization. */
export interface DirectoryRules {
  /** The role of a user whom no rule names; default `member`. */
  role?: string
  /** Roles by group, in order: the first rule whose group the user is in counts. */
  roles?: readonly { readonly group: string; readonly role: string }[]
  /**
   * Teams by group: a user of the directory is in a team exactly as long as in one of its groups. `team` is the id of a team of the organization. Members of the
   * team who are not of the directory stay.
   */
  teams?: readonly { readonly group: string; readonly team: string }[]
}

/** Options with their defaults. */
export interface ResolvedOptions extends Required<Omit<ScimOptions, 'toUser' | 'extensions'>> {
  toUser: ScimOptions['toUser']
  userType: ResourceType
}

const names = {
  tokenDays: true,
  overlapDays: true,
  limit: true,
  maxBody: true,
  bulk: true,
  logDays: true,
  auditReads: true,
  extensions: true,
  toUser: true,
} as const

/** Throws AuthError that names the wrong option. */
export function resolveOptions(options: ScimOptions): ResolvedOptions {
  assertOptions<ScimOptions>('scimPlugin', options, names)
  const resolved: ResolvedOptions = {
    tokenDays: options.tokenDays ?? 365,
    overlapDays: options.overlapDays ?? 7,
    limit: options.limit ?? { max: 6000, seconds: 60 },
    maxBody: options.maxBody ?? 1_000_000,
    bulk: options.bulk ?? 0,
    logDays: options.logDays ?? 7,
    auditReads: options.auditReads ?? true,
    toUser: options.toUser,
    userType: createUserType(options.extensions),
  }
  assertWhole('tokenDays', resolved.tokenDays, 1, 3650)
  assertWhole('overlapDays', resolved.overlapDays, 0, 90)
  assertWhole('maxBody', resolved.maxBody, 1000, 10_000_000)
  assertWhole('bulk', resolved.bulk, 0, 1000)
  assertWhole('logDays', resolved.logDays, 0, 90)
  assertWhole('limit.max', resolved.limit.max, 1, 10_000_000)
  assertWhole('limit.seconds', resolved.limit.seconds, 1, 86_400)
  if (typeof resolved.auditReads !== 'boolean') throw optionError('`auditReads` must be true or false.')
  if (options.toUser !== undefined && typeof options.toUser !== 'function') throw optionError('`toUser` must be a function.')
  for (const schema of options.extensions ?? []) assertExtension(schema)
  return resolved
}

/** Rules that an organization gave. Throws TypeError that names the field. */
export function readRules(given: DirectoryRules): DirectoryRules {
  const { role, roles = [], teams = [], ...rest } = given
  const unknown = Object.keys(rest)[0]
  if (unknown !== undefined) throw new TypeError(`scim: a directory has no rule "${unknown}".`)
  if (role !== undefined && !isName(role)) throw new TypeError('scim: `rules.role` must be the name of a role.')
  return {
    ...(role !== undefined && { role }),
    roles: readPairs('roles', 'role', roles).map(([group, wanted]) => ({ group, role: wanted })),
    teams: readPairs('teams', 'team', teams).map(([group, team]) => ({ group, team })),
  }
}

function readPairs(list: string, field: string, given: unknown): [string, string][] {
  if (!Array.isArray(given) || given.length > 200) throw new TypeError(`scim: \`rules.${list}\` must be a list of at most 200 rules.`)
  return given.map((one: unknown) => {
    const { group, [field]: value } = Object(one) as Record<string, unknown>
    if (!isName(group) || !isName(value)) throw new TypeError(`scim: each of \`rules.${list}\` needs \`group\` and \`${field}\`.`)
    return [group, value]
  })
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 255
}

function assertExtension({ id, attributes }: ScimSchema): void {
  if (!/^urn:[a-z0-9][\w-]{0,31}:\S+$/i.test(id)) throw optionError(`\`extensions\`: "${id}" must be a URN.`)
  for (const { name } of attributes ?? [])
    if (!/^[a-z$][\w$-]{0,63}$/i.test(name))
      throw optionError(`\`extensions\`: "${name}" of ${id} is no name of an attribute (RFC 7643 section 2.1).`)
}

function assertWhole(name: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most)
    throw optionError(`\`${name}\` must be a whole number from ${least} to ${most}.`)
}

function optionError(what: string): AuthError {
  return new AuthError(`scimPlugin: ${what}`)
}
