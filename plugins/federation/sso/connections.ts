/** Connections: made, changed and removed at run time. */
import { type AnyContext, type AtomicWrite, randomHex, RecordConflict, type Row } from 'authkernel/kernel'
import { type Actor, assertRight, requireConnection } from './actor.ts'
import { applyPolicy } from './apply.ts'
import { SsoInput } from './errors.ts'
import { type ConnectionChange, isDraft, issuerOf, readConnection, type ReadConnection, readOidcSettings } from './input.ts'
import { findDomainOwner, listConnectionDomains, listServedDomains, organizationsOf } from './organizations.ts'
import { policyIdOf } from './policy-rules.ts'
import { buildProvider, createPrivateKey, providerIdOf, publicKeyOf, secretsOf } from './provider.ts'
import { listEnabled } from './routing.ts'
import { readDecryption, readSamlSettings, readSigning } from './saml-settings.ts'
import type { AttributeMapping, ConnectionRow, OidcSettings, RoleMapping, SamlSettings } from './tables.ts'

/** A connection as its owners see it, without its secret. */
export interface Connection {
  id: string
  /** Null: of the host. */
  organizationId: string | null
  /** Id of the provider: for `signIn`, for events and for audit. */
  providerId: string
  name: string
  type: 'oidc' | 'saml'
  enabled: boolean
  settings: OidcSettings | SamlSettings
  /** A client secret or a private key is stored. */
  hasSecret: boolean
  /** For `private_key_jwt`: what the identity provider needs; also at `GET /sso/keys/:connection`. */
  publicKey: JsonWebKey | null
  mapping: AttributeMapping
  roles: RoleMapping
  /** Null: all proved domains of the organization. */
  domains: readonly string[] | null
  join: boolean
  otherDomains: boolean
  /** Which product the identity provider is; null: not known. */
  product: string | null
  /** The image on pages; null: the initial of the product. */
  logo: string | null
  /** Who looks after it at the company; null: not known. */
  contact: string | null
  /** The identity provider is not known yet. */
  draft: boolean
  /** Users have signed in with it, so the identity provider and `mapping.id` stay. */
  used: boolean
  /** A test sign-in has passed since the last change. */
  tested: boolean
  created: Date
  /** Redirect URI, or assertion consumer service of SAML, below the base path: `/callback/sso-…`, `/saml/sso-…/acs`. */
  callbackPath: string
  /** Our metadata, which is also our entity id, below the base path; null for OpenID Connect. */
  metadataPath: string | null
  /** Page that begins a sign-in with this connection, below the base path. */
  startPath: string
}

/** `organizationId` null: a connection of the host. Throws SsoInput. */
export async function createConnection(actor: Actor, organizationId: string | null, sent: unknown): Promise<Connection> {
  const owner = organizationId ?? ''
  await assertRight(actor, owner, true)
  const { ctx, options } = actor
  const { fields: sentFields, draft, ...fields } = readConnection(sent)
  await assertRoles(ctx, owner, fields.roles)
  const table = ctx.records('ssoConnection')
  if (owner !== '' && (await table.count({ organizationId: owner }, { max: options.max })) >= options.max)
    throw new SsoInput(`sso: the organization has ${options.max} connections.`)
  const id = randomHex(ctx.runtime, 12)
  const domains = owner === '' ? requireDomains(fields.domains) : []
  await assertHostDomains(ctx, domains)
  const row: Row<ConnectionRow> = {
    id,
    organizationId: owner,
    ...fields,
    ...(draft ? emptySettings(fields.type) : await readSettings(ctx, fields.type, sentFields, null)),
    domains: owner === '' ? null : fields.domains,
    used: false,
    tested: null,
    version: 0,
    created: ctx.now,
  }
  if (!draft) await assertUsable(ctx, row)
  await table.create(row)
  await writeDomains(ctx, id, domains)
  await note(actor, row, 'created')
  return toConnection(row, domains)
}

