/** Hostile responses, made from good ones: each is what an attacker could post who has one good response, or an account, at some identity provider. */
import { createHash, createHmac } from 'node:crypto'
import { idpKeys, otherKeys, type ResponseParts, sign, writeResponse } from './_idp.ts'

/** Time and request of the sign-in that an attacker answers. */
export interface Scene {
  now: number
  request: string
}
/** A case: its name, and the document that is posted; a Buffer is posted as it is, in base64. */
export type Case = readonly [name: string, make: (scene: Scene) => string | Buffer]

const dsig = 'http://www.w3.org/2000/09/xmldsig#'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const more = 'http://www.w3.org/2001/04/xmldsig-more#'

const good = ({ now, request }: Scene, what: 'assertion' | 'response' = 'assertion'): string =>
  sign(writeResponse({ now, request }), { what })
const signedParts =
  (parts: Partial<ResponseParts>, what: 'assertion' | 'response' = 'assertion') =>
  ({ now, request }: Scene): string =>
    sign(writeResponse({ now, request, ...parts }), { what })
const assertionOf = (xml: string): string => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)![0]
const signatureOf = (xml: string): string => /<Signature[\s\S]*<\/Signature>/.exec(xml)![0]
const unsigned = (xml: string): string => xml.replace(signatureOf(xml), '')
const evil = (xml: string): string => xml.replace('ada-1', 'root-1')
const renamed = (xml: string): string => xml.replace(/ ID="_a/, ' ID="_evil')
const within = (xml: string, inside: string): string => xml.replace('</saml:Assertion>', `${inside}</saml:Assertion>`)
const wrap = (name: string, inside: string): string => `<${name}>${inside}</${name.split(' ')[0]}>`

/** XML signature wrapping: the eight families of Somorovsky and others (2012), with the same and with another id, and places that came later. */
function wrappings(): Case[] {
  const cases: Case[] = []
  for (const sameId of [true, false]) {
    const name = sameId ? 'same id' : 'another id'
    const evilAssertion = (xml: string): string => (sameId ? (x: string) => x : renamed)(evil(unsigned(assertionOf(xml))))
    const evilResponse = (xml: string): string => (sameId ? (x: string) => x : renamed)(evil(unsigned(xml)))
    cases.push(
      [
        `XSW1 ${name}`,
        (s) => {
          const xml = good(s, 'response')
          const signature = signatureOf(xml).replace('</Signature>', `${unsigned(xml)}</Signature>`)
          return evilResponse(xml).replace('</saml:Issuer>', `</saml:Issuer>${signature}`)
        },
      ],
      [
        `XSW2 ${name}`,
        (s) => {
          const xml = good(s, 'response')
          return evilResponse(xml).replace('</saml:Issuer>', `</saml:Issuer>${unsigned(xml)}${signatureOf(xml)}`)
        },
      ],
      [
        `XSW3 ${name}`,
        (s) => {
          const xml = good(s)
          return xml.replace('<saml:Assertion', `${evilAssertion(xml)}<saml:Assertion`)
        },
      ],
      [
        `XSW3 after, ${name}`,
        (s) => {
          const xml = good(s)
          return xml.replace('</samlp:Response>', `${evilAssertion(xml)}</samlp:Response>`)
        },
      ],
      [
        `XSW4 ${name}`,
        (s) => {
          const xml = good(s)
          return xml.replace(assertionOf(xml), within(evilAssertion(xml), assertionOf(xml)))
        },
      ],
      [
        `XSW5 ${name}`,
        (s) => {
          const xml = good(s)
          const forged = evilAssertion(xml).replace('</saml:Issuer>', `</saml:Issuer>${signatureOf(xml)}`)
          return xml.replace(assertionOf(xml), forged + unsigned(assertionOf(xml)))
        },
      ],
      [
        `XSW6 ${name}`,
        (s) => {
          const xml = good(s)
          const signature = signatureOf(xml).replace('</Signature>', `${unsigned(assertionOf(xml))}</Signature>`)
          return xml.replace(assertionOf(xml), evilAssertion(xml).replace('</saml:Issuer>', `</saml:Issuer>${signature}`))
        },
      ],
      [
        `XSW8 ${name}`,
        (s) => {
          const xml = good(s)
          const signature = signatureOf(xml).replace('</Signature>', `<Object>${unsigned(assertionOf(xml))}</Object></Signature>`)
          return xml.replace(assertionOf(xml), evilAssertion(xml).replace('</saml:Issuer>', `</saml:Issuer>${signature}`))
        },
      ],
    )
    for (const place of [
      'samlp:Extensions',
      'samlp:StatusDetail',
      'saml:Advice',
      'x:Any xmlns:x="urn:x"',
      'samlp:Response',
      'saml:EncryptedAssertion',
    ]) {
      cases.push([
        `XSW7 original in ${place}, ${name}`,
        (s) => {
          const xml = good(s)
          return xml.replace(assertionOf(xml), wrap(place, assertionOf(xml)) + evilAssertion(xml))
        },
      ])
      cases.push([
        `signature without its assertion in ${place}, ${name}`,
        (s) => {
          const xml = good(s)
          return xml.replace(
            assertionOf(xml),
            wrap(place, unsigned(assertionOf(xml))) + evilAssertion(xml).replace('</saml:Issuer>', `</saml:Issuer>${signatureOf(xml)}`),
          )
        },
      ])
    }
    cases.push([
      `original in an attribute value, ${name}`,
      (s) => {
        const xml = good(s)
        const inside = `<saml:AttributeStatement><saml:Attribute Name="x"><saml:AttributeValue>${assertionOf(xml)}</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>`
        return xml.replace(assertionOf(xml), within(evilAssertion(xml), inside))
      },
    ])
  }
  return cases
}

/** Texts that parsers read differently. */
function parsers(): Case[] {
  const cases: Case[] = []
  for (const [name, inside] of [
    ['a comment', 'ada-1<!---->.evil.example'],
    ['a comment in front', '<!--x-->ada-1'],
    ['a CDATA section', '<![CDATA[ada-1]]>'],
    ['a processing instruction', 'ada-1<?x?>'],
    ['an element', 'ada-1<b/>'],
    ['nothing', ''],
    ['blanks', ' \n '],
    ['a zero byte as entity', 'ada&#0;'],
    ['a control character', 'ada&#1;'],
    ['half a surrogate', 'ada&#xD800;'],
    ['an entity of HTML', 'ada&nbsp;'],
    ['a line break inside', 'ada&#10;root'],
    ['an entity without an end', 'ada&#38'],
    ['1025 characters', 'a'.repeat(1025)],
  ] as const) {
    cases.push([
      `NameID with ${name}, before it is signed`,
      (s) => {
        const written = (): string => good(s).replace('ada-1', inside)
        try {
          const xml = signedParts({ nameId: inside })(s)
          // The signer may refuse it or write something else: then the attacker writes it afterwards.
          return xml.includes(inside) ? xml : written()
        } catch {
          return written()
        }
      },
    ])
    cases.push([`NameID with ${name}, in a signed response`, (s) => good(s, 'response').replace('ada-1', inside)])
  }
  const root = '<samlp:Response'
  for (const [name, front] of [
    ['a document type', '<!DOCTYPE samlp:Response>'],
    ['an entity', '<!DOCTYPE x [<!ENTITY a "ada-1">]>'],
    ['a file as entity', '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'],
    ['a parameter entity', '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1/x"> %a;]>'],
    [
      'a billion laughs',
      `<!DOCTYPE x [<!ENTITY a0 "ha">${Array.from({ length: 30 }, (_, i) => `<!ENTITY a${i + 1} "&a${i};&a${i};">`).join('')}]>`,
    ],
    ['a default attribute', '<!DOCTYPE x [<!ATTLIST saml:Assertion ID ID "_evil">]>'],
    ['a stylesheet', '<?xml-stylesheet href="http://127.0.0.1/x.xsl"?>'],
    ['a comment in front', '<!-- x -->'],
    ['a byte order mark', '\uFEFF'],
    ['another encoding', '<?xml version="1.0" encoding="ISO-8859-1"?>'],
    ['UTF-7', '<?xml version="1.0" encoding="UTF-7"?>'],
    ['XML 1.1', '<?xml version="1.1"?>'],
    ['two declarations', '<?xml version="1.0"?><?xml version="1.0"?>'],
    ['text in front', 'x'],
  ] as const)
    cases.push([`${name} before the root`, (s) => front + good(s)])
  cases.push(
    ['UTF-16', (s) => Buffer.from(`\uFEFF${good(s)}`, 'utf16le')],
    [
      'a byte that is not UTF-8',
      (s) =>
        Buffer.concat([Buffer.from(good(s).replace('</samlp:Response>', '')), Buffer.from([0xc0, 0xaf]), Buffer.from('</samlp:Response>')]),
    ],
    ['a zero byte', (s) => good(s).replace('ada-1', 'ada\0-1')],
    ['a second root', (s) => good(s) + good(s)],
    ['text after the root', (s) => `${good(s)}x`],
    ['a comment after the root', (s) => `${good(s)}<!-- x -->`],
    ['an attribute twice', (s) => good(s).replace(root, `${root} Version="2.0"`)],
    ['an attribute under two prefixes', (s) => good(s).replace(root, `${root} xmlns:a="urn:a" xmlns:b="urn:a" a:x="1" b:x="2"`)],
    ['an attribute without quotes', (s) => good(s).replace('Version="2.0"', 'Version=2.0')],
    ['a `<` in an attribute', (s) => good(s).replace('Version="2.0"', 'Version="2.0" x="<"')],
    ['an end tag of another element', (s) => good(s).replace('</saml:Subject>', '</saml:Subjec>')],
    ['a cut document', (s) => good(s).slice(0, -40)],
    ['`]]>` in a text', (s) => good(s).replace('ada-1', 'ada-1]]>')],
    ['a comment in the digest', (s) => good(s).replace('<DigestValue>', '<DigestValue><!--x-->')],
    [
      'a second digest in a comment',
      (s) =>
        good(s).replace(
          /<DigestValue>([^<]+)</,
          (_, digest: string) => `<DigestValue><!--${digest}-->${createHash('sha256').update('x').digest('base64')}<`,
        ),
    ],
    ['a comment in the signature value', (s) => good(s).replace('<SignatureValue>', '<SignatureValue><!--x-->')],
    ['a name with a colon too many', (s) => good(s).replaceAll('saml:Subject>', 'saml:x:Subject>')],
    ['letters beyond ASCII in a name', (s) => good(s).replaceAll('saml:Subject>', 'saml:Subjéct>')],
    ['an ID with a quote', (s) => good(s).replaceAll(/"(#?)_a\d+"/g, `"$1_a'or'1"`)],
    ['an ID that selects all', (s) => good(s).replaceAll(/"(#?)_a\d+"/g, `"$1_a&quot;]|//*[&quot;1"`)],
    ['60 levels', (s) => good(s).replace('</samlp:Response>', `${'<x>'.repeat(60)}${'</x>'.repeat(60)}</samlp:Response>`)],
    ['20,000 levels', (s) => good(s).replace('</samlp:Response>', `${'<x>'.repeat(20_000)}${'</x>'.repeat(20_000)}</samlp:Response>`)],
    ['50,000 elements', (s) => good(s).replace('</samlp:Response>', `${'<x/>'.repeat(50_000)}</samlp:Response>`)],
    ['10,000 attributes', (s) => good(s).replace(root, root + Array.from({ length: 10_000 }, (_, i) => ` a${i}=""`).join(''))],
    ['5,000 namespaces', (s) => good(s).replace(root, root + Array.from({ length: 5_000 }, (_, i) => ` xmlns:a${i}="urn:${i}"`).join(''))],
    ['200,000 ampersands', (s) => good(s).replace('ada-1', '&'.repeat(200_000))],
    ['200,000 blanks in a tag', (s) => evil(good(s)).replace(root, root + ' '.repeat(200_000))],
    ['200,000 blanks in the signature', (s) => good(s).replace('<SignatureValue>', `<SignatureValue>${' '.repeat(200_000)}!`)],
    ['more than 256 KB', (s) => good(s).replace('ada-1', 'a'.repeat(262_000))],
    ['a deflated response', () => Buffer.from('c3RhcnQ=', 'base64')],
  )
  return cases
}

/** Names in wrong namespaces, and prefixes that mean two things. */
function namespaces(): Case[] {
  const cases: Case[] = []
  const foreign = ['urn:oasis:names:tc:SAML:1.0:assertion', 'urn:evil', 'urn:oasis:names:tc:SAML:2.0:protocol', dsig]
  for (const uri of foreign) {
    cases.push([
      `an evil assertion of ${uri} in front`,
      (s) => {
        const xml = good(s)
        return xml.replace(
          '<saml:Assertion',
          `${renamed(evil(unsigned(assertionOf(xml)))).replace('urn:oasis:names:tc:SAML:2.0:assertion', uri)}<saml:Assertion`,
        )
      },
    ])
    if (uri !== 'urn:oasis:names:tc:SAML:2.0:protocol')
      cases.push([`a response of ${uri}`, (s) => good(s).replace('urn:oasis:names:tc:SAML:2.0:protocol', uri)])
    cases.push([
      `a signature of ${uri}`,
      (s) => good(s).replace(`<Signature xmlns="${dsig}"`, `<Signature xmlns="${uri === dsig ? 'urn:x' : uri}"`),
    ])
  }
  cases.push(
    ['a prefix without a namespace', (s) => good(s).replace('<saml:Subject>', '<saml:Subject y:z="1">')],
    ['a relative namespace', (s) => good(s).replace('<samlp:Response', '<samlp:Response xmlns:r="./ns"')],
    [
      'a relative namespace in the assertion',
      (s) => sign(writeResponse({ ...s }).replace('<saml:Assertion', '<saml:Assertion xmlns:r="1"')),
    ],
    ['an empty namespace for a prefix', (s) => good(s).replace('<samlp:Response', '<samlp:Response xmlns:r=""')],
    ['the prefix xml redefined', (s) => good(s).replace('<samlp:Response', '<samlp:Response xmlns:xml="urn:x"')],
    ['the prefix xmlns defined', (s) => good(s).replace('<samlp:Response', '<samlp:Response xmlns:xmlns="urn:x"')],
    [
      'an ID of xml',
      (s) => {
        const xml = good(s)
        return xml.replace('<samlp:Response', `<samlp:Response xml:id="${/ID="(_a\d+)"/.exec(assertionOf(xml))![1]}"`)
      },
    ],
    [
      'two ids of one element',
      (s) =>
        good(s).replace(
          / ID="(_a\d+)" Version="2.0" IssueInstant="([^"]+)"><saml/,
          ' ID="$1" Id="_evil" id="$1" Version="2.0" IssueInstant="$2"><saml',
        ),
    ],
    [
      'a signature of another namespace beside it',
      (s) => good(s).replace('<saml:Subject>', '<x:Signature xmlns:x="urn:x"/><saml:Subject>'),
    ],
    ['the subject in another namespace', (s) => sign(writeResponse({ ...s }).replaceAll('saml:Subject>', 'samlp:Subject>'))],
    [
      'conditions in another namespace',
      (s) =>
        sign(
          writeResponse({ ...s })
            .replace('<saml:Conditions', '<samlp:Conditions')
            .replace('</saml:Conditions', '</samlp:Conditions'),
        ),
    ],
  )
  return cases
}

