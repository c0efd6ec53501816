/** `client.admin`: the user who is signed in acts. */
import {
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  HttpError,
  type Kernel,
  readFields,
  type Wire,
} from 'authkernel/kernel'
import type { AgentPage, AgentSearch } from 'authkernel/plugins/agents'
import type { AuditPage, AuditVerification } from 'authkernel/plugins/audit'
import type {
  ClientChange,
  ClientMetadata,
  ClientPage,
  ClientSearch,
  ListedClient,
  MadeClient,
} from 'authkernel/plugins/authorization-server'
import type { PendingApproval } from './approvals.ts'
import type { AuditSearch } from './audit-export.ts'
import type { Configuration } from './configuration.ts'
import type { UserDetails } from './details.ts'
import type { AdminActs, AdminRights } from './methods.ts'
import type { Overview } from './overview.ts'
import type { ListedKey, ListedOrganization, ThingPage, ThingQuery } from './things.ts'
import type { ListedUser, UserPage, UserSearch } from './users.ts'

/** The user, and the reason: 1 to 500 characters. */
type Order = { userId: string; reason: string }
/** The client, and the reason. */
type ClientOrder = { clientId: string; reason: string }
/** Null: it was done. Else the act waits for other administrators. */
type ActResult = Wire<PendingApproval> | null
/**
 * `client.admin` with the option `pages`. Each rejects with `AccessDenied` (403) when signed out, for a key and a banned user, and if the role or `can` does not permit it. The status is 404 for an unknown user, and 400 for a reason or another value that is missing or wrong. Dates are text in ISO 8601.
 */
