/** Settings of a SAML connection: from metadata, or by their fields. */
import { type AnyContext, AuthError, isSecureUrl } from 'authkernel/kernel'
import type { SamlMetadata } from 'authkernel/plugins/saml'
import { readCertificate } from './certificates.ts'
import { SsoInput } from './errors.ts'
import { readFlag, readText } from './input.ts'
import type { SamlSettings } from './tables.ts'

/** A key and its certificate in PEM. */
export interface SigningPair {
  privateKey: string
  certificate: string
}

/** Reads metadata where it is given. Throws SsoInput that says what is wrong with it. */
export async function readSamlSettings(ctx: AnyContext, fields: Readonly<Record<string, unknown>>): Promise<SamlSettings> {
  if (!ctx.app.services.samlMetadata)
    throw new SsoInput('sso: connections of type "saml" need `.use(samlPlugin())` of authkernel/plugins/saml.')
  const options = {
    ...(readFlag(fields, 'idpInitiated', false) && { idpInitiated: true }),
    ...(fields['nameIdFormat'] !== undefined && { nameIdFormat: readText(fields, 'nameIdFormat', 255) }),
    ...(readFlag(fields, 'forceAuthn', false) && { forceAuthn: true }),
    ...readClasses(fields, 'authnContext'),
    ...readClasses(fields, 'mfaContexts'),
  }
  const { metadata, metadataUrl } = fields
  if (metadata !== undefined) {
    if (typeof metadata !== 'string') throw new SsoInput('sso: `metadata` must be XML or an https URL.')
    const isUrl = /^https:\/\//.test(metadata)
    const read = await readMetadata(ctx, metadata, isUrl)
    if (!isSecureUrl(new URL(read.signInUrl)))
      throw new SsoInput(`sso: the metadata has the sign-in address ${read.signInUrl.slice(0, 300)}. It must be https.`)
    if (isUrl) return { entityId: read.entityId, metadataUrl: metadata, ...options }
    const { certificates, ...rest } = read
    return { ...rest, certificates: certificates.map(({ pem }) => pem), ...options }
  }
  const entityId = readText(fields, 'entityId', 1024)
  if (typeof metadataUrl === 'string') return { entityId, metadataUrl, ...options }
  return {
    entityId,
    signInUrl: readUrl(fields, 'signInUrl'),
    binding: readBinding(fields, 'binding'),
    ...(fields['signOutUrl'] !== undefined && {
      signOutUrl: readUrl(fields, 'signOutUrl'),
      signOutBinding: readBinding(fields, 'signOutBinding'),
    }),
    certificates: readCertificates(fields['certificates']),
    ...options,
  }
}

/** Undefined: the request is not to be signed. Throws SsoInput. */
export function readSigning(sent: unknown): SigningPair | undefined {
  if (sent === undefined) return undefined
  const { privateKey, certificate } = Object(sent) as Record<string, unknown>
  if (isPem(privateKey, 'PRIVATE KEY') && isPem(certificate, 'CERTIFICATE')) return { privateKey, certificate }
  throw new SsoInput('sso: `signing` must have `privateKey` and `certificate` in PEM.')
}

/** Undefined: what is stored stays. Throws SsoInput. */
export function readDecryption(sent: unknown): SigningPair[] | undefined {
  if (sent === undefined) return undefined
  const pairs = Array.isArray(sent) ? (sent as unknown[]) : [sent]
  const read = pairs.map((pair) => {
    const { privateKey, certificate } = Object(pair) as Record<string, unknown>
    return isPem(privateKey, 'PRIVATE KEY') && isPem(certificate, 'CERTIFICATE') ? { privateKey, certificate } : undefined
  })
  if (read.length <= 3 && read.every((pair) => pair !== undefined)) return read
  throw new SsoInput('sso: `decryption` must be at most 3 pairs of `privateKey` and `certificate` in PEM.')
}

function readClasses(fields: Readonly<Record<string, unknown>>, name: 'authnContext' | 'mfaContexts'): { [K in typeof name]?: string[] } {
  const value = fields[name] ?? []
  if (!Array.isArray(value) || value.length > 10) throw new SsoInput(`sso: \`${name}\` must be a list of at most 10 classes.`)
  const classes = value.map((one: unknown) => readText({ [name]: one }, name, 255))
  return classes.length > 0 ? { [name]: classes } : {}
}

async function readMetadata(ctx: AnyContext, metadata: string, isUrl: boolean): Promise<SamlMetadata> {
  const reader = ctx.service('samlMetadata')
  try {
    return await (isUrl ? reader.read(ctx, metadata) : reader.parse(metadata))
  } catch (error) {
    // What the customer gave is wrong, and the message says how.
    throw new SsoInput(`sso: \`metadata\` cannot be used. ${error instanceof Error ? error.message : ''}`.trim(), {
      cause: error instanceof AuthError ? error.cause : {},
    })
  }
}

function readUrl(fields: Readonly<Record<string, unknown>>, name: string): string {
  const text = readText(fields, name, 1000)
  if (URL.canParse(text) && isSecureUrl(new URL(text)) && text.startsWith('https://')) return text
  throw new SsoInput(`sso: \`${name}\` must be an https URL.`)
}

function readBinding(fields: Readonly<Record<string, unknown>>, name: string): 'redirect' | 'post' {
  const binding = fields[name] ?? 'redirect'
  if (binding === 'redirect' || binding === 'post') return binding
  throw new SsoInput(`sso: \`${name}\` must be "redirect" or "post".`)
}

function readCertificates(value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0 && value.length <= 10 && value.every((one) => isPem(one, 'CERTIFICATE')))
    return (value as string[]).map((pem) => readCertificate(pem).pem)
  throw new SsoInput('sso: `certificates` must be 1 to 10 certificates in PEM.')
}

function isPem(value: unknown, label: string): value is string {
  return typeof value === 'string' && value.length <= 20_000 && value.includes('-----BEGIN ') && value.includes(`${label}-----`)
}
