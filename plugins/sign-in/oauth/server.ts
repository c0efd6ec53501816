/** What is known of an authorization server: its discovery document, cached, under the endpoints that the provider names itself (D8). */
import {
  allowInsecureRequests,
  type AnyContext,
  boundedFetch,
  customFetch,
  isSecureUrl,
  type NetworkLimits,
  setBounded,
} from 'authkernel/kernel'
import { boundedRead, isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import type { AuthorizationServer } from 'oauth4webapi'
import { Refusal } from './errors.ts'
import { leadsInside } from './hosts.ts'
import { readJson } from './json.ts'
import {
  authorizationOf,
  fillTemplate,
  templateNames,
  type OAuthProvider,
  type TemplateValues,
  tokenOf,
  userinfoOf,
  usesCertificate,
  wantsUserinfo,
} from './provider.ts'

// A document changes when an operator moves an endpoint: rarely, and announced.
const documentLifetime = 60 * 60 * 1000
const maxServers = 2_000

/** Endpoints that this library calls or sends users to. */
export type EndpointName = `${string}_endpoint` | 'jwks_uri'

/** The server of a provider. At most one discovery request per hour and issuer, shared by all requests. Throws `Refusal`, NetworkError. */
export async function serverOf(ctx: AnyContext, provider: OAuthProvider): Promise<AuthorizationServer> {
  const { discovers } = providerFactsOf(provider)
  const source = discovers ? await discoverServer(ctx, provider) : undefined
  const last = servers.get(provider)
  // The same object for as long as the document counts.
  if (last && last.source === source) return last.server
  const server = serverFrom(provider, source)
  servers.set(provider, { source, server })
  return server
}

const servers = new WeakMap<OAuthProvider, { source: JsonObject | undefined; server: AuthorizationServer }>()

function serverFrom(provider: OAuthProvider, document: JsonObject | undefined): AuthorizationServer {
  const { written } = providerFactsOf(provider)
  const found: JsonObject = document ?? { issuer: provider.issuer ?? written.token_endpoint ?? provider.id }
  // Certificates are asked for at addresses of their own (RFC 8705 section 5).
  const aliases = usesCertificate(provider) ? found['mtls_endpoint_aliases'] : undefined
  // Members of the document were checked where it was read. Endpoints of the host go before them.
  return { ...found, ...(aliases as object | undefined), ...written } as unknown as AuthorizationServer
}

/**
 * The server with everything that its document names, even where the endpoints of a sign-in are written: a provider without a document has the
 * written ones alone.
 */
export async function knownServerOf(ctx: AnyContext, provider: OAuthProvider): Promise<AuthorizationServer> {
  const server = await serverOf(ctx, provider)
  if (needsDiscovery(provider) || (provider.issuer === undefined && provider.wellKnown === undefined)) return { ...server }
  const found = await discoverServer(ctx, provider).catch(() => undefined)
  return found ? ({ ...found, ...providerFactsOf(provider).written } as AuthorizationServer) : { ...server }
}

interface ProviderFacts {
  written: Partial<Record<EndpointName, string>>
  discovers: boolean
  /** Of the document in the cache. */
  key: string
}

const providerFacts = new WeakMap<OAuthProvider, ProviderFacts>()

/** What the options say, worked out once. */
function providerFactsOf(provider: OAuthProvider): ProviderFacts {
  let known = providerFacts.get(provider)
  if (!known) {
    const key = transportOf(provider) + JSON.stringify([provider.issuer, provider.wellKnown, provider.discoveryIssuer])
    providerFacts.set(provider, (known = { written: writtenEndpoints(provider), discovers: discoversAny(provider), key }))
  }
  return known
}

// What the host or a preset wrote itself.
function writtenEndpoints(provider: OAuthProvider): Partial<Record<EndpointName, string>> {
  const endpoints: [EndpointName, string | undefined][] = [
    ['authorization_endpoint', authorizationOf(provider).url],
    ['token_endpoint', tokenOf(provider).url],
    ['userinfo_endpoint', userinfoOf(provider).url],
    ['jwks_uri', provider.jwks_endpoint && fillTemplate(provider.jwks_endpoint, templateNames(provider), encodeURIComponent)],
  ]
  return Object.fromEntries(endpoints.filter(([, url]) => url !== undefined))
}

/** Whether anything has to come from a discovery document. */
export function needsDiscovery(provider: OAuthProvider): boolean {
  return providerFactsOf(provider).discovers
}

function discoversAny(provider: OAuthProvider): boolean {
  if (provider.issuer === undefined && provider.wellKnown === undefined) return false
  const token = tokenOf(provider)
  const userinfo = userinfoOf(provider)
  if (authorizationOf(provider).url === undefined) return true
  if (token.url === undefined && token.request === undefined) return true
  if (wantsUserinfo(provider) && userinfo.url === undefined && userinfo.request === undefined) return true
  return provider.type === 'oidc' && provider.jwks_endpoint === undefined
}

/**
 * URL of an endpoint, its template filled. Throws `Refusal` when it is missing, not a URL, not https, or leads into the own network.
 */
export function endpointOf(server: AuthorizationServer, name: EndpointName, provider: OAuthProvider, values: TemplateValues = {}): URL {
  const value: unknown = server[name]
  if (value === undefined)
    throw new Refusal(`Provider "${provider.id}" has no ${name}: its discovery document lacks it and no option names it.`)
  const written = providerFactsOf(provider).written[name] !== undefined
  const text = written ? fillTemplate(String(value), values, encodeURIComponent) : value
  let seen = lastEndpoints.get(provider)
  if (!seen) lastEndpoints.set(provider, (seen = new Map()))
  if (typeof text === 'string' && seen.get(name) === text) return new URL(text)
  const url = checkedEndpoint(text, written, name, provider)
  // A text that holds a token is seen once.
  if (text === value) seen.set(name, text as string)
  return url
}

/** The text of each endpoint that was found good last. */
const lastEndpoints = new WeakMap<OAuthProvider, Map<EndpointName, string>>()

function checkedEndpoint(text: unknown, written: boolean, name: EndpointName, provider: OAuthProvider): URL {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.username !== '' || url.password !== '') throw new Refusal(`The ${name} of provider "${provider.id}" is not a plain URL.`)
  if (!isSecureUrl(url, provider[allowInsecureRequests])) {
    throw new Refusal(`The ${name} of provider "${provider.id}" is not https (${url.protocol}//${url.host}).`)
  }
  const home = provider.issuer ?? provider.wellKnown
  // Authorization endpoints are visited by the browser, and what a host wrote itself is its own business.
  if (written || name === 'authorization_endpoint' || home === undefined) return url
  if (leadsInside(url, new URL(fillTemplate(home, templateNames(provider))))) {
    throw new Refusal(
      `The ${name} of provider "${provider.id}" is at ${url.host}, inside this network, while its issuer is not. ` +
        'Name the endpoint in the options of the provider if that is meant.',
    )
  }
  return url
}

