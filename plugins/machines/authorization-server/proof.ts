/** How a user must be signed in: `prompt=login`, `max_age` and `acr_values` (OpenID Connect Core section 3.1.2.1). */
import { type Context, type SessionAttributes, sha256, toHex } from 'authkernel/kernel'
import { leadToProof } from 'authkernel/kernel/strategies'
import { acrValues } from './claims-request.ts'
import type { AuthorizationRequest } from './request.ts'

const purpose = 'authorization-server.proof'
const ticketSeconds = 3600

/** What the browser was sent away for. The ticket is of one request, so that no other one profits from it. */
interface Ticket {
  request: string
  /** Seconds since the epoch: a proof must be as young. */
  since: number
}

/** Undefined: the session fits. Else the way to a proof that does, and back. */
export async function demandProof(ctx: Context, request: AuthorizationRequest): Promise<Response | undefined> {
  const attributes = (await ctx.session.attributes?.(ctx)) ?? null
  const now = Math.floor(ctx.now.getTime() / 1000)
  const own = await nameOf(request)
  const ticket = await openTicket(ctx, own)
  const level = levelOf(request, attributes)
  // A class is a wish (section 5.5.1.1): a user without a second factor comes back once, and the ID token says what was proved.
  if (level && !ticket) return leadAway(ctx, own, now, { maxAge: now, level })
  const isLoginDue = request.prompt.includes('login') && !(ticket && (attributes?.authTime ?? 0) >= ticket.since)
  const isTooOld = request.maxAge !== undefined && now - (attributes?.authTime ?? 0) > request.maxAge
  if (!isLoginDue && !isTooOld) return undefined
  return leadAway(ctx, own, ticket?.since ?? now, { maxAge: Math.min(request.maxAge ?? 0, isLoginDue ? 0 : Infinity) })
}

/** The class of a session, as ID tokens say it: that of the provider where it gave one. */
export function acrOf(attributes: SessionAttributes): string {
  return attributes.acr ?? (attributes.factors === 2 ? acrValues.two : acrValues.one)
}

function levelOf({ acrValues: wanted }: AuthorizationRequest, attributes: SessionAttributes | null): 'mfa' | undefined {
  const first = wanted.find((value) => value === acrValues.one || value === acrValues.two)
  return first === acrValues.two && attributes?.factors !== 2 ? 'mfa' : undefined
}

async function leadAway(ctx: Context, request: string, since: number, demand: { maxAge: number; level?: 'mfa' }): Promise<Response> {
  const back = new URL(ctx.url)
  back.searchParams.set('proof', await ctx.seal(purpose, { request, since }, ticketSeconds))
  return leadToProof(ctx, demand, back.href)
}

async function openTicket(ctx: Context, request: string): Promise<Ticket | undefined> {
  const sealed = ctx.url.searchParams.get('proof')
  const ticket = sealed === null ? null : await ctx.open<Ticket>(purpose, sealed)
  return ticket?.request === request ? ticket : undefined
}

async function nameOf(request: AuthorizationRequest): Promise<string> {
  return toHex(await sha256(JSON.stringify(request)))
}
