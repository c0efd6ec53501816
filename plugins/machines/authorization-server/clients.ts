/** One client by its `client_id`: of the options, of a record, or of a metadata document. */
import { type AnyContext, randomHex, sha256, toBase64Url, toHex } from 'authkernel/kernel'
import { redirectKind } from '../bearer/redirect.ts'
import { describeAgentClient, findAgent } from './agent-client.ts'
import type { ClientMetadata } from './client-metadata.ts'
import { isDocumentAddress, readClientDocument } from './client-document.ts'
import { openidScopes, type ResolvedOptions } from './options.ts'
import { maxClientId, never, type OAuthClientRecord, type OAuthClientRow } from './tables.ts'

/** A client, wherever it comes from. */
export interface Client {
  readonly id: string
  /** Shown to users; the host name of the redirect where it has none. */
  readonly name: string
  /** `options` and `host`: made by the host. Others say of themselves what they want. */
  readonly source: 'options' | 'host' | 'registration' | 'moved' | 'document' | 'organization' | 'agent'
  /** An agent of a user, which asks its owner alone; undefined: none. */
  readonly agent?: { readonly ownerId: string; readonly proofAge: number } | undefined
  /** The organization that it belongs to; undefined: none. */
  readonly organization?: ClientOrganization | undefined
  /** `scope` is a limit here: only clients that the host made have one. */
  readonly metadata: ClientMetadata
  /** Scopes that a client which described itself asks for where a request names none. It may ask for others later: the user decides (MCP, scopes by step-up). */
  readonly defaultScope?: string | undefined
  /** SHA-256 of each secret that counts now; empty: the client has none. */
  readonly secrets: readonly string[]
  /** No consent is asked. */
  readonly firstParty: boolean
  /** When a stored client last got a token; null: never. */
  readonly used?: Date | null
}

/** The organization of a client. */
export interface ClientOrganization {
  readonly id: string
  readonly name: string
  /** Only its members may sign in to the client. */
  readonly membersOnly: boolean
}

/** Undefined: unknown, disabled, or of an organization that is gone. Throws OAuthRefusal when the document of a client cannot be read. */
export async function findClient(ctx: AnyContext, options: ResolvedOptions, id: string): Promise<Client | undefined> {
  const known = options.clients.get(id)
  if (known) {
    const secrets = await Promise.all(known.secrets.map(hashSecret))
    return { ...describe(id, known.metadata), source: 'options', secrets, firstParty: known.firstParty }
  }
  if (id === '' || id.length > maxClientId) return undefined
  const agent = await findAgent(ctx, options, id)
  if (agent) return describeAgentClient(agent)
  const isDocument = isDocumentAddress(id)
  if (isDocument && !options.clientDocuments) return undefined
  const row = await ctx.records('oauthClient').get(id)
  if (row?.disabled) return undefined
  if (isDocument) return { ...describeStranger(id, await readClientDocument(ctx, id)), source: 'document', secrets: [], firstParty: false }
  if (row && row.organizationId !== null) return findOfOrganization(ctx, options, row, row.organizationId)
  return row ? fromRecord(ctx, row) : undefined
}

/**
 * Whether a client that was found before still is one, for this user: asked after a write, because what ends a client or a membership lists what there is
 * once.
 */
export async function isStanding(ctx: AnyContext, client: Client, userId: string | null): Promise<boolean> {
  const { id, source } = client
  if (source === 'options') return true
  if (source === 'agent') return (await findAgent(ctx, { ciba: {} }, id)) !== undefined
  const row = await ctx.records('oauthClient').get(id)
  if (!row) return source === 'document'
  if (row.disabled !== null) return false
  if (row.organizationId === null) return true
  const organization = await ctx.app.services.organizations?.get(ctx, row.organizationId)
  if (!organization) return false
  return userId === null || mayEnter(ctx, { organization: { ...organization, membersOnly: row.membersOnly } }, userId)
}

