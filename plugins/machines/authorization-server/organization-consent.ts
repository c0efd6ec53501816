/** Consent of an organization: an administrator allows a client for all members, who are not asked then. */
import { type AnyContext, HttpError, type Kernel, RecordConflict } from 'authkernel/kernel'
import type { OrganizationsService } from 'authkernel/plugins/organizations'
import { listRows } from 'authkernel/kernel/stores'
import type { Client } from './clients.ts'
import { findConsent } from './consent-store.ts'
import { endGrants, endMembersClients } from './endings.ts'
import { deleteOrganizationClients } from './organization-clients.ts'
import type { ResolvedOptions } from './options.ts'
import type { OAuthGrant, OAuthOrganizationConsent } from './tables.ts'

/** Clients that the host made. Others say of themselves who they are. */
const checkedSources: readonly Client['source'][] = ['options', 'host', 'moved']
/** Organizations of one user that are looked at. */
const maxMemberships = 50

/** What a user and the organizations of the user allowed a client. */
export interface Allowance {
  scopes: string[]
  audiences: string[]
}
/** An organization for which the user may decide. */
export interface AdministeredOrganization {
  id: string
  name: string
}

/**
 * What the organizations of a user allow a client now. `except`: an organization that no longer counts. A client that the host has not checked is allowed for users
 * of the organization's own domains alone: any visitor can make an organization and a client, and invite others.
 */
export async function organizationAllowance(
  ctx: AnyContext,
  userId: string,
  { id: clientId, source }: Pick<Client, 'id' | 'source'>,
  except?: string,
): Promise<Allowance> {
  const organizations = ctx.app.services.organizations
  if (!organizations) return { scopes: [], audiences: [] }
  const memberships = (await organizations.listOf(ctx, userId)).filter(
    ({ suspended, organizationId }) => !suspended && organizationId !== except,
  )
  if (memberships.length > 0 && !checkedSources.includes(source)) {
    const owner = await ownerOfAddress(ctx, organizations, userId)
    memberships.splice(0, memberships.length, ...memberships.filter(({ organizationId }) => organizationId === owner))
  }
  const consents = ctx.records('oauthOrganizationConsent')
  const found = await Promise.all(
    memberships.slice(0, maxMemberships).map(({ organizationId }) => consents.get({ organizationId, clientId })),
  )
  const given = found.filter((one) => one !== null)
  return { scopes: given.flatMap(({ scopes }) => scopes), audiences: given.flatMap(({ audiences }) => audiences) }
}

/** Id of the organization that has proved the domain of the user's verified email. */
async function ownerOfAddress(ctx: AnyContext, organizations: OrganizationsService, userId: string): Promise<string | undefined> {
  const user = await ctx.store?.getUser(userId)
  return user?.email && user.emailVerified ? organizations.ownsDomain(ctx, user.email) : undefined
}

/** The client of a grant, as far as it is known without a call to its server. */
async function sourceOfClient(ctx: AnyContext, { clients }: ResolvedOptions, id: string): Promise<Pick<Client, 'id' | 'source'>> {
  if (clients.has(id)) return { id, source: 'options' }
  return { id, source: (await ctx.records('oauthClient').get(id))?.source ?? 'document' }
}

/** Scopes of a flow without the consent page: none that needs a fresh proof, and none that only an administrator can allow, unless one has. */
export async function scopesWithoutPage(
  ctx: AnyContext,
  { organizationConsent, scopeProof }: ResolvedOptions,
  client: Pick<Client, 'id' | 'firstParty' | 'source'>,
  userId: string,
  scopes: readonly string[],
): Promise<string[]> {
  const within = scopes.filter((scope) => !scopeProof.has(scope))
  const demanding = client.firstParty ? [] : within.filter((scope) => organizationConsent.scopes.includes(scope))
  if (demanding.length === 0) return within
  const allowed = await organizationAllowance(ctx, userId, client)
  return within.filter((scope) => !demanding.includes(scope) || allowed.scopes.includes(scope))
}

/** Organizations in which the user may allow clients for all members. */
export async function administeredOrganizations(
  ctx: AnyContext,
  options: ResolvedOptions,
  userId: string,
): Promise<AdministeredOrganization[]> {
  const organizations = ctx.app.services.organizations
  if (!organizations) return []
  const own = (await organizations.listOf(ctx, userId)).filter((one) => mayDecide(options, one)).slice(0, maxMemberships)
  const rows = await Promise.all(own.map(({ organizationId }) => organizations.get(ctx, organizationId)))
  return rows.flatMap((one) => (one ? [{ id: one.id, name: one.name }] : []))
}

/** Throws HttpError 403 unless the user may decide for the organization at this moment. */
export async function assertAdministrator(
  ctx: AnyContext,
  options: ResolvedOptions,
  userId: string,
  organizationId: string,
): Promise<void> {
  const member = await ctx.app.services.organizations?.findMember(ctx, { organizationId, userId })
  if (!member || !mayDecide(options, member))
    throw new HttpError(403, 'Only an administrator of the organization may allow an app for all members.')
}

