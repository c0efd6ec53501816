/** Messages to an identity provider, by HTTP-Redirect or HTTP-POST (SAML Bindings sections 3.4 and 3.5), signed where the connection has a key. */
import { type Context, randomHex, toBase64 } from 'authkernel/kernel'
import { nodeCrypto } from 'authkernel/kernel/protocols'
import { loadSamlLibrary } from './library.ts'
import type { SamlConfig } from './options.ts'
import { ns } from './tree.ts'
import { escapeXml } from './xml.ts'

/** A message on its way. */
export interface Outgoing {
  /** `SAMLRequest` or `SAMLResponse`. */
  parameter: 'SAMLRequest' | 'SAMLResponse'
  xml: string
  url: string
  binding: 'redirect' | 'post'
  /** Comes back with the answer. */
  relayState?: string | undefined
}
/** What the browser does next: follow a link, or post fields. */
export type Delivery = { url: string; fields?: undefined } | { url: string; fields: Record<string, string> }

const algorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'

/** An id for a message: a letter first, and 128 bits. */
export function createId(ctx: Context): string {
  return `_${randomHex(ctx.runtime, 16)}`
}

/** An element of the protocol with the attributes that every message has, in a schema's order. */
export function writeMessage(
  ctx: Context,
  name: string,
  {
    id,
    destination,
    issuer,
    attributes = {},
    body,
  }: { id: string; destination: string; issuer: string; attributes?: Record<string, string>; body: string },
): string {
  const all = { ID: id, Version: '2.0', IssueInstant: new Date(ctx.runtime.now()).toISOString(), Destination: destination, ...attributes }
  const text = Object.entries(all).map(([key, value]) => ` ${key}="${escapeXml(value)}"`)
  return `<samlp:${name} xmlns:samlp="${ns.protocol}" xmlns:saml="${ns.assertion}"${text.join('')}><saml:Issuer>${escapeXml(issuer)}</saml:Issuer>${body}</samlp:${name}>`
}

/** Signs with the key of `signing`, if there is one. */
export async function deliver({ signing }: SamlConfig, { parameter, xml, url, binding, relayState }: Outgoing): Promise<Delivery> {
  if (binding === 'post') {
    const signed = signing ? await signMessage(xml, signing.privateKey, signing.certificate) : xml
    const value = toBase64(new TextEncoder().encode(signed))
    return { url, fields: { [parameter]: value, ...(relayState !== undefined && { RelayState: relayState }) } }
  }
  const parts: [string, string][] = [[parameter, toBase64(await deflate(xml))]]
  if (relayState !== undefined) parts.push(['RelayState', relayState])
  if (signing) parts.push(['SigAlg', algorithm])
  // Section 3.4.4.1: the octets that are signed are those of the query itself.
  let query = parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')
  const crypto = nodeCrypto()
  if (signing && crypto) {
    const signature = crypto.sign('sha256', new TextEncoder().encode(query), signing.privateKey)
    query += `&Signature=${encodeURIComponent(toBase64(signature))}`
  }
  return { url: `${url}${url.includes('?') ? '&' : '?'}${query}` }
}

async function signMessage(xml: string, privateKey: string, publicCert: string): Promise<string> {
  const { signXml } = await loadSamlLibrary()
  return signXml(
    xml,
    '/*',
    { reference: "/*/*[local-name(.)='Issuer']", action: 'after' },
    {
      privateKey,
      publicCert,
      signatureAlgorithm: 'sha256',
      digestAlgorithm: 'sha256',
    },
  )
}

async function deflate(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
