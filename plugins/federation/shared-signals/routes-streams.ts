/** HTTP of the transmitter: the management of streams and polling (Shared Signals Framework 1.0 section 8.1, RFC 8936). */
import { type AuthError, type Context, HttpError, json, type Kernel, type RouteMethod, type Row } from 'authkernel/kernel'
import { isJsonObject } from 'authkernel/kernel/protocols'
import { deliverSoon, pollEvents } from './delivery.ts'
import { supportedEvents, verificationEvent } from './event-types.ts'
import { waitFor } from './long-poll.ts'
import type { ResolvedTransmitter } from './options.ts'
import { queueStreamEvent } from './outbox.ts'
import { authenticateReceiver, isOfOrganization, removeStreamRow } from './receivers.ts'
import {
  createStream,
  methods,
  readStreamRequest,
  setStreamStatus,
  type StreamStatus,
  updateStream,
  verificationInterval,
} from './streams.ts'
import { setSubject } from './subjects.ts'
import type { SignalReceiverRow, SignalStreamRow } from './tables.ts'

interface Caller {
  ctx: Context
  receiver: Row<SignalReceiverRow>
}
type Work = (caller: Caller, body: Record<string, unknown>) => Promise<Response>

/** Adds the routes. Each but the description needs the token of a receiver. */
export function addStreamRoutes(kernel: Kernel, options: ResolvedTransmitter): void {
  const route = (method: RouteMethod, path: string, work: Work): void => addRoute(kernel, method, path, work)
  addDescription(kernel, options)
  route('GET', '/ssf/streams', async ({ ctx, receiver }) => {
    const id = ctx.url.searchParams.get('stream_id')
    if (id !== null) return answer(describeStream(ctx, receiver, await requireStream(ctx, receiver, id)))
    const { rows } = await ctx.records('signalStream').find({ where: { receiverId: receiver.id }, limit: 100 })
    return answer(rows.map((row) => describeStream(ctx, receiver, row)))
  })
  route('POST', '/ssf/streams', async ({ ctx, receiver }, body) =>
    answer(describeStream(ctx, receiver, await createStream(ctx, receiver, ctx.base, readStreamRequest(body))), 201),
  )
  for (const method of ['PATCH', 'PUT'] as const)
    route(method, '/ssf/streams', async ({ ctx, receiver }, body) => {
      const stream = await requireStream(ctx, receiver, body['stream_id'])
      const changed = await updateStream(ctx, stream, readStreamRequest(body), method === 'PUT')
      deliverSoon(kernel, ctx)
      return answer(describeStream(ctx, receiver, changed))
    })
  route('DELETE', '/ssf/streams', async ({ ctx, receiver }) => {
    const { id } = await requireStream(ctx, receiver, ctx.url.searchParams.get('stream_id'))
    await removeStreamRow(ctx, id)
    return new Response(null, { status: 204 })
  })
  route('GET', '/ssf/status', async ({ ctx, receiver }) =>
    answer(describeStatus(await requireStream(ctx, receiver, ctx.url.searchParams.get('stream_id')))),
  )
  route('POST', '/ssf/status', async ({ ctx, receiver }, { stream_id: id, status, reason }) => {
    const stream = await requireStream(ctx, receiver, id)
    const change = { status: readStatus(status), reason: typeof reason === 'string' ? reason.slice(0, 255) : null, notify: false }
    const changed = await setStreamStatus(ctx, stream, change)
    deliverSoon(kernel, ctx)
    return answer(describeStatus(changed))
  })
  route('POST', '/ssf/verify', async ({ ctx, receiver }, { stream_id: id, state }) => {
    await verifyStream(ctx, await requireStream(ctx, receiver, id), state)
    deliverSoon(kernel, ctx)
    return new Response(null, { status: 204 })
  })
  route('POST', '/ssf/poll/:stream', async ({ ctx, receiver }, body) => {
    const stream = await requireStream(ctx, receiver, ctx.params['stream'])
    if (stream.method !== 'poll') throw new HttpError(400, 'The events of this stream are pushed.')
    const { ack, max, waits } = readPoll(ctx, body)
    const found = await pollEvents(ctx, stream, receiver, { ack, max })
    const seconds = Math.min(options.longPoll, ctx.app.config.deadlines.request / 1000 - 2)
    if (!waits || max === 0 || seconds <= 0 || Object.keys(found.sets).length > 0) return answer(found)
    const late = await waitFor(ctx, stream.id, seconds, async () => {
      // Whatever ended meanwhile gets nothing: the token, the stream, the organization.
      const [now, held] = [await ctx.records('signalReceiver').get(receiver.id), await ctx.records('signalStream').get(stream.id)]
      if (now?.digest !== receiver.digest || held?.receiverId !== receiver.id || !(await isOfOrganization(ctx, now))) return found
      const next = await pollEvents(ctx, held, now, { ack: [], max })
      return Object.keys(next.sets).length > 0 ? next : undefined
    })
    return answer(late ?? found)
  })
  for (const [path, included] of [
    ['/ssf/subjects/add', true],
    ['/ssf/subjects/remove', false],
  ] as const)
    route('POST', path, async ({ ctx, receiver }, { stream_id: id, subject, verified }) => {
      if (verified !== undefined && typeof verified !== 'boolean') throw new HttpError(400, '`verified` must be true or false.')
      await setSubject(ctx, await requireStream(ctx, receiver, id), subject, included)
      return new Response(null, { status: included ? 200 : 204, headers: { 'Cache-Control': 'no-store' } })
    })
}