export interface AdminMethods {
  /** Users with filters, an order and pages. `next`: give it as `after`; absent on the last page. */
  list(
    input: Omit<UserSearch, 'seenSince' | 'seenBefore'> & { seenSince?: string; seenBefore?: string },
  ): Promise<Wire<Omit<UserPage, 'next'>> & { next?: string }>
  /** Null: there is no such user. */
  get(input: { userId: string }): Promise<Wire<ListedUser> | null>
  /** The user with accounts, passkeys, factors, sessions, keys, apps and organizations. Null: there is no such user. */
  getDetails(input: { userId: string }): Promise<Wire<UserDetails> | null>
  /** What the user who is signed in may do. */
  getRights(): Promise<AdminRights>
  /** Counts of the last days; default 30. */
  getOverview(input: { days?: number }): Promise<Overview>
  /** Stores a user. Rejects with status 409 for a taken address. */
  createUser(input: { email: string; name?: string | null; verified?: boolean; reason: string }): Promise<Wire<ListedUser>>
  /** Stores a user and mails the link of the sign-in page. */
  inviteUser(input: { email: string; name?: string | null; reason: string }): Promise<Wire<ListedUser>>
  /** Changes name, address or picture. */
  updateUser(input: Order & { name?: string | null; email?: string; image?: string | null }): Promise<ActResult>
  /** Gives a role of administrators, or takes it (null). */
  setRole(input: Order & { role: string | null }): Promise<ActResult>
  /** Mails a link by which the user chooses a new password. */
  resetPassword(input: Order): Promise<ActResult>
  /** Rejects every sign-in of the user, and ends all sessions. */
  ban(input: Order & { until?: string }): Promise<ActResult>
  /** False: the user was not banned. */
  unban(input: Order): Promise<boolean>
  /** Ends all sessions of the user. */
  signOut(input: Order): Promise<ActResult>
  /** Removes all second factors, so that the next sign-in sets up a new one. */
  newFactor(input: Order): Promise<ActResult>
  /** The administrator knows that the address is the user's. Rejects with status 409 for a user without an address. */
  verifyAddress(input: Order): Promise<ActResult>
  /** Deletes the user with accounts, sessions and records. */
  deleteUser(input: Order): Promise<ActResult>
  /** Makes this browser the user's for 30 minutes: go to `url`. Rejects with `AccessDenied` (403) for a proof that is too old. */
  impersonate(input: Order & { returnTo?: string }): Promise<{ url: string }>
  /** Acts that wait for another administrator. */
  listApprovals(): Promise<Wire<PendingApproval>[]>
  /** Agrees to an act. Null: it was done. */
  approve(input: { requestId: string }): Promise<ActResult>
  /** Removes a request. */
  refuse(input: { requestId: string }): Promise<null>
  /** In the order of their ids. */
  listOrganizations(input: ThingQuery): Promise<Wire<ThingPage<ListedOrganization>>>
  /** In the order of their ids, or those of one user. */
  listKeys(input: ThingQuery & { userId?: string }): Promise<Wire<ThingPage<ListedKey>>>
  /** False: there is no such key. */
  revokeKey(input: { keyId: string; reason: string }): Promise<boolean>
  /** Clients of the authorization server: those of the options first, then stored ones, the newest first; with `text` by name. */
  listClients(input: ClientSearch): Promise<Wire<ClientPage>>
  /** Null: there is no such client. */
  getClient(input: { clientId: string }): Promise<Wire<ListedClient> | null>
  /** Stores a client. `client_secret` is returned once. Rejects with type `StepUpRequired` (403) for a proof older than 5 minutes, as the next two do. */
  createClient(input: { metadata: Partial<ClientMetadata>; reason: string }): Promise<Wire<MadeClient>>
  /** Changes members; null removes one. Rejects with status 409 when the client was changed since `version`. */
  updateClient(input: ClientOrder & ClientChange): Promise<Wire<MadeClient>>
  /** A new secret, returned once. The one before counts for `overlap` more seconds, default 86400. */
  rotateClient(input: ClientOrder & { overlap?: number }): Promise<Wire<MadeClient>>
  /** Ends grants and tokens, and rejects the client from now on. False: no such client, or it was disabled before. */
  disableClient(input: ClientOrder): Promise<boolean>
  /** False: no such client, or it was not disabled. */
  enableClient(input: ClientOrder): Promise<boolean>
  /** Deletes a stored client with its grants, tokens and consents. False: there is none. */
  deleteClient(input: ClientOrder): Promise<boolean>
  /** Agents of all users, the newest first. */
  listAgents(input: AgentSearch): Promise<Wire<AgentPage>>
  /** The kill switch. False: no such agent, or an administrator stopped it before. */
  stopAgent(input: { agentId: string; reason: string }): Promise<boolean>
  /** False: no such agent, or it runs. */
  startAgent(input: { agentId: string; reason: string }): Promise<boolean>
  /** The audit log, newest first. Files: `GET /admin/audit-file?format=csv`. */
  listAudit(input: Omit<AuditSearch, 'since' | 'until'> & { since?: string; until?: string }): Promise<Wire<AuditPage>>
  /** Whether records were changed or removed. */
  verifyAudit(): Promise<AuditVerification>
  /** Plugins, providers, routes and warnings, without secrets. */
  getConfiguration(): Promise<Configuration>
}
/** `client.admin` on `auth`, for types alone. */
export type AdminClient = ClientPart<{ readonly admin: AdminMethods }>

type ClientFields = Record<string, unknown>

