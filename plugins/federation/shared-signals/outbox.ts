/** Events that wait for their receivers: written when access ends, before the request that ended it is answered. */
import { type AnyContext, type AtomicWrite, type Row, sha256, toHex, type User } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import type {} from 'authkernel/plugins/organizations'
import { type EventType, eventTypes } from './event-types.ts'
import { wakePolls } from './long-poll.ts'
import { type DefaultSubjects, isSubject } from './subjects.ts'
import type { SignalEventRow, SignalReceiverRow, SignalStreamRow } from './tables.ts'

const day = 86_400_000
const opposites: ReadonlyMap<EventType, EventType> = new Map([
  [eventTypes.accountDisabled, eventTypes.accountEnabled],
  [eventTypes.accountEnabled, eventTypes.accountDisabled],
])
/** Days that an event waits for its receiver. */
const patience = 7

/** What happened to a user, and who may learn of it. */
export interface NewEvents {
  organizationIds: readonly string[]
  userId: string
  types: readonly EventType[]
  /** Of the options. */
  subjects: DefaultSubjects
}

/**
 * Queues events about a user for the streams of these organizations. Idempotent within a second, so that an ending which is repeated after a fault sends no event
 * twice. Answers whether a stream is there to be pushed to.
 */
export async function queueEvents(ctx: AnyContext, { organizationIds, userId, types, subjects }: NewEvents): Promise<boolean> {
  let isPushed = false
  let user: User | null | undefined
  for (const organizationId of organizationIds)
    for (const stream of await listRows(ctx.records('signalStream'), { where: { organizationId } })) {
      const wanted = types.filter((type) => stream.events.includes(type))
      if (stream.status === 'disabled' || wanted.length === 0 || !(await isSubject(ctx, stream, userId, subjects))) continue
      const receiver = await ctx.records('signalReceiver').get(stream.receiverId)
      if (!receiver) continue
      user ??= (await ctx.store?.getUser(userId)) ?? null
      const subject = describeSubject(stream, receiver, userId, user?.email)
      for (const type of wanted) await queueOne(ctx, stream, { userId, type, subject, outlives: types.includes(eventTypes.accountPurged) })
      isPushed ||= stream.method === 'push' && stream.status === 'enabled'
    }
  return isPushed
}

/** Queues an event about the stream itself. */
export async function queueStreamEvent(
  ctx: AnyContext,
  stream: Row<SignalStreamRow>,
  { id, type, details }: { id: string; type: string; details: Record<string, unknown> },
): Promise<void> {
  const claims = { iat: seconds(ctx), sub_id: { format: 'opaque', id: stream.id }, events: { [type]: details } }
  await write(ctx, stream, { id, userId: null, claims })
}

async function queueOne(
  ctx: AnyContext,
  stream: Row<SignalStreamRow>,
  { userId, type, subject, outlives }: { userId: string; type: EventType; subject: Record<string, unknown>; outlives: boolean },
): Promise<void> {
  const iat = seconds(ctx)
  const id = toHex(await sha256(JSON.stringify([stream.id, userId, type, iat, ...(outlives ? ['deletion'] : [])]))).slice(0, 40)
  const isCaep = type === eventTypes.sessionRevoked
  const details = isCaep ? { event_timestamp: iat, initiating_entity: 'policy' } : {}
  const claims = { iat, sub_id: subject, events: { [type]: details } }
  await dropOpposite(ctx, stream, userId, type)
  // The row of a user goes with the user. What the deletion ended must still be sent, also where an ending right before it has queued the same event.
  await write(ctx, stream, { id, userId: outlives ? null : userId, claims })
}

/**
 * What waits and is out of date is not sent. Off, on and off again within a second have one id for both endings: with "on" in between the receiver would take
 * that for the last word.
 */
async function dropOpposite(ctx: AnyContext, { id: streamId }: Row<SignalStreamRow>, userId: string, type: EventType): Promise<void> {
  const opposite = opposites.get(type)
  if (opposite === undefined) return
  for (const event of await listRows(ctx.records('signalEvent'), { where: { userId } }))
    if (event.streamId === streamId && opposite in Object((event.claims as { events?: unknown }).events))
      await ctx.records('signalEvent').delete(event.id)
}

async function write(
  ctx: AnyContext,
  stream: Row<SignalStreamRow>,
  event: Pick<SignalEventRow, 'userId' | 'claims'> & { id: string },
): Promise<void> {
  const create: AtomicWrite = {
    record: 'signalEvent',
    create: { ...event, streamId: stream.id, created: ctx.now, expires: new Date(ctx.now.getTime() + patience * day) },
  }
  // A stream whose pushes fail waits for its own time.
  const due = stream.attempts === 0 ? { set: { next: ctx.now } } : {}
  const written = await ctx.atomic([create, { record: 'signalStream', increment: stream.id, field: 'queued', by: 1, ...due }])
  wakePolls(ctx, stream.id)
  if (written || (await ctx.records('signalEvent').get(event.id)) || !(await ctx.records('signalStream').get(stream.id))) return
  throw new Error(`sharedSignalsPlugin: the event for the stream ${stream.id} could not be stored. Try again.`)
}

function describeSubject(
  { issuer }: SignalStreamRow,
  { subject }: SignalReceiverRow,
  userId: string,
  email: string | null | undefined,
): Record<string, unknown> {
  return subject === 'email' && email ? { format: 'email', email } : { format: 'iss_sub', iss: issuer, sub: userId }
}

function seconds(ctx: AnyContext): number {
  return Math.floor(ctx.now.getTime() / 1000)
}
