/** Clients that belong to an organization: its owners make, change and delete them, and they end with it. */
import { type AnyContext, type Context, HttpError } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/organizations'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { listRows } from 'authkernel/kernel/stores'
import { findOwnUser, hasTypedAddress } from 'authkernel/kernel/users'
import {
  type ClientActor,
  type ClientChange,
  createClient,
  deleteClient,
  hostActor,
  type MadeClient,
  rotateClient,
  updateClient,
} from './client-administration.ts'
import { type ListedClient, listRow } from './client-list.ts'
import type { ClientMetadata } from './client-metadata.ts'
import { ClientProofRequired } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import type { OAuthClientRecord } from './tables.ts'

/** A new client of an organization. */
export interface NewOrganizationClient {
  /** Members of RFC 7591; `client_name` is needed. */
  metadata: Partial<ClientMetadata>
  /** Only members of the organization may sign in. Default true. */
  membersOnly?: boolean | undefined
}

/** The id of the user who may manage clients of the organization now. `fresh`: with a recent proof. Throws HttpError 401 and 403, ClientProofRequired. */
export async function assertManager(ctx: Context, options: ResolvedOptions, organizationId: string, fresh: boolean): Promise<string> {
  const user = await findOwnUser(ctx)
  if (!user?.id) throw new HttpError(401, 'Sign in first.')
  if (!(await isManager(ctx, options, { userId: user.id, organizationId })))
    throw new HttpError(403, 'Only an administrator of the organization may manage its apps.')
  if (!fresh) return user.id
  // A proof of the address moves the user to its holder: an older client would stay with the attacker who only typed the address.
  if (await hasTypedAddress(ctx, user.id)) throw new HttpError(403, 'Verify your email first.')
  const maxAge = options.organizationClients?.proofAge ?? 0
  if (keepsProof(ctx) && !(await hasFreshProof(ctx, { maxAge })))
    throw new ClientProofRequired(`authorization-server: the proof of the user is older than ${maxAge} seconds.`)
  return user.id
}

/** Whether a user may manage clients of an organization: a member in force with one of the roles. */
export async function isManager(
  ctx: AnyContext,
  { organizationClients: own }: ResolvedOptions,
  member: { userId: string; organizationId: string },
): Promise<boolean> {
  const state = own && (await ctx.app.services.organizations?.findMember(ctx, member))
  return state !== undefined && state !== null && !state.suspended && state.roles.some((role) => own?.roles.includes(role))
}

/** Oldest first. */
export async function listOrganizationClients(ctx: AnyContext, organizationId: string): Promise<ListedClient[]> {
  return (await rowsOf(ctx, organizationId)).map((row) => listRow(ctx, row))
}

/** Throws HttpError 400 for metadata that no such client may have, 404 without the organization, 409 for too many. */
export async function createOrganizationClient(
  ctx: AnyContext,
  options: ResolvedOptions,
  organizationId: string,
  { metadata, membersOnly = true }: NewOrganizationClient,
  userId: string | null,
): Promise<MadeClient> {
  if (typeof membersOnly !== 'boolean') throw new HttpError(400, '`membersOnly` must be true or false.')
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))
    throw new HttpError(400, '`metadata` must be an object.')
  // Written first, then counted and looked for: clients that are made at the same moment cannot exceed the limit, and none outlives the organization.
  const admit = async (): Promise<void> => {
    const max = options.organizationClients?.max ?? 0
    if ((await ctx.records('oauthClient').count({ organizationId }, { max: max + 1 })) > max)
      throw new HttpError(409, `The organization has ${max} apps already. Delete one first.`)
    if (!(await ctx.service('organizations').get(ctx, organizationId))) throw new HttpError(404, 'There is no such organization.')
    if (userId !== null && !(await isManager(ctx, options, { userId, organizationId })))
      throw new HttpError(403, 'Only an administrator of the organization may manage its apps.')
  }
  return createClient(ctx, options, metadata, actorOf(userId), { of: { organizationId, membersOnly }, admit })
}

/** Null: the organization has no such client. Throws HttpError 400 and 409 as `updateClient`, and 403 for one that an administrator of the app disabled. */
export async function updateOrganizationClient(
  ctx: AnyContext,
  options: ResolvedOptions,
  { organizationId, clientId, userId }: ClientOfOrganization,
  change: ClientChange,
): Promise<MadeClient | null> {
  return (await findWorking(ctx, organizationId, clientId)) ? updateClient(ctx, options, clientId, change, actorOf(userId)) : null
}

/** A new secret. Null: the organization has no such client, or it has no secret. */
export async function rotateOrganizationClient(
  ctx: AnyContext,
  { organizationId, clientId, userId }: ClientOfOrganization,
  order: { overlap?: number | undefined },
): Promise<MadeClient | null> {
  return (await findWorking(ctx, organizationId, clientId)) ? rotateClient(ctx, clientId, order, actorOf(userId)) : null
}

/** With its grants, tokens and consents. False: the organization has no such client. */
export async function deleteOrganizationClient(
  ctx: AnyContext,
  options: ResolvedOptions,
  { organizationId, clientId, userId }: ClientOfOrganization,
): Promise<boolean> {
  return (await findOwned(ctx, organizationId, clientId)) ? deleteClient(ctx, options, clientId, actorOf(userId)) : false
}

/** All of them: the organization was deleted. */
export async function deleteOrganizationClients(ctx: AnyContext, options: ResolvedOptions, organizationId: string): Promise<void> {
  for (const { id } of await rowsOf(ctx, organizationId)) await deleteClient(ctx, options, id, hostActor)
}

/** Which client, and who asks: null is code of the host. */
export interface ClientOfOrganization {
  organizationId: string
  clientId: string
  userId: string | null
}

/** A strategy of the host app may keep no attributes: then the time of the proof is unknown. */
export function keepsProof({ session }: Context): boolean {
  return session.attributes !== undefined && session.abilities?.has('attributes') !== false
}

async function findOwned(ctx: AnyContext, organizationId: string, clientId: string): Promise<OAuthClientRecord | null> {
  const row = typeof clientId === 'string' && clientId !== '' ? await ctx.records('oauthClient').get(clientId) : null
  return row !== null && row.organizationId === organizationId ? row : null
}

/** What an administrator of the app shut out is not changed by the organization. */
async function findWorking(ctx: AnyContext, organizationId: string, clientId: string): Promise<OAuthClientRecord | null> {
  const row = await findOwned(ctx, organizationId, clientId)
  if (row?.disabled) throw new HttpError(403, 'An administrator disabled this app.')
  return row
}

async function rowsOf(ctx: AnyContext, organizationId: string): Promise<OAuthClientRecord[]> {
  return listRows(ctx.records('oauthClient'), { where: { organizationId } })
}

function actorOf(userId: string | null): ClientActor {
  return userId === null ? hostActor : { by: 'organization', userId, reason: '' }
}
