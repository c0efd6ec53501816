/** Options of `authorizationServerPlugin`, with their defaults, and their checks. */
import { type AnyContext, assertOptions, AuthError, type Awaitable, type LimitRule, type User } from 'authkernel/kernel'
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts'
import { OAuthRefusal } from './errors.ts'
import { type IdentityAssertionOptions, resolveAssertions, type ResolvedAssertions } from './identity-assertion-options.ts'
import {
  type OrganizationClientOptions,
  type ResolvedOrganizationClients,
  resolveOrganizationClients,
} from './organization-client-options.ts'

/** A client that the host lists. */
export interface ClientOptions extends Partial<ClientMetadata> {
  /** `client_id`: 1 to 100 characters of `A-Za-z0-9._~-`. */
  client_id: string
  /** Shown to users: 1 to 100 characters. */
  client_name: string
  /** Needed where the client authenticates by a secret: at least 32 characters. Of a list each counts: put the next one before the present one, and remove that later. */
  client_secret?: string | readonly string[]
  /** The client belongs to you: no consent is asked on an https redirect URI. Default false. */
  first_party?: boolean
}
/** What tokens are for: an API or an MCP server. */
export interface ResourceOptions {
  /** `aud` of its tokens (RFC 8707): an absolute URI without fragment. */
  resource: string
  /** Name for users; default: the host name. */
  name?: string | undefined
  /** What clients may ask for there. */
  scopes: readonly string[]
  /** `opaque` (default): the resource asks this server about each token. `jwt`: it verifies them itself (RFC 9068), and they live to their end. */
  format?: 'opaque' | 'jwt' | undefined
  /** Ids of clients that may introspect tokens for it; default: none but the client of the token. */
  introspectedBy?: readonly string[] | undefined
}
/** Dynamic client registration (RFC 7591). */
export interface RegistrationOptions {
  /** Tokens that open the endpoint, at least 32 characters each; default: any client may register. */
  initialAccessTokens?: readonly string[] | undefined
  /** Registrations of one network; default 10 in an hour. */
  perNetwork?: LimitRule | undefined
  /** Seconds after which a client is deleted that was never used; default 86400. */
  unused?: number | undefined
  /** Clients at most; default 10000. */
  max?: number | undefined
}
/** One of `authorization_details` (RFC 9396 section 2): what a client asks for, in the form of its type. */
export interface AuthorizationDetail {
  type: string
  [member: string]: unknown
}
/** A type of `authorization_details`. */
export interface AuthorizationDetailType {
  /** One of `resources`: tokens with such details are for it. */
  resource: string
  /** Whether a detail has the form of the type; a text says what is wrong. Default: every object. */
  check?: ((detail: AuthorizationDetail) => boolean | string) | undefined
  /** Lines of the consent page, such as `[['Amount', '10 EUR']]`; default: its members as they came. */
  describe?: ((detail: AuthorizationDetail) => [label: string, value: string][]) | undefined
}
/** Whether a user may give a client a scope. */
export interface ScopeQuestion {
  user: User
  /** `client_id`. */
  client: string
  scope: string
  ctx: AnyContext
}
/** How a user must be signed in before a client gets a scope. */
export interface ScopeProof {
  /** Highest age of the proof in seconds, at least 30; default: any age. */
  maxAge?: number | undefined
  /** `mfa`: with a second factor. */
  level?: 'mfa' | undefined
}
/** Consent of organizations. Needs organizationsPlugin. */
export interface OrganizationConsentOptions {
  /** Roles whose members may allow a client for all members; default `owner` and `admin`. */
  roles?: readonly string[] | undefined
  /** Scopes that only an administrator of an organization can allow; default: none. */
  scopes?: readonly string[] | undefined
}
/** What further claims are for. */
export interface ClaimsQuestion {
  user: User
  client: string
  scopes: readonly string[]
  /** Claims that the client named in the parameter `claims`. */
  requested: readonly string[]
  ctx: AnyContext
}
/** Backchannel authentication (CIBA): clients ask for users who are elsewhere. */
export interface CibaOptions {
  /** The id of the user whom `login_hint` names; default: the user with this verified email. */
  findUser?: ((question: { hint: string; ctx: AnyContext }) => Awaitable<string | undefined>) | undefined
  /** Whether the code is the user's own, for clients with `backchannel_user_code_parameter`. Default: no code is asked for. */
  checkUserCode?: ((question: { user: User; code: string; ctx: AnyContext }) => Awaitable<boolean>) | undefined
  /** Tells the user of the question, by a push message for example. `url`: the page that asks. Default: a mail, where a mail transport is configured. */
  notify?:
    | ((question: { user: User; client: string; binding: string | null; url: string; ctx: AnyContext }) => Awaitable<unknown>)
    | undefined
}
/** Certificates of clients (RFC 8705), which a proxy that ends TLS hands on. */
export interface MutualTlsOptions {
  /**
   * Name of the header with the certificate: `client-cert` (RFC 9440), or one with PEM in percent-encoding. The proxy must replace the header in what clients
   * send: a client that can write it can be every client.
   */
  header: string
  /**
   * The proxy lets through only certificates of the CAs that you trust for clients. Needed for `tls_client_auth`: without it an attacker makes a certificate with the
   * name of a client. Default false: `self_signed_tls_client_auth` alone.
   */
  chainVerified?: boolean | undefined
}
/** Devices without a browser or a keyboard (RFC 8628). */
export interface DeviceOptions {
  /** Where an address is, in words, for the page that asks the user; default: nothing. */
  place?: ((question: { address: string; ctx: AnyContext }) => Awaitable<string | undefined>) | undefined
}
/** What `authorizationServerPlugin` takes. */
export interface AuthorizationServerOptions {
  /** Clients by options; others are stored by `auth.authorizationServer.clients`. Default: none. */
  clients?: readonly ClientOptions[] | undefined
  /** APIs and MCP servers that tokens are for; default: none, tokens open userinfo alone. */
  resources?: readonly ResourceOptions[] | undefined
  /** Types of `authorization_details` (RFC 9396), by name; default: none. */
  authorizationDetails?: Readonly<Record<string, AuthorizationDetailType>> | undefined
  /** Clients of the host may ask for users who are elsewhere (CIBA); default: they may not. */
  ciba?: CibaOptions | undefined
  /**
   * Clients of the host with the grant type `urn:ietf:params:oauth:grant-type:device_code` may ask for codes that a user types at `/oauth2/device`; default:
   * they may not. An attacker may send users a code: give the grant type to few clients, with few scopes.
   */
  device?: DeviceOptions | undefined
  /** Clients of the host may authenticate by a certificate, with `tls_client_auth` or `self_signed_tls_client_auth`; needs `trustProxy`. Default: they may not. */
  mutualTls?: MutualTlsOptions | undefined
  /** Clients may bring the https address of a document as `client_id` (Client ID Metadata Documents). Default false. */
  clientDocuments?: boolean | undefined
  /** Clients may register themselves; default: they may not. */
  registration?: RegistrationOptions | undefined
  /** Seconds of access tokens, 10 to 3600; default 600. At most `maxAge` of jwtPlugin. */
  accessTokenAge?: number | undefined
  /** Seconds that a grant lives without a refresh; default 2592000 (30 days). */
  idle?: number | undefined
  /** Seconds that a grant lives at most; default 7776000 (90 days). */
  maxAge?: number | undefined
  /** Asked at consent and at each use: a right that the user lost is no longer in tokens. Default: every scope. */
  can?: ((question: ScopeQuestion) => Awaitable<boolean>) | undefined
  /** Further claims of ID tokens and userinfo. They replace none of OpenID Connect. */
  claims?: ((question: ClaimsQuestion) => Awaitable<Record<string, unknown>>) | undefined
  /** At least 32 characters, never changed: pairwise subjects are made with it. Default: no client can be `pairwise`. */
  pairwiseSalt?: string | undefined
  /** `nonces`: DPoP proofs must have a nonce of this server (RFC 9449 section 8). Default false. */
  dpop?: { nonces?: boolean | undefined } | undefined
  /** Scopes that need a fresh proof or a second factor, by their names; default: none. */
  scopeProof?: Readonly<Record<string, ScopeProof>> | undefined
  /** Organizations may make clients. Needs organizationsPlugin. Default: they may not. */
  organizationClients?: OrganizationClientOptions | undefined
  /** Who allows clients for all members of an organization, and what only they can allow. */
  organizationConsent?: OrganizationConsentOptions | undefined
  /** Experimental: assertions of users between servers (ID-JAG). Default: none. */
  identityAssertions?: IdentityAssertionOptions | undefined
}

