/** Streams: what a receiver gets, and how (Shared Signals Framework 1.0 section 8.1.1). */
import { type AnyContext, HttpError, type Row } from 'authkernel/kernel'
import { isJsonObject } from 'authkernel/kernel/protocols'
import { type EventType, streamUpdatedEvent, supportedEvents } from './event-types.ts'
import { queueStreamEvent } from './outbox.ts'
import type { SignalReceiverRow, SignalStreamRow } from './tables.ts'

/** Delivery methods, as streams name them. */
export const methods = { push: 'urn:ietf:rfc:8935', poll: 'urn:ietf:rfc:8936' } as const
/** Seconds between two verifications that a receiver asks for. */
export const verificationInterval = 60
/** When nothing waits. */
export const never: Date = new Date(Date.UTC(9999, 0, 1))

const maxStreams = 5

/** What a receiver wants of a stream. Absent members stay as they are, or get their default. */
export interface StreamRequest {
  method?: 'push' | 'poll'
  endpoint?: string | null
  authorization?: string | null
  events?: EventType[]
  description?: string | null
}
/** Whether events are sent (SSF 1.0 section 8.1.2): `paused` keeps them, `disabled` drops them. */
export type StreamStatus = 'enabled' | 'paused' | 'disabled'

/** Reads what a receiver sent. Throws HttpError 400 that names the member. Events that are not supported are left out, as SSF wants. */
export function readStreamRequest(body: Record<string, unknown>): StreamRequest {
  const { delivery, events_requested: events, description } = body
  const request: StreamRequest = {}
  if (delivery !== undefined) Object.assign(request, readDelivery(delivery))
  if (events !== undefined) {
    if (!Array.isArray(events) || events.length > 100 || !events.every((one) => typeof one === 'string'))
      throw new HttpError(400, '`events_requested` must be a list of URIs.')
    request.events = supportedEvents.filter((type) => events.includes(type))
  }
  if (description !== undefined) {
    if (description !== null && (typeof description !== 'string' || description.length > 255))
      throw new HttpError(400, '`description` must be at most 255 characters.')
    request.description = description
  }
  return request
}

/** Throws HttpError 409 where the receiver has its streams. */
export async function createStream(
  ctx: AnyContext,
  receiver: Row<SignalReceiverRow>,
  issuer: string,
  request: StreamRequest,
): Promise<Row<SignalStreamRow>> {
  const lease = await ctx.lease(`ssf streams ${receiver.id}`, 30)
  if (!lease) throw new HttpError(409, 'Another request creates a stream of this receiver. Try again.')
  try {
    const { rows } = await ctx.records('signalStream').find({ where: { receiverId: receiver.id }, limit: maxStreams })
    if (rows.length >= maxStreams) throw new HttpError(409, `A receiver has at most ${maxStreams} streams.`)
    return await ctx.records('signalStream').create({
      receiverId: receiver.id,
      organizationId: receiver.organizationId,
      issuer,
      method: request.method ?? 'poll',
      endpoint: request.endpoint ?? null,
      authorization: request.authorization ?? null,
      events: request.events ?? [],
      status: 'enabled',
      reason: null,
      description: request.description ?? null,
      created: ctx.now,
      verified: null,
      attempts: 0,
      next: never,
      problem: null,
      queued: 0,
    })
  } finally {
    await lease.release()
  }
}

/** `whole`: what the request leaves out gets its default (PUT). What waits is sent the new way. */
export async function updateStream(
  ctx: AnyContext,
  stream: Row<SignalStreamRow>,
  request: StreamRequest,
  whole: boolean,
): Promise<Row<SignalStreamRow>> {
  const defaults = whole ? { events: [], description: null } : {}
  const changesDelivery = request.method !== undefined
  const change = { ...defaults, ...request, ...(changesDelivery && { attempts: 0, problem: null, next: ctx.now }) }
  const changed = await ctx.records('signalStream').update(stream.id, change)
  if (!changed) throw new HttpError(404, 'There is no such stream.')
  return changed
}

/** With `disabled` what waits is dropped. The receiver learns of it by an event, where it did not ask for it itself. */
export async function setStreamStatus(
  ctx: AnyContext,
  stream: Row<SignalStreamRow>,
  { status, reason, notify }: { status: StreamStatus; reason: string | null; notify: boolean },
): Promise<Row<SignalStreamRow>> {
  if (notify && stream.status !== 'disabled')
    await queueStreamEvent(ctx, stream, {
      id: `status-${stream.id}-${ctx.now.getTime()}`,
      type: streamUpdatedEvent,
      details: { status, ...(reason !== null && { reason }) },
    })
  const due = status === 'enabled' ? { next: ctx.now, attempts: 0 } : {}
  const changed = await ctx.records('signalStream').update(stream.id, { status, reason, ...due })
  if (!changed) throw new HttpError(404, 'There is no such stream.')
  if (status === 'disabled') await ctx.records('signalEvent').deleteWhere({ where: { streamId: stream.id } })
  return changed
}

function readDelivery(given: unknown): Pick<StreamRequest, 'method' | 'endpoint' | 'authorization'> {
  if (!isJsonObject(given)) throw new HttpError(400, '`delivery` must be an object.')
  const { method, endpoint_url: endpoint, authorization_header: authorization } = given
  if (method === methods.poll) return { method: 'poll', endpoint: null, authorization: null }
  if (method !== methods.push) throw new HttpError(400, `\`delivery.method\` must be ${methods.push} or ${methods.poll}.`)
  if (authorization !== undefined && authorization !== null && !isHeaderText(authorization))
    throw new HttpError(400, '`delivery.authorization_header` must be the value of a header, at most 4000 characters.')
  return { method: 'push', endpoint: readEndpoint(endpoint), authorization: authorization ?? null }
}

/** Where events are pushed to. The address behind the name is checked at each push. Throws HttpError 400. */
export function readEndpoint(endpoint: unknown): string {
  const url = typeof endpoint === 'string' && endpoint.length <= 2000 && URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new HttpError(400, '`delivery.endpoint_url` must be an https address without a username.')
  return url.href
}

function isHeaderText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 4000 && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
}