function addRoute(kernel: Kernel, method: RouteMethod, path: string, work: Work): void {
  const hasBody = method !== 'GET' && method !== 'DELETE'
  kernel.route({
    method,
    path: path as `/${string}`,
    csrf: 'bearer',
    ...(hasBody && { body: { bytes: 65_536 } }),
    async handler(ctx) {
      const receiver = await authenticateReceiver(ctx)
      return work({ ctx, receiver }, hasBody ? await readBody(ctx) : {})
    },
    refusal: (_ctx, { status, message, headers }) =>
      json(
        { err: status === 401 ? 'authentication_failed' : status === 403 ? 'access_denied' : 'invalid_request', description: message },
        status,
        {
          'Cache-Control': 'no-store',
          ...headers,
        },
      ),
    failure: (_ctx, { status }: AuthError) => json({ err: 'server_error' }, status < 500 ? 500 : status, { 'Cache-Control': 'no-store' }),
  })
}

/** `/.well-known/ssf-configuration`, behind the host and the path of the issuer (section 7.2). */
function addDescription(kernel: Kernel, options: ResolvedTransmitter): void {
  const { basePath } = kernel.config
  const path = basePath === '/' ? '' : basePath
  const handler = (ctx: Context): Response => json(describeTransmitter(ctx, options), 200)
  const describe = { method: 'GET' as const, public: { maxAge: 300 }, cors: { origins: 'any' as const }, handler }
  kernel.route({ ...describe, at: 'root', path: `/.well-known/ssf-configuration${path}` as `/${string}` })
  if (path !== '') kernel.route({ ...describe, path: '/.well-known/ssf-configuration' })
}

function describeTransmitter({ base, origin }: Context, { subjects }: ResolvedTransmitter): Record<string, unknown> {
  return {
    spec_version: '1_0',
    issuer: base,
    jwks_uri: `${origin}/.well-known/jwks.json`,
    delivery_methods_supported: Object.values(methods),
    configuration_endpoint: `${base}/ssf/streams`,
    status_endpoint: `${base}/ssf/status`,
    add_subject_endpoint: `${base}/ssf/subjects/add`,
    remove_subject_endpoint: `${base}/ssf/subjects/remove`,
    verification_endpoint: `${base}/ssf/verify`,
    authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6750' }],
    default_subjects: subjects.toUpperCase(),
  }
}

