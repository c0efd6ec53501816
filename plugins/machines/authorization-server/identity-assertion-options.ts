/** Option `identityAssertions` (experimental): servers that get assertions of this one, and providers whose assertions count here. */
import { type AnyContext, assertOptions, AuthError, type Awaitable, type User } from 'authkernel/kernel'

/** Whether a client may get an assertion for another server. */
export interface AssertionQuestion {
  user: User
  /** `client_id` here. */
  client: string
  /** Issuer of the other server. */
  audience: string
  scopes: readonly string[]
  resources: readonly string[]
  ctx: AnyContext
}
/** A server for which clients of this one may get assertions. */
export interface AssertionAudience {
  /** Its issuer. */
  issuer: string
  /** `client_id` there by `client_id` here: a client that is not listed gets none. */
  clients: Readonly<Record<string, string>>
  /** The administrators' policy; default: each listed client, for all of its users. */
  allow?: ((question: AssertionQuestion) => Awaitable<boolean>) | undefined
}
/** A provider whose assertions count here. */
export interface AssertionIssuer {
  issuer: string
  /** https address of its keys, or the keys. */
  jwks_uri?: string | undefined
  jwks?: { keys: readonly Record<string, unknown>[] } | undefined
  /** Id of the provider of this app by which the same users sign in: its accounts say who `sub` is. */
  provider: string
  /** `client_id` of clients here that may bring them; default: all with the grant type. */
  clients?: readonly string[] | undefined
}
/** Identity Assertion JWT Authorization Grant (draft-ietf-oauth-identity-assertion-authz-grant-04). */
export interface IdentityAssertionOptions {
  /** As the users' identity provider; default: none. */
  issueTo?: readonly AssertionAudience[] | undefined
  /** As the server of a resource; default: none. */
  trust?: readonly AssertionIssuer[] | undefined
}
/** With the defaults in place. */
export interface ResolvedAssertions {
  issueTo: ReadonlyMap<string, AssertionAudience>
  trust: ReadonlyMap<string, AssertionIssuer>
}

/** Throws AuthError that names the option. */
export function resolveAssertions(options: IdentityAssertionOptions | undefined): ResolvedAssertions {
  const plugin = 'Plugin "authorization-server"'
  assertOptions(plugin, options, { issueTo: true, trust: true }, 'identityAssertions')
  const { issueTo = [], trust = [] } = options ?? {}
  for (const one of issueTo) {
    assertOptions(plugin, one, { issuer: true, clients: true, allow: true }, 'identityAssertions.issueTo')
    assertIssuer(one.issuer)
    if (typeof one.clients !== 'object' || one.clients === null) refuse(`\`issueTo\`: "${one.issuer}" needs \`clients\`.`)
  }
  for (const one of trust) {
    assertOptions(plugin, one, { issuer: true, jwks_uri: true, jwks: true, provider: true, clients: true }, 'identityAssertions.trust')
    assertIssuer(one.issuer)
    if ((one.jwks === undefined) === (one.jwks_uri === undefined))
      refuse(`\`trust\`: "${one.issuer}" needs \`jwks\` or \`jwks_uri\`, and not both.`)
    if (one.jwks_uri !== undefined && !one.jwks_uri.startsWith('https://'))
      refuse(`\`trust\`: \`jwks_uri\` of "${one.issuer}" must be https.`)
    if (typeof one.provider !== 'string' || one.provider === '') refuse(`\`trust\`: "${one.issuer}" needs \`provider\`.`)
  }
  return { issueTo: byIssuer(issueTo), trust: byIssuer(trust) }
}

function byIssuer<T extends { issuer: string }>(list: readonly T[]): Map<string, T> {
  const known = new Map(list.map((one) => [one.issuer, one]))
  if (known.size < list.length) refuse('an issuer is listed twice.')
  return known
}

function assertIssuer(issuer: unknown): void {
  if (typeof issuer !== 'string' || !URL.canParse(issuer) || /[?#]/.test(issuer)) refuse(`${JSON.stringify(issuer)} is no issuer.`)
}

function refuse(what: string): never {
  throw new AuthError(`Plugin "authorization-server": \`identityAssertions\`: ${what}`)
}
