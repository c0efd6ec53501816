/** Public keys of clients: of their metadata, or fetched from the address that the metadata names. */
import { type Context, type LimitRule, networksOf, setBounded } from 'authkernel/kernel'
import type { Client } from './clients.ts'
import { OAuthRefusal } from './errors.ts'

const lifetime = 600_000
const maxKeySets = 1_000
const perAddress = { max: 60, seconds: 600 }
/** For clients of documents, whose addresses any visitor chooses: of one network, so that one does not use up what others need, and of all. */
const perNetwork = { max: 60, seconds: 600 }
const perServer = { max: 1_200, seconds: 600 }

/** The keys of a client; undefined: they cannot be read. Throws OAuthRefusal `temporarily_unavailable` for too many requests. */
export async function readClientKeys(ctx: Context, { metadata, source }: Client): Promise<{ keys: Record<string, unknown>[] } | undefined> {
  const { jwks, jwks_uri: uri } = metadata
  if (jwks || uri === undefined) return jwks ?? { keys: [] }
  const sets = ctx.app.shared.cache<{ until: number; jwks: { keys: Record<string, unknown>[] } }>('authorization-server.keys')
  const known = sets.get(uri)
  if (known && known.until > ctx.runtime.now()) return known.jwks
  const allowed =
    source === 'document'
      ? await takeFetch(ctx, 'authorization-server.keys', { perNetwork, perServer })
      : (await ctx.limit.take(`authorization-server.keys ${uri}`, perAddress)).allowed
  if (!allowed) throw new OAuthRefusal('temporarily_unavailable', 'Too many requests for keys of clients.', 429, { 'Retry-After': '600' })
  try {
    const types = ['application/json', 'application/jwk-set+json']
    const { content } = await ctx.service('publicFetch').get(uri, { types, signal: ctx.signal })
    const { keys } = JSON.parse(new TextDecoder().decode(content)) as { keys: Record<string, unknown>[] }
    // A symmetric key in public metadata is known to all.
    const fresh = { keys: keys.filter(({ kty }) => kty !== 'oct') }
    setBounded(sets, uri, { until: ctx.runtime.now() + lifetime, jwks: fresh }, maxKeySets)
    return fresh
  } catch (error) {
    ctx.logger.debug?.('authorization-server: the keys of a client could not be read', { uri, reason: String((error as Error).message) })
    return undefined
  }
}

/** Whether this request may make the server call an address that a visitor chose. */
export async function takeFetch(ctx: Context, name: string, limits: { perNetwork: LimitRule; perServer: LimitRule }): Promise<boolean> {
  const network = ctx.clientAddress === undefined ? undefined : networksOf(ctx.clientAddress)[0]?.key
  // The network first: one that is over its own limit takes nothing from the others.
  if (network !== undefined && !(await ctx.limit.take(`${name} ${network}`, limits.perNetwork)).allowed) return false
  return (await ctx.limit.take(name, limits.perServer)).allowed
}