/** A resource with its defaults in place. */
export interface Resource {
  readonly resource: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly format: 'opaque' | 'jwt'
  readonly introspectedBy: readonly string[]
}
/** A client of the options. */
export interface StaticClient {
  readonly metadata: ClientMetadata
  readonly secrets: readonly string[]
  readonly firstParty: boolean
}
/** With the defaults in place. */
export interface ResolvedOptions extends Pick<
  AuthorizationServerOptions,
  'can' | 'claims' | 'ciba' | 'device' | 'mutualTls' | 'pairwiseSalt'
> {
  clients: ReadonlyMap<string, StaticClient>
  resources: ReadonlyMap<string, Resource>
  authorizationDetails: ReadonlyMap<string, AuthorizationDetailType>
  clientDocuments: boolean
  registration: { tokens: readonly string[]; perNetwork: LimitRule; unused: number; max: number } | undefined
  tokenAge: number
  idle: number
  maxAge: number
  nonces: boolean
  assertions: ResolvedAssertions
  scopeProof: ReadonlyMap<string, ScopeProof>
  organizationConsent: { roles: readonly string[]; scopes: readonly string[] }
  organizationClients: ResolvedOrganizationClients | undefined
}

/** Scopes of OpenID Connect that the server knows itself. */
export const openidScopes: readonly string[] = ['openid', 'profile', 'email', 'offline_access']
const scopeSyntax = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/
const day = 86_400

