/** Clients as administrators see them, a page at a time: those of the options, and stored ones. */
import { type AnyContext, HttpError } from 'authkernel/kernel'
import type { ClientMetadata } from './client-metadata.ts'
import type { ResolvedOptions } from './options.ts'
import type { OAuthClientRecord } from './tables.ts'

/** A client, without what opens it. */
export interface ListedClient {
  client_id: string
  /** Shown to users; `client_id` where it has none. */
  name: string
  /** `options`: it changes with the code alone. `document`: it has a metadata document, and is listed because it is disabled. */
  source: 'options' | 'host' | 'registration' | 'moved' | 'document' | 'organization'
  /** Id of the organization that it belongs to; null: none. */
  organizationId: string | null
  /** Only members of that organization may sign in to it. */
  membersOnly: boolean
  metadata: ClientMetadata
  /** Whether it has a secret, and until when the one before counts too; null: there is none. */
  hasSecret: boolean
  formerSecretUntil: Date | null
  /** Give it with a change, so that none is lost. */
  version: number
  /** Since when it gets nothing; null: it works. */
  disabled: Date | null
  /** Null: a client of the options. */
  created: Date | null
  /** When it last got a token, to the day; null: never, or a client of the options. */
  used: Date | null
}
/** Which clients, and which page. */
export interface ClientSearch {
  /** The beginning of the name, or a whole `client_id`. */
  text?: string | undefined
  source?: ListedClient['source'] | undefined
  /** `cursor` of the page before. */
  cursor?: string | undefined
  /** 1 to 200; default 50. */
  limit?: number | undefined
}
/** One page. */
export interface ClientPage {
  items: ListedClient[]
  /** Of the next page; undefined: this was the last one. */
  cursor: string | undefined
}

/** Those of the options first, then stored ones, the newest first; with `text` by name. Throws HttpError 400 for a search of the wrong shape. */
export async function searchClients(ctx: AnyContext, options: ResolvedOptions, search: ClientSearch = {}): Promise<ClientPage> {
  const { text, source, cursor, limit = 50 } = search
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw new HttpError(400, '`limit` must be a whole number from 1 to 200.')
  if ([text, cursor, source].some((one) => one !== undefined && (typeof one !== 'string' || one.includes('\0'))))
    throw new HttpError(400, '`text`, `source` and `cursor` must be texts.')
  const beginning = text?.trim().toLowerCase().slice(0, 100) ?? ''
  const own = cursor === undefined && [undefined, 'options'].includes(source) ? listOptions(options, beginning) : []
  if (source === 'options') return { items: own, cursor: undefined }
  const named =
    cursor === undefined && beginning !== '' ? await ctx.records('oauthClient').get((text as string).trim().slice(0, 255)) : null
  const found = await ctx.records('oauthClient').find({ ...queryFor(beginning, source), limit, ...(cursor !== undefined && { cursor }) })
  const rows = [...(named ? [named] : []), ...found.rows.filter(({ id }) => id !== named?.id)]
  const fits = rows.filter((row) => source === undefined || row.source === source)
  return { items: [...own, ...fits.map((row) => listRow(ctx, row))], cursor: found.cursor }
}

/** One client; null: unknown. A client of a metadata document is there when it is disabled. */
export async function readClient(ctx: AnyContext, options: ResolvedOptions, id: string): Promise<ListedClient | null> {
  if (typeof id !== 'string' || id === '' || id.length > 255) return null
  const own = options.clients.get(id)
  if (own) return listOption(id, own)
  const row = await ctx.records('oauthClient').get(id)
  return row && listRow(ctx, row)
}

/** A stored client. */
export function listRow(ctx: AnyContext, row: OAuthClientRecord): ListedClient {
  const { id, metadata, secret, formerUntil, source, version, disabled, created, used, organizationId, membersOnly } = row
  return {
    client_id: id,
    name: metadata.client_name || id,
    source,
    organizationId,
    membersOnly,
    metadata,
    hasSecret: secret !== null,
    formerSecretUntil: formerUntil !== null && formerUntil > ctx.now ? formerUntil : null,
    version,
    disabled,
    created,
    used,
  }
}

function listOptions({ clients }: ResolvedOptions, beginning: string): ListedClient[] {
  const all = [...clients].map(([id, client]) => listOption(id, client))
  return all.filter(({ client_id: id, name }) => id.toLowerCase() === beginning || name.toLowerCase().startsWith(beginning))
}

function listOption(id: string, { metadata, secrets }: { metadata: ClientMetadata; secrets: readonly string[] }): ListedClient {
  const none = { formerSecretUntil: null, disabled: null, created: null, used: null, organizationId: null }
  const fixed = { source: 'options' as const, membersOnly: false, version: 0, ...none }
  return { client_id: id, name: metadata.client_name, metadata, hasSecret: secrets.length > 0, ...fixed }
}

function queryFor(beginning: string, source: ListedClient['source'] | undefined): object {
  // The last code point stands after every character of a name.
  if (beginning !== '') return { range: { label: { gte: beginning, lt: `${beginning}\u{10ffff}` } } }
  const newest = { range: { created: { gt: new Date(0) } }, order: 'desc' }
  return source === undefined ? newest : { ...newest, where: { source } }
}
