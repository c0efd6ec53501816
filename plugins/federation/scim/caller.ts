/** Who calls: the directory of a bearer token, or of a client of the authorization server. */
import type { AnyContext, Context, LimitRule, Row } from 'authkernel/kernel'
import { audienceOf, findClientRow } from './clients.ts'
import { ScimError } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import type { DirectoryRow } from './tables.ts'
import { findToken, noteUse } from './tokens.ts'

/** A directory, and who works on it: a request, or a job of the host app. */
export interface Connection {
  readonly ctx: AnyContext
  readonly options: ResolvedOptions
  readonly directory: Row<DirectoryRow>
}
/** A request whose credential was checked. */
export interface Caller extends Connection {
  readonly ctx: Context
  /** The version that the client wants to change: of the header If-Match, or of one operation of a bulk request. Null: any. */
  readonly ifMatch: string | null
  /** Whether the credential and the directory are still there: a bulk request runs for a while. */
  isStanding(): Promise<boolean>
}
/** A credential: which directory it is of, what it may, and the key that its requests are counted by. */
interface Credential {
  directoryId: string
  scope: string
  key: string
  noteUse(): Promise<void>
  isStanding(): Promise<boolean>
}

/** Checks the credential of a request, counts it, and names the directory in events and audit. Throws ScimError 401, 403 and 429. */
export async function authenticateCaller(ctx: Context, options: ResolvedOptions): Promise<Caller> {
  const credential = (await findByToken(ctx)) ?? (await findByClient(ctx))
  const directory = credential && (await ctx.records('scimDirectory').get(credential.directoryId))
  if (!credential || !directory) throw await refuse(ctx, refusedToken())
  await countByToken(ctx, credential.key, options.limit)
  if (credential.scope !== 'write' && changesSomething(ctx)) throw new ScimError(403, 'The token may only read.')
  await credential.noteUse()
  const organization = await ctx.service('organizations').get(ctx, directory.organizationId)
  if (!organization) throw new ScimError(403, 'The organization of this directory was deleted.')
  ctx.actAs({ type: 'scim', id: `${directory.name} of ${organization.name}` })
  const isStanding = async (): Promise<boolean> =>
    (await credential.isStanding()) &&
    (await ctx.records('scimDirectory').get(directory.id)) !== null &&
    (await ctx.service('organizations').get(ctx, organization.id)) !== null
  return { ctx, options, directory, ifMatch: ctx.request.headers.get('if-match'), isStanding }
}

/** Throws ScimError 401 where the token was revoked, or the directory deleted, since the request began. */
export async function assertStanding(caller: Caller): Promise<void> {
  if (!(await caller.isStanding())) throw refusedToken()
}

const challenge = { 'WWW-Authenticate': 'Bearer realm="scim"' }

function refusedToken(): ScimError {
  return new ScimError(401, 'The token is missing, wrong or expired.', undefined, challenge)
}

async function findByToken(ctx: Context): Promise<Credential | undefined> {
  const text = /^Bearer +(\S+)$/i.exec(ctx.request.headers.get('authorization') ?? '')?.[1]
  const row = text === undefined ? null : await findToken(ctx, text)
  if (!row) return undefined
  const isStanding = async (): Promise<boolean> => (await ctx.records('scimToken').get(row.id)) !== null
  return { directoryId: row.directoryId, scope: row.scope, key: row.id, noteUse: () => noteUse(ctx, row), isStanding }
}

// Only tokens that a client got for itself count: a user who lets an app in does not speak for the directory.
async function findByClient(ctx: Context): Promise<Credential | undefined> {
  const tokens = ctx.app.services.resourceTokens
  if (!tokens || !ctx.request.headers.has('authorization')) return undefined
  const scopes = changesSomething(ctx) ? ['scim.write'] : []
  const decision = await tokens.authorize(ctx, { resource: audienceOf(ctx), scopes })
  if (decision === undefined) return undefined
  const { caller, response } = decision
  if (response) throw await refuse(ctx, toRefusal(response))
  const may = caller.scopes.includes('scim.write') ? 'write' : caller.scopes.includes('scim.read') ? 'read' : undefined
  const row = caller.userId === null ? await findClientRow(ctx, caller.clientId) : null
  if (may === undefined) throw await refuse(ctx, new ScimError(403, 'The token needs the scope scim.read or scim.write.'))
  if (!row) throw await refuse(ctx, new ScimError(403, 'This client is connected to no directory.'))
  const scope = may === 'write' && row.scope === 'write' ? 'write' : 'read'
  const isStanding = async (): Promise<boolean> => (await findClientRow(ctx, caller.clientId))?.id === row.id
  return { directoryId: row.directoryId, scope, key: `client ${row.id}`, noteUse: async () => {}, isStanding }
}

function toRefusal({ status, headers }: Response): ScimError {
  const asked = headers.get('www-authenticate')
  const nonce = headers.get('dpop-nonce')
  const kept = { ...(asked !== null && { 'WWW-Authenticate': asked }), ...(nonce !== null && { 'DPoP-Nonce': nonce }) }
  return new ScimError(status, status === 403 ? 'The token lacks a scope.' : 'The token is missing, wrong or expired.', undefined, kept)
}

// An attacker who tries out tokens is slowed down.
async function refuse(ctx: Context, error: ScimError): Promise<ScimError> {
  await countCall(ctx, `scim refused ${ctx.clientAddress ?? ''}`, { max: 60, seconds: 60 })
  return error
}

/** Whether the method of a request changes resources: searches by POST do not. */
export function changesSomething(ctx: Context): boolean {
  return ctx.request.method !== 'GET' && ctx.route?.path.endsWith('/.search') !== true
}

// A shared counter is a row that all requests of the token wait for: each process tells it of ten requests at once where the limit is wide.
const callCounts = new Map<string, number>()
const [stride, wide, mostTokens] = [10, 1000, 10_000]

async function countByToken(ctx: Context, key: string, { max, seconds }: LimitRule): Promise<void> {
  if (max < wide) return countCall(ctx, `scim ${key}`, { max, seconds })
  const name = `${ctx.facts.namespace} ${key}`
  const count = callCounts.get(name) ?? 0
  // One that is refused stays at 0, so that the next one is asked about too.
  if (count === 0) await countCall(ctx, `scim ${key}`, { max: Math.floor(max / stride), seconds })
  if (callCounts.size >= mostTokens) callCounts.clear()
  callCounts.set(name, (count + 1) % stride)
}

async function countCall(ctx: Context, key: string, rule: LimitRule): Promise<void> {
  const { allowed, retryAfter } = await ctx.limit.take(key, rule)
  if (!allowed) throw new ScimError(429, 'Too many requests.', undefined, { 'Retry-After': String(retryAfter) })
}
