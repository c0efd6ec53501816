/** Metadata of clients (RFC 7591 section 2): what is read of options, registrations and metadata documents, and rejected. */
import { isLoopback } from 'authkernel/kernel'
import { redirectKind } from '../bearer/redirect.ts'
import { OAuthRefusal } from './errors.ts'

/** How a client proves itself at the token endpoint. */
export type ClientAuthMethod =
  | 'none'
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'private_key_jwt'
  | 'tls_client_auth'
  | 'self_signed_tls_client_auth'
/** What a client may ask the token endpoint for. */
export type ClientGrantType =
  | 'authorization_code'
  | 'refresh_token'
  | 'client_credentials'
  | 'urn:ietf:params:oauth:grant-type:token-exchange'
  | 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  | 'urn:openid:params:grant-type:ciba'
  | 'urn:ietf:params:oauth:grant-type:device_code'

/** Metadata of a client in the form of RFC 7591, with the defaults in place. */
export interface ClientMetadata {
  /** Shown to users: 1 to 100 characters. */
  client_name: string
  redirect_uris: string[]
  token_endpoint_auth_method: ClientAuthMethod
  grant_types: ClientGrantType[]
  /** Scopes that it may ask for, separated by blanks; absent: all. */
  scope?: string
  /** Public keys of `private_key_jwt` and of signed requests (RFC 7517), or their https address. */
  jwks?: { keys: Record<string, unknown>[] }
  jwks_uri?: string
  /** With `tls_client_auth`: the name in the certificate of the client, exactly one (RFC 8705 section 2.1.2). The first is a text as RFC 4514 writes it. */
  tls_client_auth_subject_dn?: string
  tls_client_auth_san_dns?: string
  tls_client_auth_san_uri?: string
  /** Picture and pages of the client, https. */
  logo_uri?: string
  client_uri?: string
  policy_uri?: string
  tos_uri?: string
  application_type: 'web' | 'native'
  /** `pairwise`: the client learns an id of the user that no other client knows. */
  subject_type: 'public' | 'pairwise'
  /** Where the browser may be led after a sign-out that the client began. */
  post_logout_redirect_uris: string[]
  /** Gets a logout token when the session of a user ends (OpenID Connect Back-Channel Logout 1.0). */
  backchannel_logout_uri?: string
  /** Is opened in a frame when the user signs out on the page of this server (OpenID Connect Front-Channel Logout 1.0); https. */
  frontchannel_logout_uri?: string
  /** How the client learns of an answer (CIBA); `ping` needs the address that is called. */
  backchannel_token_delivery_mode?: 'poll' | 'ping'
  backchannel_client_notification_endpoint?: string
  /** The user's own code must come with a request (CIBA). */
  backchannel_user_code_parameter?: boolean
  /** Userinfo is a signed JWT (OpenID Connect Core section 5.3.2); absent: JSON. */
  userinfo_signed_response_alg?: string
  /** How ID tokens and logout tokens are signed, and introspection as JWT (RFC 9701): one of `algorithm` and `algorithms` of jwtPlugin; absent: `algorithm`. */
  id_token_signed_response_alg?: string
  introspection_signed_response_alg?: string
  /** Tokens must be bound to a key (RFC 9449 section 5.2). */
  dpop_bound_access_tokens: boolean
  /** Tokens must be bound to the certificate of the client (RFC 8705 section 3.4); needs `mutualTls`. */
  tls_client_certificate_bound_access_tokens?: boolean
  /** Who alone may act for users with tokens of this client (RFC 8693 section 4.4): the id of a client or user. */
  may_act?: { sub: string }
  /** Authorization requests must be signed (RFC 9101 section 10.5), and by which algorithm; absent: by any of the server. */
  require_signed_request_object: boolean
  request_object_signing_alg?: string
  /** https addresses of request objects. */
  request_uris?: string[]
  /** Types of `authorization_details` that it may ask for (RFC 9396 section 10); absent: all. */
  authorization_details_types?: string[]
  /** Authorization requests must be pushed (RFC 9126 section 6). */
  require_pushed_authorization_requests: boolean
}

/** Where metadata comes from: a client that registers itself, and owners of an organization, may set less than the host. */
export type MetadataSource = 'host' | 'registration' | 'document' | 'organization'

