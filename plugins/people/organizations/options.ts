/** Options of `organizationsPlugin`. */
import { assertOptions, type AnyContext, AuthError, type Awaitable, type User } from 'authkernel/kernel'
import { assertFields, type OrganizationFields } from './organization-fields.ts'
import { type RoleRights, type Roles, resolveRoles, type Statements } from './roles.ts'

/** How many there may be. */
export interface OrganizationLimits {
  /** Organizations that one user owns; default 10. */
  perUser?: number
  /** Members of one organization; default 10000. A function answers for each, for example by what was paid. */
  members?: number | ((question: { organization: { id: string; name: string }; ctx: AnyContext }) => Awaitable<number>)
  /** Open invitations of one organization; default 100. */
  invitations?: number
  /** Teams of one organization; default 100. */
  teams?: number
  /** Domains of one organization, claimed or proved; default 10. */
  domains?: number
  /** Roles that the members of one organization make; default 20, at most 200. */
  roles?: number
}
/** Domains and their providers. */
export interface DomainOptions {
  /** Finds TXT records; default: `resolveTxt` of `node:dns/promises`. An error with the code ENOTFOUND or ENODATA means that there are none. */
  resolveTxt?: (name: string) => Promise<readonly (readonly string[])[]>
  /** Whether the public may register names below it (`com`, `co.uk`, `github.io`); default: by the optional package `tldts`. */
  isPublicSuffix?: (domain: string) => Awaitable<boolean>
  /**
   * The organization that brought a provider; undefined for one of the host app, which all may use. Such a provider signs in users with an address in a verified domain of that organization, and no others.
   */
  own?: (providerId: string) => string | undefined
}
/** What `organizationsPlugin` takes. */
export interface OrganizationsOptions<S extends Statements = Statements> {
  /** Things of your app and what may be done with each: `{ project: ['create', 'update'] }`. */
  statements?: S
  /** What each role may do. Default: `admin` everything but deletion and transfer, `member` sees the other members. `owner` may do everything. */
  roles?: { readonly [role: string]: RoleRights<S> }
  /** Whether a user may create an organization; default: every signed-in user. */
  create?: (question: { user: User; ctx: AnyContext }) => Awaitable<boolean>
  /** How many organizations, members, invitations, teams and domains there may be. */
  limits?: OrganizationLimits
  /**
   * The last owner is deleted: `refuse` (default) throws LastOwner, and the user stays. `handOver`: the member with the most permissions, of several the one who
   * joined first, becomes the owner; an organization without other members is deleted.
   */
  ownerDeleted?: 'refuse' | 'handOver'
  /** Seconds that an invitation lives; default 604800 (7 days). */
  invitationAge?: number
  /** Custom fields of organizations, by name; default: none. */
  fields?: OrganizationFields
  /** Days that the events of an organization are kept for its owners; default 90, 0 keeps none. */
  history?: number
  /** How domains are proved, and which providers belong to an organization. */
  domains?: DomainOptions
  /**
   * `inside` (default): each tenant has its organizations. `over`: organizations stand above the tenants, and have members of several. Without tenants
   * there is no difference.
   */
  tenants?: 'inside' | 'over'
}

/** The options with their defaults. */
export interface ResolvedOptions extends Required<Omit<OrganizationsOptions, 'statements' | 'roles' | 'limits' | 'domains'>> {
  all: ReadonlySet<string>
  roles: Roles
  limits: Required<OrganizationLimits>
  domains: Required<Omit<DomainOptions, 'resolveTxt' | 'isPublicSuffix'>> & DomainOptions
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: OrganizationsOptions): ResolvedOptions {
  assertOptions('Plugin "organizations"', options, {
    statements: true,
    roles: true,
    create: true,
    limits: true,
    ownerDeleted: true,
    invitationAge: true,
    fields: true,
    history: true,
    domains: true,
    tenants: true,
  })
  assertOptions(
    'Plugin "organizations"',
    options.limits,
    { perUser: true, members: true, invitations: true, teams: true, domains: true, roles: true },
    'limits',
  )
  assertOptions('Plugin "organizations"', options.domains, { resolveTxt: true, isPublicSuffix: true, own: true }, 'domains')
  const {
    statements = {},
    roles = {},
    create = () => true,
    limits = {},
    ownerDeleted = 'refuse',
    invitationAge = 7 * 86_400,
    fields = {},
    history = 90,
    domains = {},
    tenants = 'inside',
  } = options
  for (const [name, value] of Object.entries(limits))
    if (typeof value !== 'function' && !(Number.isInteger(value) && value >= 1))
      throw new AuthError(`Plugin "organizations": \`limits.${name}\` must be a whole number of at least 1.`)
  if (!(invitationAge >= 60 && invitationAge <= 30 * 86_400))
    throw new AuthError('Plugin "organizations": `invitationAge` must be 60 to 2592000 seconds.')
  if (ownerDeleted !== 'refuse' && ownerDeleted !== 'handOver')
    throw new AuthError('Plugin "organizations": `ownerDeleted` must be `refuse` or `handOver`.')
  if (limits.roles !== undefined && limits.roles > 200) throw new AuthError('Plugin "organizations": `limits.roles` must be at most 200.')
  if (!(Number.isInteger(history) && history >= 0 && history <= 3650))
    throw new AuthError('Plugin "organizations": `history` must be 0 to 3650 days.')
  assertFields(fields)
  if (tenants !== 'inside' && tenants !== 'over') throw new AuthError('Plugin "organizations": `tenants` must be "inside" or "over".')
  return {
    ...resolveRoles(statements, roles as Record<string, unknown>),
    create,
    limits: { perUser: 10, members: 10_000, invitations: 100, teams: 100, domains: 10, roles: 20, ...limits },
    ownerDeleted,
    invitationAge,
    fields,
    history,
    domains: { own: () => undefined, ...domains },
    tenants,
  }
}
