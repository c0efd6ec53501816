/** Clients are made, changed, disabled and deleted: by code of the host, by administrators, and by themselves. */
import { type AnyContext, HttpError, RecordConflict } from 'authkernel/kernel'
import { isDocumentAddress } from './client-document.ts'
import { type ClientMetadata, readClientMetadata, signingMembers } from './client-metadata.ts'
import { hashSecret, labelOf, makeClientId, makeSecret, newClientRow } from './clients.ts'
import { endAllOfClient, endForeignGrants } from './endings.ts'
import { OAuthRefusal } from './errors.ts'
import { type ListedClient, listRow } from './client-list.ts'
import { certificateMethods } from './mutual-tls.ts'
import { openidScopes, type ResolvedOptions } from './options.ts'
import type { OAuthClientRecord } from './tables.ts'

/** Who changes a client, and why. */
export interface ClientActor {
  by: 'host' | 'admin' | 'client' | 'organization'
  /** Null: code of the host, or the client itself. */
  userId: string | null
  reason: string
}
/** What happened to a client. */
export type ClientAct = 'created' | 'updated' | 'rotated' | 'disabled' | 'enabled' | 'deleted'
/** The organization that a new client belongs to. */
export interface OrganizationOfClient {
  organizationId: string
  /** Only its members may sign in. */
  membersOnly: boolean
}
/** What to change. */
export interface ClientChange {
  /** Members of RFC 7591; null removes one. */
  metadata: ChangedMetadata
  /** That of the client when it was read; default: any. */
  version?: number | undefined
  /** For a client of an organization: only its members may sign in. Default: unchanged. */
  membersOnly?: boolean | undefined
}
/** Members to change. */
export type ChangedMetadata = { [K in keyof ClientMetadata]?: ClientMetadata[K] | null }
/** A client, with a new secret where one was made: it is returned once. */
export type MadeClient = ListedClient & { client_secret?: string }

/** Code of the host. */
export const hostActor: ClientActor = { by: 'host', userId: null, reason: '' }
/** Seconds that the secret before a rotation counts at most, and where nothing is said. */
const maxOverlap = 30 * 86_400
const usualOverlap = 86_400

/** Throws HttpError 400 for metadata that no client may have. `admit` runs after the write: where it throws, there is no client. */
export async function createClient(
  ctx: AnyContext,
  options: ResolvedOptions,
  given: Partial<ClientMetadata>,
  actor: ClientActor,
  { of, admit }: { of?: OrganizationOfClient; admit?: (clientId: string) => Promise<void> } = {},
): Promise<MadeClient> {
  const source = of ? 'organization' : 'host'
  const metadata = checkMetadata(ctx, options, { ...given }, source)
  const secret = needsSecret(metadata) ? makeSecret(ctx) : undefined
  const hash = secret === undefined ? null : await hashSecret(secret)
  const row = await ctx.records('oauthClient').create({
    id: makeClientId(ctx),
    ...newClientRow({ metadata, source, created: ctx.now, secret: hash, ...of }),
  })
  try {
    await admit?.(row.id)
  } catch (error) {
    await ctx.records('oauthClient').delete(row.id)
    throw error
  }
  await noteChange(ctx, row, 'created', actor)
  return { ...listRow(ctx, row), ...(secret !== undefined && { client_secret: secret }) }
}

/**
 * Members that are given replace those of the client; null removes one. A client that authenticates by a secret for the first time gets one. Null: no
 * such stored client. Throws HttpError 400 for metadata that no client may have, and 409 when it was changed since `version`.
 */
export async function updateClient(
  ctx: AnyContext,
  options: ResolvedOptions,
  id: string,
  { metadata: given, version, membersOnly }: ClientChange,
  actor: ClientActor,
): Promise<MadeClient | null> {
  if (version !== undefined && !Number.isSafeInteger(version)) throw new HttpError(400, '`version` must be a number.')
  const row = await findStored(ctx, id)
  if (!row) return null
  const metadata = checkMetadata(ctx, options, mergeMetadata(row.metadata, given), sourceOf(row))
  // The ids of its users would be others.
  if (metadata.subject_type !== row.metadata.subject_type) throw new HttpError(400, '`subject_type` cannot change: make another client.')
  const secret = needsSecret(metadata) && row.secret === null ? makeSecret(ctx) : undefined
  const secrets = needsSecret(metadata)
    ? secret !== undefined && { secret: await hashSecret(secret) }
    : { secret: null, formerSecret: null, formerUntil: null }
  if (membersOnly !== undefined && (typeof membersOnly !== 'boolean' || row.organizationId === null))
    throw new HttpError(400, '`membersOnly` must be true or false, and is for clients of an organization.')
  const change = {
    metadata,
    label: labelOf(metadata),
    version: row.version + 1,
    ...secrets,
    ...(membersOnly !== undefined && { membersOnly }),
  }
  const written = await ctx.records('oauthClient').update(id, change, { if: { version: version ?? row.version } })
  if (!written) throw changedMeanwhile()
  if (written.membersOnly && !row.membersOnly) await endForeignGrants(ctx, options, written)
  // An administrator of an organization is a stranger to those whom it leads elsewhere.
  if (row.source === 'organization' && !looksSame(metadata, row.metadata)) await forgetConsents(ctx, id)
  const members = Object.keys(metadata).filter((name) => !isSame(metadata, row.metadata, name as keyof ClientMetadata))
  const removed = Object.keys(row.metadata).filter((name) => !(name in metadata))
  const reach = written.membersOnly === row.membersOnly ? [] : ['membersOnly']
  await noteChange(ctx, written, 'updated', actor, [...members, ...removed, ...reach])
  return { ...listRow(ctx, written), ...(secret !== undefined && { client_secret: secret }) }
}