/** The grant type of backchannel authentication (CIBA). */
export const cibaGrant = 'urn:openid:params:grant-type:ciba'
const methods: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt']
/** What the host alone gives: it knows its proxy. */
const certificateMethods: readonly string[] = ['tls_client_auth', 'self_signed_tls_client_auth']
const certificateNames = ['tls_client_auth_subject_dn', 'tls_client_auth_san_dns', 'tls_client_auth_san_uri'] as const
/** What every client may use, and what the host alone gives: a stranger gets tokens from users, and none for itself. */
const commonGrants: readonly string[] = ['authorization_code', 'refresh_token']
const hostGrants: readonly string[] = [
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:token-exchange',
  'urn:ietf:params:oauth:grant-type:jwt-bearer',
  'urn:openid:params:grant-type:ciba',
]
/** What the host gives to public clients too: a user who is tricked into typing a code of a stranger lets that one in. */
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
/** How clients sign assertions and request objects: algorithms with a public key. */
export const clientAlgorithms: readonly string[] = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256', 'ES384', 'PS384']
const maxUris = 20
const maxKeys = 20

/** Checks what a client says of itself. Unknown members are dropped (RFC 7591 section 2). Throws OAuthRefusal `invalid_client_metadata` or `invalid_redirect_uri`. */
export function readClientMetadata(given: Readonly<Record<string, unknown>>, source: MetadataSource): ClientMetadata {
  const grants = readGrantTypes(given['grant_types'], source)
  const applicationType = given['application_type'] ?? 'web'
  if (applicationType !== 'web' && applicationType !== 'native') refuse('`application_type` must be "web" or "native".')
  const method = given['token_endpoint_auth_method'] ?? (source === 'document' ? 'none' : 'client_secret_basic')
  const offered = source === 'host' ? [...methods, ...certificateMethods] : methods
  if (typeof method !== 'string' || !offered.includes(method))
    refuse(`\`token_endpoint_auth_method\` must be one of ${offered.join(', ')}.`)
  // A document is public: it holds no secret.
  if (source === 'document' && method.startsWith('client_secret'))
    refuse('A metadata document has no client secret: use "none" or "private_key_jwt".')
  const secretGrant = method === 'none' ? grants.find((one) => hostGrants.includes(one)) : undefined
  if (secretGrant !== undefined) refuse(`\`${secretGrant}\` needs a client that authenticates.`)
  const subjectType = given['subject_type'] ?? 'public'
  if (subjectType !== 'public' && subjectType !== 'pairwise') refuse('`subject_type` must be "public" or "pairwise".')
  const logout = readUrl(given, 'backchannel_logout_uri', source)
  // The server would call an address that a stranger chose.
  if (logout !== undefined && source !== 'host') refuse('`backchannel_logout_uri` is only for clients that the host has made.')
  const frame = readUrl(given, 'frontchannel_logout_uri', source)
  // A page of this site would show what a stranger chose.
  if (frame !== undefined && (source !== 'host' || !frame.startsWith('https:')))
    refuse('`frontchannel_logout_uri` is an https address, and only for clients that the host has made.')
  const responses = given['response_types']
  if (responses !== undefined && !(Array.isArray(responses) && responses.every((one) => one === 'code')))
    refuse('`response_types` must be ["code"].')
  return {
    client_name: readName(given['client_name'], source),
    redirect_uris: readRedirectUris(given['redirect_uris'], grants),
    token_endpoint_auth_method: method as ClientAuthMethod,
    grant_types: grants,
    ...readScope(given['scope']),
    ...readKeys(given, method, source),
    ...readCertificateName(given, method),
    ...optional('logo_uri', readUrl(given, 'logo_uri', source)),
    ...optional('client_uri', readUrl(given, 'client_uri', source)),
    ...optional('policy_uri', readUrl(given, 'policy_uri', source)),
    ...optional('tos_uri', readUrl(given, 'tos_uri', source)),
    application_type: applicationType as 'web' | 'native',
    subject_type: subjectType as 'public' | 'pairwise',
    post_logout_redirect_uris: readUris(given['post_logout_redirect_uris'], 'post_logout_redirect_uris'),
    ...optional('backchannel_logout_uri', logout),
    ...optional('frontchannel_logout_uri', frame),
    ...readMayAct(given['may_act'], source),
    dpop_bound_access_tokens: readFlag(given, 'dpop_bound_access_tokens'),
    ...readAlgorithms(given, source),
    ...readCertificateBinding(given),
    ...readBackchannel(given, grants),
    ...readSignedRequests(given),
    ...readDetailTypes(given['authorization_details_types']),
    require_pushed_authorization_requests: readFlag(given, 'require_pushed_authorization_requests'),
  }
}

function readName(name: unknown, source: MetadataSource): string {
  if (name === undefined && source !== 'host' && source !== 'organization') return ''
  // No line breaks and no marks that turn text around: the name is drawn beside a question.
  if (typeof name !== 'string' || name.trim() === '' || name.length > 100 || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name))
    refuse('`client_name` must be 1 to 100 visible characters.')
  return name.trim()
}

