/** The service `sso`: connections and policies for pages of other plugins, which have asked for the right themselves. */
import type { AnyContext } from 'authkernel/kernel'
import { type Actor, requireConnection } from './actor.ts'
import * as connections from './connections.ts'
import type { ConnectionChange, NewConnection } from './input.ts'
import { listCertificates, type ConnectionCertificate } from './certificates.ts'
import { type Attributes, type MappedUser, mapUser } from './mapping.ts'
import type { ResolvedOptions } from './options.ts'
import { getPolicy, type NewPolicy, type Policy, type PolicyReport, removePolicy, setPolicy } from './policies.ts'
import { listSignIns, type SignInPage } from './sign-ins.ts'
import { getTrial, startTrial, type Trial } from './trials.ts'

/**
 * Connections and policies of one organization, for code that acts in its name: a portal. What belongs to another organization throws NoSuchConnection.
 * Name the program with `ctx.actAs` before, so that audit records say who it was.
 */
export interface OrganizationSso {
  /** As `auth.sso.create`. */
  create(connection: NewConnection): Promise<connections.Connection>
  /** As `auth.sso.update`. */
  update(id: string, change: ConnectionChange): Promise<connections.Connection>
  /** As `auth.sso.remove`. */
  remove(id: string): Promise<void>
  /** As `auth.sso.get`. */
  get(id: string): Promise<connections.Connection>
  /** Oldest first. */
  list(): Promise<connections.Connection[]>
  /** Signing certificates of a SAML connection, those of metadata too; none for OpenID Connect. Throws SsoInput for metadata that cannot be read. */
  certificates(id: string): Promise<ConnectionCertificate[]>
  /** As `auth.sso.preview`. */
  preview(id: string, claims: Attributes): Promise<MappedUser>
  /** As `auth.sso.signIns`. */
  signIns(id: string, search?: { cursor?: string | undefined; limit?: number | undefined }): Promise<SignInPage>
  /** Null: the organization demands nothing. */
  getPolicy(): Promise<Policy | null>
  /** As `auth.sso.setPolicy`. */
  setPolicy(policy: NewPolicy): Promise<PolicyReport>
  /** As `auth.sso.removePolicy`. */
  removePolicy(): Promise<boolean>
  /** Leads the browser through the identity provider; it ends at `returnTo`, a path below the base path, with `trial` in the query, and without a session. */
  startTrial(id: string, returnTo: string): Promise<Response>
  /** The result of a test sign-in; null: there is none, or it is older than an hour. */
  getTrial(trial: string): Promise<Trial | null>
}
/** Company sign-in for other plugins: `ctx.service('sso')`. The caller is code and needs no permission. */
export interface SsoService {
  /** What can be done for one organization. `startTrial` needs the context of a request. */
  forOrganization(ctx: AnyContext, organizationId: string): OrganizationSso
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Company sign-in for other plugins. */
    sso: SsoService
  }
}

/** The service. */
export function createService(options: ResolvedOptions): SsoService {
  return {
    forOrganization(ctx, organizationId) {
      const actor: Actor = { ctx, options, userId: null, within: organizationId }
      return {
        create: async (connection) => connections.createConnection(actor, organizationId, connection),
        update: async (id, change) => connections.updateConnection(actor, id, change),
        remove: async (id) => connections.removeConnection(actor, id),
        get: async (id) => connections.getConnection(actor, id),
        list: async () => connections.listConnections(actor, organizationId),
        certificates: async (id) => listCertificates(actor, id),
        preview: async (id, claims) => mapUser(await requireConnection(actor, id, false), claims),
        signIns: async (id, search) => listSignIns(actor, id, search),
        getPolicy: async () => getPolicy(actor, organizationId),
        setPolicy: async (policy) => setPolicy(actor, organizationId, policy),
        removePolicy: async () => removePolicy(actor, organizationId),
        async startTrial(id, returnTo) {
          if (!ctx.request) throw new TypeError('sso: a test sign-in needs the context of a request.')
          return startTrial({ ...actor, ctx }, id, returnTo)
        },
        getTrial: async (trial) => getTrial(actor, trial),
      }
    },
  }
}