/**
 * A new secret. The one before counts for `overlap` more seconds, 0 to 2592000, default 86400, and one before that no more. Null: no such client, or it has
 * no secret. Throws HttpError 400 for another overlap, and 409 when it was rotated at the same moment.
 */
export async function rotateClient(
  ctx: AnyContext,
  id: string,
  { overlap = usualOverlap }: { overlap?: number | undefined },
  actor: ClientActor,
): Promise<MadeClient | null> {
  if (!Number.isInteger(overlap) || overlap < 0 || overlap > maxOverlap)
    throw new HttpError(400, `\`overlap\` must be 0 to ${maxOverlap} seconds.`)
  const row = await findStored(ctx, id)
  if (!row || row.secret === null) return null
  const secret = makeSecret(ctx)
  const former =
    overlap > 0
      ? { formerSecret: row.secret, formerUntil: new Date(ctx.now.getTime() + overlap * 1000) }
      : { formerSecret: null, formerUntil: null }
  const change = { secret: await hashSecret(secret), version: row.version + 1, ...former }
  const written = await ctx.records('oauthClient').update(id, change, { if: { version: row.version } })
  if (!written) throw changedMeanwhile()
  await noteChange(ctx, written, 'rotated', actor)
  return { ...listRow(ctx, written), client_secret: secret }
}

/** The client gets nothing from now on: its grants and tokens end. A client of a metadata document is kept out by its address. False: no such client, or it was disabled before. */
export async function disableClient(ctx: AnyContext, options: ResolvedOptions, id: string, actor: ClientActor): Promise<boolean> {
  const clients = ctx.records('oauthClient')
  const isDocument = isDocumentAddress(id) && options.clientDocuments
  const known = await clients.get(id)
  if (!known && !isDocument) return false
  const written = known ? await clients.update(id, { disabled: ctx.now }, { if: { disabled: null } }) : await shutOut(ctx, id)
  // Also where it was disabled before: an ending that a fault stopped half-way is finished by the next one.
  await endAllOfClient(ctx, options, id)
  if (written) await noteChange(ctx, written, 'disabled', actor)
  return written !== null
}

/** False: no such client, or it was not disabled. What ended with it does not come back. */
export async function enableClient(ctx: AnyContext, id: string, actor: ClientActor): Promise<boolean> {
  const clients = ctx.records('oauthClient')
  const row = await clients.get(id)
  if (!row?.disabled) return false
  const written =
    row.source === 'document' ? await clients.take(id) : await clients.update(id, { disabled: null }, { if: { disabled: row.disabled } })
  if (written) await noteChange(ctx, written, 'enabled', actor)
  return written !== null
}

/** Deletes a stored client with its grants, tokens and consents. False: there is none. */
export async function deleteClient(ctx: AnyContext, options: ResolvedOptions, id: string, actor: ClientActor): Promise<boolean> {
  const row = await findStored(ctx, id)
  // The client first: no token is made for it any more.
  const isDeleted = row !== null && (await ctx.records('oauthClient').delete(id))
  await endAllOfClient(ctx, options, id)
  await forgetConsents(ctx, id)
  if (row && isDeleted) await noteChange(ctx, row, 'deleted', actor)
  return isDeleted
}

/** Whether users see the same client: its name, and where they are led. */
export function looksSame(one: ClientMetadata, other: ClientMetadata): boolean {
  const seen = ({ client_name, redirect_uris }: ClientMetadata): string => JSON.stringify([client_name, redirect_uris])
  return seen(one) === seen(other)
}

/** What users and organizations allowed a client, which they are asked again then. */
export async function forgetConsents(ctx: AnyContext, clientId: string): Promise<void> {
  await ctx.records('oauthConsent').deleteWhere({ where: { clientId } })
  await ctx.records('oauthOrganizationConsent').deleteWhere({ where: { clientId } })
}