/** Throws SsoInput and NoSuchConnection. */
export async function updateConnection(actor: Actor, id: string, sent: ConnectionChange): Promise<Connection> {
  const former = await requireConnection(actor, id, true)
  const { ctx } = actor
  const { fields: sentFields, draft, ...fields } = readConnection(sent, former)
  const isHost = former.organizationId === ''
  const domains = isHost && sent.domains !== undefined ? requireDomains(fields.domains) : undefined
  if (domains) await assertHostDomains(ctx, domains)
  // A role that was there when it was entered may have been deleted since: other changes must stay possible.
  if (sent.roles !== undefined) await assertRoles(ctx, former.organizationId, fields.roles)
  const next = { ...former, ...fields, domains: isHost ? null : fields.domains }
  const guard = former.enabled ? await guardService(ctx, former, next, domains) : []
  const read = draft ? { settings: former.settings, secret: former.secret } : await readSettings(ctx, former.type, sentFields, former)
  const kept =
    sent.formerAddress === false && former.settings.former ? { providerId: former.settings.former.providerId } : former.settings.former
  const change = {
    ...fields,
    ...read,
    settings: { ...read.settings, ...(kept && { former: kept }) },
    domains: isHost ? null : fields.domains,
    used: former.used,
    version: former.version + 1,
  }
  // The same id at another provider, or in another claim, is another user.
  const keepsAccounts = issuerOf(read.settings) === issuerOf(former.settings) && fields.mapping.id === former.mapping.id
  if (former.used && !keepsAccounts)
    throw new SsoInput(
      'sso: the identity provider and `mapping.id` cannot be changed, because accounts rest on them. Make a new connection.',
    )
  if (!draft) await assertUsable(ctx, { ...former, ...change })
  // `used`: the first sign-in may come at this moment.
  const written = await ctx.atomic([
    ...guard,
    { record: 'ssoConnection', update: id, change, if: { version: former.version, used: former.used } },
  ])
  if (!written) throw changedMeanwhile()
  const row = written.at(-1) as Row<ConnectionRow>
  if (domains) await writeDomains(ctx, id, domains)
  await note(actor, row, 'updated')
  if (former.enabled && !row.enabled) await endForbidden(ctx, row.organizationId)
  return toConnection(row, isHost ? await listHostDomains(ctx, id) : [])
}

/** Users who signed in with it stay; they sign in with other methods, where no policy forbids it. Under a policy their sessions end. */
export async function removeConnection(actor: Actor, id: string): Promise<void> {
  const row = await requireConnection(actor, id, true)
  const guard = row.enabled ? await guardService(actor.ctx, row, null) : []
  if (!(await actor.ctx.atomic([...guard, { record: 'ssoConnection', delete: id }]))) throw changedMeanwhile()
  await actor.ctx.records('ssoDomain').deleteWhere({ where: { connectionId: id } })
  await note(actor, row, 'removed')
  if (row.enabled) await endForbidden(actor.ctx, row.organizationId)
}

function changedMeanwhile(): SsoInput {
  return new SsoInput('sso: a connection of the organization was changed at the same moment. Read it again.')
}

/** A session of a connection that does not count any more is one of another method: a company leaves an identity provider that was taken over. */
async function endForbidden(ctx: AnyContext, organizationId: string): Promise<void> {
  const policy = await ctx.records('ssoPolicy').get(policyIdOf(organizationId))
  if (policy && policy.from <= ctx.now) await applyPolicy(ctx, policy)
}

/** Oldest first. */
export async function listConnections(actor: Actor, organizationId: string | null): Promise<Connection[]> {
  await assertRight(actor, organizationId ?? '', false)
  const { rows } = await actor.ctx.records('ssoConnection').find({ where: { organizationId: organizationId ?? '' }, limit: 1000 })
  const shown: Connection[] = []
  for (const row of rows) shown.push(toConnection(row, row.organizationId === '' ? await listHostDomains(actor.ctx, row.id) : []))
  return shown
}

