/** Identity providers that others wrote: samlify, and pysaml2 with xmlsec1, which is another XML stack. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as samlify from 'samlify'
import { idpEntity, idpKeys, spKeys } from './_idp.ts'

samlify.setSchemaValidator({ validate: async () => 'no schema here' })

/** What an identity provider is asked: the redirect of the app, the metadata of the app, and what it says of the user. */
export interface Question {
  url: URL
  /** XML, as the app serves it. */
  metadata: string
  nameId: string
  email: string
}
/** How samlify answers. */
export interface SamlifyMode {
  encrypts?: boolean
  signsMessage?: boolean
}

const bindings = { redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect' }
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'

/** The metadata of an identity provider by samlify. */
export function metadataBySamlify(): string {
  return samlifyProvider({}).getMetadata()
}

function samlifyProvider({ encrypts = false, signsMessage = false }: SamlifyMode): ReturnType<typeof samlify.IdentityProvider> {
  return samlify.IdentityProvider({
    entityID: idpEntity,
    privateKey: idpKeys.privateKey,
    signingCert: idpKeys.certificate,
    wantAuthnRequestsSigned: true,
    requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    isAssertionEncrypted: encrypts,
    ...(signsMessage && { messageSigningOrder: 'sign-then-encrypt' }),
    // Settings that its types lack.
    ...({
      dataEncryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
      keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
    } as object),
    singleSignOnService: [{ Binding: bindings.redirect, Location: 'https://idp.example/sso' }],
    nameIDFormat: [persistent],
    loginResponseTemplate: {
      context: samlify.SamlLib.defaultLoginResponseTemplate.context,
      attributes: [
        {
          name: 'email',
          valueTag: 'user.email',
          nameFormat: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
          valueXsiType: 'xs:string',
        },
      ],
    },
  })
}

/** The response of samlify in base64. It checks the signature of the request first. */
export async function answerBySamlify({ url, metadata, nameId, email }: Question, mode: SamlifyMode = {}): Promise<string> {
  const sp = samlify.ServiceProvider({ metadata, wantMessageSigned: mode.signsMessage === true })
  const idp = samlifyProvider(mode)
  const [entityId, acs] = [sp.entityMeta.getEntityID(), String(sp.entityMeta.getAssertionConsumerService('post'))]
  const query = Object.fromEntries(url.searchParams)
  const octetString = url.search.slice(1).replace(/&Signature=.*/, '')
  const request = await idp.parseLoginRequest(sp, 'redirect', { query, octetString })
  const now = new Date()
  const later = new Date(now.getTime() + 300_000).toISOString()
  const id = `_${crypto.randomUUID()}`
  const values = {
    ID: id,
    AssertionID: `_${crypto.randomUUID()}`,
    Destination: acs,
    Audience: entityId,
    EntityID: entityId,
    SubjectRecipient: acs,
    Issuer: idpEntity,
    IssueInstant: now.toISOString(),
    AssertionConsumerServiceURL: acs,
    StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success',
    ConditionsNotBefore: now.toISOString(),
    ConditionsNotOnOrAfter: later,
    SubjectConfirmationDataNotOnOrAfter: later,
    NameIDFormat: persistent,
    NameID: nameId,
    InResponseTo: String((request.extract['request'] as { id: string }).id),
    attrUserEmail: email,
  }
  const statement = `<saml:AuthnStatement AuthnInstant="${now.toISOString()}" SessionIndex="s"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`
  const { context } = await idp.createLoginResponse(sp, request as never, 'post', { email }, (text: string) => ({
    id,
    context: samlify.SamlLib.replaceTagsByValue(text.replace('{AuthnStatement}', statement), values),
  }))
  return context
}

const python = '/usr/bin/python3'

/** Whether this machine has pysaml2 and xmlsec1, as `.ci/services.sh` installs them. */
export const hasPysaml2: boolean =
  existsSync(python) &&
  existsSync('/usr/bin/xmlsec1') &&
  ((): boolean => {
    try {
      execFileSync(python, ['-c', 'import saml2'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })()

const program = `
import json, sys, base64
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.server import Server
from saml2.saml import NameID, NAMEID_FORMAT_PERSISTENT
given = json.load(sys.stdin)
config = IdPConfig()
config.load({
  'entityid': given['entity'], 'key_file': given['key'], 'cert_file': given['cert'], 'xmlsec_binary': '/usr/bin/xmlsec1',
  'encryption_keypairs': [{'key_file': given['key'], 'cert_file': given['cert']}],
  'metadata': {'local': [given['metadata']]},
  'service': {'idp': {'endpoints': {'single_sign_on_service': [('https://idp.example/sso', BINDING_HTTP_REDIRECT)]},
    'policy': {'default': {'lifetime': {'minutes': 5}, 'name_form': 'urn:oasis:names:tc:SAML:2.0:attrname-format:uri'}},
    'want_authn_requests_signed': False}},
})
server = Server(config=config)
request = server.parse_authn_request(given['request'], BINDING_HTTP_REDIRECT).message
arguments = server.response_args(request)
arguments.pop('name_id_policy', None)
common = dict(name_id=NameID(text=given['name'], format=NAMEID_FORMAT_PERSISTENT), userid='ada',
  authn={'class_ref': 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password', 'authn_auth': 'x'}, sign_alg='http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', digest_alg='http://www.w3.org/2001/04/xmlenc#sha256')
identity = {'mail': [given['email']], 'displayName': ['Ada Łovelace <&> "x"']}
answers = {}
for name, how in (('assertion', dict(sign_assertion=True, sign_response=False)), ('response', dict(sign_assertion=False, sign_response=True)),
                  ('both', dict(sign_assertion=True, sign_response=True)), ('encrypted', dict(sign_assertion=True, sign_response=False, encrypt_assertion=True, encrypt_assertion_self_contained=True))):
  if name != given['mode']: continue
  answers[name] = base64.b64encode(str(server.create_authn_response(identity, **arguments, **common, **how)).encode()).decode()
print(json.dumps(answers))
`

/** What pysaml2 signs or encrypts. */
export type Pysaml2Mode = 'assertion' | 'response' | 'both' | 'encrypted'

/** The response of pysaml2 in base64. */
export function answerByPysaml2({ url, metadata, nameId, email }: Question, mode: Pysaml2Mode): string {
  const folder = mkdtempSync(join(tmpdir(), 'pysaml2-'))
  try {
    const files = { key: idpKeys.privateKey, cert: idpKeys.certificate, metadata, program }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const given = {
      entity: idpEntity,
      key: join(folder, 'key'),
      cert: join(folder, 'cert'),
      metadata: join(folder, 'metadata'),
      mode,
      name: nameId,
      email,
      request: url.searchParams.get('SAMLRequest'),
    }
    const told = execFileSync(python, [join(folder, 'program')], {
      input: JSON.stringify(given),
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    return (JSON.parse(told) as Record<string, string>)[mode] ?? ''
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A response whose assertion xmlsec1 has encrypted for the app, with AES in CBC. */
export function encryptByXmlsec1(encoded: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'xmlsec1-'))
  try {
    const xml = Buffer.from(encoded, 'base64').toString()
    const assertion = /<(\w+):Assertion [\s\S]*<\/\1:Assertion>/.exec(xml)?.[0] ?? ''
    const missing = [...xml.matchAll(/ xmlns:(\w+)="[^"]+"/g)].filter(([text]) => !assertion.includes(text)).map(([text]) => text)
    const files = ['data', 'template', 'out', 'sp'].map((name) => join(folder, `${name}.xml`)) as [string, string, string, string]
    writeFileSync(
      files[0],
      assertion.replace(/^<[\w:]+/, (tag) => tag + missing.join('')),
    )
    writeFileSync(
      files[1],
      '<xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Type="http://www.w3.org/2001/04/xmlenc#Element"><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"/><xenc:CipherData><xenc:CipherValue/></xenc:CipherData></xenc:EncryptedKey></ds:KeyInfo><xenc:CipherData><xenc:CipherValue/></xenc:CipherData></xenc:EncryptedData>',
    )
    writeFileSync(files[3], spKeys.certificate)
    execFileSync(
      '/usr/bin/xmlsec1',
      ['--encrypt', '--pubkey-cert-pem', files[3], '--session-key', 'aes-256', '--xml-data', files[0], '--output', files[2], files[1]],
      { stdio: 'pipe' },
    )
    const box = readFileSync(files[2], 'utf8')
      .replace(/<\?xml[^>]*\?>/, '')
      .trim()
    const prefix = assertion.slice(1, assertion.indexOf(':'))
    return Buffer.from(xml.replace(assertion, `<${prefix}:EncryptedAssertion>${box}</${prefix}:EncryptedAssertion>`)).toString('base64')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
