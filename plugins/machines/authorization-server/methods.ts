/** `auth.authorizationServer` for the host app. */
import { type AnyContext, jobFor, type Kernel, type OfTenant } from 'authkernel/kernel'
import {
  type ClientChange,
  createClient,
  deleteClient,
  disableClient,
  enableClient,
  hostActor,
  type MadeClient,
  rotateClient,
  updateClient,
} from './client-administration.ts'
import { type ClientPage, type ClientSearch, type ListedClient, readClient, searchClients } from './client-list.ts'
import type { ClientMetadata } from './client-metadata.ts'
import { listConsents } from './consent-store.ts'
import { createGuards, type ResourceGuards } from './mcp.ts'
import {
  createOrganizationClient,
  deleteOrganizationClient,
  listOrganizationClients,
  type NewOrganizationClient,
  rotateOrganizationClient,
  updateOrganizationClient,
} from './organization-clients.ts'
import { listForOrganization, revokeForOrganization } from './organization-consent.ts'
import type { ResolvedOptions } from './options.ts'
import { revokeClient } from './pages.ts'

/** What a user let in. */
export interface ConnectedApp {
  clientId: string
  name: string
  scopes: readonly string[]
  created: Date
  used: Date
}
/** What an organization lets in for all members. */
export interface OrganizationApp {
  clientId: string
  name: string
  scopes: readonly string[]
  /** Id of the administrator; null: code of the host. */
  by: string | null
  created: Date
}
/** What the plugin puts on `auth`. It checks neither rights nor CSRF: call it from your own protected routes. */
export interface AuthorizationServerApi {
  authorizationServer: ResourceGuards & {
    clients: {
      /** Stores a client. The secret is returned once. Throws HttpError 400 for metadata that no client may have. */
      create(metadata: Partial<ClientMetadata>, of?: OfTenant): Promise<MadeClient>
      /** Clients of the options first, then stored ones, the newest first; with `text` by name. */
      list(search?: ClientSearch & OfTenant): Promise<ClientPage>
      /** Null: there is no such client. */
      get(clientId: string, of?: OfTenant): Promise<ListedClient | null>
      /**
       * Changes members of a stored client. One that authenticates by a secret for the first time gets one. Null: there is no such client. Throws HttpError 400 for
       * metadata that no client may have, and 409 when it was changed since `version`.
       */
      update(clientId: string, change: ClientChange & OfTenant): Promise<MadeClient | null>
      /**
       * A new secret, returned once. The one before counts for `overlap` more seconds: 0 to 2592000, default 86400. Null: there is no such client, or it has no
       * secret. Throws HttpError 409 when it was rotated at the same moment.
       */
      rotate(clientId: string, order?: { overlap?: number | undefined } & OfTenant): Promise<MadeClient | null>
      /** Ends all grants and tokens, and rejects the client from now on; also one of a metadata document, by its address. False: no such client, or it was disabled before. */
      disable(clientId: string, order?: { reason?: string | undefined } & OfTenant): Promise<boolean>
      /** What ended does not come back. False: no such client, or it was not disabled. */
      enable(clientId: string, order?: { reason?: string | undefined } & OfTenant): Promise<boolean>
      /** Deletes a stored client with its grants, tokens and consents. False: there is none. */
      delete(clientId: string, order?: { reason?: string | undefined } & OfTenant): Promise<boolean>
    }
    /** What organizations allow clients for all of their members, and clients that belong to an organization. */
    organizations: {
      /** Clients that belong to an organization, with the option `organizationClients`. */
      clients: {
        /** Oldest first. */
        list(organizationId: string, of?: OfTenant): Promise<ListedClient[]>
        /** The secret is returned once. Throws HttpError 400 for metadata that no such client may have, 404 without the organization, 409 for too many. */
        create(organizationId: string, client: NewOrganizationClient & OfTenant): Promise<MadeClient>
        /** Null: the organization has no such client. Throws as `clients.update`, and HttpError 403 for one that an administrator disabled. */
        update(organizationId: string, clientId: string, change: ClientChange & OfTenant): Promise<MadeClient | null>
        /** Null: the organization has no such client, or it has no secret. Throws as `clients.rotate`. */
        rotate(organizationId: string, clientId: string, order?: { overlap?: number | undefined } & OfTenant): Promise<MadeClient | null>
        /** With its grants, tokens and consents. False: the organization has no such client. */
        delete(organizationId: string, clientId: string, of?: OfTenant): Promise<boolean>
      }
      /** Oldest first. */
      list(organizationId: string, of?: OfTenant): Promise<OrganizationApp[]>
      /** Removes it; grants of members end unless they allowed the same themselves. False: there was none. */
      revoke(organizationId: string, clientId: string, of?: OfTenant): Promise<boolean>
    }
    /** Apps that a user let in, oldest first. */
    connectedApps(userId: string, of?: OfTenant): Promise<ConnectedApp[]>
    /** Ends what an app has of a user: consent, grants and tokens. False: it had nothing. */
    disconnect(userId: string, clientId: string, of?: OfTenant): Promise<boolean>
  }
}

