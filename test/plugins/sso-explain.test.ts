/** Errors of identity providers, word for word as they send them, become a cause whose text says what to mend, in the log of the connection and in every language. */
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { samlPlugin } from 'authkernel/plugins/saml'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fixMessages } from '../../plugins/federation/sso/messages-fixes.ts'
import { begin, idpEntity, idpKeys, otherKeys, post, sign, writeResponse } from '../saml/_idp.ts'
import { Client } from '../_setup.ts'
import { companyIdp, type CompanyIdp, makeCertificate, movedRuntime, origin, type SsoWorld, ssoWorld, system } from './_sso.ts'

const tls = makeCertificate()
const runtime = movedRuntime()
let op: CompanyIdp
let world: SsoWorld
let acme: string
beforeAll(async () => {
  op = await companyIdp(tls, { amy: { email: 'amy@acme.example' }, bob: { email: 'bob@beta.example' }, cy: {} })
  const store = memoryAdapter(memoryData())
  world = await ssoWorld(store, { cert: tls.cert, runtime, plugins: [samlPlugin()] })
  await store.createUser({ id: 'ann', email: 'ann@acme.example', name: 'Ann', emailVerified: new Date(0) })
  acme = await world.company('Acme', 'ann', ['acme.example'])
})
afterAll(() => op.stop())

const connectOidc = async (more: object = {}) => {
  const connection = await world.auth.sso.create(system, acme, {
    name: 'Acme',
    issuer: op.issuer,
    clientId: 'app',
    clientSecret: 'the-secret-of-the-client',
    ...more,
  })
  op.redirects.push(`${origin}/auth${connection.callbackPath}`)
  return connection
}
/** What the log says of the last sign-in. */
const lastOf = async (id: string) => {
  const [last] = (await world.auth.sso.signIns(system, id)).signIns
  await world.auth.sso.remove(system, id)
  return last
}

it.each([
  [
    'Entra ID',
    'invalid_request',
    "AADSTS50105: Your administrator has configured the application Acme ('6731de76') to block users unless they are specifically granted ('assigned') access to the application.",
    'assignment',
  ],
  [
    'Entra ID',
    'unauthorized_client',
    "AADSTS700016: Application with identifier '6731de76' was not found in the directory 'Contoso'.",
    'entityId',
  ],
  ['Entra ID', 'invalid_request', "AADSTS90002: Tenant 'contoso' not found.", 'entityId'],
  [
    'Entra ID',
    'invalid_request',
    "AADSTS50011: The redirect URI 'https://app.example' specified in the request does not match the redirect URIs configured for the application.",
    'replyUrl',
  ],
  ['Entra ID', 'access_denied', 'AADSTS53003: Access has been blocked by Conditional Access policies.', 'blocked'],
  [
    'Entra ID',
    'interaction_required',
    'AADSTS50076: Due to a configuration change made by your administrator, you must use multi-factor authentication.',
    'proof',
  ],
  [
    'Entra ID',
    'invalid_request',
    "AADSTS50020: User account 'eve@live.com' from identity provider 'live.com' does not exist in tenant 'Contoso'.",
    'unknownUser',
  ],
  ['Entra ID', 'invalid_scope', "AADSTS70011: The provided value for the input parameter 'scope' isn't valid.", 'scope'],
  ['Entra ID', 'consent_required', 'AADSTS65001: The user or administrator has not consented to use the application.', 'consent'],
  ['Entra ID', 'access_denied', 'AADSTS65004: User declined to consent to access the app.', 'denied'],
  ['Entra ID', 'access_denied', 'the user canceled the authentication', 'denied'],
  ['Okta', 'access_denied', 'User is not assigned to the client application.', 'assignment'],
  ['Okta', 'access_denied', 'Policy evaluation failed for this request, please check the policy configurations.', 'denied'],
  ['Okta', 'invalid_scope', 'One or more scopes are not configured for the authorization server resource.', 'scope'],
  ['Google', 'access_denied', '', 'denied'],
  ['AD FS', 'invalid_request', 'MSIS9224: Received invalid OAuth authorization request. The redirect_uri is not valid.', 'replyUrl'],
  ['AD FS', 'access_denied', 'MSIS9605: The client is not allowed to access the requested resource.', 'assignment'],
  ['Keycloak', 'temporarily_unavailable', 'authentication_expired', 'failing'],
  ['Keycloak', 'login_required', '', 'login'],
  ['any', 'server_error', '', 'failing'],
  ['any', 'unsupported_response_type', '', 'refused'],
])('%s: %s %s', async (_product, error, description, cause) => {
  const { id, providerId } = await connectOidc()
  const client = new Client(world.auth)
  const started = await client.post(`/signin/${providerId}`)
  const state = new URL(started.headers.get('location') ?? '').searchParams.get('state') ?? ''
  const query = new URLSearchParams({ error, ...(description !== '' && { error_description: description }), state, iss: op.issuer })
  await client.get(`/callback/${providerId}?${query.toString()}`)
  expect(await lastOf(id)).toMatchObject({ cause, reason: expect.stringContaining(description.slice(0, 60)) })
})