/** `fetch` of a provider within the limits of the host; `ctx.signal` ends it unless others wait for it too. */
export function fetchOf(ctx: AnyContext, provider: OAuthProvider, shared = false): typeof fetch {
  return boundedFetch(limitsOf(ctx, provider, shared))
}

const transports = new WeakMap<typeof fetch, number>()

let transportCount = 0

/** What separates documents that were fetched by different functions: a document is trusted by those only who would fetch it the same way. */
export function transportOf(provider: OAuthProvider): string {
  const fetch = provider[customFetch]
  if (!fetch) return ''
  let known = transports.get(fetch)
  if (known === undefined) transports.set(fetch, (known = ++transportCount))
  return `${known} `
}

/** The same for an answer of JSON, handed on without a Response. `deadline` in milliseconds, that of the host when it is missing. */
export function readOf(ctx: AnyContext, provider: OAuthProvider, shared = false, deadline?: number): ReturnType<typeof boundedRead> {
  return boundedRead(limitsOf(ctx, provider, shared, deadline))
}

function limitsOf(ctx: AnyContext, provider: OAuthProvider, shared: boolean, deadline?: number): NetworkLimits {
  const { deadlines, limits } = ctx.app.config
  return {
    fetch: provider[customFetch] ?? ctx.runtime.fetch,
    deadline: deadline ?? deadlines.network,
    limit: limits.providerResponse,
    insecure: provider[allowInsecureRequests] === true,
    signal: shared ? undefined : ctx.signal,
  }
}

