/** A connection as the kernel knows providers: built from its row, the same object until the connection or its domains change. */
import {
  type AnyContext,
  type App,
  customFetch,
  type OIDCConfig,
  type Provider,
  type PublicFetch,
  type Row,
  setBounded,
  sha256,
  toHex,
} from 'authkernel/kernel'
import type { SamlConfig } from 'authkernel/plugins/saml'
import { iconOf } from './icons.ts'
import { isDraft } from './input.ts'
import { mapUser, readEmail } from './mapping.ts'
import { domainOfAddress, listConnectionDomains } from './organizations.ts'
import type { SigningPair } from './saml-settings.ts'
import type { ConnectionRow, OidcSettings, SamlSettings } from './tables.ts'
import { trials } from './trial-list.ts'

const prefix = 'sso-'
const providerCaches = new WeakMap<App, Map<string, { stamp: string; provider: Provider }>>()
const maxProviders = 10_000

/** What the encrypted field of a row has. */
export interface ConnectionSecrets {
  clientSecret?: string
  privateKey?: JsonWebKey
  signing?: SigningPair
  decryption?: SigningPair[]
}

/** A connection that was moved from another product keeps its provider id there, because accounts are stored under it. */
export function providerIdOf({ id, settings }: Pick<Row<ConnectionRow>, 'id' | 'settings'>): string {
  return settings.former?.providerId ?? prefix + id
}

/** The row of the connection that a provider stands for; null: it is no connection, or a deleted one. */
export async function findConnection(ctx: AnyContext, providerId: string): Promise<Row<ConnectionRow> | null> {
  if (providerId.startsWith(prefix)) {
    const row = await findById(ctx, providerId.slice(prefix.length))
    // One provider has one id.
    if (row) return row.settings.former ? null : row
  }
  // Providers of the options go before: the host decides whose accounts an id names.
  if (ctx.app.providers.has(providerId) || !isFormerId(providerId)) return null
  const row = await findById(ctx, await formerConnectionId(providerId))
  return row?.settings.former?.providerId === providerId ? row : null
}

/** By the id of the row. */
export async function findById(ctx: AnyContext, id: string): Promise<Row<ConnectionRow> | null> {
  return /^[0-9a-f]{24}$/.test(id) ? ctx.records('ssoConnection').get(id) : null
}

/** Whether a provider of another product may keep its id: it is a part of paths, and names no connection that was made here. */
export function isFormerId(providerId: string): boolean {
  return !providerId.startsWith(prefix) && /^[a-z0-9][a-z0-9._~-]{0,63}$/.test(providerId)
}

/** Id of the row of a connection that keeps the id of its provider. */
export async function formerConnectionId(providerId: string): Promise<string> {
  return toHex(await sha256(`sso former provider ${providerId}`)).slice(0, 24)
}

/** For the hook `provider`. Undefined: no connection, or one that is switched off and is not being tested in this browser. */
export async function findProvider(ctx: AnyContext, providerId: string): Promise<Provider | undefined> {
  const row = await findConnection(ctx, providerId)
  if (!row || !(row.enabled || (await isServedUnused(ctx, row)))) return undefined
  return providerOf(ctx, row)
}

/** Our metadata is needed before the connection is switched on, and so is the answer to a test sign-in. Nothing else. */
async function isServedUnused(ctx: AnyContext, row: Row<ConnectionRow>): Promise<boolean> {
  if (!ctx.request) return false
  if (ctx.route?.path === '/saml/:provider/metadata') return true
  return ctx.route?.flow === 'callback' && (await trials.all(ctx)).some(({ connection }) => connection === row.id)
}

export async function providerOf(ctx: AnyContext, row: Row<ConnectionRow>): Promise<Provider> {
  const domains = await listConnectionDomains(ctx, row)
  const cache = providerCaches.get(ctx.app) ?? new Map<string, { stamp: string; provider: Provider }>()
  providerCaches.set(ctx.app, cache)
  const key = `${ctx.facts.namespace} ${row.id}`
  const stamp = `${row.version} ${row.created.getTime()} ${domains.join(' ')}`
  const known = cache.get(key)
  if (known?.stamp === stamp) return known.provider
  const provider = await buildProvider(ctx, row, domains)
  setBounded(cache, key, { stamp, provider }, maxProviders)
  return provider
}

/** `domains`: where its word about addresses counts. */
export async function buildProvider(ctx: AnyContext, row: Row<ConnectionRow>, domains: readonly string[]): Promise<Provider> {
  const provider = row.type === 'oidc' ? await toOidc(ctx, row, domains) : toSaml(row, domains)
  return { ...provider, style: { logo: iconOf(row) } }
}