/** Adds scopes and audiences to what an organization allows a client. */
export async function allowForOrganization(
  ctx: AnyContext,
  { organizationId, clientId, name, scopes, audiences, by }: Omit<OAuthOrganizationConsent, 'id' | 'created'>,
): Promise<void> {
  const consents = ctx.records('oauthOrganizationConsent')
  const widen = async (row: OAuthOrganizationConsent): Promise<unknown> =>
    consents.update(row.id, {
      name,
      by,
      scopes: [...new Set([...row.scopes, ...scopes])],
      audiences: [...new Set([...row.audiences, ...audiences])],
    })
  const known = await consents.get({ organizationId, clientId })
  if (known) await widen(known)
  else {
    try {
      await consents.create({
        organizationId,
        clientId,
        name: name.slice(0, 100),
        scopes: [...scopes],
        audiences: [...audiences],
        by,
        created: ctx.now,
      })
    } catch (error) {
      const other = error instanceof RecordConflict ? await consents.get({ organizationId, clientId }) : null
      if (!other) throw error
      await widen(other)
    }
  }
  await ctx.emit('organizationAllowedClient', { user: by === null ? null : { id: by }, organizationId, clientId, scopes, what: 'allowed' })
}

/** What an organization allows, oldest first. */
export async function listForOrganization(ctx: AnyContext, organizationId: string): Promise<OAuthOrganizationConsent[]> {
  return listRows(ctx.records('oauthOrganizationConsent'), { where: { organizationId } })
}

/** Takes the consent back. Grants of members end unless they, or another organization, allowed the same. False: there was none. */
export async function revokeForOrganization(
  ctx: AnyContext,
  options: ResolvedOptions,
  { organizationId, clientId, by }: { organizationId: string; clientId: string; by: string | null },
): Promise<boolean> {
  const consent = await ctx.records('oauthOrganizationConsent').take({ organizationId, clientId })
  if (!consent) return false
  const grants = await listRows(ctx.records('oauthGrant'), { where: { clientId } })
  await endUncovered(ctx, options, grants, organizationId)
  await ctx.emit('organizationAllowedClient', {
    user: by === null ? null : { id: by },
    organizationId,
    clientId,
    scopes: consent.scopes,
    what: 'revoked',
  })
  return true
}

/** Adds the endings of a membership and of an organization: what rested on the consent of the organization ends with them. */
export function addMembershipEnding(kernel: Kernel, options: ResolvedOptions): void {
  kernel.on(
    'organizationChanged',
    async ({ act, organizationId, ctx }) => {
      if (act !== 'deleted') return
      await deleteOrganizationClients(ctx, options, organizationId)
      for (const { clientId } of await listForOrganization(ctx, organizationId))
        await revokeForOrganization(ctx, options, { organizationId, clientId, by: null })
    },
    { of: 'organizations' },
  )
  kernel.onAccessEnd('app', async (ctx, { which }) =>
    'member' in which
      ? (await endMembersClients(ctx, options, which.member.userId, which.member.organizationId)) +
        (await endMemberGrants(ctx, options, which.member.userId, which.member.organizationId))
      : 0,
  )
}

async function endMemberGrants(ctx: AnyContext, options: ResolvedOptions, userId: string, organizationId: string): Promise<number> {
  const clients = new Set((await listForOrganization(ctx, organizationId)).map(({ clientId }) => clientId))
  if (clients.size === 0) return 0
  const grants = (await listRows(ctx.records('oauthGrant'), { where: { userId } })).filter(({ clientId }) => clients.has(clientId))
  return endUncovered(ctx, options, grants, organizationId)
}

async function endUncovered(
  ctx: AnyContext,
  options: ResolvedOptions,
  grants: readonly OAuthGrant[],
  organizationId: string,
): Promise<number> {
  const uncovered: OAuthGrant[] = []
  for (const grant of grants) {
    if (grant.userId === null || options.clients.get(grant.clientId)?.firstParty) continue
    const [own, others] = [
      await findConsent(ctx, grant.userId, grant.clientId),
      await organizationAllowance(ctx, grant.userId, await sourceOfClient(ctx, options, grant.clientId), organizationId),
    ]
    const allowed = [...(own?.scopes ?? []), ...others.scopes]
    if (!grant.scopes.every((scope) => allowed.includes(scope))) uncovered.push(grant)
  }
  return endGrants(ctx, options, uncovered, 'access')
}

function mayDecide(
  { organizationConsent }: ResolvedOptions,
  { roles, suspended }: { roles: readonly string[]; suspended: boolean },
): boolean {
  return !suspended && roles.some((role) => organizationConsent.roles.includes(role))
}