export function createApi(kernel: Kernel, options: ResolvedOptions): AuthorizationServerApi['authorizationServer'] {
  const job = (of: OfTenant = {}): Promise<AnyContext> => kernel.contextOf(jobFor('authorization-server', of))
  return {
    ...createGuards(kernel, options),
    clients: {
      create: async (metadata, of) => createClient(await job(of), options, metadata, hostActor),
      list: async ({ tenant, ...search } = {}) => searchClients(await job({ tenant }), options, search),
      get: async (id, of) => readClient(await job(of), options, id),
      update: async (id, { tenant, ...change }) => updateClient(await job({ tenant }), options, id, change, hostActor),
      rotate: async (id, { tenant, ...order } = {}) => rotateClient(await job({ tenant }), id, order, hostActor),
      disable: async (id, { tenant, reason = '' } = {}) => disableClient(await job({ tenant }), options, id, { ...hostActor, reason }),
      enable: async (id, { tenant, reason = '' } = {}) => enableClient(await job({ tenant }), id, { ...hostActor, reason }),
      delete: async (id, { tenant, reason = '' } = {}) => deleteClient(await job({ tenant }), options, id, { ...hostActor, reason }),
    },
    organizations: {
      clients: createOrganizationApi(job, options),
      async list(organizationId, of) {
        const rows = await listForOrganization(await job(of), organizationId)
        return rows.map(({ clientId, name, scopes, by, created }) => ({ clientId, name, scopes, by, created }))
      },
      revoke: async (organizationId, clientId, of) => revokeForOrganization(await job(of), options, { organizationId, clientId, by: null }),
    },
    connectedApps: async (userId, of) =>
      (await listConsents(await job(of), userId)).map(({ clientId, name, scopes, created, used }) => ({
        clientId,
        name,
        scopes,
        created,
        used,
      })),
    disconnect: async (userId, clientId, of) => revokeClient(await job(of), options, userId, clientId),
  }
}

function createOrganizationApi(
  job: (of?: OfTenant) => Promise<AnyContext>,
  options: ResolvedOptions,
): AuthorizationServerApi['authorizationServer']['organizations']['clients'] {
  const userId = null
  return {
    list: async (organizationId, of) => listOrganizationClients(await job(of), organizationId),
    create: async (organizationId, { tenant, ...client }) =>
      createOrganizationClient(await job({ tenant }), options, organizationId, client, userId),
    update: async (organizationId, clientId, { tenant, ...change }) =>
      updateOrganizationClient(await job({ tenant }), options, { organizationId, clientId, userId }, change),
    rotate: async (organizationId, clientId, { tenant, ...order } = {}) =>
      rotateOrganizationClient(await job({ tenant }), { organizationId, clientId, userId }, order),
    delete: async (organizationId, clientId, of) => deleteOrganizationClient(await job(of), options, { organizationId, clientId, userId }),
  }
}
