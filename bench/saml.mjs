/**
 * What a sign-in with a company costs: one signed SAML response, from its form to the session of a new user and member. `node bench/saml.mjs [responses]`; default
 * 500. All rows are in memory, so that the figure is that of the code. test/adapters/sso.test.ts counts the queries of a sign-in page beside 10,000 connections.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateRawSync } from 'node:zlib'
import { signXml } from '@node-saml/node-saml/lib/xml.js'
import { bundled } from './authkernel.mjs'

const responses = Number(process.argv[2] ?? 500)
const base = 'http://localhost:3000/auth'
const folder = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
mkdirSync(folder, { recursive: true })
const entry = `
export { createAuth } from 'authkernel'
export { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
export { organizationsPlugin } from 'authkernel/plugins/organizations'
export { samlPlugin } from 'authkernel/plugins/saml'
export { ssoPlugin } from 'authkernel/plugins/sso'
`
const library = await import(await bundled(entry, `${folder}ak_saml_${Date.now().toString(36)}.mjs`))
const { createAuth, memoryAdapter, memoryData, organizationsPlugin, samlPlugin, ssoPlugin } = library

const keys = makeKeys()
const dns = new Map()
const store = memoryAdapter(memoryData())
const auth = createAuth({
  secret: 'a-secret-of-more-than-32-characters-for-a-bench',
  env: false,
  trustHost: true,
  throttle: false,
  adapter: store,
  session: { strategy: 'database' },
})
  .use({
    name: 'bench',
    setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }),
  })
  .use(organizationsPlugin({ domains: { isPublicSuffix: () => false, resolveTxt: async (name) => [dns.get(name) ?? []] } }))
  .use(samlPlugin())
  .use(ssoPlugin())
await auth.ready()
await store.createUser({ id: 'ada', email: 'ada@acme.example', name: 'Ada', emailVerified: new Date() })
const { id: acme } = await auth.organizations.create({ userId: 'ada' }, { name: 'Acme' })
const { record, text } = await auth.organizations.domains.claim({ system: true }, acme, 'acme.example')
dns.set(record, [text])
await auth.organizations.domains.prove({ system: true }, acme, 'acme.example')
const connection = await auth.sso.create({ system: true }, acme, {
  type: 'saml',
  name: 'Acme',
  entityId: 'https://idp.example',
  signInUrl: 'https://idp.example/sso',
  certificates: [keys.certificate],
})

// The good responses first: signing is the work of the identity provider.
const flows = []
for (let at = 0; at < responses + 20; at++) flows.push(await begin(at))
for (const flow of flows.slice(0, 20)) await finish(flow)
const [began, cpu] = [performance.now(), process.cpuUsage()]
for (const flow of flows.slice(20)) await finish(flow)
const used = process.cpuUsage(cpu)
const each = (used.user + used.system) / 1000 / responses
console.log(
  `a SAML response: ${each.toFixed(2)} ms of CPU, ${((performance.now() - began) / responses).toFixed(2)} ms, over ${responses} sign-ins of users of one connection (15 ms wanted)`,
)

await auth.close()

/** A browser at the identity provider, with the response that it will bring. */
async function begin(at) {
  const cookies = new Map()
  const { csrfToken } = await (await send(cookies, '/csrf')).json()
  const answer = await send(cookies, `/signin/${connection.providerId}`, { csrfToken })
  const url = new URL(answer.headers.get('location'))
  const request = /\bID="([^"]+)"/.exec(inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest'), 'base64')).toString())[1]
  return { cookies, body: Buffer.from(respond(request, at)).toString('base64') }
}

async function finish({ cookies, body }) {
  const answer = await send(cookies, connection.callbackPath, { SAMLResponse: body })
  if (/error/.test(answer.headers.get('location') ?? 'error')) throw new Error(`A response was refused: ${answer.headers.get('location')}`)
}

async function send(cookies, path, fields) {
  const headers = new Headers({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') })
  const answer = await auth.handler(
    new Request(base + path, { headers, redirect: 'manual', ...(fields && { method: 'POST', body: new URLSearchParams(fields) }) }),
  )
  for (const line of answer.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
    cookies.set(name, value)
  }
  return answer
}

function respond(request, at) {
  const time = (offset) => new Date(Date.now() + offset).toISOString()
  const acs = base + connection.callbackPath
  const xml = `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_r${at}" Version="2.0" IssueInstant="${time(0)}" Destination="${acs}" InResponseTo="${request}"><saml:Issuer>https://idp.example</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status><saml:Assertion ID="_a${at}" Version="2.0" IssueInstant="${time(0)}"><saml:Issuer>https://idp.example</saml:Issuer><saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">user-${at}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${time(600_000)}" Recipient="${acs}" InResponseTo="${request}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${time(-60_000)}" NotOnOrAfter="${time(600_000)}"><saml:AudienceRestriction><saml:Audience>${base}${connection.metadataPath}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${time(0)}" SessionIndex="s${at}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="email"><saml:AttributeValue>user${at}@acme.example</saml:AttributeValue></saml:Attribute><saml:Attribute Name="displayName"><saml:AttributeValue>User ${at}</saml:AttributeValue></saml:Attribute><saml:Attribute Name="groups"><saml:AttributeValue>staff</saml:AttributeValue><saml:AttributeValue>admins</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion></samlp:Response>`
  const path = "//*[local-name(.)='Assertion']"
  return signXml(
    xml,
    path,
    { reference: `${path}/*[local-name(.)='Issuer']`, action: 'after' },
    { privateKey: keys.privateKey, signatureAlgorithm: 'sha256', digestAlgorithm: 'sha256' },
  )
}

function makeKeys() {
  const place = mkdtempSync(join(tmpdir(), 'bench-saml-'))
  const [key, cert] = [join(place, 'key.pem'), join(place, 'cert.pem')]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=idp'],
    { stdio: 'ignore' },
  )
  const pair = { privateKey: readFileSync(key, 'utf8'), certificate: readFileSync(cert, 'utf8') }
  rmSync(place, { recursive: true })
  return pair
}