/** Signatures that are missing, of another signer, or of another kind. */
function signatures(): Case[] {
  const cases: Case[] = []
  const swap = (name: string, from: string | RegExp, to: string): void => {
    for (const what of ['assertion', 'response'] as const) cases.push([`${name}, ${what}`, (s) => evil(good(s, what)).replace(from, to)])
    cases.push([`${name}, nothing else changed`, (s) => good(s).replace(from, to)])
  }
  const signatureMethod = /<SignatureMethod Algorithm="[^"]+"\/>/
  for (const uri of [
    `${dsig}hmac-sha1`,
    `${more}hmac-sha256`,
    `${dsig}rsa-sha1`,
    `${dsig}dsa-sha1`,
    `${more}rsa-md5`,
    `${more}rsa-sha384`,
    'none',
    '',
  ])
    swap(`signature algorithm ${uri || 'empty'}`, signatureMethod, `<SignatureMethod Algorithm="${uri}"/>`)
  for (const uri of [`${dsig}sha1`, `${more}md5`, 'none'])
    swap(`digest algorithm ${uri}`, /<DigestMethod Algorithm="[^"]+"\/>/, `<DigestMethod Algorithm="${uri}"/>`)
  for (const uri of [
    'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
    `${exclusive}WithComments`,
    'http://www.w3.org/2006/12/xml-c14n11',
    'urn:void',
  ])
    swap(`canonicalization ${uri}`, `<CanonicalizationMethod Algorithm="${exclusive}"/>`, `<CanonicalizationMethod Algorithm="${uri}"/>`)
  const transform = `<Transform Algorithm="${exclusive}"/>`
  for (const [name, to] of [
    ['no canonical transform', ''],
    [
      'XSLT',
      '<Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"><x:stylesheet xmlns:x="http://www.w3.org/1999/XSL/Transform"/></Transform>',
    ],
    ['XPath', '<Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><XPath>false()</XPath></Transform>'],
    ['XPath filter', '<Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"/>'],
    ['base64', `<Transform Algorithm="${dsig}base64"/>`],
    ['three transforms', transform + transform],
    ['inclusive canonical XML', '<Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>'],
    ['enveloped twice', `<Transform Algorithm="${dsig}enveloped-signature"/>`],
    [
      'a hostile list of prefixes',
      `<Transform Algorithm="${exclusive}"><InclusiveNamespaces xmlns="${exclusive}" PrefixList="')|//*"/></Transform>`,
    ],
  ] as const)
    swap(`transform ${name}`, transform, to)
  for (const [name, from, to] of [
    ['no URI', / URI="#[^"]+"/, ''],
    ['an empty URI', / URI="#[^"]+"/, ' URI=""'],
    ['a URI of the whole', / URI="#[^"]+"/, ' URI="#xpointer(/)"'],
    ['a foreign URI', / URI="#[^"]+"/, ' URI="https://evil.example/x"'],
    ['no digest value', /<DigestValue>[^<]+/, '<DigestValue>'],
    ['no signature value', /<SignatureValue>[^<]+/, '<SignatureValue>'],
    ['a short signature value', /<SignatureValue>([^<]{8})[^<]+/, '<SignatureValue>$1'],
    ['no reference', /<Reference[\s\S]*?<\/Reference>/, ''],
    ['two references', /(<Reference[\s\S]*?<\/Reference>)/, '$1$1'],
    ['two SignedInfo', /(<SignedInfo>[\s\S]*?<\/SignedInfo>)/, '$1$1'],
    ['two signature values', /(<SignatureValue>[\s\S]*?<\/SignatureValue>)/, '$1$1'],
    ['a manifest', '</SignatureValue>', '</SignatureValue><Object><Manifest/></Object>'],
    [
      'a salt length',
      signatureMethod,
      `<SignatureMethod Algorithm="${more}rsa-sha256"><HMACOutputLength>1</HMACOutputLength></SignatureMethod>`,
    ],
  ] as const)
    swap(name, from, to)
  cases.push(
    ['no signature', (s) => unsigned(good(s))],
    ['no signature, response', (s) => unsigned(good(s, 'response'))],
    ['an empty signature', (s) => good(s).replace(/<Signature [\s\S]*<\/Signature>/, `<Signature xmlns="${dsig}"/>`)],
    ['another key', (s) => sign(writeResponse({ ...s }), { keys: otherKeys })],
    [
      'another key with its certificate inside',
      (s) =>
        sign(writeResponse({ ...s }), { keys: otherKeys }).replace(
          '</SignatureValue>',
          `</SignatureValue><KeyInfo><X509Data><X509Certificate>${otherKeys.certificate.replace(/-----[A-Z ]+-----|\s/g, '')}</X509Certificate></X509Data></KeyInfo>`,
        ),
    ],
    [
      'another key with a fetched key',
      (s) =>
        sign(writeResponse({ ...s }), { keys: otherKeys }).replace(
          '</SignatureValue>',
          '</SignatureValue><KeyInfo><RetrievalMethod URI="https://evil.example/key"/></KeyInfo>',
        ),
    ],
    ['a good assertion in a response that another key signed', (s) => sign(good(s), { what: 'response', keys: otherKeys })],
    [
      'an assertion of another key in a response that is signed',
      (s) => sign(sign(writeResponse({ ...s }), { keys: otherKeys }), { what: 'response' }),
    ],
    ['SHA-1', (s) => sign(writeResponse({ ...s }), { signatureAlgorithm: 'sha1', digestAlgorithm: 'sha1' })],
    ['SHA-1 in the digest', (s) => sign(writeResponse({ ...s }), { digestAlgorithm: 'sha1' })],
    [
      'the signature of another response',
      (s) => {
        const [mine, other] = [good(s, 'response'), sign(evil(writeResponse({ ...s })), { what: 'response' })]
        return other.replace(signatureOf(other), signatureOf(mine))
      },
    ],
    [
      'the signature of the assertion moved to the response',
      (s) => {
        const xml = good(s)
        return unsigned(xml).replace('</saml:Issuer>', `</saml:Issuer>${signatureOf(xml)}`)
      },
    ],
    [
      'a signature in the subject',
      (s) => {
        const xml = good(s)
        return unsigned(xml).replace('<saml:Subject>', `<saml:Subject>${signatureOf(xml)}`)
      },
    ],
    ['two signatures', (s) => good(s).replace(/(<Signature [\s\S]*<\/Signature>)/, '$1$1')],
  )
  for (const [name, key] of [
    ['certificate', idpKeys.certificate],
    ['certificate without line breaks', idpKeys.certificate.trim()],
    ['empty text', ''],
  ] as const)
    for (const [method, hash] of [
      [`${dsig}hmac-sha1`, 'sha1'],
      [`${more}hmac-sha256`, 'sha256'],
    ] as const)
      cases.push([
        `HMAC ${hash} with the ${name} as key`,
        (s) => {
          const xml = evil(good(s)).replace(signatureMethod, `<SignatureMethod Algorithm="${method}"/>`)
          const info = /<SignedInfo>[\s\S]*<\/SignedInfo>/
            .exec(xml)![0]
            .replace('<SignedInfo>', `<SignedInfo xmlns="${dsig}">`)
            .replace(/<(\w+)([^>]*)\/>/g, '<$1$2></$1>')
          return xml.replace(/<SignatureValue>[^<]+/, `<SignatureValue>${createHmac(hash, key).update(info).digest('base64')}`)
        },
      ])
  return cases
}

