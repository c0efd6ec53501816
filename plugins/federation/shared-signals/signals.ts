/** What a pushed token does: ends sessions where the option says so, and is told as an event. */
import { type AnyContext, type EndReason, endSessions, type SessionSelector } from 'authkernel/kernel'
import { isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import { SignalRefused } from './errors.ts'
import type { Sender, SignalKind } from './options.ts'
import { findSubject, type Subject } from './subject.ts'
import { canonicalName, findUserId } from './users.ts'
import { verifySecurityEventToken, type SecurityEventToken } from './token.ts'

/** A signal, as listeners receive it. */
export interface Signal {
  /** Id of the provider that sent it. */
  provider: string
  kind: SignalKind
  /** The stored user, where there is one. */
  userId: string | undefined
  /** Whom it is about, by the names at the sender; empty: no user whom it has signed in here. */
  subject: Subject
  /** Milliseconds since the epoch: when it happened, as far as the sender says, else when the token was made. */
  at: number
  /** Of `account-disabled` and `stream-updated`: why. */
  reason: string | undefined
  /** How many sessions were ended; undefined if it is not known. 0: none, also where `revoke` does not name the signal. */
  count: number | undefined
  /** The event as it was sent. */
  details: JsonObject
}

const schemas = 'https://schemas.openid.net/secevent'
const kinds: Readonly<Record<string, SignalKind>> = {
  [`${schemas}/caep/event-type/session-revoked`]: 'session-revoked',
  [`${schemas}/caep/event-type/credential-change`]: 'credential-change',
  [`${schemas}/risc/event-type/account-disabled`]: 'account-disabled',
  [`${schemas}/risc/event-type/account-purged`]: 'account-purged',
  [`${schemas}/risc/event-type/sessions-revoked`]: 'sessions-revoked',
  [`${schemas}/ssf/event-type/verification`]: 'verification',
  [`${schemas}/ssf/event-type/stream-updated`]: 'stream-updated',
  [`${schemas}/risc/event-type/verification`]: 'verification',
}
// With the account go the tokens that the provider gave for it.
const reasons: Readonly<Partial<Record<SignalKind, EndReason>>> = {
  'account-disabled': 'accountDisabled',
  'account-purged': 'accountDisabled',
}
// Seconds.
const oldest = 24 * 3_600
const signalLifetime = 30 * 24 * 3_600
const leeway = 60

/** Resolves when everything is done that must outlive the answer. Throws SignalRefused; all else means: send it again. */
export async function receiveToken(ctx: AnyContext, provider: string, sender: Sender, jwt: string): Promise<void> {
  const token = await verifySecurityEventToken(ctx, provider, jwt)
  const key = `signal:${provider}:${await canonicalName(ctx, { provider, issuer: token.issuer }, token.jti)}`
  const ignored = token.iat < ctx.runtime.now() / 1000 - oldest ? 'old' : (await ctx.once.taken(key)) ? 'repeated' : undefined
  if (ignored !== undefined) return ctx.emit('noted', { name: 'signal.ignored', outcome: 'success', reason: ignored, provider })
  const signals: Signal[] = []
  for (const [type, details] of Object.entries(token.events)) {
    const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
    if (kind) signals.push(await applyEvent(ctx, { provider, sender, token, kind, details }))
  }
  // Recorded after the effect: when that failed, the sender tries again. Ending sessions twice ends nothing more.
  if (!(await ctx.once.take(key, signalLifetime))) return
  for (const signal of signals) await ctx.emit('signalReceived', signal)
}

interface ReceivedEvent {
  provider: string
  sender: Sender
  token: SecurityEventToken
  kind: SignalKind
  details: JsonObject
}

async function applyEvent(ctx: AnyContext, { provider, sender, token, kind, details }: ReceivedEvent): Promise<Signal> {
  const about = kind === 'verification' || kind === 'stream-updated' ? {} : await readSignalSubject(ctx, { provider, token, kind, details })
  const happened = details['event_timestamp']
  const { reason } = details
  const { issuer } = token
  return {
    provider,
    kind,
    userId: about.sub === undefined ? undefined : await findUserId(ctx, { provider, issuer, sub: about.sub }, sender.keeps),
    subject: about,
    at: (typeof happened === 'number' && Number.isFinite(happened) ? happened : token.iat) * 1000,
    reason: typeof reason === 'string' ? reason.slice(0, 200) : undefined,
    count: sender.revokes.has(kind) ? await endSessionsOf(ctx, { provider, issuer }, about, { iat: token.iat, kind }) : 0,
    details,
  }
}

function readSignalSubject(ctx: AnyContext, { provider, token, kind, details }: Omit<ReceivedEvent, 'sender'>): Promise<Subject> {
  const subject = token.subject ?? details['subject']
  if (!isJsonObject(subject)) throw new SignalRefused('invalid_request', 'The event has no subject (`sub_id`).')
  return findSubject(ctx, { provider, issuer: token.issuer }, subject, kind === 'session-revoked')
}

/** Only sessions of this sender, and none that began after the signal. */
async function endSessionsOf(
  ctx: AnyContext,
  of: { provider: string; issuer: string },
  { sub, sid }: Subject,
  { iat, kind }: { iat: number; kind: SignalKind },
): Promise<number | undefined> {
  const until = Math.min((iat + leeway) * 1000, ctx.runtime.now())
  const { provider } = of
  const selectors: SessionSelector[] = []
  if (sid !== undefined) selectors.push({ provider, sid: await canonicalName(ctx, of, sid), until })
  if (sub !== undefined) selectors.push({ provider, sub: await canonicalName(ctx, of, sub), until })
  let count: number | undefined = 0
  for (const selector of selectors) {
    const ended = await endSessions(ctx, selector, 'shared-signals', reasons[kind])
    count = count === undefined || ended === undefined ? undefined : count + ended
  }
  return count
}
