/** An identity provider in the process: keys of OpenSSL, responses as Entra ID and Okta write them, signed by xml-crypto. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { createAuth } from 'authkernel'
import type { AuthConfig, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import { type SamlInput, samlPlugin } from 'authkernel/plugins/saml'
import { signXml } from '@node-saml/node-saml/lib/xml.js'
import { baseConfig, type Client, fakeRuntime, recordingLogger } from '../_setup.ts'

/** A key and its certificate, in PEM. */
export interface Pair {
  privateKey: string
  certificate: string
}

/** Makes a key of 2048 bits with a certificate for two days. */
export function createPair(name: string): Pair {
  const folder = mkdtempSync(join(tmpdir(), 'saml-'))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2', '-subj', `/CN=${name}`],
    {
      stdio: 'ignore',
    },
  )
  const pair = { privateKey: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') }
  rmSync(folder, { recursive: true })
  return pair
}

export const origin = 'http://localhost:3000'
export const base: string = `${origin}/auth`
export const idpEntity = 'https://idp.example/metadata'
export const idpKeys: Pair = createPair('idp')
export const otherKeys: Pair = createPair('other')
export const spKeys: Pair = createPair('sp')

/** Options of a provider for this identity provider. */
export function connection(id = 'acme', more: Partial<SamlInput> = {}): SamlInput {
  return {
    id,
    name: 'Acme',
    idp: {
      entityId: idpEntity,
      signInUrl: 'https://idp.example/sso',
      signOutUrl: 'https://idp.example/slo',
      certificates: [idpKeys.certificate],
    },
    ...more,
  }
}

export interface Host {
  auth: ReturnType<typeof createAuth>
  runtime: ReturnType<typeof fakeRuntime>
  logger: ReturnType<typeof recordingLogger>
  data: MemoryData
}

/** An app with these connections and a store in memory. */
export function samlHost(connections: readonly SamlInput[] = [connection()], config: AuthConfig = {}, more: readonly Plugin[] = []): Host {
  const [runtime, logger, data] = [fakeRuntime(), recordingLogger(), memoryData()]
  const auth = createAuth(baseConfig({ runtime, logger, throttle: false, session: { strategy: 'database' }, ...config }))
    .use(adapterPlugin(memoryAdapter(data)))
    .use(samlPlugin(...connections))
  for (const plugin of more) auth.use(plugin)
  return { auth, runtime, logger, data }
}

/** What a request of ours says. */
export interface SentRequest {
  id: string
  xml: string
  url: URL
}

/** Begins a sign-in as a button does, and reads the AuthnRequest that the browser is sent away with. */
export async function begin(client: Client, id = 'acme', callbackUrl = '/inside'): Promise<SentRequest> {
  const answer = await client.post(`/signin/${id}`, { callbackUrl })
  const url = new URL(answer.headers.get('location') ?? 'about:blank')
  const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString()
  return { id: /\bID="([^"]+)"/.exec(xml)?.[1] ?? '', xml, url }
}

/** Parts of a response; each has a default that is right. */
export interface ResponseParts {
  id: string
  now: number
  provider: string
  request: string | undefined
  nameId: string
  nameIdFormat: string
  attributes: Record<string, string[]>
  issuer: string
  responseIssuer: string
  destination: string
  recipient: string
  audience: string
  method: string
  /** Milliseconds from now. */
  notBefore: number
  notOnOrAfter: number
  issued: number
  sessionIndex: string
  context: string
  status: string
  /** Inside `Conditions`. */
  conditions: string
}

let made = 0
export const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'

