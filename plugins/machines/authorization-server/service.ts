/** Services for other plugins: access tokens of clients, for those that serve a resource of the options, and the administration of clients. */
import type { AnyContext, Context } from 'authkernel/kernel'
import {
  type ClientActor,
  type ClientChange,
  createClient,
  deleteClient,
  disableClient,
  enableClient,
  type MadeClient,
  rotateClient,
  updateClient,
} from './client-administration.ts'
import { type ClientPage, type ClientSearch, type ListedClient, readClient, searchClients } from './client-list.ts'
import type { ClientMetadata } from './client-metadata.ts'
import { findClient } from './clients.ts'
import { decideToken, type ResourceDecision, type ResourceDemand } from './mcp.ts'
import { canonicalResource, type ResolvedOptions } from './options.ts'

/** Access tokens as plugins check them: `ctx.app.services.resourceTokens`. */
export interface ResourceTokens {
  /** Checks the token of a request: its audience, its scopes and its key. Undefined: the option `resources` has no such resource. */
  authorize(ctx: Context, demand: ResourceDemand): Promise<ResourceDecision | undefined>
  /** Name of a client that may get tokens for itself (client credentials). Undefined: there is none with this id. */
  nameClient(ctx: AnyContext, clientId: string): Promise<string | undefined>
}

/** Clients as plugins administer them, after they asked for rights: `ctx.app.services.clientAdministration`. As `auth.authorizationServer.clients`. */
export interface ClientAdministration {
  search(ctx: AnyContext, search?: ClientSearch): Promise<ClientPage>
  read(ctx: AnyContext, clientId: string): Promise<ListedClient | null>
  create(ctx: AnyContext, metadata: Partial<ClientMetadata>, actor: ClientActor): Promise<MadeClient>
  update(ctx: AnyContext, clientId: string, change: ClientChange, actor: ClientActor): Promise<MadeClient | null>
  rotate(ctx: AnyContext, clientId: string, order: { overlap?: number | undefined }, actor: ClientActor): Promise<MadeClient | null>
  disable(ctx: AnyContext, clientId: string, actor: ClientActor): Promise<boolean>
  enable(ctx: AnyContext, clientId: string, actor: ClientActor): Promise<boolean>
  delete(ctx: AnyContext, clientId: string, actor: ClientActor): Promise<boolean>
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Lists and changes clients. It asks for no rights. Only with authorizationServerPlugin. */
    clientAdministration: ClientAdministration
    /** Access tokens for resources of this app. Only with authorizationServerPlugin. */
    resourceTokens: ResourceTokens
  }
}

/** The service `clientAdministration`. */
export function createAdministration(options: ResolvedOptions): ClientAdministration {
  return {
    search: (ctx, search) => searchClients(ctx, options, search),
    read: (ctx, id) => readClient(ctx, options, id),
    create: (ctx, metadata, actor) => createClient(ctx, options, metadata, actor),
    update: (ctx, id, change, actor) => updateClient(ctx, options, id, change, actor),
    rotate: rotateClient,
    disable: (ctx, id, actor) => disableClient(ctx, options, id, actor),
    enable: enableClient,
    delete: (ctx, id, actor) => deleteClient(ctx, options, id, actor),
  }
}

/** The service `resourceTokens`. */
export function createService(options: ResolvedOptions): ResourceTokens {
  return {
    async authorize(ctx, { resource: name, scopes = [] }) {
      const resource = options.resources.get(canonicalResource(name))
      return resource && decideToken(ctx, options, resource, scopes)
    },
    async nameClient(ctx, clientId) {
      const client = await findClient(ctx, options, clientId)
      return client?.metadata.grant_types.includes('client_credentials') ? client.name : undefined
    },
  }
}