/** Rightly signed responses that are for another time, place, browser or purpose. */
function contents(): Case[] {
  const cases: Case[] = []
  const bad = (name: string, parts: Partial<ResponseParts>): void => {
    cases.push([name, signedParts(parts)], [`${name}, signed response`, signedParts(parts, 'response')])
  }
  for (const value of [
    'https://other.example',
    '',
    'HTTP://LOCALHOST:3000/auth/saml/acme/metadata',
    'http://localhost:3000/auth/saml/acme/metadata/',
  ])
    bad(`audience "${value}"`, { audience: value })
  for (const value of [
    'https://other.example/acs',
    '',
    'http://localhost:3000/auth/saml/acme/acs/',
    'http://localhost:3000/auth/saml/acme/acs?x=1',
  ])
    bad(`recipient "${value}"`, { recipient: value })
  for (const value of ['https://other.example/acs', '']) bad(`destination "${value}"`, { destination: value })
  for (const value of ['https://evil.example', '', 'https://idp.example/metadata/', 'HTTPS://idp.example/metadata']) {
    bad(`issuer "${value}"`, { issuer: value })
    bad(`issuer of the response "${value}"`, { responseIssuer: value })
  }
  for (const method of ['holder-of-key', 'sender-vouches', ''])
    bad(`method ${method || 'none'}`, { method: `urn:oasis:names:tc:SAML:2.0:cm:${method}` })
  bad('over', { notOnOrAfter: -61_000 })
  bad('not begun', { notBefore: 61_000 })
  bad('issued eleven minutes ago', { issued: -671_000, notOnOrAfter: 86_400_000 })
  bad('issued in the future', { issued: 120_000 })
  bad('another request', { request: '_another' })
  bad('no request', { request: undefined })
  bad('a transient NameID', { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' })
  for (const status of ['Responder', 'Requester', 'AuthnFailed', 'Success2', ''])
    bad(`status ${status || 'empty'}`, { status: `urn:oasis:names:tc:SAML:2.0:status:${status}` })
  bad('a second audience restriction', {
    conditions: '<saml:AudienceRestriction><saml:Audience>https://other.example</saml:Audience></saml:AudienceRestriction>',
  })
  bad('an unknown condition', { conditions: '<x:Only xmlns:x="urn:x"/>' })
  const edit = (name: string, from: string | RegExp, to: string): void =>
    void cases.push([name, ({ now, request }) => sign(writeResponse({ now, request }).replace(from, to))])
  edit('no conditions', /<saml:Conditions[\s\S]*<\/saml:Conditions>/, '')
  edit('no audience restriction', /<saml:AudienceRestriction>[\s\S]*<\/saml:AudienceRestriction>/, '')
  edit('no confirmation', /<saml:SubjectConfirmation [\s\S]*<\/saml:SubjectConfirmation>/, '')
  edit('two confirmations', /(<saml:SubjectConfirmation [\s\S]*<\/saml:SubjectConfirmation>)/, '$1$1')
  edit('no confirmation data', /<saml:SubjectConfirmationData[^>]*\/>/, '')
  edit('a confirmation without an end', /(<saml:SubjectConfirmationData) NotOnOrAfter="[^"]+"/, '$1')
  edit('a confirmation for no recipient', / Recipient="[^"]+"/, '')
  edit('no NameID', /<saml:NameID[\s\S]*<\/saml:NameID>/, '')
  edit('two NameIDs', /(<saml:NameID[\s\S]*<\/saml:NameID>)/, '$1$1')
  edit('two subjects', /(<saml:Subject>[\s\S]*<\/saml:Subject>)/, '$1$1')
  edit('no subject', /<saml:Subject>[\s\S]*<\/saml:Subject>/, '')
  edit('no authentication', /<saml:AuthnStatement[\s\S]*<\/saml:AuthnStatement>/, '')
  edit('a session that is over', ' SessionIndex=', ' SessionNotOnOrAfter="2020-01-01T00:00:00Z" SessionIndex=')
  edit('a time without a zone', /NotOnOrAfter="([^"]+)Z" Recipient/, 'NotOnOrAfter="$1" Recipient')
  edit('a time with an offset', /NotOnOrAfter="([^"]+)Z" Recipient/, 'NotOnOrAfter="$1+00:00" Recipient')
  edit('a time that is none', /NotOnOrAfter="[^"]+" Recipient/, 'NotOnOrAfter="tomorrow" Recipient')
  edit('version 1.1', /Version="2.0"/, 'Version="1.1"')
  edit('version 1.1 of the assertion', /(<saml:Assertion[^>]*) Version="2.0"/, '$1 Version="1.1"')
  edit('no status', /<samlp:Status>[\s\S]*<\/samlp:Status>/, '')
  edit(
    'an issuer with a format',
    /(<saml:Assertion[^>]*><saml:Issuer)/,
    '$1 Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"',
  )
  cases.push(
    [
      'two good assertions',
      (s) => {
        const xml = good(s)
        return xml.replace('</samlp:Response>', `${assertionOf(sign(writeResponse({ ...s })))}</samlp:Response>`)
      },
    ],
    ['no assertion', (s) => good(s).replace(/<saml:Assertion[\s\S]*<\/saml:Assertion>/, '')],
    ['an assertion alone', (s) => assertionOf(good(s))],
    ['an empty encrypted assertion', (s) => good(s).replace(/<saml:Assertion[\s\S]*<\/saml:Assertion>/, '<saml:EncryptedAssertion/>')],
    [
      'a logout response',
      () =>
        sign(
          `<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_l" Version="2.0"><saml:Issuer>https://idp.example/metadata</saml:Issuer></samlp:LogoutResponse>`,
          { what: 'response' },
        ),
    ],
  )
  return cases
}

/** Each text and each attribute of a signed response, changed alone. */
function singleChanges(): Case[] {
  const sample = good({ now: Date.UTC(2026, 0, 2, 3, 4, 5), request: '_r' }, 'response')
  const places = [...sample.matchAll(/(?<=>)[^<>]+(?=<)|(?<= (?!xmlns)[\w:]+=")[^"]+(?=")/g)].map(({ 0: text, index }) => ({ text, index }))
  // The prefix of a signature value is cut above; what `xsi:type` says is signed as well.
  return places.map(({ text }, at): Case => [
    `place ${at} (${text.slice(0, 20)})`,
    (s) => {
      let seen = -1
      return good(s, 'response').replace(/(?<=>)[^<>]+(?=<)|(?<= (?!xmlns)[\w:]+=")[^"]+(?=")/g, (one) =>
        ++seen === at ? `${one.slice(0, -1)}${one.endsWith('x') ? 'y' : 'x'}` : one,
      )
    },
  ])
}

/** Every case. */
export const hostileCases: readonly Case[] = [
  ...wrappings(),
  ...parsers(),
  ...namespaces(),
  ...signatures(),
  ...contents(),
  ...singleChanges(),
]
