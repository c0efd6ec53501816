/** Acts on clients of the authorization server and on agents: rights, reason and proof are asked here, the plugins of the services do the work. */
import { type AnyContext, type Context, HttpError, type Kernel, type Services, type Store } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import type { AgentPage, AgentSearch } from 'authkernel/plugins/agents'
import type {
  ClientActor,
  ClientChange,
  ClientMetadata,
  ClientPage,
  ClientSearch,
  ListedClient,
  MadeClient,
} from 'authkernel/plugins/authorization-server'
import { type Admin, assertAllowed, checkReason, findAdmin, isId } from './administrator.ts'
import { StepUpRequired } from './errors.ts'
import type { AdminAct, By, Order, ResolvedOptions } from './options.ts'

/** Seconds: highest age of the proof of an administrator who makes what opens something, or leads codes elsewhere. */
export const maxProofAge = 300

/**
 * Clients and agents. With a request `createClient`, `updateClient` and `rotateClient` throw StepUpRequired for a proof that is older than 5 minutes. Methods of
 * clients throw HttpError 409 without authorizationServerPlugin, those of agents without agentsPlugin.
 */
export interface ClientActs {
  /** Clients of the options first, then stored ones, the newest first; with `text` by name. Needs the act `clients`. */
  listClients(by: By, search?: ClientSearch): Promise<ClientPage>
  /** Null: there is no such client. Needs the act `clients`. */
  getClient(by: By, clientId: string): Promise<ListedClient | null>
  /** Stores a client. The secret is returned once. Throws HttpError 400 for metadata that no client may have. */
  createClient(by: By, order: Order & { metadata: Partial<ClientMetadata> }): Promise<MadeClient>
  /** Changes members of a stored client. Throws HttpError 404 for an unknown one, 400 for wrong metadata, and 409 when it was changed since `version`. */
  updateClient(by: By, clientId: string, order: Order & ClientChange): Promise<MadeClient>
  /** A new secret, returned once. The one before counts for `overlap` more seconds: 0 to 2592000, default 86400. Throws HttpError 404 for a client without a secret. */
  rotateClient(by: By, clientId: string, order: Order & { overlap?: number | undefined }): Promise<MadeClient>
  /** The client gets nothing from now on; its grants and tokens end. False: no such client, or it was disabled before. */
  disableClient(by: By, clientId: string, order: Order): Promise<boolean>
  /** What ended does not come back. False: no such client, or it was not disabled. */
  enableClient(by: By, clientId: string, order: Order): Promise<boolean>
  /** Deletes a stored client with its grants, tokens and consents. False: there is none. */
  deleteClient(by: By, clientId: string, order: Order): Promise<boolean>
  /** Agents of all users, the newest first. Needs the act `agents`. */
  listAgents(by: By, search?: AgentSearch): Promise<AgentPage>
  /** The kill switch; the owner cannot undo it. False: no such agent, or an administrator stopped it before. */
  stopAgent(by: By, agentId: string, order: Order): Promise<boolean>
  /** False: no such agent, or it runs. */
  startAgent(by: By, agentId: string, order: Order): Promise<boolean>
}

