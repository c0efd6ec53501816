/** Clients that poll for the answer of a user: how often they may (RFC 8628 section 3.5, CIBA Core 1.0 section 11). */
import type { Context, RecordTable } from 'authkernel/kernel'
import { OAuthRefusal } from './errors.ts'

/** Seconds between two polls, at first. */
export const pollInterval = 5
/** Seconds that a client which asks too often waits longer, for good. */
const slower = 5

/** Members of every row that a client polls for. */
type PolledRow = {
  /** Seconds between two polls. */
  interval: number
  polled: Date
}

/** What a poll gets before the user has answered: `authorization_pending`, or `slow_down` for one that comes too early. */
export async function answerEarlyPoll(
  ctx: Context,
  record: 'oauthBackchannel' | 'oauthDeviceCode',
  { id, interval, polled }: PolledRow & { id: string },
): Promise<OAuthRefusal> {
  // Both records have these members, and more.
  const rows = ctx.records(record) as unknown as RecordTable<PolledRow>
  const isEarly = ctx.now.getTime() - polled.getTime() < interval * 1000
  // Two polls at the same moment are too many as well.
  if (!isEarly && (await rows.update(id, { polled: ctx.now }, { if: { polled } })))
    return new OAuthRefusal('authorization_pending', 'The user has not answered.')
  await rows.increment(id, 'interval', slower, { set: { polled: ctx.now } })
  return new OAuthRefusal('slow_down', 'Poll less often.')
}
