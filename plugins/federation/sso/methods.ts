/** `auth.sso` for the host app, and `client.sso` for the pages of organization owners. */
import {
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  jobFor,
  type Kernel,
  type OfTenant,
  readFields,
  type Wire,
} from 'authkernel/kernel'
import { type Actor, type By, createActor, createVisitor, requireConnection } from './actor.ts'
import { applyDuePolicies } from './apply.ts'
import * as connections from './connections.ts'
import type { ConnectionChange, NewConnection } from './input.ts'
import { type Attributes, type MappedUser, mapUser } from './mapping.ts'
import type { ResolvedOptions } from './options.ts'
import { getPolicy, type NewPolicy, type Policy, type PolicyReport, removePolicy, setPolicy } from './policies.ts'
import { listSignIns, type SignInPage } from './sign-ins.ts'
import { type ConnectionCheck, testConnection } from './test-connection.ts'
import { warnOfCertificates } from './certificate-warnings.ts'

/** What checks of a connection found. */
export interface ConnectionTest {
  /** All checks passed. */
  ok: boolean
  checks: ConnectionCheck[]
}
/**
 * What the plugin puts on `auth`. `by` is a request, a user, or `{ system: true }` for your own code. It checks rights, not CSRF: call it from your own protected
 * routes. Each throws NoSuchConnection (404) for users who are no members, AccessDenied for members without the right, and SsoInput (400). Changes by a
 * request with an old proof throw SsoStepUp (403).
 */
export interface SsoApi {
  sso: {
    /** Makes a connection of an organization; null: of the host, for `domains` that you vouch for. */
    create(by: By, organizationId: string | null, connection: NewConnection): Promise<connections.Connection>
    /** Changes what is given. The identity provider and `mapping.id` stay: accounts rest on them. */
    update(by: By, id: string, change: ConnectionChange): Promise<connections.Connection>
    /** Removes a connection. Rejected for the last one that a policy demands. */
    remove(by: By, id: string): Promise<void>
    /** One connection, without its secret. */
    get(by: By, id: string): Promise<connections.Connection>
    /** Connections of an organization, or of the host; oldest first. */
    list(by: By, organizationId: string | null): Promise<connections.Connection[]>
    /** Reads discovery document and keys, or metadata and certificates of the identity provider, and says what is wrong. */
    test(by: By, id: string): Promise<ConnectionTest>
    /** What the connection would make of these claims. Stores nothing. */
    preview(by: By, id: string, claims: Attributes): Promise<MappedUser>
    /** Sign-ins of the last days, newest first, with reasons of failures. */
    signIns(by: By, id: string, search?: { cursor?: string | undefined; limit?: number | undefined }): Promise<SignInPage>
    /** Null: the organization demands nothing. */
    getPolicy(by: By, organizationId: string | null): Promise<Policy | null>
    /** Demands the connections of the organization from now or from a date on, and ends the sessions that it forbids. */
    setPolicy(by: By, organizationId: string | null, policy: NewPolicy): Promise<PolicyReport>
    /** Allows all sign-in methods again. False: there was no policy. */
    removePolicy(by: By, organizationId: string | null): Promise<boolean>
    /** Ends what policies forbid whose grace is over. A clean-up does it, in each tenant that `tenantsPlugin({ list })` names; for a scheduled job elsewhere. Answers how many policies. */
    applyDuePolicies(of?: OfTenant): Promise<number>
    /** Mails owners and contacts 30 and 7 days before the last certificate of a SAML connection ends. A clean-up does it. Answers how many mails. */
    warnOfCertificates(of?: OfTenant): Promise<number>
  }
}