it.each([
  ['a wrong secret', { clientSecret: 'another' }, 'amy', 'secretWrong'],
  ['no address', {}, 'cy', 'email'],
  ['a domain of none', {}, 'bob', 'domain'],
])('a real provider: %s', async (_name, more, login, cause) => {
  const { id, providerId } = await connectOidc(more)
  const client = new Client(world.auth)
  const started = await client.post(`/signin/${providerId}`)
  await client.get(await op.visit(started.headers.get('location') ?? '', { login }))
  expect(await client.session()).toBeNull()
  expect(await lastOf(id)).toMatchObject({ cause })
})

const status = 'urn:oasis:names:tc:SAML:2.0:status:'
it.each([
  ['Responder', 'NoAuthnContext', 'AADSTS75011: Authentication method does not match requested authentication method.', 'context'],
  ['Requester', 'InvalidNameIDPolicy', 'MSIS7070: The SAML request contained a NameIDPolicy that was not satisfied.', 'nameId'],
  ['Responder', 'RequestDenied', 'User is not assigned to this application', 'assignment'],
  ['Responder', 'RequestDenied', undefined, 'denied'],
  ['Responder', 'AuthnFailed', undefined, 'proof'],
  ['Responder', 'NoPassive', undefined, 'login'],
  ['Requester', 'UnknownPrincipal', undefined, 'unknownUser'],
  ['Requester', 'UnsupportedBinding', undefined, 'refused'],
  ['Requester', undefined, 'MSIS3020: The relying party trust was not found', 'entityId'],
  ['Requester', undefined, undefined, 'refused'],
  ['Responder', undefined, undefined, 'failing'],
  ['VersionMismatch', undefined, undefined, 'refused'],
])('SAML: %s %s %s', async (outer, inner, message, cause) => {
  const connection = {
    type: 'saml',
    name: 'A',
    entityId: idpEntity,
    signInUrl: 'https://idp.example/sso',
    certificates: [idpKeys.certificate],
  }
  const { id, providerId: provider } = await world.auth.sso.create(system, acme, connection as never)
  const client = new Client(world.auth)
  const { id: request } = await begin(client, provider)
  const xml = writeResponse({ now: runtime.now(), provider, request }).replace(
    /<samlp:Status>.*<\/samlp:Status>/,
    `<samlp:Status><samlp:StatusCode Value="${status}${outer}">${inner === undefined ? '' : `<samlp:StatusCode Value="${status}${inner}"/>`}</samlp:StatusCode>${message === undefined ? '' : `<samlp:StatusMessage>${message}</samlp:StatusMessage>`}</samlp:Status>`,
  )
  await post(client, xml, { provider })
  // The reason has a sentence of its own, too.
  expect(await lastOf(id)).toMatchObject({ cause, reason: expect.stringMatching(/\. [A-Z].{20}/) })
})

it.each([
  ['signature', {}, otherKeys],
  ['audience', { audience: 'https://other.example' }, idpKeys],
  ['recipient', { recipient: 'https://other.example' }, idpKeys],
  ['destination', { destination: 'https://other.example' }, idpKeys],
  ['issuer', { issuer: 'https://other.example' }, idpKeys],
  ['time', { notOnOrAfter: -600_000 }, idpKeys],
  ['subject', { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }, idpKeys],
  ['request', { request: '_another' }, idpKeys],
])('SAML: a wrong %s', async (cause, parts, keys) => {
  const connection = {
    type: 'saml',
    name: 'A',
    entityId: idpEntity,
    signInUrl: 'https://idp.example/sso',
    certificates: [idpKeys.certificate],
  }
  const { id, providerId: provider } = await world.auth.sso.create(system, acme, connection as never)
  const client = new Client(world.auth)
  const { id: request } = await begin(client, provider)
  await post(client, sign(writeResponse({ now: runtime.now(), provider, request, ...parts }), { keys }), { provider })
  expect(await lastOf(id)).toMatchObject({ cause })
})

it('each cause has a text in each language', () => {
  const keys = Object.keys(fixMessages['en'] ?? {})
  expect(keys).toHaveLength(31)
  for (const texts of Object.values(fixMessages)) expect(Object.keys(texts)).toEqual(keys)
})
