/**
 * A `Response` of an identity provider (SAML Core section 3.3.3): decoded, compared with the one shape that is accepted, and then verified. The assertion
 * that comes out was read from signed bytes.
 */
import { fromBase64 } from 'authkernel/kernel'
import { Refusal, XmlError } from './errors.ts'
import { decryptAssertion } from './encryption.ts'
import { assertPlaces, findSignature, readSigned, type Trust } from './signature.ts'
import { statusOf } from './status.ts'
import { attributeOf, isNamed, ns, requireChild, walk } from './tree.ts'
import { parseXml, type XmlElement } from './xml.ts'

/** Bytes of a message. */
export const maxMessage = 262_144

/** A message that has the right shape. Nothing in it was verified. */
export interface OpenResponse {
  readonly xml: string
  readonly root: XmlElement
  /** Undefined: it succeeded. */
  readonly status: { code: string; message: string | undefined } | undefined
  /** Id of the request that it says it answers. */
  readonly inResponseTo: string | undefined
}
/** What was verified. */
export interface SignedResponse {
  /** The response, from signed bytes where it has a signature. */
  readonly response: XmlElement
  /** Whether `response` is signed itself. */
  readonly isSigned: boolean
  /** From signed bytes. */
  readonly assertion: XmlElement
}

const assertionName = [ns.assertion, 'Assertion'] as const

/** Throws `Refusal` for what is no message, with `root` as its name. */
export function decodeMessage(encoded: string): string {
  const text = encoded.replace(/\s+/g, '')
  if (text.length > Math.ceil(maxMessage / 3) * 4) throw new Refusal('The message is larger than 256 KB.', { check: 'form' })
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw new Refusal('The message is not base64.', { check: 'form' })
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fromBase64(text))
  } catch {
    throw new Refusal('The message is not UTF-8.', { check: 'form' })
  }
}

/** Runs `work`. What is wrong with the XML becomes a `Refusal`. */
export function withXmlRefusal<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof XmlError ? new Refusal(error.message, { check: 'xml' }) : error
  }
}

/** Reads the shape alone. Throws `Refusal`. */
export function openResponse(encoded: string): OpenResponse {
  const xml = decodeMessage(encoded)
  return withXmlRefusal(() => {
    const root = parseXml(xml)
    if (!isNamed(root, [ns.protocol, 'Response'])) refuse('The message is no SAML 2.0 response.')
    if (attributeOf(root, 'Version') !== '2.0') refuse('The version is not 2.0.')
    return { xml, root, status: statusOf(root), inResponseTo: attributeOf(root, 'InResponseTo') }
  })
}

/** Verifies every signature, and decrypts. `keys`: private keys for encrypted assertions. Throws `Refusal`. */
export async function verifyResponse({ xml, root }: OpenResponse, trust: Trust, keys: readonly string[]): Promise<SignedResponse> {
  const { assertion, encrypted, ofResponse, ofAssertion } = withXmlRefusal(() => findParts(root, trust))
  if (!ofResponse && !ofAssertion && !encrypted)
    throw new Refusal('The response is not signed.', {
      check: 'signature',
      fix: 'Let the identity provider sign the assertion or the response.',
    })
  const response = ofResponse && (await readSigned(xml, undefined, trust))
  if (response && !isNamed(response.tree, [ns.protocol, 'Response'])) refuse('Something else than the response was signed.')
  const outer = response?.tree ?? root
  const isSigned = response !== undefined
  if (encrypted) {
    const box = withXmlRefusal(() => requireChild(outer, [ns.assertion, 'EncryptedAssertion']))
    const text = await decryptAssertion(box, response?.text ?? xml, keys)
    return { response: outer, isSigned, assertion: await openDecrypted(text, trust, isSigned) }
  }
  if (assertion && ofAssertion) {
    const { tree } = await readSigned(xml, assertionName, trust)
    if (!isNamed(tree, assertionName)) refuse('Something else than the assertion was signed.')
    return { response: outer, isSigned, assertion: tree }
  }
  return { response: outer, isSigned, assertion: withXmlRefusal(() => requireChild(outer, assertionName)) }
}

interface Parts {
  assertion: XmlElement | undefined
  encrypted: XmlElement | undefined
  ofResponse: XmlElement | undefined
  ofAssertion: XmlElement | undefined
}

/** One assertion, in its place and nowhere else; signatures in theirs. Names count in every namespace, because other readers look at them alone. */
function findParts(root: XmlElement, trust: Trust): Parts {
  const all = [...walk(root)]
  const named = (...locals: string[]): XmlElement[] => all.filter(({ local }) => locals.includes(local))
  if (named('Response').length !== 1) refuse('A response is inside the response.')
  const [found, ...more] = named('Assertion', 'EncryptedAssertion')
  if (!found) refuse('The response has no assertion.')
  if (more.length > 0) refuse('The response has more than one assertion.')
  if (found.parent !== root || found.namespace !== ns.assertion) refuse('The assertion stands in the wrong place.')
  if (named('Signature').some(({ namespace }) => namespace !== ns.signature)) refuse('A signature has another namespace.')
  const encrypted = found.local === 'EncryptedAssertion' ? found : undefined
  const assertion = encrypted ? undefined : found
  const ofResponse = findSignature(root, trust)
  const ofAssertion = assertion && findSignature(assertion, trust)
  assertPlaces(root, [ofResponse, ofAssertion])
  return { assertion, encrypted, ofResponse, ofAssertion }
}

/** `isSigned`: the response around it is signed, so that its own signature is not needed. */
async function openDecrypted(text: string, trust: Trust, isSigned: boolean): Promise<XmlElement> {
  const cannotRead = (): Refusal => new Refusal('The assertion could not be decrypted.', { check: 'encryption' })
  let tree: XmlElement
  try {
    tree = parseXml(text)
  } catch {
    // As for a wrong key: another answer would be an oracle for the padding.
    throw cannotRead()
  }
  if (!isNamed(tree, assertionName) || [...walk(tree)].filter(({ local }) => /^(?:Encrypted)?Assertion$/.test(local)).length !== 1)
    throw cannotRead()
  const own = withXmlRefusal(() => {
    const signature = findSignature(tree, trust)
    assertPlaces(tree, [signature])
    return signature
  })
  if (own) return (await readSigned(text, undefined, trust)).tree
  if (isSigned) return tree
  throw new Refusal('Neither the response nor its encrypted assertion is signed.', {
    check: 'signature',
    fix: 'Let the identity provider sign the assertion or the response.',
  })
}

function refuse(message: string): never {
  throw new Refusal(message, { check: 'form' })
}
