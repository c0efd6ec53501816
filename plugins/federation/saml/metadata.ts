/** Metadata of identity providers, read, and our own, written (SAML Metadata sections 2.4.3 and 2.4.4). */
import type { AnyContext, Context } from 'authkernel/kernel'
import { nodeCrypto } from 'authkernel/kernel/protocols'
import { SamlMetadataError } from './errors.ts'
import { decryptionOf, type SamlConfig, toPem } from './options.ts'
import { attributeOf, contentOf, elementsOf, isNamed, type Name, ns, walk } from './tree.ts'
import { escapeXml, parseXml, type XmlElement } from './xml.ts'

/** An identity provider as its metadata describes it. */
export interface SamlMetadata {
  /** Its entity id. */
  entityId: string
  /** Address of its SingleSignOnService. */
  signInUrl: string
  /** How requests go there: HTTP-Redirect where it has both. */
  binding: 'redirect' | 'post'
  /** Address of its SingleLogoutService, where it has one. */
  signOutUrl?: string
  /** How logout messages go there. */
  signOutBinding?: 'redirect' | 'post'
  /** Signing certificates in PEM, and when they end. */
  certificates: { pem: string; notAfter: Date }[]
}

const bindings = { redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST' }
const maxBytes = 524_288

/** Reads metadata at an address that a customer chose. Throws SamlMetadataError, and NetworkError of `publicFetch`. */
export async function fetchMetadata(ctx: AnyContext, url: string): Promise<SamlMetadata> {
  const { content } = await ctx.service('publicFetch').get(url, { limit: maxBytes, signal: ctx.signal })
  return parseMetadata(new TextDecoder().decode(content), ctx.runtime.now())
}

/** The one identity provider of a document. `now` in milliseconds: metadata that ended before is rejected. Throws SamlMetadataError. */
export function parseMetadata(xml: string, now?: number): SamlMetadata {
  if (xml.length > maxBytes)
    throw new SamlMetadataError('Metadata of more than 512 KB is not read. Give the document of one identity provider.')
  let root: XmlElement
  try {
    root = parseXml(withoutComments(xml.replace(/^\uFEFF/, '').trimStart()))
  } catch (error) {
    throw new SamlMetadataError(`The metadata cannot be read. ${(error as Error).message}`)
  }
  const entities = [...walk(root)].filter((one) => isNamed(one, [ns.metadata, 'EntityDescriptor']))
  const [found, ...more] = entities.flatMap((entity) => roleOf(entity) ?? [])
  if (!found) throw new SamlMetadataError('The metadata describes no SAML 2.0 identity provider (IDPSSODescriptor).')
  if (more.length > 0) throw new SamlMetadataError('The metadata describes more than one identity provider. Give the document of one.')
  const { entity, role } = found
  const entityId = attributeOf(entity, 'entityID') ?? ''
  if (entityId === '') throw new SamlMetadataError('The metadata has no `entityID`.')
  const until = attributeOf(entity, 'validUntil')
  if (now !== undefined && until !== undefined && !(Date.parse(until) > now))
    throw new SamlMetadataError('The metadata ended (`validUntil`).')
  const signIn = serviceOf(role, [ns.metadata, 'SingleSignOnService'])
  if (!signIn) throw new SamlMetadataError('The metadata has no SingleSignOnService for HTTP-Redirect or HTTP-POST.')
  const signOut = serviceOf(role, [ns.metadata, 'SingleLogoutService'])
  const certificates = certificatesOf(role)
  if (certificates.length === 0) throw new SamlMetadataError('The metadata has no signing certificate.')
  return {
    entityId,
    signInUrl: signIn.url,
    binding: signIn.binding,
    ...(signOut && { signOutUrl: signOut.url, signOutBinding: signOut.binding }),
    certificates,
  }
}

/** Our entity id at a provider. */
export function entityIdOf(ctx: Context, { id, entityId }: SamlConfig): string {
  return entityId ?? `${ctx.base}/saml/${id}/metadata`
}

/** Our assertion consumer service. */
export function acsOf(ctx: Context, { id, acsPath = `/saml/${id}/acs` }: SamlConfig): string {
  return ctx.base + acsPath
}

/** Our single logout service. */
export function logoutUrlOf(ctx: Context, { id }: SamlConfig): string {
  return `${ctx.base}/saml/${id}/logout`
}

/** Our metadata, for the administrator of the identity provider. */
export function writeMetadata(ctx: Context, provider: SamlConfig): string {
  const { signing, nameIdFormat } = provider
  const [decryption] = decryptionOf(provider)
  const key = (use: string, certificate: string): string =>
    `<md:KeyDescriptor use="${use}"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${toPem(certificate).replace(
      /-----[A-Z ]+-----|\s/g,
      '',
    )}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`
  const logout = escapeXml(logoutUrlOf(ctx, provider))
  return [
    `<?xml version="1.0" encoding="UTF-8"?>\n<md:EntityDescriptor xmlns:md="${ns.metadata}" xmlns:ds="${ns.signature}" entityID="${escapeXml(entityIdOf(ctx, provider))}">`,
    `<md:SPSSODescriptor AuthnRequestsSigned="${signing !== undefined}" WantAssertionsSigned="true" protocolSupportEnumeration="${ns.protocol}">`,
    signing && key('signing', signing.certificate),
    decryption && key('encryption', decryption.certificate),
    signing &&
      Object.values(bindings)
        .map((binding) => `<md:SingleLogoutService Binding="${binding}" Location="${logout}"/>`)
        .join(''),
    nameIdFormat && `<md:NameIDFormat>${escapeXml(nameIdFormat)}</md:NameIDFormat>`,
    `<md:AssertionConsumerService Binding="${bindings.post}" Location="${escapeXml(acsOf(ctx, provider))}" index="0" isDefault="true"/>`,
    '</md:SPSSODescriptor></md:EntityDescriptor>\n',
  ]
    .filter(Boolean)
    .join('')
}

function roleOf(entity: XmlElement): { entity: XmlElement; role: XmlElement } | undefined {
  const role = elementsOf(entity, [ns.metadata, 'IDPSSODescriptor']).find((one) =>
    (attributeOf(one, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(ns.protocol),
  )
  return role && { entity, role }
}

function serviceOf(role: XmlElement, name: Name): { url: string; binding: 'redirect' | 'post' } | undefined {
  for (const binding of ['redirect', 'post'] as const) {
    const service = elementsOf(role, name).find((one) => attributeOf(one, 'Binding') === bindings[binding])
    const url = service && attributeOf(service, 'Location')
    if (url !== undefined && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return { url, binding }
  }
  return undefined
}

function certificatesOf(role: XmlElement): SamlMetadata['certificates'] {
  const crypto = nodeCrypto()
  const keys = elementsOf(role, [ns.metadata, 'KeyDescriptor']).filter((one) => attributeOf(one, 'use') !== 'encryption')
  const texts = keys.flatMap((key) => [...walk(key)].filter((one) => isNamed(one, [ns.signature, 'X509Certificate'])).map(contentOf))
  return [...new Set(texts.map((text) => toPem(text)))].flatMap((pem) => {
    try {
      return crypto ? [{ pem, notAfter: new Date(new crypto.X509Certificate(pem).validTo) }] : []
    } catch {
      throw new SamlMetadataError('The metadata has a certificate that cannot be read.')
    }
  })
}

/** Metadata comes by https or from the host, and may have comments. Nothing that is signed goes this way. */
function withoutComments(xml: string): string {
  const parts: string[] = []
  let at = 0
  for (;;) {
    const begin = xml.indexOf('<!--', at)
    const end = begin === -1 ? -1 : xml.indexOf('-->', begin + 4)
    if (end === -1) return parts.join('') + xml.slice(at)
    parts.push(xml.slice(at, begin))
    at = end + 3
  }
}
