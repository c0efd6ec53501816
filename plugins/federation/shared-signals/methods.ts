/** `auth.sharedSignals`: receivers and streams, for the host app. */
import { type AnyContext, jobFor, type Kernel, type OfTenant, type Row } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { deliverDue } from './delivery.ts'
import { type EventType, supportedEvents } from './event-types.ts'
import {
  createReceiver,
  listReceivers,
  type NewReceiver,
  removeReceiver,
  removeStreamRow,
  rotateReceiver,
  type SignalReceiver,
} from './receivers.ts'
import { createStream, readStreamRequest, methods, never, setStreamStatus, type StreamStatus } from './streams.ts'
import type { SignalStreamRow } from './tables.ts'

/** A stream as the host app sees it. */
export interface SignalStream {
  id: string
  receiverId: string
  method: 'push' | 'poll'
  /** Where events are pushed to; null: they are polled. */
  endpoint: string | null
  events: string[]
  status: StreamStatus
  /** What went wrong with the last push; null: nothing, or it is polled. */
  problem: string | null
  /** Pushes that failed one after the other. */
  attempts: number
  /** When the next push is due; null: nothing waits to be pushed. */
  due: Date | null
  created: Date
}
/** A stream that the host app makes for a receiver which cannot manage streams itself. */
export interface NewStream {
  receiverId: string
  /** `iss` of its tokens: the address of your routes, such as `https://app.example/auth`. */
  issuer: string
  /** An https address, to which events are pushed. Default: the receiver polls. */
  endpoint?: string
  /** The header `Authorization` of each push, such as `Bearer …`. */
  authorization?: string
  /** Default: all that are supported. */
  events?: readonly EventType[]
}
/** What the plugin puts on `auth` with `transmitter`. It asks no permission: check who calls before you call it. */
export interface SharedSignalsApi {
  sharedSignals: {
    receivers: {
      /** The only time that the token is returned. Throws TypeError for a wrong field, and for an organization that does not exist. */
      create(receiver: NewReceiver & OfTenant): Promise<SignalReceiver & { token: string }>
      /** Oldest first, at most 100. */
      list(of: { organizationId: string } & OfTenant): Promise<SignalReceiver[]>
      /** A new token; the former one is rejected from now on. Null: there is no such receiver. */
      rotate(of: { id: string } & OfTenant): Promise<(SignalReceiver & { token: string }) | null>
      /** With its streams and what waits for it. False: there is no such receiver. */
      remove(of: { id: string } & OfTenant): Promise<boolean>
    }
    streams: {
      /** For a receiver that cannot do it itself. Throws TypeError for an unknown receiver, HttpError 400 for a wrong field, 409 for a sixth stream. */
      create(stream: NewStream & OfTenant): Promise<SignalStream>
      /** Of all receivers of an organization. */
      list(of: { organizationId: string } & OfTenant): Promise<SignalStream[]>
      /** `paused`: events wait. `disabled`: there are none. The receiver is notified. Null: there is no such stream. */
      setStatus(change: { id: string; status: StreamStatus; reason?: string } & OfTenant): Promise<SignalStream | null>
      /** With what waits in it. False: there is no such stream. */
      remove(of: { id: string } & OfTenant): Promise<boolean>
    }
    /** Pushes what is due. The plugin does it by itself; call it from a scheduled job where a process ends after each request, and for tenants. Answers how many events receivers took. */
    deliver(of?: OfTenant): Promise<number>
  }
}

/** The methods of `auth.sharedSignals`. */
export function createApi(kernel: Kernel): SharedSignalsApi['sharedSignals'] {
  const contextOf = (of: OfTenant = {}): Promise<AnyContext> => kernel.contextOf(jobFor('shared-signals', of))
  return {
    receivers: {
      create: async (receiver) => createReceiver(await contextOf(receiver), receiver),
      list: async (of) => listReceivers(await contextOf(of), of.organizationId),
      rotate: async (of) => rotateReceiver(await contextOf(of), of.id),
      remove: async (of) => removeReceiver(await contextOf(of), of.id),
    },
    streams: {
      create: async (stream) => createOwnStream(await contextOf(stream), stream),
      list: async (of) => {
        const ctx = await contextOf(of)
        return (await listRows(ctx.records('signalStream'), { where: { organizationId: of.organizationId } })).map(toStream)
      },
      setStatus: async ({ id, status, reason, ...of }) => {
        const ctx = await contextOf(of)
        const stream = await ctx.records('signalStream').get(id)
        return stream && toStream(await setStreamStatus(ctx, stream, { status, reason: reason?.slice(0, 255) ?? null, notify: true }))
      },
      remove: async (of) => removeStreamRow(await contextOf(of), of.id),
    },
    deliver: async (of) => deliverDue(await contextOf(of)),
  }
}

async function createOwnStream(ctx: AnyContext, { receiverId, issuer, endpoint, authorization, events }: NewStream): Promise<SignalStream> {
  const receiver = await ctx.records('signalReceiver').get(receiverId)
  if (!receiver) throw new TypeError('sharedSignals: there is no such receiver.')
  if (!URL.canParse(issuer) || issuer.length > 500) throw new TypeError('sharedSignals: `issuer` must be the address of your routes.')
  const delivery =
    endpoint === undefined
      ? { method: methods.poll }
      : { method: methods.push, endpoint_url: endpoint, ...(authorization !== undefined && { authorization_header: authorization }) }
  const request = readStreamRequest({ delivery, events_requested: [...(events ?? supportedEvents)] })
  return toStream(await createStream(ctx, receiver, issuer, request))
}

function toStream({ next, ...row }: Row<SignalStreamRow>): SignalStream {
  const { id, receiverId, endpoint, events, problem, attempts, created } = row
  const due = row.method === 'push' && next < never ? next : null
  // Only `createStream` and `setStreamStatus` write these.
  return {
    id,
    receiverId,
    method: row.method as 'push',
    endpoint,
    events,
    status: row.status as StreamStatus,
    problem,
    attempts,
    due,
    created,
  }
}