/** Throws AuthError that names the option. */
export function resolveOptions(options: AuthorizationServerOptions): ResolvedOptions {
  assertOptions('Plugin "authorization-server"', options, {
    clients: true,
    resources: true,
    authorizationDetails: true,
    ciba: true,
    device: true,
    mutualTls: true,
    clientDocuments: true,
    registration: true,
    accessTokenAge: true,
    idle: true,
    maxAge: true,
    can: true,
    claims: true,
    pairwiseSalt: true,
    dpop: true,
    identityAssertions: true,
    scopeProof: true,
    organizationConsent: true,
    organizationClients: true,
  })
  assertOptions('Plugin "authorization-server"', options.ciba, { findUser: true, checkUserCode: true, notify: true }, 'ciba')
  assertOptions('Plugin "authorization-server"', options.device, { place: true }, 'device')
  assertOptions('Plugin "authorization-server"', options.organizationConsent, { roles: true, scopes: true }, 'organizationConsent')
  assertOptions('Plugin "authorization-server"', options.dpop, { nonces: true }, 'dpop')
  const { accessTokenAge: tokenAge = 600, idle = 30 * day, maxAge = 90 * day, pairwiseSalt, can, claims } = options
  if (!(tokenAge >= 10 && tokenAge <= 3600)) refuseOption('`accessTokenAge` must be 10 to 3600 seconds.')
  if (!(idle >= tokenAge && idle <= maxAge)) refuseOption('`idle` must be at least `accessTokenAge` and at most `maxAge`.')
  if (!(maxAge <= 366 * day)) refuseOption('`maxAge` must be at most 31622400 seconds.')
  if (pairwiseSalt !== undefined && !(typeof pairwiseSalt === 'string' && pairwiseSalt.length >= 32))
    refuseOption('`pairwiseSalt` must have at least 32 characters.')
  const resources = resolveResources(options.resources ?? [])
  return {
    clients: resolveClients(options.clients ?? [], pairwiseSalt),
    resources,
    authorizationDetails: resolveDetailTypes(options.authorizationDetails ?? {}, resources),
    clientDocuments: options.clientDocuments === true,
    registration: options.registration && resolveRegistration(options.registration),
    tokenAge,
    idle,
    maxAge,
    nonces: options.dpop?.nonces === true,
    assertions: resolveAssertions(options.identityAssertions),
    scopeProof: resolveScopeProof(options.scopeProof ?? {}),
    organizationConsent: {
      roles: options.organizationConsent?.roles ?? ['owner', 'admin'],
      scopes: options.organizationConsent?.scopes ?? [],
    },
    organizationClients: options.organizationClients && resolveOrganizationClients(options.organizationClients, resources),
    pairwiseSalt,
    ciba: options.ciba,
    device: options.device,
    mutualTls: options.mutualTls && resolveMutualTls(options.mutualTls),
    can,
    claims,
  }
}