function describeStream(ctx: Context, { audience }: SignalReceiverRow, stream: Row<SignalStreamRow>): Record<string, unknown> {
  const { id, issuer, method, endpoint, events, description } = stream
  return {
    stream_id: id,
    iss: issuer,
    aud: audience,
    // Its header `Authorization` is a secret of the receiver: it is not repeated.
    delivery:
      method === 'push'
        ? { method: methods.push, endpoint_url: endpoint }
        : { method: methods.poll, endpoint_url: `${ctx.base}/ssf/poll/${id}` },
    events_supported: supportedEvents,
    events_requested: events,
    events_delivered: events,
    min_verification_interval: verificationInterval,
    ...(description !== null && { description }),
  }
}

function describeStatus({ id, status, reason }: Row<SignalStreamRow>): Record<string, unknown> {
  return { stream_id: id, status, ...(reason !== null && { reason }) }
}

async function verifyStream(ctx: Context, stream: Row<SignalStreamRow>, state: unknown): Promise<void> {
  if (state !== undefined && (typeof state !== 'string' || state.length > 1000))
    throw new HttpError(400, '`state` must be at most 1000 characters.')
  if (stream.status === 'disabled') throw new HttpError(409, 'The stream is disabled.')
  const since = stream.verified === null ? Infinity : (ctx.now.getTime() - stream.verified.getTime()) / 1000
  const isFirst = since >= verificationInterval
  if (!isFirst || !(await ctx.records('signalStream').update(stream.id, { verified: ctx.now }, { if: { verified: stream.verified } })))
    throw new HttpError(429, `A stream is verified once in ${verificationInterval} seconds.`, {
      'Retry-After': String(verificationInterval),
    })
  await queueStreamEvent(ctx, stream, {
    id: `verify-${stream.id}-${ctx.now.getTime()}`,
    type: verificationEvent,
    details: state === undefined ? {} : { state },
  })
}

/** Of another receiver it is as absent as one that is not there. */
async function requireStream(ctx: Context, receiver: Row<SignalReceiverRow>, id: unknown): Promise<Row<SignalStreamRow>> {
  if (typeof id !== 'string' || id === '') throw new HttpError(400, '`stream_id` is missing.')
  const row = /^[\w-]{1,64}$/.test(id) ? await ctx.records('signalStream').get(id) : null
  if (row?.receiverId !== receiver.id) throw new HttpError(404, 'There is no such stream.')
  return row
}

function readStatus(status: unknown): StreamStatus {
  if (status === 'enabled' || status === 'paused' || status === 'disabled') return status
  throw new HttpError(400, '`status` must be enabled, paused or disabled.')
}

/** Events that the receiver could not use (`setErrs`) are logged and not sent again: RFC 8936 section 2.2. */
function readPoll(
  ctx: Context,
  { maxEvents, ack = [], setErrs = {}, returnImmediately = false }: Record<string, unknown>,
): { max: number | undefined; ack: string[]; waits: boolean } {
  if (typeof returnImmediately !== 'boolean') throw new HttpError(400, '`returnImmediately` must be true or false.')
  if (maxEvents !== undefined && (!Number.isSafeInteger(maxEvents) || Number(maxEvents) < 0))
    throw new HttpError(400, '`maxEvents` must be a whole number of at least 0.')
  if (!Array.isArray(ack) || !isJsonObject(setErrs))
    throw new HttpError(400, '`ack` must be a list of ids, and `setErrs` an object of errors.')
  const ids = [...ack, ...Object.keys(setErrs)]
  if (ids.length > 500 || !ids.every((id) => typeof id === 'string' && /^[\w-]{1,100}$/.test(id)))
    throw new HttpError(400, '`ack` and `setErrs` may have at most 500 ids of events.')
  if (Object.keys(setErrs).length > 0) ctx.logger.warn('shared-signals-event-refused')
  return { max: maxEvents === undefined ? undefined : Number(maxEvents), ack: ids as string[], waits: !returnImmediately }
}

async function readBody(ctx: Context): Promise<Record<string, unknown>> {
  const text = await ctx.text()
  try {
    const sent: unknown = text === '' ? {} : JSON.parse(text)
    if (isJsonObject(sent)) return sent
  } catch {
    // Answered below, as every other text that is no object.
  }
  throw new HttpError(400, 'The body must be a JSON object.')
}

function answer(body: unknown, status = 200): Response {
  return json(body, status, { 'Cache-Control': 'no-store' })
}
