/** Options of a SAML provider, and their checks. */
import { allowInsecureRequests, type Awaitable, isSecureUrl, type OAuthProviderButtonStyles, type ProviderUser } from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'
import { nodeCrypto } from 'authkernel/kernel/protocols'
import type { SamlAnswer } from './answer.ts'
import type { acceptSha1 } from './symbols.ts'

/** An identity provider, as its metadata describes it. */
export interface SamlIdp {
  /** Its entity id: the issuer of everything that it signs. */
  entityId: string
  /** Address of its SingleSignOnService. */
  signInUrl: string
  /** How requests go there; default `redirect`. */
  binding?: 'redirect' | 'post' | undefined
  /** Address of its SingleLogoutService, by HTTP-Redirect unless `signOutBinding` says `post`. Default: no single logout. */
  signOutUrl?: string | undefined
  /** How logout messages go there; default `redirect`. */
  signOutBinding?: 'redirect' | 'post' | undefined
  /** Its signing certificates in PEM or base64. Several while it changes them. */
  certificates: readonly string[]
}
/** A private key and its certificate, both in PEM. */
export interface SamlKeyPair {
  /** PKCS #8 or PKCS #1. */
  privateKey: string
  /** Shown in our metadata. */
  certificate: string
}
/** One connection to an identity provider that speaks SAML 2.0. */
export interface SamlConfig {
  /** Part of the addresses of this app; lower case, unique in one `createAuth`. */
  id: string
  /** Label on the sign-in button. */
  name: string
  /** Sign-in by SAML 2.0. */
  type: 'saml'
  /** The image and the colours of the button. */
  style?: OAuthProviderButtonStyles | undefined
  /** Absolute URL that begins a sign-in, present on the provider object that callbacks see. */
  signinUrl?: string
  /** Where users come back to; beside `signinUrl`. */
  callbackUrl?: string
  /** The identity provider by its fields. Set this or `metadata`. */
  idp?: SamlIdp | undefined
  /** The identity provider by its metadata: the XML, or an https URL that is read again each hour and when a signature fits no certificate. */
  metadata?: string | undefined
  /** Entity id that `metadata` must have. Responses and metadata with another one are rejected. Default: the one that `metadata` has. */
  idpEntityId?: string | undefined
  /** Our entity id. Default: the URL of our metadata, `<basePath>/saml/<id>/metadata`. */
  entityId?: string | undefined
  /**
   * Path of our assertion consumer service below the base path: the one that another product registered. A route there must hand the form on, with status 307, to
   * `/saml/<id>/acs`, as `betterAuthCompatPlugin` does. Default: `/saml/<id>/acs`.
   */
  acsPath?: string | undefined
  /** Attribute whose one value names the account, instead of the NameID. Default: the NameID, which must not be transient. */
  subject?: string | undefined
  /** Format of the NameID that is asked for. Default: none. */
  nameIdFormat?: string | undefined
  /** Signs our requests. Default: they are not signed, and there is no single logout. */
  signing?: SamlKeyPair | undefined
  /** Opens encrypted assertions. Several while you change the key; metadata shows the first. */
  decryption?: SamlKeyPair | readonly SamlKeyPair[] | undefined
  /** Accepts responses without a request of this server; the user must then confirm on a page. Default false. */
  idpInitiated?: boolean | undefined
  /** Demands that the user proves again who they are at each sign-in. Default false. */
  forceAuthn?: boolean | undefined
  /** Authentication context classes, of which the response must name one. Default: any. */
  authnContext?: readonly string[] | undefined
  /** Counts `authnContext` of the response as a second factor where it is one of these classes. Default: none. */
  mfaContexts?: readonly string[] | undefined
  /** Whether addresses of this provider are verified: in these domains alone, or all (true). Default false. */
  trustEmail?: boolean | readonly string[] | undefined
  /** Links to the user who has the same address, although nothing proves it. Default false. */
  allowDangerousEmailAccountLinking?: boolean | undefined
  /** Seconds that the clocks may differ; 0 to 300, default 60. */
  clockSkew?: number | undefined
  /** The user of an answer. `id` names the account. Default: id is the NameID; address and name come from the usual attributes. */
  profile?: ((answer: SamlAnswer) => Awaitable<ProviderUser>) | undefined
  /** Accepts SHA-1 in signatures: `[acceptSha1]: true`. Forged SHA-1 signatures are affordable; use it only until the identity provider is updated. */
  [acceptSha1]?: true | undefined
  /** Permits `http:` addresses of the identity provider. */
  [allowInsecureRequests]?: boolean | undefined
}

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    saml: SamlConfig
  }
}

/** A record, so that the compiler finds what is missing. */
export const optionNames: Record<Exclude<keyof SamlConfig, symbol>, true> = {
  id: true,
  name: true,
  type: true,
  signinUrl: true,
  callbackUrl: true,
  idp: true,
  metadata: true,
  idpEntityId: true,
  entityId: true,
  acsPath: true,
  subject: true,
  style: true,
  nameIdFormat: true,
  signing: true,
  decryption: true,
  idpInitiated: true,
  forceAuthn: true,
  authnContext: true,
  mfaContexts: true,
  trustEmail: true,
  allowDangerousEmailAccountLinking: true,
  clockSkew: true,
  profile: true,
}