/** `client.sso`: the same for the user who is signed in. Each rejects with `AccessDenied` (403) for visitors and for members without the right. */
export type SsoClient = ClientPart<{
  readonly sso: {
    /** Connections of an organization. */
    listConnections(input: { organizationId: string }): Promise<Wire<connections.Connection>[]>
    /** Makes one. */
    create(input: NewConnection & { organizationId: string }): Promise<Wire<connections.Connection>>
    /** Changes what is given. */
    change(input: ConnectionChange & { id: string }): Promise<Wire<connections.Connection>>
    /** Removes one. */
    remove(input: { id: string }): Promise<null>
    /** Checks discovery document and keys. */
    test(input: { id: string }): Promise<Wire<ConnectionTest>>
    /** What the connection would make of these claims. */
    preview(input: { id: string; claims: Attributes }): Promise<Wire<MappedUser>>
    /** The log. */
    listSignIns(input: { id: string; cursor?: string }): Promise<Wire<SignInPage>>
    /** The policy of an organization; null: none. */
    getPolicy(input: { organizationId: string }): Promise<Wire<Policy> | null>
    /** Sets it. */
    demand(input: NewPolicy & { organizationId: string }): Promise<Wire<PolicyReport>>
    /** Removes it. */
    release(input: { organizationId: string }): Promise<boolean>
  }
}>

/** The methods of `auth.sso`. */
export function createApi(kernel: Kernel, options: ResolvedOptions): SsoApi['sso'] {
  const act =
    <A extends unknown[], O>(work: (actor: Actor, ...given: A) => Promise<O>) =>
    async (by: By, ...given: A): Promise<O> =>
      work(await createActor(kernel, options, by), ...given)
  return {
    create: act(connections.createConnection),
    update: act(connections.updateConnection),
    remove: act(connections.removeConnection),
    get: act(connections.getConnection),
    list: act(connections.listConnections),
    test: act(testConnection),
    preview: act(previewUser),
    signIns: act(listSignIns),
    getPolicy: act(getPolicy),
    setPolicy: act(setPolicy),
    removePolicy: act(removePolicy),
    applyDuePolicies: async (of = {}) => applyDuePolicies(await kernel.contextOf(jobFor('sso', of))),
    warnOfCertificates: async (of = {}) => warnOfCertificates(await kernel.contextOf(jobFor('sso', of))),
  }
}

async function previewUser(actor: Actor, id: string, claims: Attributes): Promise<MappedUser> {
  return mapUser(await requireConnection(actor, id, false), Object(claims) as Attributes)
}

/** Adds the methods of `client.sso`, which are also the HTTP routes of owners. */
export function addClientMethods(kernel: Kernel, options: ResolvedOptions): void {
  const method = <O>(work: (actor: Actor, fields: Record<string, unknown>) => Promise<O>) =>
    clientMethod(readFields, async (ctx: Context, fields) => work(await createVisitor(ctx, options), fields))
  clientMethods(kernel, 'sso', {
    listConnections: method((actor, sent) => connections.listConnections(actor, organizationOf(sent))),
    create: method((actor, { organizationId, ...rest }) => connections.createConnection(actor, organizationOf({ organizationId }), rest)),
    change: method((actor, { id, ...rest }) => connections.updateConnection(actor, String(id), rest as ConnectionChange)),
    remove: method((actor, { id }) => connections.removeConnection(actor, String(id))),
    test: method((actor, { id }) => testConnection(actor, String(id))),
    preview: method((actor, { id, claims }) => previewUser(actor, String(id), claims as Attributes)),
    listSignIns: method((actor, { id, cursor }) =>
      listSignIns(actor, String(id), { cursor: typeof cursor === 'string' ? cursor : undefined }),
    ),
    getPolicy: method((actor, sent) => getPolicy(actor, organizationOf(sent))),
    demand: method((actor, { organizationId, ...rest }) => setPolicy(actor, organizationOf({ organizationId }), rest)),
    release: method((actor, sent) => removePolicy(actor, organizationOf(sent))),
  })
}

/** Users manage organizations alone: what belongs to the host has no route. */
function organizationOf({ organizationId }: Record<string, unknown>): string {
  return typeof organizationId === 'string' && organizationId !== '' ? organizationId : '-'
}
