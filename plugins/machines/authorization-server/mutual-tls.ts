/** Certificates of clients (RFC 8705), which a trusted proxy hands on in a header: clients authenticate by them, and tokens are bound to them. */
import { type Context, sha256, toBase64Url } from 'authkernel/kernel'
import { nodeCrypto } from 'authkernel/kernel/protocols'
import { readClientKeys } from './client-keys.ts'
import type { ClientAuthMethod } from './client-metadata.ts'
import type { Client } from './clients.ts'
import type { MutualTlsOptions } from './options.ts'

type Certificate = InstanceType<NonNullable<ReturnType<typeof nodeCrypto>>['X509Certificate']>

/** Characters of the header: certificates have 1 to 4 KB. */
const maxHeader = 16_384
const inPem = /^-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----\s*$/

/** Methods that `mutualTls` makes possible. */
export function certificateMethods(options: MutualTlsOptions | undefined): readonly ClientAuthMethod[] {
  if (!options) return []
  return options.chainVerified ? ['tls_client_auth', 'self_signed_tls_client_auth'] : ['self_signed_tls_client_auth']
}

/** Whether the certificate of the connection is the client's own. */
export async function fitsCertificate(ctx: Context, options: MutualTlsOptions | undefined, client: Client): Promise<boolean> {
  if (!options || !certificateMethods(options).includes(client.metadata.token_endpoint_auth_method)) return false
  const { header } = options
  const certificate = readHeader(ctx.request.headers.get(header))
  if (!certificate || !isInTime(certificate, ctx.now)) return false
  return client.metadata.token_endpoint_auth_method === 'self_signed_tls_client_auth'
    ? isRegistered(ctx, client, certificate)
    : hasName(client, certificate)
}

/** `x5t#S256` of the certificate of the connection (RFC 8705 section 3.1); null: there is none that counts now. The key is proved by TLS, so no CA is needed. */
export async function readThumbprint(ctx: Context, options: MutualTlsOptions | undefined): Promise<string | null> {
  const certificate = options && readHeader(ctx.request.headers.get(options.header))
  return certificate && isInTime(certificate, ctx.now) ? toBase64Url(await sha256(new Uint8Array(certificate.raw))) : null
}

/** `:<DER in base64>:` (RFC 9440), or PEM with percent-encoding, as nginx, Envoy and Apache give it. */
function readHeader(value: string | null): Certificate | undefined {
  const crypto = nodeCrypto()
  if (value === null || value.length > maxHeader || !crypto) return undefined
  const [, base64] = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(value) ?? []
  try {
    if (base64 !== undefined) return new crypto.X509Certificate(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)))
    const pem = decodeURIComponent(value)
    return inPem.test(pem) ? new crypto.X509Certificate(pem) : undefined
  } catch {
    return undefined
  }
}

function isInTime({ validFrom, validTo }: Certificate, now: Date): boolean {
  return new Date(validFrom) <= now && now < new Date(validTo)
}

/** One of the certificates in `x5c` of the client's keys (section 2.2.2). */
async function isRegistered(ctx: Context, client: Client, certificate: Certificate): Promise<boolean> {
  const own = certificate.raw.toString('base64')
  const jwks = await readClientKeys(ctx, client)
  return jwks?.keys.some(({ x5c }) => Array.isArray(x5c) && x5c[0] === own) === true
}

/** The one name that the client has registered (section 2.1.2), as it is written. The proxy has verified the chain (`chainVerified`). */
function hasName({ metadata }: Client, { subject, subjectAltName = '' }: Certificate): boolean {
  const { tls_client_auth_subject_dn: dn, tls_client_auth_san_dns: dns, tls_client_auth_san_uri: uri } = metadata
  if (dn !== undefined) return dn === distinguishedName(subject)
  const wanted = dns === undefined ? `URI:${uri}` : `DNS:${dns}`
  // Node writes names with special characters in quotes, so that one name cannot pretend to be two.
  return (dns ?? uri) !== undefined && subjectAltName.split(', ').includes(wanted)
}

/** As RFC 4514 writes it: the last part first. Node gives a part in each line, with special characters escaped. */
function distinguishedName(subject: string): string {
  return subject.split('\n').toReversed().join(',')
}
