/** Receivers that organizations configured, and their tokens: shown once, kept as a digest. */
import { type AnyContext, type Context, HttpError, randomHex, type Row, sha256, toHex } from 'authkernel/kernel'
import { listRows, readRows } from 'authkernel/kernel/stores'
import type {} from 'authkernel/plugins/organizations'
import { wakePolls } from './long-poll.ts'
import type { SignalReceiverRow } from './tables.ts'

/** A receiver as the host app sees it. */
export interface SignalReceiver {
  id: string
  organizationId: string
  name: string
  audience: string
  subject: 'iss_sub' | 'email'
  /** `ssf_…9f3a`: the last 4 characters of its token. */
  shown: string
  created: Date
  /** Accurate to an hour; null: never used. */
  lastUsed: Date | null
}
/** What a new receiver needs. */
export interface NewReceiver {
  organizationId: string
  /** 1 to 100 characters, for the pages and the audit log. */
  name: string
  /** `aud` of its tokens, as the receiver wants it: a URL, for example. At most 500 characters. */
  audience: string
  /** How tokens name users: `iss_sub` (default) by the id of the user, `email` by the email. */
  subject?: 'iss_sub' | 'email'
}

const hour = 3_600_000

/** The only time that the token is returned. Throws TypeError for a wrong field, and for an organization that does not exist. */
export async function createReceiver(ctx: AnyContext, given: NewReceiver): Promise<SignalReceiver & { token: string }> {
  const { organizationId, name, audience, subject = 'iss_sub' } = given
  if (typeof name !== 'string' || name.trim() === '' || name.length > 100 || /\p{Cc}/u.test(name))
    throw new TypeError('sharedSignals: `name` must be 1 to 100 characters.')
  if (typeof audience !== 'string' || audience === '' || audience.length > 500 || /[\p{Cc}\p{Cs}]/u.test(audience))
    throw new TypeError('sharedSignals: `audience` must be 1 to 500 characters.')
  if (subject !== 'iss_sub' && subject !== 'email') throw new TypeError('sharedSignals: `subject` must be "iss_sub" or "email".')
  if (!(await ctx.service('organizations').get(ctx, organizationId))) throw new TypeError('sharedSignals: there is no such organization.')
  const token = makeToken(ctx)
  const row = await ctx.records('signalReceiver').create({
    organizationId,
    name: name.trim(),
    audience,
    subject,
    digest: await digestToken(token),
    tail: token.slice(-4),
    created: ctx.now,
    used: null,
  })
  return { ...toReceiver(row), token }
}

/** Oldest first, at most 100. */
export async function listReceivers(ctx: AnyContext, organizationId: string): Promise<SignalReceiver[]> {
  const { rows } = await ctx.records('signalReceiver').find({ where: { organizationId }, limit: 100 })
  return rows.map(toReceiver)
}

/** A new token; the former one is rejected from now on. Null: there is no such receiver. */
export async function rotateReceiver(ctx: AnyContext, id: string): Promise<(SignalReceiver & { token: string }) | null> {
  const token = makeToken(ctx)
  const row = await ctx.records('signalReceiver').update(id, { digest: await digestToken(token), tail: token.slice(-4) })
  return row && { ...toReceiver(row), token }
}

/** Removes a receiver with its streams and what waits for it. False: there is none. */
export async function removeReceiver(ctx: AnyContext, id: string): Promise<boolean> {
  // The token first: no stream is made any more.
  const isRemoved = await ctx.records('signalReceiver').delete(id)
  for (const stream of await listRows(ctx.records('signalStream'), { where: { receiverId: id } })) await removeStreamRow(ctx, stream.id)
  return isRemoved
}

/** Removes those of an organization that is deleted. */
export async function removeReceiversOf(ctx: AnyContext, organizationId: string): Promise<void> {
  for (const { id } of await listRows(ctx.records('signalReceiver'), { where: { organizationId } })) await removeReceiver(ctx, id)
}

/** A clean-up removes receivers whose organization was deleted while the store failed. */
export async function removeAbandonedReceivers(ctx: AnyContext): Promise<void> {
  for await (const row of readRows(ctx.records('signalReceiver'), {}))
    if (!(await isOfOrganization(ctx, row))) await removeReceiver(ctx, row.id)
}

/** False: the organization of the receiver was deleted, and nothing is sent to it. */
export async function isOfOrganization(ctx: AnyContext, { organizationId }: SignalReceiverRow): Promise<boolean> {
  return (await ctx.service('organizations').get(ctx, organizationId)) !== null
}

/** False: there is no such stream. */
export async function removeStreamRow(ctx: AnyContext, id: string): Promise<boolean> {
  const isRemoved = await ctx.records('signalStream').delete(id)
  await ctx.records('signalEvent').deleteWhere({ where: { streamId: id } })
  await ctx.records('signalSubject').deleteWhere({ where: { streamId: id } })
  wakePolls(ctx, id)
  return isRemoved
}

/** The receiver whose token a request brings, as the actor of the request. Throws HttpError 401, 403 and 429. */
export async function authenticateReceiver(ctx: Context): Promise<Row<SignalReceiverRow>> {
  const token = /^Bearer +(ssf_[\da-f]{64})$/i.exec(ctx.request.headers.get('authorization') ?? '')?.[1]
  const row = token === undefined ? null : await ctx.records('signalReceiver').get({ digest: await digestToken(token) })
  const { allowed, retryAfter } = await ctx.limit.take(row ? `ssf ${row.id}` : `ssf refused ${ctx.clientAddress ?? ''}`, {
    max: row ? 600 : 60,
    seconds: 60,
  })
  if (!allowed) throw new HttpError(429, 'Too many requests.', { 'Retry-After': String(retryAfter) })
  if (!row) throw new HttpError(401, 'The token is missing or wrong.', { 'WWW-Authenticate': 'Bearer realm="ssf"' })
  const organization = await ctx.service('organizations').get(ctx, row.organizationId)
  if (!organization) throw new HttpError(403, 'The organization of this receiver was deleted.')
  if (!row.used || ctx.now.getTime() - row.used.getTime() > hour)
    await ctx.records('signalReceiver').update(row.id, { used: ctx.now }, { if: { used: row.used } })
  ctx.actAs({ type: 'ssf', id: `${row.name} of ${organization.name}`.slice(0, 255) })
  return row
}

function makeToken(ctx: AnyContext): string {
  return `ssf_${randomHex(ctx.runtime, 32)}`
}

// 256 random bits need no slow hash.
async function digestToken(token: string): Promise<string> {
  return toHex(await sha256(token))
}

function toReceiver({ id, organizationId, name, audience, subject, tail, created, used }: Row<SignalReceiverRow>): SignalReceiver {
  return {
    id,
    organizationId,
    name,
    audience,
    subject: subject === 'email' ? 'email' : 'iss_sub',
    shown: `ssf_…${tail}`,
    created,
    lastUsed: used,
  }
}
