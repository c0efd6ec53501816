/** The certificates that responses of a SAML connection may be signed with, and when they end. */
import type { AnyContext, Row } from 'authkernel/kernel'
import { nodeCrypto } from 'authkernel/kernel/protocols'
import type {} from 'authkernel/plugins/saml'
import { type Actor, requireConnection } from './actor.ts'
import { SsoInput } from './errors.ts'
import { isDraft } from './input.ts'
import type { ConnectionRow, SamlSettings } from './tables.ts'

/** One signing certificate of an identity provider. */
export interface ConnectionCertificate {
  /** SHA-256 of the certificate in hex. */
  fingerprint: string
  /** Distinguished name of its owner; at most 300 characters. */
  subject: string
  notAfter: Date
  pem: string
}

/** First the one that ends last. None for OpenID Connect and for drafts. Throws SsoInput for metadata that cannot be read. */
export async function listCertificates(actor: Actor, id: string): Promise<ConnectionCertificate[]> {
  return readCertificatesOf(actor.ctx, await requireConnection(actor, id, false))
}

/** The same of a row. */
export async function readCertificatesOf(ctx: AnyContext, row: Row<ConnectionRow>): Promise<ConnectionCertificate[]> {
  if (row.type !== 'saml' || isDraft(row)) return []
  const { metadataUrl, certificates = [], entityId } = row.settings as SamlSettings
  const found = (metadataUrl === undefined ? certificates : await readFromMetadata(ctx, metadataUrl, entityId)).map(readCertificate)
  return found.toSorted((a, b) => b.notAfter.getTime() - a.notAfter.getTime())
}

async function readFromMetadata(ctx: AnyContext, url: string, entityId: string): Promise<string[]> {
  try {
    const read = await ctx.service('samlMetadata').read(ctx, url)
    if (read.entityId !== entityId)
      throw new SsoInput(`It is of the identity provider ${read.entityId.slice(0, 300)}, not of ${entityId}. Make a new connection.`)
    return read.certificates.map(({ pem }) => pem)
  } catch (error) {
    throw new SsoInput(`sso: the metadata cannot be read. ${error instanceof Error ? error.message : ''}`.trim())
  }
}

/** Throws SsoInput for a text that is no certificate. */
export function readCertificate(pem: string): ConnectionCertificate {
  const crypto = nodeCrypto()
  if (!crypto) throw new SsoInput('sso: this runtime cannot read certificates. SAML needs Node 20.')
  try {
    const { fingerprint256, subject, validTo } = new crypto.X509Certificate(pem)
    return {
      fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
      subject: (subject ?? '').replaceAll('\n', ', ').slice(0, 300),
      notAfter: new Date(validTo),
      pem,
    }
  } catch {
    throw new SsoInput('sso: a certificate cannot be read. Give certificates in PEM.')
  }
}