function resolveMutualTls(given: MutualTlsOptions): Required<MutualTlsOptions> {
  assertOptions('Plugin "authorization-server"', given, { header: true, chainVerified: true }, 'mutualTls')
  const { header, chainVerified = false } = given
  if (typeof header !== 'string' || !/^[A-Za-z0-9-]{1,100}$/.test(header)) refuseOption('`mutualTls.header` must be the name of a header.')
  if (typeof chainVerified !== 'boolean') refuseOption('`mutualTls.chainVerified` must be true or false.')
  return { header, chainVerified }
}

function resolveScopeProof(given: Readonly<Record<string, ScopeProof>>): Map<string, ScopeProof> {
  for (const [scope, proof] of Object.entries(given)) {
    assertOptions('Plugin "authorization-server"', proof, { maxAge: true, level: true }, `scopeProof["${scope}"]`)
    if (proof.maxAge !== undefined && !(proof.maxAge >= 30))
      refuseOption(`\`scopeProof\`: \`maxAge\` of "${scope}" must be at least 30 seconds.`)
    if (proof.level !== undefined && proof.level !== 'mfa') refuseOption(`\`scopeProof\`: \`level\` of "${scope}" must be "mfa".`)
  }
  return new Map(Object.entries(given))
}

function resolveClients(clients: readonly ClientOptions[], salt: string | undefined): Map<string, StaticClient> {
  const known = new Map<string, StaticClient>()
  for (const { client_id: id, client_secret: secret, first_party: firstParty = false, ...given } of clients) {
    if (typeof id !== 'string' || !/^[A-Za-z0-9._~-]{1,100}$/.test(id))
      refuseOption('a `client_id` must be 1 to 100 characters of A-Za-z0-9._~-.')
    if (known.has(id)) refuseOption(`two clients have the id "${id}".`)
    const metadata = readOwnMetadata(id, {
      ...given,
      token_endpoint_auth_method: given.token_endpoint_auth_method ?? (secret === undefined ? 'none' : 'client_secret_basic'),
    })
    const secrets = secret === undefined ? [] : [secret].flat()
    const needsSecret = metadata.token_endpoint_auth_method.startsWith('client_secret')
    if (needsSecret !== secrets.length > 0)
      refuseOption(
        `the client "${id}" ${needsSecret ? 'needs a `client_secret`' : 'must have no `client_secret`'} with \`token_endpoint_auth_method\` "${metadata.token_endpoint_auth_method}".`,
      )
    if (secrets.some((one) => typeof one !== 'string' || one.length < 32))
      refuseOption(`the \`client_secret\` of "${id}" is shorter than 32 characters.`)
    if (metadata.subject_type === 'pairwise' && salt === undefined)
      refuseOption(`the client "${id}" is \`pairwise\`, which needs \`pairwiseSalt\`.`)
    known.set(id, Object.freeze({ metadata, secrets, firstParty }))
  }
  return known
}