async function discoverServer(ctx: AnyContext, provider: OAuthProvider): Promise<JsonObject> {
  const { key } = providerFactsOf(provider)
  const cache = ctx.app.shared.cache<{ document: JsonObject; until: number }>('oauth.servers')
  const known = cache.get(key)
  if (known && known.until > ctx.runtime.now()) return known.document
  const location = documentOf(provider)
  // Single-flight: many people may sign in at the moment the document expires.
  return ctx.app.shared.flight(`oauth.servers ${key}`, async () => {
    const response = await readOf(ctx, provider, true)(location, { headers: { accept: 'application/json' } })
    if (response.status !== 200) throw new Refusal(`${location} answered with status ${response.status} instead of a discovery document.`)
    const document = await readJson(response, 'The discovery document', provider.type === 'oidc')
    checkDocument(document, provider)
    setBounded(cache, key, { document, until: ctx.runtime.now() + documentLifetime }, maxServers)
    return document
  })
}

// OpenID Connect Discovery section 4: appended to the issuer, path included.
function documentOf(provider: OAuthProvider): string {
  if (provider.wellKnown !== undefined) return fillTemplate(provider.wellKnown, templateNames(provider))
  return `${(provider.issuer ?? '').replace(/\/$/, '')}/.well-known/openid-configuration`
}

const requiredList = 'id_token_signing_alg_values_supported'
const optionalLists = ['userinfo_signing_alg_values_supported', 'code_challenge_methods_supported', 'token_endpoint_auth_methods_supported']

function checkDocument(document: JsonObject, provider: OAuthProvider): void {
  // A member that is null is a member that is absent.
  for (const [name, value] of Object.entries(document)) if (value === null) delete document[name]
  if (typeof document['issuer'] !== 'string' || document['issuer'] === '') throw new Refusal('The discovery document names no issuer.')
  const claimed = document['issuer']
  const expected = expectedIssuers(provider, claimed)
  // Another issuer means that another server's tokens would be accepted (OpenID Connect Discovery 4.3, RFC 8414 section 3.3).
  if (!expected.some((issuer) => sameIssuer(claimed, issuer))) {
    throw new Refusal(`The discovery document is of issuer "${claimed.slice(0, 200)}", not of "${expected.join('" or "')}".`)
  }
  for (const name of [requiredList, ...optionalLists]) {
    const value = document[name]
    if (value === undefined) continue
    if (!Array.isArray(value)) throw new Refusal(`${name} of the discovery document is not a list.`)
    const texts = (value as unknown[]).filter((item) => typeof item === 'string')
    // What cannot be understood is not offered: an odd member of a list that may be left out weakens nothing.
    if (name === requiredList && texts.length < value.length)
      throw new Refusal(`${name} of the discovery document is not a list of strings.`)
    document[name] = texts
  }
  const flag = document['authorization_response_iss_parameter_supported']
  if (flag !== undefined && typeof flag !== 'boolean') {
    throw new Refusal('authorization_response_iss_parameter_supported of the discovery document is not true or false.')
  }
  // Certificate-bound endpoints are for clients with certificates.
  if (!isJsonObject(document['mtls_endpoint_aliases'])) delete document['mtls_endpoint_aliases']
}

function expectedIssuers(provider: OAuthProvider, claimed: string): string[] {
  const { discoveryIssuer, issuer } = provider
  if (discoveryIssuer !== undefined) return [discoveryIssuer].flat().map((value) => fillTemplate(value, templateNames(provider)))
  return [issuer ?? publishedIssuer(provider, claimed)]
}

function publishedIssuer(provider: OAuthProvider, claimed: string): string {
  const location = new URL(documentOf(provider))
  const path = location.pathname
  const appended = /^(.*)\/\.well-known\/openid-configuration$/.exec(path)
  if (appended) return location.origin + appended[1]
  const inserted = /^\/\.well-known\/(?:oauth-authorization-server|openid-configuration)(\/.*)?$/.exec(path)
  if (inserted) return location.origin + (inserted[1] ?? '')
  // No rule says where such a document's issuer is; its own origin is the least to ask for.
  return URL.canParse(claimed) && new URL(claimed).origin === location.origin ? claimed : location.origin
}

// "https://a.example" and "https://a.example/" are one URL; hosts write either.
function sameIssuer(claimed: string, expected: string): boolean {
  if (claimed === expected) return true
  return (
    URL.canParse(claimed) &&
    URL.canParse(expected) &&
    /^https?:$/.test(new URL(claimed).protocol) &&
    new URL(claimed).href === new URL(expected).href
  )
}