async function toOidc(ctx: AnyContext, row: Row<ConnectionRow>, domains: readonly string[]): Promise<OIDCConfig> {
  const { issuer, clientId, auth = 'client_secret_basic', scope = 'openid profile email', former } = row.settings as OidcSettings
  const { clientSecret, privateKey } = secretsOf(row)
  return {
    id: providerIdOf(row),
    name: row.name,
    type: 'oidc',
    ...(former?.callbackPath !== undefined && { callbackPath: former.callbackPath }),
    issuer,
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    client: { token_endpoint_auth_method: auth },
    ...(privateKey && { token: { clientPrivateKey: { key: await importKey(privateKey), kid: row.id } } }),
    authorization: { params: { scope } },
    trustEmail: domains,
    // The provider of the organization says who has an address in its proved domains, unless it says no.
    emailVerified: (profile) =>
      domains.includes(domainOfAddress(readEmail(row, profile)) ?? '') &&
      profile.email_verified !== false &&
      String(profile.email_verified) !== 'false',
    allowDangerousEmailAccountLinking: true,
    profile(profile) {
      const { id, email, name } = mapUser(row, profile)
      return { ...(id !== null && { id }), email, name }
    },
    // Tokens of the company are not needed again.
    account: () => ({}),
    [customFetch]: fetchInPublic(ctx.service('publicFetch')),
  }
}

function toSaml(row: Row<ConnectionRow>, domains: readonly string[]): SamlConfig {
  const {
    entityId,
    // A draft has no identity provider: only our metadata is read of it, and nothing is fetched.
    metadataUrl = isDraft(row) ? 'https://identity-provider.invalid/metadata' : undefined,
    signInUrl = '',
    binding,
    signOutUrl,
    signOutBinding,
    certificates = [],
    idpInitiated,
    nameIdFormat,
    forceAuthn,
    authnContext,
    mfaContexts,
    former,
  } = row.settings as SamlSettings
  const { signing, decryption } = secretsOf(row)
  return {
    id: providerIdOf(row),
    name: row.name,
    type: 'saml',
    ...(former?.callbackPath !== undefined && { acsPath: former.callbackPath }),
    ...(former?.entityId !== undefined && { entityId: former.entityId }),
    ...(metadataUrl === undefined
      ? { idp: { entityId, signInUrl, certificates, binding, signOutUrl, signOutBinding } }
      : { metadata: metadataUrl, ...(!isDraft(row) && { idpEntityId: entityId }) }),
    ...(row.mapping.id !== undefined && { subject: row.mapping.id }),
    nameIdFormat,
    idpInitiated,
    forceAuthn,
    authnContext,
    mfaContexts,
    signing,
    decryption,
    trustEmail: domains,
    // Links by address: only where every address of the connection is in its proved domains.
    allowDangerousEmailAccountLinking: !row.otherDomains,
    profile({ attributes, subject, nameId }) {
      const { email, name } = mapUser(row, { ...attributes, sub: nameId })
      return { id: subject, email, name }
    },
  }
}

/** Secrets of a row: its field is JSON that the kernel encrypts. */
export function secretsOf({ secret }: Pick<ConnectionRow, 'secret'>): ConnectionSecrets {
  return secret === null ? {} : (JSON.parse(secret) as ConnectionSecrets)
}

const es256 = { name: 'ECDSA', namedCurve: 'P-256' } as const

/** A key of the connection for `private_key_jwt`. */
export async function createPrivateKey(): Promise<JsonWebKey> {
  const { privateKey } = await crypto.subtle.generateKey(es256, true, ['sign', 'verify'])
  return crypto.subtle.exportKey('jwk', privateKey)
}

/** What the company enters at its identity provider. */
export function publicKeyOf(row: Row<ConnectionRow>): (JsonWebKey & { kid: string }) | null {
  const { kty, crv, x, y } = secretsOf(row).privateKey ?? {}
  return kty === undefined ? null : { kty, crv: crv!, x: x!, y: y!, alg: 'ES256', use: 'sig', kid: row.id }
}

function importKey(jwk: JsonWebKey): Promise<CryptoKey> {
  return crypto.subtle.importKey('jwk', jwk, es256, false, ['sign'])
}

/** Every endpoint of a connection was chosen by a stranger: none may lead into the own network (SSRF). */
function fetchInPublic(publicFetch: PublicFetch): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = request.method === 'POST' ? await request.text() : undefined
    const headers = Object.fromEntries(request.headers)
    const answer = await publicFetch.send(request.url, {
      headers,
      signal: request.signal,
      limit: 262_144,
      ...(body !== undefined && { body }),
    })
    return new Response(answer.content, { status: answer.status, headers: answer.headers })
  }
}