function readGrantTypes(given: unknown, source: MetadataSource): ClientGrantType[] {
  if (given === undefined) return ['authorization_code', 'refresh_token']
  const offered = grantsOf(source)
  const isKnown = (one: unknown): one is ClientGrantType => typeof one === 'string' && offered.includes(one)
  if (!Array.isArray(given) || given.length === 0) return refuse('`grant_types` must be a list of texts.')
  // Clients list what they can, also what this server has not (RFC 7591 section 2).
  const known = [...new Set(given.filter(isKnown))]
  return known.length > 0 ? known : refuse(`\`grant_types\` must have one of ${offered.join(', ')}.`)
}

function grantsOf(source: MetadataSource): readonly string[] {
  if (source === 'host') return [...commonGrants, ...hostGrants, deviceGrant]
  return source === 'organization' ? [...commonGrants, 'client_credentials'] : commonGrants
}

function readRedirectUris(given: unknown, grants: readonly ClientGrantType[]): string[] {
  const uris = readUris(given, 'redirect_uris')
  if (uris.length === 0 && grants.includes('authorization_code'))
    throw new OAuthRefusal('invalid_redirect_uri', '`redirect_uris` must have at least one address.')
  return uris
}

function readUris(given: unknown, name: string): string[] {
  if (given === undefined) return []
  if (!Array.isArray(given) || given.length > maxUris)
    throw new OAuthRefusal('invalid_redirect_uri', `\`${name}\` must be a list of at most ${maxUris} addresses.`)
  const wrong = given.find((uri) => typeof uri !== 'string' || !redirectKind(uri, 'localhost'))
  if (wrong !== undefined)
    throw new OAuthRefusal(
      'invalid_redirect_uri',
      `\`${name}\`: use https, http://127.0.0.1, http://[::1] or http://localhost, or a scheme that is a reversed domain, such as com.example.app:/callback; no fragment.`,
    )
  return [...new Set(given as string[])]
}

function readScope(given: unknown): { scope?: string } {
  if (given === undefined) return {}
  if (typeof given !== 'string' || given.length > 4000 || !/^[\x21\x23-\x5b\x5d-\x7e ]*$/.test(given))
    refuse('`scope` must be scopes separated by blanks.')
  return { scope: [...new Set(given.split(' ').filter(Boolean))].join(' ') }
}

function readKeys(
  given: Readonly<Record<string, unknown>>,
  method: string,
  source: MetadataSource,
): { jwks?: ClientMetadata['jwks'] & object; jwks_uri?: string } {
  const { jwks } = given
  const uri = readUrl(given, 'jwks_uri', source)
  const needsKeys = ['private_key_jwt', 'self_signed_tls_client_auth'].includes(method) || given['require_signed_request_object'] === true
  if (jwks !== undefined && uri !== undefined) refuse('Use `jwks` or `jwks_uri`, and not both.')
  if (jwks === undefined && uri === undefined)
    return needsKeys
      ? refuse('`private_key_jwt`, `self_signed_tls_client_auth` and `require_signed_request_object` need `jwks` or `jwks_uri`.')
      : {}
  if (uri !== undefined) return { jwks_uri: uri }
  const keys = (jwks as { keys?: unknown } | null)?.keys
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > maxKeys || keys.some((key) => typeof key !== 'object' || key === null))
    return refuse(`\`jwks\` must have 1 to ${maxKeys} keys.`)
  // Symmetric and private keys are secrets: they do not belong into metadata.
  if (keys.some((key: Record<string, unknown>) => 'd' in key || 'k' in key || key['kty'] === 'oct'))
    return refuse('`jwks` must have public keys only.')
  return { jwks: { keys: keys as Record<string, unknown>[] } }
}

function readCertificateName(
  given: Readonly<Record<string, unknown>>,
  method: string,
): Partial<Pick<ClientMetadata, (typeof certificateNames)[number]>> {
  if (method !== 'tls_client_auth') return {}
  const names = certificateNames.filter((name) => given[name] !== undefined)
  const [name] = names
  const value = name && given[name]
  if (name === undefined || names.length > 1 || typeof value !== 'string' || value === '' || value.length > 1000)
    return refuse(`\`tls_client_auth\` needs one of ${certificateNames.join(', ')}.`)
  return { [name]: value }
}

function readMayAct(given: unknown, source: MetadataSource): { may_act?: { sub: string } } {
  if (given === undefined || source !== 'host') return {}
  const { sub } = (given ?? {}) as { sub?: unknown }
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) return refuse('`may_act` must be { sub }: the id of a client or user.')
  return { may_act: { sub } }
}

