/**
 * The part of `@node-saml/node-saml` 5.1 that is used: the check of XML signatures, which answers the bytes that were signed, decryption and signing.
 * Structural types: nothing public may import types of an optional peer.
 */
import { AuthError, lazily, type Lazy } from 'authkernel/kernel'
import { nodeCrypto } from 'authkernel/kernel/protocols'

/** A node of the document of the library, as far as it is looked at here. */
export interface LibraryNode {
  readonly localName: string | null
  readonly namespaceURI: string | null
  readonly nextSibling: LibraryNode | null
  readonly firstChild: LibraryNode | null
}
/** The functions that are called. */
export interface SamlLibrary {
  /** The canonical text that the signature of an element covers; null: no key of the list made it. */
  getVerifiedXml(xml: string, element: LibraryNode, keys: readonly string[]): string | null
  /** The text of an encrypted element. */
  decryptXml(xml: string, key: string): Promise<string>
  /** The document with a signature of the element that `xpath` finds. */
  signXml(xml: string, xpath: string, location: { reference: string; action: string }, options: Record<string, unknown>): string
  parseDomFromString(xml: string): Promise<{ readonly documentElement: LibraryNode }>
}

const names = ['getVerifiedXml', 'decryptXml', 'signXml', 'parseDomFromString'] as const

/** Loads it once. Throws AuthError with the command to type, and where the runtime is not Node. */
export const loadSamlLibrary: Lazy<SamlLibrary> = /* @__PURE__ */ lazily(async () => {
  if (!nodeCrypto())
    throw new AuthError('samlPlugin needs Node 20 or newer, or a runtime with all of node:crypto: XML signatures are checked there.')
  let library: Record<string, unknown>
  try {
    // The public class of the package hides which bytes were signed; this module answers them.
    library = (await import('@node-saml/node-saml/lib/xml.js')) as Record<string, unknown>
  } catch (error) {
    throw new AuthError('samlPlugin needs @node-saml/node-saml 5.1: npm install @node-saml/node-saml', { cause: error })
  }
  const missing = names.filter((name) => typeof library[name] !== 'function')
  if (missing.length > 0) throw new AuthError(`samlPlugin needs @node-saml/node-saml 5.1. The installed one lacks ${missing.join(', ')}.`)
  // The functions are there, as tested above.
  return library as unknown as SamlLibrary
})
