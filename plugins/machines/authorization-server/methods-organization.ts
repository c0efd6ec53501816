/** `client.organizationClients`: administrators of an organization manage its clients from pages of the app. */
import { clientMethod, clientMethods, type ClientPart, type Context, HttpError, type Kernel, type Wire } from 'authkernel/kernel'
import type { ChangedMetadata, MadeClient } from './client-administration.ts'
import type { ListedClient } from './client-list.ts'
import type { ClientMetadata } from './client-metadata.ts'
import type { ResolvedOptions } from './options.ts'
import {
  assertManager,
  createOrganizationClient,
  deleteOrganizationClient,
  listOrganizationClients,
  rotateOrganizationClient,
  updateOrganizationClient,
} from './organization-clients.ts'

/**
 * `client.organizationClients` with the option `organizationClients`. Each rejects with status 401 for a visitor and 403 for a user without one of its `roles`.
 * All but `list` reject with `StepUpRequired` (403) for a proof older than `proofAge`.
 */
export type AuthorizationServerClient = ClientPart<{
  readonly organizationClients: {
    /** Oldest first, without secrets. */
    list(input: { organizationId: string }): Promise<Wire<ListedClient>[]>
    /** The secret is returned once. `membersOnly`: default true. Rejects with status 400 for metadata that no such client may have, 409 for too many. */
    create(input: { organizationId: string; metadata: Partial<ClientMetadata>; membersOnly?: boolean }): Promise<Wire<MadeClient>>
    /** Changes members; null removes one. Rejects with status 404 for no such client, 400 for wrong metadata, 409 when it was changed since `version`. */
    update(input: {
      organizationId: string
      clientId: string
      metadata?: ChangedMetadata
      version?: number
      membersOnly?: boolean
    }): Promise<Wire<MadeClient>>
    /** A new secret. The one before counts for `overlap` more seconds, default 86400. Rejects with status 404 for no such client, or one without a secret. */
    rotate(input: { organizationId: string; clientId: string; overlap?: number }): Promise<Wire<MadeClient>>
    /** With its grants, tokens and consents. Rejects with status 404 for no such client. */
    delete(input: { organizationId: string; clientId: string }): Promise<boolean>
  }
}>

/** Adds the methods of `client.organizationClients`. */
export function addClientMethods(kernel: Kernel, options: ResolvedOptions): void {
  const proved = async (
    ctx: Context,
    { organizationId, clientId }: ClientCall,
  ): Promise<{ organizationId: string; clientId: string; userId: string }> => ({
    organizationId,
    clientId,
    userId: await assertManager(ctx, options, organizationId, true),
  })
  clientMethods(kernel, 'organizationClients', {
    list: clientMethod(parse, async (ctx, { organizationId }) => {
      await assertManager(ctx, options, organizationId, false)
      return listOrganizationClients(ctx, organizationId)
    }),
    create: clientMethod(parse, async (ctx, sent) => {
      const { organizationId, userId } = await proved(ctx, sent)
      const { metadata = {}, membersOnly } = sent
      return createOrganizationClient(ctx, options, organizationId, { metadata: metadata as Partial<ClientMetadata>, membersOnly }, userId)
    }),
    update: clientMethod(parse, async (ctx, sent) => {
      const { metadata = {}, version, membersOnly } = sent
      return demandResult(await updateOrganizationClient(ctx, options, await proved(ctx, sent), { metadata, version, membersOnly }))
    }),
    rotate: clientMethod(parse, async (ctx, sent) =>
      demandResult(await rotateOrganizationClient(ctx, await proved(ctx, sent), { overlap: sent.overlap })),
    ),
    delete: clientMethod(parse, async (ctx, sent) => demandResult(await deleteOrganizationClient(ctx, options, await proved(ctx, sent)))),
  })
}

interface ClientCall {
  organizationId: string
  clientId: string
  metadata?: ChangedMetadata
  version?: number
  overlap?: number
  membersOnly?: boolean
}

/** Values are checked where they are used. */
function parse(sent: unknown): ClientCall {
  const { organizationId, clientId, ...others } = Object(sent) as Partial<ClientCall>
  return { ...others, organizationId: String(organizationId ?? ''), clientId: String(clientId ?? '') }
}

function demandResult<T>(result: T | null | false): T {
  if (result === null || result === false) throw new HttpError(404, 'The organization has no such app, or it has no secret.')
  return result
}