/** The methods of `auth.admin`. */
export function createClientActs(kernel: Kernel, options: ResolvedOptions): ClientActs {
  async function reader(by: By, act: AdminAct): Promise<Admin> {
    const actor = await findAdmin(kernel, by, act)
    await assertAllowed(options, actor, act, null)
    return actor
  }
  const changer = async (by: By, act: AdminAct, order: Order): Promise<{ ctx: AnyContext; actor: ClientActor }> => {
    const { ctx, admin } = await reader(by, act)
    const reason = checkReason(act, order?.reason)
    return { ctx, actor: { by: 'admin', userId: admin.id, reason } }
  }
  const prover = async (by: By, act: AdminAct, order: Order): ReturnType<typeof changer> => {
    const found = await changer(by, act, order)
    await assertProof(found.ctx, act)
    return found
  }
  const switchAgent = async (by: By, act: 'stopAgent' | 'startAgent', agentId: string, order: Order): Promise<boolean> => {
    const { ctx, admin } = await reader(by, act)
    const reason = checkReason(act, order?.reason)
    const service = serviceOf(ctx, 'agentAdministration', act)
    const agent = isId(agentId) ? await service.read(ctx, agentId) : null
    // An agent of a higher administrator acts with the rights of that one.
    const owner = agent && (await (ctx.store as Store).getUser(agent.ownerId))
    if (owner) await assertAllowed(options, { ctx, admin }, act, owner)
    return agent !== null && (act === 'stopAgent' ? service.stop : service.start)(ctx, agentId, { adminId: admin.id, reason })
  }
  const clientsOf = (ctx: AnyContext, act: AdminAct) => serviceOf(ctx, 'clientAdministration', act)
  return {
    async listClients(by, search) {
      const { ctx } = await reader(by, 'clients')
      return clientsOf(ctx, 'clients').search(ctx, search)
    },
    async getClient(by, id) {
      const { ctx } = await reader(by, 'clients')
      return isId(id) ? clientsOf(ctx, 'clients').read(ctx, id) : null
    },
    async createClient(by, { metadata, ...order } = {} as Order & { metadata: object }) {
      const { ctx, actor } = await prover(by, 'createClient', order)
      if (typeof metadata !== 'object' || metadata === null) throw new HttpError(400, 'admin.createClient: give `metadata`.')
      return clientsOf(ctx, 'createClient').create(ctx, metadata, actor)
    },
    async updateClient(by, id, order) {
      const { ctx, actor } = await prover(by, 'updateClient', order)
      const { metadata, version } = order
      return requireClient('updateClient', isId(id) && (await clientsOf(ctx, 'updateClient').update(ctx, id, { metadata, version }, actor)))
    },
    async rotateClient(by, id, order) {
      const { ctx, actor } = await prover(by, 'rotateClient', order)
      return requireClient(
        'rotateClient',
        isId(id) && (await clientsOf(ctx, 'rotateClient').rotate(ctx, id, { overlap: order.overlap }, actor)),
      )
    },
    async disableClient(by, id, order) {
      const { ctx, actor } = await changer(by, 'disableClient', order)
      return isId(id) && clientsOf(ctx, 'disableClient').disable(ctx, id, actor)
    },
    async enableClient(by, id, order) {
      const { ctx, actor } = await changer(by, 'enableClient', order)
      return isId(id) && clientsOf(ctx, 'enableClient').enable(ctx, id, actor)
    },
    async deleteClient(by, id, order) {
      const { ctx, actor } = await changer(by, 'deleteClient', order)
      return isId(id) && clientsOf(ctx, 'deleteClient').delete(ctx, id, actor)
    },
    async listAgents(by, search) {
      const { ctx } = await reader(by, 'agents')
      return serviceOf(ctx, 'agentAdministration', 'agents').search(ctx, search)
    },
    stopAgent: (by, id, order) => switchAgent(by, 'stopAgent', id, order),
    startAgent: (by, id, order) => switchAgent(by, 'startAgent', id, order),
  }
}

/** Whether the administrator proved recently who it is. A strategy of the host app may keep no attributes: then the time of the proof is unknown. */
export async function isProofFresh(ctx: Context): Promise<boolean> {
  const { session } = ctx
  const keepsProof = session.attributes !== undefined && session.abilities?.has('attributes') !== false
  return !keepsProof || hasFreshProof(ctx, { maxAge: maxProofAge })
}

/** A program that acts as a stored user has no session. */
async function assertProof(ctx: AnyContext, act: AdminAct): Promise<void> {
  if (ctx.request && !(await isProofFresh(ctx as Context)))
    throw new StepUpRequired(`admin.${act}: the proof is older than ${maxProofAge} seconds. Call auth.stepUp.require(request) first.`)
}

/** Throws HttpError 409 without the plugin that provides the service. */
function serviceOf<K extends 'clientAdministration' | 'agentAdministration'>(
  ctx: AnyContext,
  name: K,
  act: AdminAct,
): NonNullable<Services[K]> {
  const service = ctx.app.services[name] as Services[K] | undefined
  if (service) return service
  const plugin = name === 'clientAdministration' ? 'authorizationServerPlugin' : 'agentsPlugin'
  throw new HttpError(409, `admin.${act}: needs ${plugin}.`)
}

function requireClient<T>(act: AdminAct, result: T | null | false): T {
  if (result === null || result === false) throw new HttpError(404, `admin.${act}: there is no such client.`)
  return result
}