export async function getConnection(actor: Actor, id: string): Promise<Connection> {
  const row = await requireConnection(actor, id, false)
  return toConnection(row, row.organizationId === '' ? await listHostDomains(actor.ctx, id) : [])
}

function toConnection(row: Row<ConnectionRow>, hostDomains: readonly string[]): Connection {
  const {
    id,
    organizationId,
    name,
    type,
    enabled,
    settings,
    mapping,
    roles,
    domains,
    join,
    otherDomains,
    created,
    secret,
    product,
    logo,
    contact,
    used,
  } = row
  return {
    id,
    organizationId: organizationId === '' ? null : organizationId,
    providerId: providerIdOf(row),
    name,
    type,
    enabled,
    settings,
    hasSecret: secret !== null,
    publicKey: publicKeyOf(row),
    mapping,
    roles,
    domains: organizationId === '' ? hostDomains : domains,
    join,
    otherDomains,
    product,
    logo,
    contact,
    draft: isDraft(row),
    used,
    tested: row.tested === row.version,
    created,
    callbackPath: settings.former?.callbackPath ?? ownCallbackPath(row),
    metadataPath: type === 'oidc' ? null : `/saml/${providerIdOf(row)}/metadata`,
    startPath: `/sso/start?connection=${id}`,
  }
}

function ownCallbackPath(row: Row<ConnectionRow>): string {
  return row.type === 'oidc' ? `/callback/${providerIdOf(row)}` : `/saml/${providerIdOf(row)}/acs`
}

/** The checks that providers of the app have at start. Throws SsoInput with what they say. */
export async function assertUsable(ctx: AnyContext, row: Row<ConnectionRow>): Promise<void> {
  const provider = await buildProvider(ctx, row, [])
  try {
    await ctx.flow(provider).validate?.(provider, [], ctx.app.config)
  } catch (error) {
    throw new SsoInput(`sso: the connection cannot be used. ${error instanceof Error ? error.message : ''}`.trim())
  }
}

function emptySettings(type: ReadConnection['type']): Pick<ConnectionRow, 'settings' | 'secret'> {
  return { settings: type === 'oidc' ? { issuer: '', clientId: '' } : { entityId: '' }, secret: null }
}

/** Settings and secret of a type. Throws SsoInput. */
export async function readSettings(
  ctx: AnyContext,
  type: ReadConnection['type'],
  fields: ReadConnection['fields'],
  former: ConnectionRow | null,
): Promise<Pick<ConnectionRow, 'settings' | 'secret'>> {
  if (type === 'oidc') {
    const { settings, clientSecret } = readOidcSettings(fields)
    return { settings, secret: await makeSecret(settings, clientSecret, former) }
  }
  const kept = former ? secretsOf(former) : {}
  const signing = readSigning(fields['signing']) ?? kept.signing
  const decryption = readDecryption(fields['decryption']) ?? kept.decryption ?? []
  const secrets = { ...(signing && { signing }), ...(decryption.length > 0 && { decryption }) }
  return { settings: await readSamlSettings(ctx, fields), secret: signing || decryption.length > 0 ? JSON.stringify(secrets) : null }
}

async function makeSecret({ auth }: OidcSettings, clientSecret: string | undefined, former: ConnectionRow | null): Promise<string> {
  const kept = former ? secretsOf(former) : {}
  if (auth === 'private_key_jwt') return JSON.stringify({ privateKey: kept.privateKey ?? (await createPrivateKey()) })
  const secret = clientSecret ?? kept.clientSecret
  if (secret === undefined) throw new SsoInput(`sso: \`clientSecret\` is missing, and \`auth\` is ${auth}.`)
  return JSON.stringify({ clientSecret: secret })
}

function requireDomains(domains: string[] | null): string[] {
  if (domains === null || domains.length === 0) throw new SsoInput('sso: a connection of the host needs `domains`.')
  return domains
}