function readUrl(given: Readonly<Record<string, unknown>>, name: string, source: MetadataSource): string | undefined {
  const url = given[name]
  if (url === undefined) return undefined
  if (typeof url !== 'string' || url.length > 1000 || !URL.canParse(url)) return refuse(`\`${name}\` must be an https address.`)
  const { protocol, hostname, username, hash } = new URL(url)
  const isSecure = protocol === 'https:' || (source === 'host' && protocol === 'http:' && isLoopback(hostname))
  return isSecure && username === '' && hash === '' ? url : refuse(`\`${name}\` must be an https address.`)
}

function readSignedRequests(
  given: Readonly<Record<string, unknown>>,
): Pick<ClientMetadata, 'require_signed_request_object' | 'request_object_signing_alg' | 'request_uris'> {
  const { request_object_signing_alg: algorithm, request_uris: uris } = given
  if (algorithm !== undefined && !(typeof algorithm === 'string' && clientAlgorithms.includes(algorithm)))
    refuse(`\`request_object_signing_alg\` must be one of ${clientAlgorithms.join(', ')}.`)
  const isAddress = (uri: unknown): boolean =>
    typeof uri === 'string' && uri.length <= 1000 && URL.canParse(uri) && uri.startsWith('https://')
  if (uris !== undefined && !(Array.isArray(uris) && uris.length <= maxUris && uris.every(isAddress)))
    refuse(`\`request_uris\` must be a list of at most ${maxUris} https addresses.`)
  return {
    require_signed_request_object: readFlag(given, 'require_signed_request_object'),
    ...optional('request_object_signing_alg', algorithm as string | undefined),
    ...(uris !== undefined && { request_uris: uris as string[] }),
  }
}

/** Members that say how the server signs for the client. Whether it has keys for that is asked where the client is made. */
export const signingMembers = ['id_token_signed_response_alg', 'userinfo_signed_response_alg', 'introspection_signed_response_alg'] as const

function readAlgorithms(
  given: Readonly<Record<string, unknown>>,
  source: MetadataSource,
): Partial<Record<(typeof signingMembers)[number], string>> {
  const named = signingMembers.filter((name) => given[name] !== undefined)
  // A stranger's wish is replaced by what the server has (RFC 7591 section 3.2.1).
  const isFit = (value: unknown): boolean =>
    source === 'registration' || source === 'document'
      ? typeof value === 'string' && value.length <= 20
      : ['ES256', 'EdDSA', 'RS256', 'PS256'].includes(value as string)
  const wrong = named.find((name) => !isFit(given[name]))
  if (wrong !== undefined) refuse(`\`${wrong}\` must be ES256, EdDSA, RS256 or PS256.`)
  return Object.fromEntries(named.map((name) => [name, given[name] as string]))
}

function readCertificateBinding(given: Readonly<Record<string, unknown>>): { tls_client_certificate_bound_access_tokens?: boolean } {
  return readFlag(given, 'tls_client_certificate_bound_access_tokens') ? { tls_client_certificate_bound_access_tokens: true } : {}
}

/** Only clients of the host have the grant type, and the address is one that the host wrote. */
function readBackchannel(
  given: Readonly<Record<string, unknown>>,
  grants: readonly ClientGrantType[],
): Pick<
  ClientMetadata,
  'backchannel_token_delivery_mode' | 'backchannel_client_notification_endpoint' | 'backchannel_user_code_parameter'
> {
  if (!grants.includes('urn:openid:params:grant-type:ciba')) return {}
  const mode = given['backchannel_token_delivery_mode'] ?? 'poll'
  if (mode !== 'poll' && mode !== 'ping') return refuse('`backchannel_token_delivery_mode` must be "poll" or "ping".')
  const address = readUrl(given, 'backchannel_client_notification_endpoint', 'host')
  if ((mode === 'ping') !== (address !== undefined))
    refuse('`backchannel_client_notification_endpoint` is needed with "ping", and only there.')
  return {
    backchannel_token_delivery_mode: mode,
    ...optional('backchannel_client_notification_endpoint', address),
    backchannel_user_code_parameter: readFlag(given, 'backchannel_user_code_parameter'),
  }
}

function readDetailTypes(given: unknown): { authorization_details_types?: string[] } {
  if (given === undefined) return {}
  if (!Array.isArray(given) || given.length > maxUris || given.some((one) => typeof one !== 'string'))
    return refuse('`authorization_details_types` must be a list of texts.')
  return { authorization_details_types: given as string[] }
}

function readFlag(given: Readonly<Record<string, unknown>>, name: string): boolean {
  const flag = given[name] ?? false
  return typeof flag === 'boolean' ? flag : refuse(`\`${name}\` must be true or false.`)
}

function optional<K extends string>(name: K, value: string | undefined): { [name in K]?: string } {
  // The computed name is K, which TypeScript widens to string.
  return (value === undefined ? {} : { [name]: value }) as { [name in K]?: string }
}

function refuse(what: string): never {
  throw new OAuthRefusal('invalid_client_metadata', what)
}