/** Tells plugins, such as the audit log. */
export async function noteChange(
  ctx: AnyContext,
  { id, metadata, organizationId }: Pick<OAuthClientRecord, 'id' | 'metadata' | 'organizationId'>,
  act: ClientAct,
  { by, userId, reason }: ClientActor,
  members: readonly string[] = [],
): Promise<void> {
  const user = userId === null ? null : { id: userId }
  await ctx.emit('clientChanged', { clientId: id, name: metadata.client_name, act, by, user, members, reason, organizationId })
}

/** Null: unknown, or a client of a document, which changes by its document alone. */
async function findStored(ctx: AnyContext, id: string): Promise<OAuthClientRecord | null> {
  const row = typeof id === 'string' && id !== '' ? await ctx.records('oauthClient').get(id) : null
  return row && row.source !== 'document' ? row : null
}

/** Null: it was shut out at the same moment. */
async function shutOut(ctx: AnyContext, id: string): Promise<OAuthClientRecord | null> {
  const metadata = readClientMetadata({ client_name: new URL(id).host, grant_types: ['refresh_token'] }, 'document')
  try {
    const row = newClientRow({ metadata, source: 'document', created: ctx.now, disabled: ctx.now })
    return await ctx.records('oauthClient').create({ id, ...row })
  } catch (error) {
    if (error instanceof RecordConflict) return null
    throw error
  }
}

function mergeMetadata(before: ClientMetadata, given: ChangedMetadata): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new HttpError(400, '`metadata` must be an object.')
  const merged = Object.entries({ ...before, ...given }).filter(([, value]) => value !== null && value !== undefined)
  // A client that registered itself may have no name.
  return Object.fromEntries(merged.filter(([name, value]) => !(name === 'client_name' && value === before.client_name && value === '')))
}

function checkMetadata(
  ctx: AnyContext,
  options: ResolvedOptions,
  given: Record<string, unknown>,
  source: 'host' | 'registration' | 'organization',
): ClientMetadata {
  const metadata = readAsHost(given, source)
  if (source === 'organization') assertOrganizationMay(options, metadata)
  const method = metadata.token_endpoint_auth_method
  // Else it could never authenticate.
  if (method.endsWith('tls_client_auth') && !certificateMethods(options.mutualTls).includes(method))
    throw new HttpError(
      400,
      `\`${method}\` needs the option \`mutualTls\`${options.mutualTls ? ' with `chainVerified`' : ''} of authorizationServerPlugin.`,
    )
  if (metadata.subject_type === 'pairwise' && options.pairwiseSalt === undefined)
    throw new HttpError(400, 'A client can be `pairwise` only with the option `pairwiseSalt` of authorizationServerPlugin.')
  const { algorithms } = ctx.service('signingKeys')
  const wrong = signingMembers.find((name) => !(algorithms as readonly (string | undefined)[]).concat(undefined).includes(metadata[name]))
  if (wrong !== undefined) throw new HttpError(400, `\`${wrong}\` must be one of ${algorithms.join(', ')}, the algorithms of plugin "jwt".`)
  if (metadata.tls_client_certificate_bound_access_tokens && !options.mutualTls)
    throw new HttpError(400, '`tls_client_certificate_bound_access_tokens` needs the option `mutualTls` of authorizationServerPlugin.')
  return metadata
}

function readAsHost(given: Record<string, unknown>, source: 'host' | 'registration' | 'organization'): ClientMetadata {
  try {
    return readClientMetadata(given, source)
  } catch (error) {
    if (error instanceof OAuthRefusal) throw new HttpError(400, error.message)
    throw error
  }
}

function sourceOf({ source }: OAuthClientRecord): 'host' | 'registration' | 'organization' {
  return source === 'registration' || source === 'organization' ? source : 'host'
}

/** What the option `organizationClients` does not give is said at once, and not only left out of tokens. */
function assertOrganizationMay({ organizationClients: own }: ResolvedOptions, { scope, grant_types: grants }: ClientMetadata): void {
  if (!own)
    throw new HttpError(400, 'Organizations may have clients only with the option `organizationClients` of authorizationServerPlugin.')
  const wrong = (scope ?? '').split(' ').filter((one) => one !== '' && !openidScopes.includes(one) && !own.scopes.includes(one))
  if (wrong.length > 0) throw new HttpError(400, `\`scope\`: a client of an organization may not have ${wrong.join(', ')}.`)
  if (grants.includes('client_credentials') && !own.clientCredentials)
    throw new HttpError(400, '`client_credentials` is not for clients of organizations here.')
}

function needsSecret({ token_endpoint_auth_method: method }: ClientMetadata): boolean {
  return method.startsWith('client_secret')
}

function isSame(one: ClientMetadata, other: ClientMetadata, name: keyof ClientMetadata): boolean {
  return JSON.stringify(one[name]) === JSON.stringify(other[name])
}

function changedMeanwhile(): HttpError {
  return new HttpError(409, 'The client was changed at the same moment. Read it again.')
}
