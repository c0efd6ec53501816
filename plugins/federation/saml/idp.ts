/** The identity provider of a connection: from its fields, or from metadata that is kept for an hour and read again when certificates change. */
import type { Context } from 'authkernel/kernel'
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

/** With certificates in PEM. Throws SamlMetadataError, and NetworkError where metadata was never read. */
export async function idpOf(ctx: Context, provider: SamlConfig): Promise<SamlIdp> {
  const { metadata } = provider
  if (metadata?.startsWith('https:')) return (await readCached(ctx, metadata, hour)).idp
  let idp = idps.get(provider)
  if (!idp) {
    idp = metadata === undefined ? withPem(provider.idp) : toIdp(parseMetadata(metadata))
    idps.set(provider, idp)
  }
  return idp
}

/** The same, read anew because a signature fitted no certificate. Undefined: there is nothing newer. */
export async function refreshIdp(ctx: Context, { metadata }: SamlConfig, known: SamlIdp): Promise<SamlIdp | undefined> {
  if (!metadata?.startsWith('https:')) return undefined
  // At most once a minute: strangers can send responses with wrong signatures.
  const { idp } = await readCached(ctx, metadata, minute)
  return idp.certificates.join() === known.certificates.join() ? undefined : idp
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
