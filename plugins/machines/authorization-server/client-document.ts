/** Client ID Metadata Documents: the `client_id` is the https address of a document that describes the client. A stranger chose the address. */
import { type AnyContext, NetworkError, networksOf, setBounded } from 'authkernel/kernel'
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts'
import { OAuthRefusal } from './errors.ts'
import { maxClientId } from './tables.ts'

/** Milliseconds that a document counts which says nothing of it, and the bounds of what it may say (RFC 9111 section 5.2.2). */
const lifetime = 600_000
const shortest = 60_000
const longest = 86_400_000
/** Milliseconds that a failure is remembered, so that one address is not called for each request. */
const failureLifetime = 60_000
const maxDocuments = 1_000
const maxBytes = 16_384
/** New documents that one network, and the whole server, may make this server fetch. */
const perNetwork = { max: 20, seconds: 600 }
const perServer = { max: 600, seconds: 600 }

interface CachedDocument {
  until: number
  metadata: ClientMetadata | undefined
}

/** Whether a `client_id` is the address of a document: https with a path, in its canonical form, without query, fragment, password and dots. */
export function isDocumentAddress(id: string): boolean {
  if (!id.startsWith('https://') || id.length > maxClientId || !URL.canParse(id)) return false
  const { href, pathname, search, hash, username, password } = new URL(id)
  return href === id && pathname !== '/' && search === '' && hash === '' && username === '' && password === ''
}

/** The metadata at an address. Throws OAuthRefusal `invalid_client` for a document that cannot be read or describes another client. */
export async function readClientDocument(ctx: AnyContext, id: string): Promise<ClientMetadata> {
  const documents = ctx.app.shared.cache<CachedDocument>('authorization-server.documents')
  const known = documents.get(id)
  const found = known && known.until > ctx.runtime.now() ? known : await fetchDocument(ctx, id)
  setBounded(documents, id, found, maxDocuments)
  if (!found.metadata) throw unreadable()
  return found.metadata
}

async function fetchDocument(ctx: AnyContext, id: string): Promise<CachedDocument> {
  await countFetch(ctx)
  const found = await ctx
    .service('publicFetch')
    .get(id, { types: ['application/json'], limit: maxBytes, signal: ctx.signal })
    .then(({ content, headers }) => ({ metadata: parseDocument(id, content), age: lifetimeOf(headers) }))
    .catch((error: unknown) => {
      if (!(error instanceof NetworkError || error instanceof OAuthRefusal)) throw error
      ctx.logger.debug?.('authorization-server: the document of a client was rejected', { client: id, reason: error.message })
      return undefined
    })
  return { until: ctx.runtime.now() + (found?.age ?? failureLifetime), metadata: found?.metadata }
}

/** `max-age` less `age`. A document that may not be kept counts for a minute all the same: one sign-in reads it several times. */
function lifetimeOf(headers: Headers): number {
  const control = headers.get('cache-control') ?? ''
  if (/\bno-(?:store|cache)\b/i.test(control)) return shortest
  const seconds = /\bmax-age="?(\d{1,9})\b/i.exec(control)?.[1]
  if (seconds === undefined) return lifetime
  const age = /^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? 0
  return Math.min(Math.max((Number(seconds) - Number(age)) * 1000, shortest), longest)
}

function parseDocument(id: string, content: Uint8Array): ClientMetadata {
  const document = parseJson(content)
  // Else a document could speak for a client at another address.
  if (document?.['client_id'] !== id) throw unreadable()
  if ('client_secret' in document) throw unreadable()
  return readClientMetadata(document, 'document')
}

function parseJson(content: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(content))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

async function countFetch(ctx: AnyContext): Promise<void> {
  const address = ctx.facts.address
  const network = address === undefined ? undefined : networksOf(address)[0]?.key
  // The network first: one that is over its own limit takes nothing from the others.
  const own = network === undefined ? undefined : await ctx.limit.take(`authorization-server.document ${network}`, perNetwork)
  if (own?.allowed === false || !(await ctx.limit.take('authorization-server.document', perServer)).allowed)
    throw new OAuthRefusal('temporarily_unavailable', 'Too many new clients. Try again later.', 429, { 'Retry-After': '600' })
}

function unreadable(): OAuthRefusal {
  return new OAuthRefusal('invalid_client', 'The metadata document of the client could not be read, or does not describe it.', 401)
}
