/**
 * XML signatures. The form of each is compared with the one that SAML allows (SAML Core section 5.4) before the library sees it: one reference to the
 * element around it, two transforms, algorithms of a list. What was signed is then read from the bytes that the library answers, and from nothing else.
 */
import { Refusal } from './errors.ts'
import { type LibraryNode, loadSamlLibrary } from './library.ts'
import { attributeOf, childOf, contentOf, elementsOf, isNamed, type Name, ns, requireChild, walk } from './tree.ts'
import { parseXml, type XmlElement } from './xml.ts'

/** Keys and algorithms that count. */
export interface Trust {
  /** Certificates or public keys in PEM. */
  readonly certificates: readonly string[]
  /** SHA-1 in signatures and digests. */
  readonly sha1: boolean
}

const canonical = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const envelopedTransform = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
const signatures: readonly string[] = [
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
]
const digests: readonly string[] = ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512']
const oldSignature = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'
const oldDigest = 'http://www.w3.org/2000/09/xmldsig#sha1'
const base64 = /^[A-Za-z0-9+/]+={0,2}$/
const signature = [ns.signature, 'Signature'] as const

/** The signature of an element, whose form is right. Undefined: it has none. Throws `Refusal` and XmlError. */
export function findSignature(element: XmlElement, trust: Trust): XmlElement | undefined {
  const found = childOf(element, signature)
  if (found) assertForm(element, found, trust.sha1)
  return found
}

/** Throws `Refusal` where signatures stand in other places than these, and for an id that is there twice. */
export function assertPlaces(root: XmlElement, allowed: readonly (XmlElement | undefined)[]): void {
  const ids = new Set<string>()
  for (const element of walk(root)) {
    const known = element.namespace === ns.signature
    if (known && element.local === 'Signature' && !allowed.includes(element)) refuse('A signature stands where none belongs.')
    if (known && ['Object', 'Manifest', 'SignatureProperties'].includes(element.local)) refuse('A signature holds an object.')
    for (const { local, value } of element.attributes) {
      if (local.toLowerCase() !== 'id') continue
      if (ids.has(value)) refuse('An id is there twice.')
      ids.add(value)
    }
  }
}

/** What was signed of the root, or of its child named `child`, read from the signed bytes. Throws `Refusal` where no certificate fits. */
export async function readSigned(
  xml: string,
  child: Name | undefined,
  { certificates }: Trust,
): Promise<{ tree: XmlElement; text: string }> {
  const { getVerifiedXml, parseDomFromString } = await loadSamlLibrary()
  const normal = xml.replace(/\r\n?/g, '\n')
  const document = await parseDomFromString(normal).catch(() => undefined)
  const element = child ? findNode(document?.documentElement, child) : document?.documentElement
  const text = element && verify(() => getVerifiedXml(normal, element, certificates))
  if (!text)
    throw new Refusal('The signature fits none of the certificates.', {
      check: 'signature',
      fix: 'Copy the current signing certificate of the identity provider, or set `metadata` to the address of its metadata.',
    })
  return { tree: parseXml(text), text }
}

function verify(work: () => string | null): string | null {
  try {
    return work()
  } catch {
    // The library throws for a shape that it does not expect, and for a key that OpenSSL cannot read.
    return null
  }
}

function findNode(root: LibraryNode | undefined, [namespace, local]: Name): LibraryNode | undefined {
  for (let node = root?.firstChild; node; node = node.nextSibling)
    if (node.localName === local && node.namespaceURI === namespace) return node
  return undefined
}

function assertForm(element: XmlElement, found: XmlElement, sha1: boolean): void {
  const names = elementsOf(found).map(({ local, namespace }) => (namespace === ns.signature ? local : ''))
  if (!['SignedInfo,SignatureValue', 'SignedInfo,SignatureValue,KeyInfo'].includes(names.join())) refuse('A signature has another form.')
  const info = requireChild(found, [ns.signature, 'SignedInfo'])
  const parts = elementsOf(info).map(({ local, namespace }) => (namespace === ns.signature ? local : ''))
  if (parts.join() !== 'CanonicalizationMethod,SignatureMethod,Reference') refuse('`SignedInfo` has another form.')
  const [method, algorithm, reference] = elementsOf(info) as [XmlElement, XmlElement, XmlElement] // As compared above.
  assertCanonical(method)
  assertAlgorithm(algorithm, signatures, sha1 ? oldSignature : undefined)
  assertPlain(algorithm)
  const id = attributeOf(element, 'ID')
  if (!id || !/^[\w.:-]{1,256}$/.test(id)) refuse('A signed element has no usable ID.')
  if (attributeOf(reference, 'URI') !== `#${id}`) refuse('A signature refers to another element than the one around it.')
  const inside = elementsOf(reference).map(({ local, namespace }) => (namespace === ns.signature ? local : ''))
  if (inside.join() !== 'Transforms,DigestMethod,DigestValue') refuse('`Reference` has another form.')
  const [list, digest, digestValue] = elementsOf(reference) as [XmlElement, XmlElement, XmlElement] // As compared above.
  const transforms = elementsOf(list)
  const [first, second] = transforms
  if (transforms.length !== 2 || !first || !second || !transforms.every((one) => isNamed(one, [ns.signature, 'Transform'])))
    refuseAlgorithm('The transforms are not `enveloped-signature` and `xml-exc-c14n`.')
  if (attributeOf(first, 'Algorithm') !== envelopedTransform)
    refuseAlgorithm('The first transform is not `enveloped-signature`.', attributeOf(first, 'Algorithm'))
  assertPlain(first)
  assertCanonical(second)
  assertAlgorithm(digest, digests, sha1 ? oldDigest : undefined)
  assertPlain(digest)
  for (const one of [digestValue, requireChild(found, [ns.signature, 'SignatureValue'])])
    if (!base64.test(contentOf(one).replace(/\s+/g, ''))) refuse(`\`${one.local}\` is not base64.`)
}

/** Exclusive Canonical XML without comments; it may list prefixes. */
function assertCanonical(method: XmlElement): void {
  const name = attributeOf(method, 'Algorithm')
  if (name !== canonical) refuseAlgorithm('The canonicalization is not `xml-exc-c14n`.', name)
  for (const child of elementsOf(method)) {
    if (!isNamed(child, [canonical, 'InclusiveNamespaces']) || elementsOf(child).length > 0) refuse('A canonicalization has another form.')
    if (!/^[\w.# -]{0,200}$/.test(attributeOf(child, 'PrefixList') ?? '')) refuse('A list of prefixes is malformed.')
  }
  if (elementsOf(method).length > 1) refuse('A canonicalization has two lists of prefixes.')
}

function assertAlgorithm(element: XmlElement, allowed: readonly string[], old: string | undefined): void {
  const name = attributeOf(element, 'Algorithm') ?? ''
  if (allowed.includes(name) || name === old) return
  refuseAlgorithm(`The algorithm of \`${element.local}\` is not accepted.`, name)
}

function assertPlain(element: XmlElement): void {
  if (elementsOf(element).length > 0) refuse(`\`${element.local}\` has parameters.`)
}

function refuse(message: string): never {
  throw new Refusal(message, { check: 'signature' })
}

function refuseAlgorithm(message: string, received?: string): never {
  throw new Refusal(message, {
    check: 'algorithm',
    received,
    fix: 'Let the identity provider sign with RSA and SHA-256, exclusive canonicalization and the enveloped transform.',
  })
}
