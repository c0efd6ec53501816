/** The identity provider of a connection: from its fields, or from metadata that is kept for an hour and read again when certificates change. */
import { allowInsecureRequests, type Context, isSecureUrl } from 'authkernel/kernel'
import { SamlMetadataError, SamlProviderChanged } from './errors.ts'
import { fetchMetadata, parseMetadata } from './metadata.ts'
import { type SamlConfig, type SamlIdp, toPem } from './options.ts'

interface CachedMetadata {
  idp: SamlIdp
  /** Milliseconds since the epoch. */
  at: number
}

const hour = 3_600_000
const minute = 60_000
/** How long metadata counts while its address is not reachable. */
const longest = 7 * 86_400_000
const maxKept = 1_000

const idps = new WeakMap<SamlConfig, SamlIdp>()

/** With certificates in PEM. Throws SamlMetadataError, SamlProviderChanged, and NetworkError where metadata was never read. */
export async function idpOf(ctx: Context, provider: SamlConfig): Promise<SamlIdp> {
  const idp = await readIdp(ctx, provider)
  if (provider.metadata !== undefined) assertSecure(provider, idp)
  return assertSameProvider(provider, idp, provider.idpEntityId ?? idp.entityId)
}

/**
 * The same, read again because a signature fitted no certificate. Undefined: there is nothing newer. New certificates count for the identity provider of before
 * alone: an attacker who answers at the address of the metadata could else sign in its name.
 */
export async function refreshIdp(ctx: Context, provider: SamlConfig, known: SamlIdp): Promise<SamlIdp | undefined> {
  const { metadata } = provider
  if (!metadata?.startsWith('https:')) return undefined
  // At most once a minute: strangers can send responses with wrong signatures.
  const { idp } = await readCached(ctx, metadata, minute)
  assertSameProvider(provider, idp, known.entityId)
  return idp.certificates.join() === known.certificates.join() ? undefined : idp
}

/** Users must be sent over TLS: the request names the app, and a form could go to any address. */
function assertSecure(provider: SamlConfig, idp: SamlIdp): void {
  for (const url of [idp.signInUrl, idp.signOutUrl])
    if (url !== undefined && !isSecureUrl(new URL(url), provider[allowInsecureRequests] === true))
      throw new SamlMetadataError(`The metadata of provider "${provider.id}" has the address ${url.slice(0, 300)}, which is not https.`)
}

/** The accounts of a provider rest on its entity id: the same NameID at another one is another user. */
function assertSameProvider(provider: SamlConfig, idp: SamlIdp, expected: string): SamlIdp {
  if (idp.entityId === expected) return idp
  throw new SamlProviderChanged(provider.id, expected, idp.entityId)
}

async function readIdp(ctx: Context, provider: SamlConfig): Promise<SamlIdp> {
  const { metadata } = provider
  if (metadata?.startsWith('https:')) return (await readCached(ctx, metadata, hour)).idp
  let idp = idps.get(provider)
  if (!idp) {
    idp = metadata === undefined ? withPem(provider.idp) : toIdp(parseMetadata(metadata))
    idps.set(provider, idp)
  }
  return idp
}

async function readCached(ctx: Context, url: string, maxAge: number): Promise<CachedMetadata> {
  const cache = ctx.app.shared.cache<CachedMetadata>('saml-metadata')
  const key = `${ctx.settings.namespace} ${url}`
  const kept = cache.get(key)
  const now = ctx.runtime.now()
  if (kept && now - kept.at < maxAge) return kept
  return ctx.app.shared.flight(`saml-metadata ${key}`, async () => {
    try {
      const read = { idp: toIdp(await fetchMetadata(ctx, url)), at: now }
      cache.delete(key)
      if (cache.size >= maxKept) cache.delete(cache.keys().next().value ?? '')
      cache.set(key, read)
      return read
    } catch (error) {
      if (!kept || now - kept.at > longest) throw error
      ctx.logger.warn('saml-metadata-stale')
      return kept
    }
  })
}

function toIdp({ certificates, ...rest }: ReturnType<typeof parseMetadata>): SamlIdp {
  return { ...rest, certificates: certificates.map(({ pem }) => pem) }
}

function withPem(idp: SamlIdp | undefined): SamlIdp {
  // Checked before the first request: a provider has `idp` where it has no `metadata`.
  const known = idp as SamlIdp
  return { ...known, certificates: known.certificates.map(toPem) }
}