function readOwnMetadata(id: string, given: Record<string, unknown>): ClientMetadata {
  try {
    return readClientMetadata(given, 'host')
  } catch (error) {
    if (error instanceof OAuthRefusal) refuseOption(`the client "${id}": ${error.message}`)
    throw error
  }
}

function resolveResources(resources: readonly ResourceOptions[]): Map<string, Resource> {
  const known = new Map<string, Resource>()
  for (const one of resources) {
    assertOptions(
      'Plugin "authorization-server"',
      one,
      { resource: true, name: true, scopes: true, format: true, introspectedBy: true },
      'resources',
    )
    const { resource, name, scopes, format = 'opaque', introspectedBy = [] } = one
    if (typeof resource !== 'string' || !URL.canParse(resource) || resource.includes('#') || resource.length > 500)
      refuseOption(`\`resources\`: ${JSON.stringify(resource)} is no absolute URI without fragment.`)
    if (!Array.isArray(scopes)) refuseOption(`\`resources\`: "${resource}" needs \`scopes\`.`)
    const wrong = scopes.find((scope) => !scopeSyntax.test(scope) || openidScopes.includes(scope))
    if (wrong !== undefined)
      refuseOption(
        `\`resources\`: "${resource}" has the scope ${JSON.stringify(wrong)}, which RFC 6749 does not allow or OpenID Connect has.`,
      )
    if (!['opaque', 'jwt'].includes(format)) refuseOption(`\`resources\`: \`format\` of "${resource}" must be "opaque" or "jwt".`)
    const key = canonicalResource(resource)
    if (known.has(key)) refuseOption(`\`resources\` has "${resource}" twice.`)
    known.set(
      key,
      Object.freeze({ resource, name: name ?? new URL(resource).host, scopes: [...new Set(scopes as string[])], format, introspectedBy }),
    )
  }
  return known
}

function resolveDetailTypes(
  types: Readonly<Record<string, AuthorizationDetailType>>,
  resources: ReadonlyMap<string, Resource>,
): Map<string, AuthorizationDetailType> {
  const known = new Map<string, AuthorizationDetailType>()
  for (const [name, type] of Object.entries(types)) {
    assertOptions('Plugin "authorization-server"', type, { resource: true, check: true, describe: true }, 'authorizationDetails')
    const resource = resources.get(canonicalResource(type.resource))
    if (!resource) refuseOption(`\`authorizationDetails\`: "${name}" needs a \`resource\` that is among \`resources\`.`)
    known.set(name, Object.freeze({ ...type, resource: resource.resource }))
  }
  return known
}

function resolveRegistration(options: RegistrationOptions): NonNullable<ResolvedOptions['registration']> {
  assertOptions(
    'Plugin "authorization-server"',
    options,
    { initialAccessTokens: true, perNetwork: true, unused: true, max: true },
    'registration',
  )
  const { initialAccessTokens: tokens = [], perNetwork = { max: 10, seconds: 3600 }, unused = day, max = 10_000 } = options
  if (tokens.some((token) => typeof token !== 'string' || token.length < 32))
    refuseOption('`registration.initialAccessTokens` must have at least 32 characters each.')
  if (!(perNetwork.max >= 1 && perNetwork.seconds >= 1))
    refuseOption('`registration.perNetwork` must have `max` and `seconds` of at least 1.')
  if (!(unused >= 600 && unused <= 366 * day)) refuseOption('`registration.unused` must be 600 to 31622400 seconds.')
  if (!(Number.isInteger(max) && max >= 1)) refuseOption('`registration.max` must be a whole number of at least 1.')
  return { tokens, perNetwork, unused, max }
}

/** `https://api.example` and `https://api.example/` are one resource. */
export function canonicalResource(resource: string): string {
  return URL.canParse(resource) ? new URL(resource).href : resource
}

function refuseOption(what: string): never {
  throw new AuthError(`Plugin "authorization-server": ${what}`)
}