/** Throws InvalidProvider that names provider and option. */
export function validateProvider(provider: SamlConfig): void {
  const refuse = (what: string): never => {
    throw new InvalidProvider(`SAML provider "${provider.id}": ${what}`)
  }
  const { idp, metadata, clockSkew = 60, trustEmail, authnContext, mfaContexts, entityId, idpEntityId, acsPath } = provider
  if ((idp === undefined) === (metadata === undefined)) refuse('set either `idp` or `metadata`.')
  if (metadata !== undefined && !/^\s*<|^https:\/\//.test(metadata)) refuse('`metadata` must be an https URL, or the XML itself.')
  if (idp) checkIdp(idp, provider[allowInsecureRequests] === true, refuse)
  if (!(clockSkew >= 0 && clockSkew <= 300)) refuse('`clockSkew` must be 0 to 300 seconds.')
  for (const [option, list] of Object.entries({ authnContext, mfaContexts }))
    if (list !== undefined && !(Array.isArray(list) && list.every((one) => typeof one === 'string' && one !== '')))
      refuse(`\`${option}\` must be a list of texts.`)
  if (trustEmail !== undefined && typeof trustEmail !== 'boolean' && !Array.isArray(trustEmail))
    refuse('`trustEmail` must be true, false or a list of domains.')
  if (entityId !== undefined && (entityId === '' || entityId.length > 1024)) refuse('`entityId` must be a text of at most 1024 characters.')
  if (idpEntityId !== undefined && (typeof idpEntityId !== 'string' || idpEntityId === '' || metadata === undefined))
    refuse('`idpEntityId` must be a text, beside `metadata`. With `idp` set `idp.entityId`.')
  if (acsPath !== undefined && !/^(?:\/[\w.~-]{1,64}){1,8}$/.test(acsPath))
    refuse('`acsPath` must be a path below the base path, such as "/saml/acs".')
  for (const option of ['idpInitiated', 'forceAuthn', 'allowDangerousEmailAccountLinking'] as const)
    if (provider[option] !== undefined && typeof provider[option] !== 'boolean') refuse(`\`${option}\` must be true or false.`)
  if (provider.signing) checkPair('signing', provider.signing, refuse)
  for (const pair of decryptionOf(provider)) checkPair('decryption', pair, refuse)
}

/** The keys of `decryption`, in their order. */
export function decryptionOf({ decryption }: SamlConfig): readonly SamlKeyPair[] {
  return decryption === undefined ? [] : 'privateKey' in decryption ? [decryption] : decryption
}

/** A certificate as PEM, whichever way it was given. */
export function toPem(certificate: string): string {
  if (certificate.includes('-----BEGIN')) return certificate.trim()
  const lines = certificate.replace(/\s+/g, '').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----`
}

/** Whether the provider is trusted for an address. */
export function trustsAddress({ trustEmail = false }: SamlConfig, email: string): boolean {
  if (typeof trustEmail === 'boolean') return trustEmail
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return trustEmail.some((name) => name.toLowerCase() === domain)
}

function checkIdp(idp: SamlIdp, insecure: boolean, refuse: (what: string) => never): void {
  if (typeof idp.entityId !== 'string' || idp.entityId === '')
    refuse('`idp.entityId` is missing: it is in the metadata of the identity provider.')
  for (const option of ['signInUrl', 'signOutUrl'] as const) {
    const url = idp[option]
    if (url === undefined && option === 'signOutUrl') continue
    if (typeof url !== 'string' || !URL.canParse(url) || !isSecureUrl(new URL(url), insecure))
      refuse(`\`idp.${option}\` must be an https URL.`)
  }
  for (const option of ['binding', 'signOutBinding'] as const)
    if (![undefined, 'redirect', 'post'].includes(idp[option])) refuse(`\`idp.${option}\` must be "redirect" or "post".`)
  if (!Array.isArray(idp.certificates) || idp.certificates.length === 0) refuse('`idp.certificates` needs at least one certificate.')
  const crypto = nodeCrypto()
  for (const [index, certificate] of idp.certificates.entries()) {
    try {
      // Elsewhere than on Node the first sign-in says what is missing.
      if (!crypto) return
      if (new crypto.X509Certificate(toPem(certificate)).raw.length > 0) continue
    } catch {
      refuse(`\`idp.certificates[${index}]\` is no X.509 certificate in PEM or base64.`)
    }
  }
}

function checkPair(option: string, { privateKey, certificate }: SamlKeyPair, refuse: (what: string) => never): void {
  const crypto = nodeCrypto()
  try {
    if (crypto && new crypto.X509Certificate(toPem(certificate)).checkPrivateKey(crypto.createPrivateKey(privateKey))) return
    if (!crypto) return
  } catch {
    refuse(`\`${option}\` needs \`privateKey\` and \`certificate\` in PEM.`)
  }
  refuse(`\`${option}.certificate\` does not belong to \`${option}.privateKey\`.`)
}