/** A domain that an organization has proved is not the host's to give. */
export async function assertHostDomains(ctx: AnyContext, domains: readonly string[]): Promise<void> {
  for (const domain of domains)
    if (((await findDomainOwner(ctx, domain))?.organizationId ?? '') !== '')
      throw new SsoInput(`sso: an organization has proved ${domain}.`)
}

/** A role that is not there would reject every new member. */
async function assertRoles(ctx: AnyContext, organizationId: string, { groups = {}, default: fallback }: RoleMapping): Promise<void> {
  const names = new Set([...Object.values(groups), ...(fallback === undefined ? [] : [fallback])])
  if (organizationId === '' || names.size === 0) return
  const known = (await organizationsOf(ctx)?.listRoles(ctx, organizationId)) ?? []
  for (const name of names)
    if (!known.includes(name))
      throw new SsoInput(`sso: there is no role "${name}". Roles: ${known.filter((one) => one !== 'owner').join(', ')}.`)
}

/**
 * Users must not be locked out: what a policy demands must be there after a change of the connection, or after it is gone (`next` null). `hostDomains`: those that
 * a connection of the host would have. Returns what belongs to the same commit, so that two changes at the same moment do not rest on each other.
 */
async function guardService(
  ctx: AnyContext,
  former: Row<ConnectionRow>,
  next: Row<ConnectionRow> | null,
  hostDomains?: readonly string[],
): Promise<AtomicWrite[]> {
  const { organizationId } = former
  const policy = await ctx.records('ssoPolicy').get(policyIdOf(organizationId))
  if (!policy) return []
  const { id, reductions } = policy
  const guard: AtomicWrite[] = [{ record: 'ssoPolicy', update: id, change: { reductions: reductions + 1 }, if: { reductions } }]
  const others = (await listEnabled(ctx, organizationId)).filter(({ id }) => id !== former.id)
  if (!next?.enabled && others.length === 0)
    throw new SsoInput('sso: the policy of the organization demands this connection. Remove the policy first.')
  if (!policy.domains) return guard
  const served = await listServedDomains(ctx, others)
  const left = next?.enabled ? (hostDomains ?? (await listConnectionDomains(ctx, next))) : []
  // A domain of the host that no connection has is under no policy.
  const isFree = organizationId === '' && (next === null || hostDomains !== undefined)
  const open = isFree ? [] : (await listConnectionDomains(ctx, former)).filter((one) => !served.has(one) && !left.includes(one))
  if (open.length > 0)
    throw new SsoInput(`sso: the policy demands a connection for ${open.join(', ')}, and no other one serves it. Remove the policy first.`)
  return guard
}

export async function writeDomains(ctx: AnyContext, connectionId: string, domains: readonly string[]): Promise<void> {
  const table = ctx.records('ssoDomain')
  const former = await listHostDomains(ctx, connectionId)
  for (const domain of former) if (!domains.includes(domain)) await table.take({ domain, connectionId })
  for (const domain of domains) {
    if (former.includes(domain)) continue
    await table.create({ domain, connectionId }).catch((error: unknown) => {
      // Another request wrote the same row.
      if (!(error instanceof RecordConflict)) throw error
    })
  }
}

async function listHostDomains(ctx: AnyContext, connectionId: string): Promise<string[]> {
  return (await ctx.records('ssoDomain').find({ where: { connectionId }, limit: 1000 })).rows.map(({ domain }) => domain)
}

async function note({ ctx, userId }: Actor, row: Row<ConnectionRow>, act: 'created' | 'updated' | 'removed'): Promise<void> {
  await ctx.emit('noted', {
    name: `sso.connection.${act}`,
    outcome: 'success',
    user: userId === null ? null : { id: userId },
    provider: providerIdOf(row),
    details: { organization: row.organizationId === '' ? undefined : row.organizationId },
  })
}
