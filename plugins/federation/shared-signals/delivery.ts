/** Sends events: pushes (RFC 8935) with retries, and what a receiver polls (RFC 8936). */
import { type AnyContext, HttpError, type Kernel, type Lease, type Row } from 'authkernel/kernel'
import { isJsonObject } from 'authkernel/kernel/protocols'
import { isOfOrganization, removeReceiver } from './receivers.ts'
import { never } from './streams.ts'
import type { SignalEventRow, SignalReceiverRow, SignalStreamRow } from './tables.ts'

const page = 20
const leaseSeconds = 120
const deadline = 10_000
const [firstPause, longestPause] = [10_000, 3_600_000]
const maxPolled = 100

/** Pushes what is due, one process per stream. Answers how many events receivers took. */
export async function deliverDue(ctx: AnyContext): Promise<number> {
  const { rows } = await ctx.records('signalStream').find({ where: { status: 'enabled' }, range: { next: { lte: ctx.now } }, limit: 200 })
  let delivered = 0
  for (const { id } of rows) delivered += await deliverStream(ctx, id)
  return delivered
}

/** Pushes now, beside the request that ended access: no receiver delays it. What fails is due again by the timer. */
export function deliverSoon(kernel: Kernel, ctx: AnyContext): void {
  // Of other tenants the host app calls `deliver`: their job needs the name that only it knows.
  if (ctx.facts.namespace !== '') return
  kernel
    .job({ job: 'shared-signals', tenant: null }, async (job) => void (await deliverDue(job)))
    .catch((error: unknown) => ctx.logger.error(error instanceof Error ? error : new Error(String(error))))
}

/** What a receiver gets by a poll. `ack` and `refused` are ids of events that it got before. */
export async function pollEvents(
  ctx: AnyContext,
  stream: Row<SignalStreamRow>,
  receiver: Row<SignalReceiverRow>,
  { max = maxPolled, ack }: { max?: number | undefined; ack: readonly string[] },
): Promise<{ sets: Record<string, string>; moreAvailable: boolean }> {
  for (const id of ack) await ctx.records('signalEvent').take(id, { if: { streamId: stream.id } })
  const limit = Math.min(max, maxPolled)
  if (stream.status !== 'enabled') return { sets: {}, moreAvailable: false }
  const { rows } = await ctx.records('signalEvent').find({ where: { streamId: stream.id }, limit: limit + 1 })
  const sets: Record<string, string> = {}
  for (const event of rows.slice(0, limit)) sets[event.id] = await sign(ctx, stream, receiver, event)
  return { sets, moreAvailable: rows.length > limit }
}

async function deliverStream(ctx: AnyContext, id: string): Promise<number> {
  const lease = await ctx.lease(`ssf deliver ${id}`, leaseSeconds)
  // Another process is at it, and looks again after its last event.
  if (!lease) return 0
  try {
    return await deliverUnderLease(ctx, id, lease)
  } finally {
    await lease.release()
  }
}

async function deliverUnderLease(ctx: AnyContext, id: string, lease: Lease): Promise<number> {
  let delivered = 0
  for (;;) {
    // Read before the events: one that comes later changes `queued`, and the stream stays due.
    const stream = await ctx.records('signalStream').get(id)
    const receiver = stream && (await ctx.records('signalReceiver').get(stream.receiverId))
    if (!stream || !receiver || stream.status !== 'enabled' || stream.next > new Date(ctx.runtime.now())) return delivered
    if (!(await isOfOrganization(ctx, receiver))) {
      await removeReceiver(ctx, receiver.id)
      return delivered
    }
    if (stream.method !== 'push') {
      await ctx.records('signalStream').update(id, { next: never }, { if: { queued: stream.queued } })
      return delivered
    }
    const { rows } = await ctx.records('signalEvent').find({ where: { streamId: id }, limit: page })
    if (rows.length === 0) {
      const isDone = await ctx
        .records('signalStream')
        .update(id, { next: never, attempts: 0, problem: null }, { if: { queued: stream.queued } })
      if (isDone) return delivered
      continue
    }
    for (const event of rows) {
      const problem = await push(ctx, stream, receiver, event)
      if (problem !== undefined) {
        await postpone(ctx, stream, problem)
        return delivered
      }
      await ctx.records('signalEvent').delete(event.id)
      delivered++
      if (!(await lease.renew(leaseSeconds))) return delivered
    }
    if (stream.attempts > 0) await ctx.records('signalStream').update(id, { attempts: 0, problem: null })
  }
}

/** Undefined: the receiver took it. */
async function push(
  ctx: AnyContext,
  { endpoint, authorization, ...stream }: Row<SignalStreamRow>,
  receiver: Row<SignalReceiverRow>,
  event: Row<SignalEventRow>,
): Promise<string | undefined> {
  try {
    const answer = await ctx.service('publicFetch').send(endpoint ?? '', {
      body: await sign(ctx, stream, receiver, event),
      headers: {
        'Content-Type': 'application/secevent+jwt',
        Accept: 'application/json',
        ...(authorization !== null && { Authorization: authorization }),
      },
      deadline,
    })
    if (answer.status === 202) return undefined
    return `The receiver answered ${answer.status}${readErrorCode(answer.content)}.`
  } catch (error) {
    // The message names the host, never a header.
    return error instanceof Error ? error.message : String(error)
  }
}

/** Each failure doubles the pause, from 10 seconds to an hour. Events wait for seven days. */
async function postpone(ctx: AnyContext, { id, attempts }: Row<SignalStreamRow>, problem: string): Promise<void> {
  const pause = Math.min(longestPause, firstPause * 2 ** Math.min(attempts, 20))
  const next = new Date(ctx.runtime.now() + pause)
  await ctx.records('signalStream').update(id, { attempts: attempts + 1, next, problem: problem.slice(0, 255) })
  if (attempts === 0) ctx.logger.warn('shared-signals-push-failed')
}

// RFC 8935 section 2.4. The description may repeat what was sent.
function readErrorCode(content: Uint8Array): string {
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(content))
    const code = isJsonObject(body) ? body['err'] : undefined
    return typeof code === 'string' && /^[\w-]{1,50}$/.test(code) ? ` with ${code}` : ''
  } catch {
    return ''
  }
}

function sign(
  ctx: AnyContext,
  { issuer }: Pick<SignalStreamRow, 'issuer'>,
  { audience }: SignalReceiverRow,
  { id, claims }: Row<SignalEventRow>,
): Promise<string> {
  if (!ctx.app.services.signingKeys) throw new HttpError(500, 'sharedSignalsPlugin: `transmitter` needs jwtPlugin.')
  return ctx.service('signingKeys').sign(ctx, 'secevent+jwt', { iss: issuer, aud: audience, jti: id, ...claims })
}