/** Whether a user may sign in to a client: to that of an organization which is for its members, only a member in force. */
export async function mayEnter(ctx: AnyContext, { organization }: Pick<Client, 'organization'>, userId: string): Promise<boolean> {
  if (!organization?.membersOnly) return true
  const member = await ctx.app.services.organizations?.findMember(ctx, { organizationId: organization.id, userId })
  return member !== null && member !== undefined && !member.suspended
}

function fromRecord(ctx: AnyContext, row: OAuthClientRecord): Client {
  const { id, metadata, source, secret, formerSecret, formerUntil, used } = row
  const described = source === 'registration' ? describeStranger(id, metadata) : describe(id, metadata)
  const former = formerUntil !== null && formerUntil > ctx.now ? formerSecret : null
  return { ...described, source, secrets: [secret, former].filter((one) => one !== null), firstParty: false, used }
}

/** The organization is read each time: a client does not outlive it, also where its rows could not be deleted. */
async function findOfOrganization(
  ctx: AnyContext,
  { organizationClients: own }: ResolvedOptions,
  row: OAuthClientRecord,
  organizationId: string,
): Promise<Client | undefined> {
  const organization = own && (await ctx.app.services.organizations?.get(ctx, organizationId))
  if (!own || !organization) return undefined
  const client = fromRecord(ctx, row)
  // The option counts now, and not when the client was made.
  const grants = client.metadata.grant_types.filter((one) => one !== 'client_credentials' || own.clientCredentials)
  const metadata = { ...client.metadata, grant_types: grants, scope: scopesOfOrganization(own.scopes, row.metadata.scope) }
  return { ...client, metadata, organization: { id: organization.id, name: organization.name, membersOnly: row.membersOnly } }
}

/** Those of OpenID Connect, and of the others what the option lists and the client wants. */
function scopesOfOrganization(offered: readonly string[], wanted: string | undefined): string {
  const all = [...openidScopes, ...offered]
  const named = wanted?.split(' ')
  return all.filter((scope) => named?.includes(scope) ?? true).join(' ')
}

/** What administrators search a client by. */
export function labelOf({ client_name: name }: ClientMetadata): string {
  return name.toLowerCase().slice(0, 100)
}

/** The row of a client that was never changed and never used; without a secret where none is given. */
export function newClientRow(fields: Pick<OAuthClientRow, 'metadata' | 'source' | 'created'> & Partial<OAuthClientRow>): OAuthClientRow {
  const empty = {
    secret: null,
    formerSecret: null,
    formerUntil: null,
    registration: null,
    disabled: null,
    used: null,
    organizationId: null,
    membersOnly: false,
  }
  return { label: labelOf(fields.metadata), ...empty, version: 1, expires: never, ...fields }
}

/** A new secret with 256 random bits. */
export function makeSecret(ctx: AnyContext): string {
  return toBase64Url(ctx.runtime.random(32))
}

/** A new `client_id`. */
export function makeClientId(ctx: AnyContext): string {
  return randomHex(ctx.runtime, 16)
}

/** What is stored of a secret: it has 256 random bits, so that a fast hash is enough. */
export async function hashSecret(secret: string): Promise<string> {
  return toHex(await sha256(secret))
}

/** Whether another program could pretend to be this client: then the user is asked each time (RFC 8252 section 8.6). */
export function isImitable({ metadata }: Client, redirectUri: string): boolean {
  return metadata.token_endpoint_auth_method === 'none' && redirectKind(redirectUri, 'localhost') !== 'claimed'
}

function describe(id: string, metadata: ClientMetadata): Pick<Client, 'id' | 'name' | 'metadata'> {
  return { id, name: metadata.client_name || hostOf(metadata) || id, metadata }
}

/** What a client writes about itself limits nothing: it would only write more. */
function describeStranger(id: string, { scope, ...metadata }: ClientMetadata): Pick<Client, 'id' | 'name' | 'metadata' | 'defaultScope'> {
  return { ...describe(id, metadata), defaultScope: scope }
}

function hostOf({ redirect_uris: [uri] }: ClientMetadata): string {
  return uri === undefined ? '' : new URL(uri).host
}