/** An unsigned response. */
export function writeResponse(given: Partial<ResponseParts> & { now: number }): string {
  const provider = given.provider ?? 'acme'
  const parts: ResponseParts = {
    id: `_a${++made}`,
    provider,
    request: undefined,
    nameId: 'ada-1',
    nameIdFormat: persistent,
    attributes: { email: ['ada@acme.example'], displayName: ['Ada'] },
    issuer: idpEntity,
    responseIssuer: idpEntity,
    destination: `${base}/saml/${provider}/acs`,
    recipient: `${base}/saml/${provider}/acs`,
    audience: `${base}/saml/${provider}/metadata`,
    method: 'urn:oasis:names:tc:SAML:2.0:cm:bearer',
    notBefore: -60_000,
    notOnOrAfter: 300_000,
    issued: 0,
    sessionIndex: `s-${made}`,
    context: 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
    status: 'urn:oasis:names:tc:SAML:2.0:status:Success',
    conditions: '',
    ...given,
  }
  const time = (offset: number): string => new Date(parts.now + offset).toISOString()
  const answers = parts.request === undefined ? '' : ` InResponseTo="${parts.request}"`
  const attributes = Object.entries(parts.attributes).map(
    ([name, values]) =>
      `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
  )
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${parts.id}r" Version="2.0" IssueInstant="${time(parts.issued)}" Destination="${parts.destination}"${answers}><saml:Issuer>${parts.responseIssuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${parts.status}"/></samlp:Status><saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${parts.id}" Version="2.0" IssueInstant="${time(parts.issued)}"><saml:Issuer>${parts.issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${parts.nameIdFormat}">${parts.nameId}</saml:NameID><saml:SubjectConfirmation Method="${parts.method}"><saml:SubjectConfirmationData NotOnOrAfter="${time(parts.notOnOrAfter)}" Recipient="${parts.recipient}"${answers}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${time(parts.notBefore)}" NotOnOrAfter="${time(parts.notOnOrAfter)}"><saml:AudienceRestriction><saml:Audience>${parts.audience}</saml:Audience></saml:AudienceRestriction>${parts.conditions}</saml:Conditions><saml:AuthnStatement AuthnInstant="${time(0)}" SessionIndex="${parts.sessionIndex}"><saml:AuthnContext><saml:AuthnContextClassRef>${parts.context}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${attributes.join('')}</saml:AttributeStatement></saml:Assertion></samlp:Response>`
}

/** How a document is signed. */
export interface Signing {
  what?: 'assertion' | 'response'
  keys?: Pair
  signatureAlgorithm?: 'sha1' | 'sha256' | 'sha512'
  digestAlgorithm?: 'sha1' | 'sha256' | 'sha512'
}

/** Signs the assertion, or the whole. */
export function sign(
  xml: string,
  { what = 'assertion', keys = idpKeys, signatureAlgorithm = 'sha256', digestAlgorithm = 'sha256' }: Signing = {},
): string {
  const path = what === 'assertion' ? "//*[local-name(.)='Assertion']" : '/*'
  return signXml(xml, path, { reference: `${path}/*[local-name(.)='Issuer']`, action: 'after' } as never, {
    privateKey: keys.privateKey,
    signatureAlgorithm,
    digestAlgorithm,
  })
}

/** What the page of the identity provider posts: a cross-site request, with the cookies that a browser sends then. */
export async function post(
  client: Client,
  xml: string,
  { provider = 'acme', relayState }: { provider?: string; relayState?: string } = {},
): Promise<Response> {
  return postEncoded(client, Buffer.from(xml, 'utf8').toString('base64'), provider, relayState)
}

export async function postEncoded(client: Client, encoded: string, provider = 'acme', relayState?: string): Promise<Response> {
  const body = new URLSearchParams({ SAMLResponse: encoded, ...(relayState !== undefined && { RelayState: relayState }) })
  const lax = [...client.cookies].filter(
    ([name]) => !/(?:^|-)(?:saml|authkernel\.saml|authkernel\.sso-trial)$/.test(name.replace(/^__\w+-/, '')) && !name.endsWith('.saml'),
  )
  for (const [name] of lax) client.cookies.delete(name)
  const answer = await client.send(`/saml/${provider}/acs`, {
    method: 'POST',
    body,
    headers: { origin: 'https://idp.example', 'sec-fetch-site': 'cross-site' },
  })
  for (const [name, value] of lax) if (!client.cookies.has(name)) client.cookies.set(name, value)
  return answer
}

/** A whole sign-in with a signed assertion. */
export async function signIn(host: Host, client: Client, parts: Partial<ResponseParts> = {}, signing: Signing = {}): Promise<Response> {
  const request = await begin(client, parts.provider)
  return post(client, sign(writeResponse({ now: host.runtime.now(), request: request.id, ...parts }), signing), parts)
}
