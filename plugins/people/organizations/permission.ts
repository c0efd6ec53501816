/** `auth.can`: the permissions of a user in an organization, read from the store at each use. */
import { type AnyContext, AuthError, didYouMean, jobFor, type OfTenant, type Session } from 'authkernel/kernel'
import { findUsualOrganization } from './active-organization.ts'
import { type PluginInstance, isId, isRowId, findMember, rolesOf, rowsOf } from './actor.ts'
import { grantsPermission, heldRoles } from './roles.ts'

/** In which organization. `tenant` names the tenant, where there are several and a session was given instead of a request. */
export interface CanWhere extends OfTenant {
  /** Its id; default: the active one of the session. */
  organization?: string | undefined
  /** Id of a team: what the user is in it counts too. A second query. */
  team?: string | undefined
}

interface PermissionScope {
  scopes?: readonly string[]
  /** Id of the organization that a key is for. */
  organization?: string
}

/** False without a user, for a user who is no member, and without the permission. Throws AuthError for a permission that no statement names. */
export async function checkPermission(
  plugin: PluginInstance,
  who: Session | Request | null,
  permission: string,
  { organization, team, ...tenant }: CanWhere,
): Promise<boolean> {
  const { all, roles } = plugin.options
  if (!all.has(permission)) {
    const hint = didYouMean(permission, [...all])
    throw new AuthError(
      `auth.can: no statement names the permission "${permission}".${hint} Add it to \`statements\` of organizationsPlugin.`,
    )
  }
  if (!who) return false
  let ctx: AnyContext
  let session: Session | null
  if (who instanceof Request) {
    const request = await plugin.kernel.contextOf(who)
    ;[ctx, session] = [request, await request.currentSession()]
  } else {
    ctx = await plugin.kernel.contextOf(jobFor('can', tenant))
    session = who
  }
  const userId = session?.user?.id
  if (!session || !isId(userId)) return false
  // A key, an app or an agent does what it was made for, and never more than its owner.
  const { apiKey, bearer, agent } = session as { apiKey?: PermissionScope; bearer?: PermissionScope; agent?: PermissionScope }
  const limits = [apiKey, bearer, agent].filter((one) => one !== undefined)
  const rows = await rowsOf(plugin, ctx)
  const usual = organization === undefined && !session.organization && limits.length === 0
  const organizationId = organization ?? session.organization?.id ?? (usual ? (await findUsualOrganization(rows, userId))?.id : undefined)
  if (!isRowId(organizationId)) return false
  if (apiKey?.organization !== undefined && apiKey.organization !== organizationId) return false
  if (limits.some(({ scopes }) => !scopes?.includes(permission))) return false
  const [member, inTeam] = await Promise.all([
    findMember(rows, organizationId, userId),
    isRowId(team) ? rows.records('organizationTeamMember').get({ teamId: team, userId }) : null,
  ])
  if (!member) return false
  const held = [...heldRoles(member), ...(inTeam?.organizationId === organizationId && inTeam.role !== null ? [inTeam.role] : [])]
  if (grantsPermission(roles, held, permission)) return true
  // Roles that the members made are another query, for those who have one.
  const isMade = held.some((role) => !roles.has(role))
  return isMade && grantsPermission(await rolesOf(rows, plugin.options, organizationId), held, permission)
}
