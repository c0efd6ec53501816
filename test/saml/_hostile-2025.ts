/**
 * Families that were published in 2025: two parsers that see two documents (CVE-2025-25291 and 25292), comments and second elements inside `SignedInfo`
 * (CVE-2025-29774 and 29775), an assertion read from outside the signed bytes (CVE-2025-47949 and 54419), and "The Fragile Lock" of December 2025: attribute
 * pollution, namespace confusion and void canonicalization.
 */
import { createHash } from 'node:crypto'
import { sign, writeResponse } from './_idp.ts'
import type { Case, Scene } from './_hostile.ts'

const good = ({ now, request }: Scene): string => sign(writeResponse({ now, request }))
const whole = ({ now, request }: Scene): string => sign(writeResponse({ now, request }), { what: 'response' })
const assertionOf = (xml: string): string => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)![0]
const signatureOf = (xml: string): string => /<Signature[\s\S]*<\/Signature>/.exec(xml)![0]
const idOf = (xml: string): string => /<saml:Assertion[^>]* ID="([^"]+)"/.exec(xml)![1]!
const evilOf = (xml: string): string => assertionOf(xml).replace(signatureOf(xml), '').replace('ada-1', 'root-1')
/** SHA-256 of nothing: what a canonicalization that fails in silence gives to the digest. */
const empty = createHash('sha256').update('').digest('base64')

/** An attribute that one reader takes for the ID, and another does not. */
function pollutions(): Case[] {
  const names = ['saml:ID', 'samlp:ID', 'x:ID', 'xml:id', 'wsu:Id', 'Id', 'id', 'AssertionID']
  return names.flatMap((name): Case[] => {
    const prefix = name.includes(':') && !/^(?:saml|samlp|xml):/.test(name) ? ` xmlns:${name.split(':')[0]}="urn:x"` : ''
    return [
      [
        `pollution: an evil assertion claims the signed id by ${name}`,
        (s) => {
          const xml = good(s)
          const claimed = evilOf(xml).replace(` ID="${idOf(xml)}"`, ` ID="_evil"${prefix} ${name}="${idOf(xml)}"`)
          return xml.replace('<saml:Assertion', `${claimed}<saml:Assertion`)
        },
      ],
      [
        `pollution: the signed assertion hides in the signature, an evil one has ${name}`,
        (s) => {
          const xml = good(s)
          const inner = signatureOf(xml).replace('</Signature>', `<Object>${assertionOf(xml)}</Object></Signature>`)
          const claimed = evilOf(xml).replace(` ID="${idOf(xml)}"`, `${prefix} ${name}="${idOf(xml)}"`)
          return xml.replace(assertionOf(xml), claimed.replace('</saml:Issuer>', `</saml:Issuer>${inner}`))
        },
      ],
    ]
  })
}

/** Canonicalization that gives nothing, with the digest of nothing. */
function voids(): Case[] {
  const triggers: (readonly [string, string])[] = [
    ['a relative namespace', ' xmlns:r="1"'],
    ['a relative path', ' xmlns:r="../x"'],
    ['an empty prefix', ' xmlns:r=""'],
    ['a namespace with a space', ' xmlns:r="a b"'],
  ]
  return triggers.flatMap(([what, declared]): Case[] =>
    ['<saml:Assertion', '<samlp:Response'].map((at) => [
      `void canonicalization by ${what} at ${at.slice(1)}`,
      (s) =>
        good(s)
          .replace(at, at + declared)
          .replace('ada-1', 'root-1')
          .replace(/<DigestValue>[^<]+/, `<DigestValue>${empty}`),
    ]),
  )
}

/** What is verified is not what is read. */
function differentials(): Case[] {
  const edit = (name: string, make: (xml: string) => string, from: (s: Scene) => string = good): Case => [
    `differential: ${name}`,
    (s) => make(from(s)),
  ]
  return [
    edit('a reference to the document', (xml) => xml.replace(/URI="#[^"]+"/, 'URI=""').replace('ada-1', 'root-1')),
    edit('a reference by XPointer', (xml) => xml.replace(/URI="#([^"]+)"/, `URI="#xpointer(id('$1'))"`)),
    edit('a reference to the root', (xml) => xml.replace(/URI="#[^"]+"/, 'URI="#xpointer(/)"')),
    edit('two references', (xml) => xml.replace(/(<Reference[\s\S]*<\/Reference>)/, '$1$1')),
    edit(
      'an evil response around a signed one',
      (xml) => {
        const outer = xml
          .replace(signatureOf(xml), '')
          .replace('ada-1', 'root-1')
          .replace(/ ID="[^"]+"/, ' ID="_evil"')
        return outer.replace('<samlp:Status>', `<samlp:Extensions>${xml}</samlp:Extensions><samlp:Status>`)
      },
      whole,
    ),
    edit(
      'the signature in front of the document',
      (xml) => `${signatureOf(xml)}${xml.replace(signatureOf(xml), '').replace('ada-1', 'root-1')}`,
    ),
    edit('an evil assertion after the end', (xml) => `${xml}${evilOf(xml)}`),
    edit('an evil assertion in a comment that ends', (xml) => xml.replace('<saml:Assertion', `<!-->${evilOf(xml)}<!-- --><saml:Assertion`)),
    edit('a CDATA section in the name', (xml) => xml.replace('ada-1', '<![CDATA[root-1]]>')),
    edit('a processing instruction in the name', (xml) => xml.replace('ada-1', 'root-1<?x?>ada-1')),
    edit('SignedInfo in another namespace first', (xml) => xml.replace('<SignedInfo>', '<x:SignedInfo xmlns:x="urn:x"/><SignedInfo>')),
    edit('an element in the digest', (xml) => xml.replace(/<DigestValue>([^<]+)/, `<DigestValue><x>${empty}</x>$1`)),
    edit('a digest with white space and a second one', (xml) =>
      xml.replace(/(<DigestValue>[^<]+<\/DigestValue>)/, `$1<DigestValue>${empty}</DigestValue>`),
    ),
    edit('an evil signature value beside it', (xml) =>
      xml.replace('<SignatureValue>', '<SignatureValue></SignatureValue><SignatureValue>').replace('ada-1', 'root-1'),
    ),
    edit('an EncryptedAssertion beside it', (xml) => xml.replace('<saml:Assertion', '<saml:EncryptedAssertion/><saml:Assertion')),
    edit('an assertion of SAML 1', (xml) =>
      xml.replace('<saml:Assertion', '<a:Assertion xmlns:a="urn:oasis:names:tc:SAML:1.0:assertion"/><saml:Assertion'),
    ),
    edit('UTF-16 in the declaration', (xml) => `<?xml version="1.0" encoding="UTF-16"?>${xml}`),
    edit('a second name', (xml) => xml.replace('</saml:NameID>', '</saml:NameID><saml:NameID>root-1</saml:NameID>')),
  ]
}

/** Every case of these families. */
export const hostileCases2025: readonly Case[] = [...pollutions(), ...voids(), ...differentials()]
