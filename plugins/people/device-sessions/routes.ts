/** The routes of Device Bound Session Credentials: a key is registered once, and signs for each new cookie. */
import { type AuthError, type Context, type Kernel, randomHex } from 'authkernel/kernel'
import { deleteShortCookie, shortCookieName, renewCookie } from './binding.ts'
import type { ResolvedOptions } from './options.ts'
import { checkProof, type PublicKey } from './proof.ts'
import { findDeviceSession, inSeconds } from './rows.ts'
import type { DeviceSession } from './tables.ts'

/** Finds the session of a request past what this plugin hides. */
export type SessionFinder = (ctx: Context) => Promise<string | null>

// Longer than the cookie: the browser signs when that is about to end.
const challengeSeconds = 2 * 3600

/** Adds both routes. A signature over a value of the server says who sends it, so no token of a form is needed. */
export function addRoutes(kernel: Kernel, options: ResolvedOptions, find: SessionFinder): void {
  const common = { method: 'POST', csrf: 'crossSite', failure: respondToFailure } as const
  kernel.route({ ...common, path: '/dbsc/register', handler: (ctx) => registerKey(ctx, options, find) })
  kernel.route({ ...common, path: '/dbsc/refresh', handler: (ctx) => refreshCookie(ctx, options) })
}

/** A browser follows no redirect here, and takes one for the end of the session. With 503 it tries again. */
function respondToFailure(_ctx: Context, { status }: AuthError): Response {
  if (status < 500) return respondEmpty(status)
  return new Response(null, { status: 503, headers: { 'Retry-After': '10', 'Cache-Control': 'no-store' } })
}

async function registerKey(ctx: Context, options: ResolvedOptions, find: SessionFinder): Promise<Response> {
  const row = await findOwnRow(ctx, find)
  const open = row && row.bound === null && row.offer !== null && row.offerUntil !== null && row.offerUntil > ctx.now
  const key = open ? await checkProof(ctx, ctx.request.headers.get('secure-session-response'), row.offer as string, null) : null
  if (!row || !key) {
    await emitBinding(ctx, row, 'failed', open ? 'signature' : 'offer')
    return respondEmpty(400)
  }
  const bound = randomHex(ctx.runtime, 16)
  const { change, set } = await renewCookie(ctx, row, bound, options.cookieAge)
  // One of several registrations of a session binds it.
  const stored = await ctx
    .records('deviceSession')
    .update(
      row.id,
      { ...change, bound, key: JSON.stringify(key), offer: null, offerUntil: null },
      { if: { offer: row.offer, bound: null } },
    )
  if (!stored) return respondEmpty(400)
  set()
  await emitBinding(ctx, row, 'registered')
  return respondWithSession(ctx, bound)
}

/** The key is enough to get the cookie, also while an administrator acts as a user in this browser. */
async function refreshCookie(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const named =
    ctx.request.headers
      .get('sec-secure-session-id')
      ?.trim()
      .replace(/^"(.*)"$/, '$1') ?? ''
  if (!/^[0-9a-f]{32}$/.test(named)) return respondEmpty(400)
  // Two while the session gets another id.
  const { rows } = await ctx.records('deviceSession').find({ where: { bound: named }, limit: 2 })
  const [row] = rows
  if (!row || row.bound === null || row.key === null) {
    // The session has ended: the browser forgets it.
    deleteShortCookie(ctx, named)
    return respondWithJson({ session_identifier: named, continue: false })
  }
  const proof = ctx.request.headers.get('secure-session-response')
  const known = JSON.parse(row.key) as PublicKey
  const live = row.challenge !== null && row.challengeUntil !== null && row.challengeUntil > ctx.now
  if (proof !== null && live && (await checkProof(ctx, proof, row.challenge as string, known))) {
    const { change, set } = await renewCookie(ctx, row, row.bound, options.cookieAge)
    const challenge = randomHex(ctx.runtime, 32)
    const next = { ...change, challenge, challengeUntil: inSeconds(ctx, challengeSeconds) }
    if (await storeOnce(ctx, rows, next, row.challenge)) {
      set()
      await emitBinding(ctx, row, 'refreshed')
      return respondWithSession(ctx, row.bound, { 'Secure-Session-Challenge': `"${challenge}";id="${row.bound}"` })
    }
  } else if (proof !== null) await emitBinding(ctx, row, 'failed', 'signature')
  return challengeResponse(ctx, row)
}

/** Stores in each row what a proof brought. False: the proof was used before. All requests compete for the first row that is there. */
async function storeOnce(
  ctx: Context,
  rows: readonly DeviceSession[],
  next: Partial<DeviceSession>,
  challenge: string | null,
): Promise<boolean> {
  const table = ctx.records('deviceSession')
  let first = true
  for (const { id } of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const stored = await table.update(id, next, { if: { challenge } })
    if (stored) first = false
    else if (first && (await table.get(id))) return false
  }
  return !first
}

/** 403 with what to sign. One that is live is given again: several requests may be under way. */
async function challengeResponse(ctx: Context, row: DeviceSession): Promise<Response> {
  const table = ctx.records('deviceSession')
  const now = (await table.get(row.id)) ?? row
  let { challenge } = now
  // Half of its life must be left.
  if (challenge === null || now.challengeUntil === null || now.challengeUntil <= inSeconds(ctx, challengeSeconds / 2)) {
    challenge = randomHex(ctx.runtime, 32)
    const change = { challenge, challengeUntil: inSeconds(ctx, challengeSeconds) }
    if (!(await table.update(row.id, change, { if: { challenge: now.challenge } })))
      challenge = (await table.get(row.id))?.challenge ?? challenge
  }
  return new Response(null, {
    status: 403,
    headers: { 'Secure-Session-Challenge': `"${challenge}";id="${row.bound}"`, 'Cache-Control': 'no-store' },
  })
}

/** What a browser must know to keep the session. */
function respondWithSession(ctx: Context, bound: string, headers: Record<string, string> = {}): Response {
  const path = ctx.basePath === '/' ? '' : ctx.basePath
  const attributes = `Path=/; ${ctx.origin.startsWith('https:') ? 'Secure; ' : ''}HttpOnly; SameSite=Lax`
  return respondWithJson(
    {
      session_identifier: bound,
      refresh_url: `${path}/dbsc/refresh`,
      scope: {
        origin: ctx.origin,
        include_site: false,
        scope_specification: [{ type: 'exclude', domain: ctx.url.hostname, path: `${path}/dbsc` }],
      },
      credentials: [{ type: 'cookie', name: shortCookieName(ctx, bound), attributes }],
    },
    headers,
  )
}

async function findOwnRow(ctx: Context, find: SessionFinder): Promise<DeviceSession | null> {
  const sessionId = await find(ctx)
  return sessionId === null ? null : findDeviceSession(ctx, sessionId)
}
function respondWithJson(value: object, headers: Record<string, string> = {}): Response {
  return Response.json(value, { headers: { 'Cache-Control': 'no-store', ...headers } })
}
function respondEmpty(status: number): Response {
  return new Response(null, { status, headers: { 'Cache-Control': 'no-store' } })
}
async function emitBinding(
  ctx: Context,
  row: DeviceSession | null,
  what: 'registered' | 'refreshed' | 'failed',
  reason?: 'offer' | 'signature',
): Promise<void> {
  await ctx.emit('deviceBinding', { what, ...(reason && { reason }), sessionId: row?.sessionId ?? null, userId: row?.userId ?? null })
}