/** The routes of `client.admin`. */
export function addClientMethods(kernel: Kernel, acts: AdminActs): void {
  const order = (
    name: 'updateUser' | 'setRole' | 'resetPassword' | 'ban' | 'unban' | 'signOut' | 'newFactor' | 'verifyAddress' | 'deleteUser',
  ): ReturnType<typeof clientMethod<ClientFields, unknown>> =>
    clientMethod(readFields, (ctx: Context, { userId, ...more }: ClientFields): Promise<unknown> =>
      // The act checks what was sent.
      acts[name](ctx.request, readText('userId', userId), toDates(more, ['until']) as never),
    )
  type ClientAct = 'updateClient' | 'rotateClient' | 'disableClient' | 'enableClient' | 'deleteClient'
  const ofClient = (name: ClientAct) =>
    clientMethod(readFields, (ctx: Context, { clientId, ...more }: ClientFields): Promise<unknown> =>
      // The act checks what was sent.
      acts[name](ctx.request, readText('clientId', clientId), more as never),
    )
  const ofAgent = (name: 'stopAgent' | 'startAgent') =>
    clientMethod(readFields, (ctx: Context, { agentId, reason }: ClientFields) =>
      acts[name](ctx.request, readText('agentId', agentId), { reason: reason as string }),
    )
  clientMethods(kernel, 'admin', {
    list: clientMethod(readFields, (ctx, sent) => acts.list(ctx.request, toDates(sent, ['seenSince', 'seenBefore']))),
    get: clientMethod(readFields, (ctx, { userId }) => acts.get(ctx.request, readText('userId', userId))),
    getDetails: clientMethod(readFields, (ctx, { userId }) => acts.getDetails(ctx.request, readText('userId', userId))),
    getRights: clientMethod((ctx) => acts.getRights(ctx.request)),
    getOverview: clientMethod(readFields, (ctx, sent) => acts.getOverview(ctx.request, sent)),
    createUser: clientMethod(readFields, (ctx, sent) => acts.createUser(ctx.request, readUser(sent))),
    inviteUser: clientMethod(readFields, (ctx, sent) => acts.inviteUser(ctx.request, readUser(sent))),
    updateUser: order('updateUser'),
    setRole: order('setRole'),
    resetPassword: order('resetPassword'),
    ban: order('ban'),
    unban: order('unban'),
    signOut: order('signOut'),
    newFactor: order('newFactor'),
    verifyAddress: order('verifyAddress'),
    deleteUser: order('deleteUser'),
    impersonate: clientMethod(readFields, (ctx, { userId, reason, returnTo }) =>
      // The act checks what was sent.
      acts.impersonate(ctx.request, readText('userId', userId), { reason: reason as string, returnTo: returnTo as string | undefined }),
    ),
    listApprovals: clientMethod((ctx) => acts.listApprovals(ctx.request)),
    approve: clientMethod(readFields, (ctx, { requestId }) => acts.approve(ctx.request, readText('requestId', requestId))),
    refuse: clientMethod(readFields, (ctx, { requestId }) => acts.refuse(ctx.request, readText('requestId', requestId))),
    listOrganizations: clientMethod(readFields, (ctx, sent) => acts.listOrganizations(ctx.request, sent)),
    listKeys: clientMethod(readFields, (ctx, sent) => acts.listKeys(ctx.request, sent)),
    revokeKey: clientMethod(readFields, (ctx, { keyId, reason }) =>
      acts.revokeKey(ctx.request, readText('keyId', keyId), { reason: reason as string }),
    ),
    listClients: clientMethod(readFields, (ctx, sent) => acts.listClients(ctx.request, sent)),
    getClient: clientMethod(readFields, (ctx, { clientId }) => acts.getClient(ctx.request, readText('clientId', clientId))),
    // The act checks what was sent.
    createClient: clientMethod(readFields, (ctx, sent) => acts.createClient(ctx.request, sent as never)),
    updateClient: ofClient('updateClient'),
    rotateClient: ofClient('rotateClient'),
    disableClient: ofClient('disableClient'),
    enableClient: ofClient('enableClient'),
    deleteClient: ofClient('deleteClient'),
    listAgents: clientMethod(readFields, (ctx, sent) => acts.listAgents(ctx.request, sent)),
    stopAgent: ofAgent('stopAgent'),
    startAgent: ofAgent('startAgent'),
    listAudit: clientMethod(readFields, (ctx, sent) => acts.listAudit(ctx.request, toDates(sent, ['since', 'until']))),
    verifyAudit: clientMethod((ctx) => acts.verifyAudit(ctx.request)),
    getConfiguration: clientMethod((ctx) => acts.getConfiguration(ctx.request)),
  })
}

function readText(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new HttpError(400, `Give \`${name}\` as text.`)
  return value
}

/** The act checks the values. */
function readUser({ email, name, verified, reason }: ClientFields): Parameters<AdminActs['createUser']>[1] {
  return { email, name, reason, ...(verified !== undefined && { verified }) } as Parameters<AdminActs['createUser']>[1]
}

/** Dates that are none are rejected by the act. */
function toDates(sent: ClientFields, names: readonly string[]): ClientFields {
  const dates = names.flatMap((name) =>
    sent[name] === undefined ? [] : [[name, new Date(typeof sent[name] === 'string' ? sent[name] : Number.NaN)] as const],
  )
  return { ...sent, ...Object.fromEntries(dates) }
}
