/** Tokens that were rejected, for logs: why, of which app session and app, and never the token. */
import { type Context, networksOf } from 'authkernel/kernel'
import type { ResolvedOptions } from './options.ts'

/**
 * Why a token gives no access. `unknown`: this server did not make it. `ended`: its app session is not there. `audience`: it is for another server. `key`: its key was not proved. `proof`: the DPoP proof is wrong. `access`: the user is gone or has no access. `client`: the app is unknown, or another one. Rejected
 * requests for tokens have the error of RFC 6749 as reason.
 */
export type RefusalReason = 'unknown' | 'ended' | 'expired' | 'audience' | 'key' | 'proof' | 'access' | 'client' | (string & {})

/** What is known of the token. */
export interface RefusedToken {
  /** Of the app session. */
  id?: string | undefined
  /** Only where the token is genuine. */
  userId?: string | undefined
  clientId?: string | undefined
}

/** Records of one token, or of one app and network, in a minute and process: a flood of rejected tokens fills no log. */
const perMinute = 5
const minute = 60_000
const maxKeys = 2_000
/** For what has no counter of its own any more. */
const overflow = { max: 100, key: '' }

interface Window {
  count: number
  ends: number
}
const windows = new WeakMap<ResolvedOptions, Map<string, Window>>()

// The session of one request may be read several times.
const notedRefusals = new WeakMap<Request, Set<string>>()

/** Emits `noted`, once a request, unless there were enough of the kind. */
export async function noteRefusal(ctx: Context, options: ResolvedOptions, reason: RefusalReason, token: RefusedToken = {}): Promise<void> {
  const { id, userId, clientId } = token
  const earlier = notedRefusals.get(ctx.request) ?? new Set<string>()
  notedRefusals.set(ctx.request, earlier)
  const same = JSON.stringify([reason, id, clientId])
  if (earlier.has(same)) return
  earlier.add(same)
  // Ids in a text that is not genuine are the sender's choice: they are counted by network.
  const whose = userId === undefined ? ['network', networkOf(ctx), clientId ?? ''] : ['session', id ?? '']
  if (!isWithin(ctx, options, JSON.stringify([ctx.settings.namespace, ...whose]))) return
  await ctx.emit('noted', {
    name: 'bearer.refused',
    outcome: 'denied',
    reason,
    ...(userId !== undefined && { user: { id: userId } }),
    details: { id, client: clientId },
  })
}

function isWithin(ctx: Context, options: ResolvedOptions, key: string): boolean {
  const known = windows.get(options) ?? new Map<string, Window>()
  windows.set(options, known)
  const now = ctx.runtime.now()
  if (known.size >= maxKeys) for (const [name, { ends }] of known) if (ends <= now) known.delete(name)
  const isTokenOfSession = known.has(key) || known.size < maxKeys
  const name = isTokenOfSession ? key : overflow.key
  const found = known.get(name)
  const window = found && found.ends > now ? found : { count: 0, ends: now + minute }
  known.set(name, window)
  window.count++
  return window.count <= (isTokenOfSession ? perMinute : overflow.max)
}

function networkOf({ clientAddress }: Context): string {
  return (clientAddress === undefined ? undefined : networksOf(clientAddress)[0]?.key) ?? ''
}
