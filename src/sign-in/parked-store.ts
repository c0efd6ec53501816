/**
 * Where parked logins wait. With records: a sealed row, named by the hash of a random handle that is in a sealed cookie; neither resumes anything
 * alone. Without: deflated and sealed in cookies, at most two, good for one use in this process or wherever `once` is shared.
 */
import type { StampOfAccess } from '../contract/access.ts'
import type { CookieHandle } from '../contract/cookie.ts'
import type { Login } from '../contract/login.ts'
import type { Parked } from '../contract/park.ts'
import type { RecordTable } from '../contract/records.ts'
import { AuthError, type ErrorRow } from '../errors/index.ts'
import { sha256, toBase64Url, toHex } from '../keys/crypto.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { deflated, inflated } from './packed.ts'
import { handles, maxSeconds, type ParkedRow, slots } from './parked-parts.ts'

/** A login does not fit into cookies. */
export class LoginTooLarge extends AuthError {
  static override type = 'LoginTooLarge'
  static override row: ErrorRow = { page: 'error', status: 500 }
}
/** What is kept of a login. */
export interface Kept {
  by: string
  login: Login
  data: unknown
  /** Who was signed in, for logins that keep or renew a session. */
  subject: string | null
  /** The state of the user's access when the sign-in began. */
  access: StampOfAccess
}
/** One that waits. */
export type StoredLogin = Kept & { id: string; expires: Date }
/** One in a cookie; the later one has the higher turn. */
type InCookie = StoredLogin & { turn: number }

const maxChunks = 3
const chunk = 4096 - 160

/** Stores a login; answers its id. Throws LoginTooLarge. */
export async function store(ctx: KernelContext, kept: Kept, seconds: number): Promise<StoredLogin> {
  const handle = toBase64Url(ctx.runtime.random(32))
  const id = toHex(await sha256(handle))
  const expires = new Date(ctx.runtime.now() + seconds * 1000)
  if (!hasRecords(ctx)) return { ...(await toCookie(ctx, id, kept, expires, seconds)), id, expires }
  const { login, ...rest } = kept
  const owner = ctx.store ? (login.user.id ?? null) : null
  await tableOf(ctx).create({ id, ...rest, login: plain(login), data: rest.data ?? null, owner, expires })
  await handles.add(ctx, id, { handle })
  return { ...kept, id, expires }
}

/** What this browser has parked, newest first. */
export async function list(ctx: KernelContext): Promise<StoredLogin[]> {
  if (!hasRecords(ctx)) {
    const inCookies = await Promise.all(slots.map((slot) => fromCookie(ctx, slot)))
    return inCookies.filter((found) => found !== null).sort((a, b) => b.turn - a.turn)
  }
  const found: StoredLogin[] = []
  for (const { id, handle } of await handles.all(ctx)) {
    // The cookie names the row, and only its handle proves that it may.
    const row = toHex(await sha256(handle)) === id ? await tableOf(ctx).get(id) : null
    // One from before logins had a stamp cannot be compared, and starts again.
    if (row?.login && row.access)
      found.push({
        by: row.by,
        login: revived(row.login) as Login,
        data: row.data,
        subject: row.subject,
        access: row.access as StampOfAccess,
        id,
        expires: row.expires,
      })
  }
  return found
}

/** Uses one up: true for exactly one caller. */
export async function take(ctx: KernelContext, parked: Pick<Parked, 'id' | 'expires'>): Promise<boolean> {
  if (hasRecords(ctx)) {
    const row = await tableOf(ctx).take(parked.id)
    await handles.drop(ctx, [parked.id])
    return row !== null
  }
  await clearSlot(ctx, parked.id)
  return ctx.once.take(`parked ${parked.id}`, maxSeconds)
}

/** Replaces `data`. */
export async function keepData(ctx: KernelContext, { id, login, by, expires }: Parked, data: unknown): Promise<void> {
  const found = (await list(ctx)).find((one) => one.id === id)
  if (!found) return
  // A factor that was set up here ends other access, and not the sign-in that set it up.
  const access = ctx.access.restamp(found.access)
  if (hasRecords(ctx)) return void (await tableOf(ctx).update(id, { data: data ?? null, access }))
  const seconds = Math.max(1, Math.round((expires.getTime() - ctx.runtime.now()) / 1000))
  await toCookie(ctx, id, { by, login, data, subject: found.subject, access }, expires, seconds)
}

function hasRecords(ctx: KernelContext): boolean {
  return ctx.compiled.records.has('parkedLogin')
}

function tableOf(ctx: KernelContext): RecordTable<ParkedRow> {
  return ctx.records('parkedLogin') as unknown as RecordTable<ParkedRow>
}

// ---- without records

async function toCookie(ctx: KernelContext, id: string, kept: Kept, expires: Date, seconds: number): Promise<Kept> {
  const { slot, turn } = await slotFor(ctx, id)
  for (const trimmed of trims(kept.login)) {
    const login = trimmed.length === 0 ? kept.login : without(kept.login, trimmed)
    const packed = await deflated(plain({ ...kept, login }))
    const value = await slot.seal(ctx, { id, turn, until: expires.getTime(), packed }, seconds)
    if (value.length > maxChunks * chunk) continue
    if (trimmed.length > 0) ctx.logger.warn('login-trimmed')
    slot.set(ctx, value, { expires })
    return { ...kept, login }
  }
  throw new LoginTooLarge(
    `A login of provider "${kept.login.account.provider}" is too large to be parked in cookies. \`.use(recordsPlugin(...))\`, or an adapter of authkernel, keeps it on the server.`,
  )
}

async function fromCookie(ctx: KernelContext, slot: CookieHandle): Promise<InCookie | null> {
  const opened = await slot.open<{ id: string; turn: number; until: number; packed: string }>(ctx)
  if (!opened || opened.until <= ctx.runtime.now() || (await ctx.once.taken(`parked ${opened.id}`))) return null
  const kept = revived(await inflated(opened.packed)) as Kept
  if (!kept.access) return null
  return { ...kept, id: opened.id, turn: opened.turn, expires: new Date(opened.until) }
}

/** The slot of this login, else a free one, else the older one. */
async function slotFor(ctx: KernelContext, id: string): Promise<{ slot: CookieHandle; turn: number }> {
  const found = await Promise.all(slots.map(async (slot) => ({ slot, parked: await fromCookie(ctx, slot) })))
  const own = found.find(({ parked }) => parked?.id === id)
  const [oldest] = found.toSorted((a, b) => (a.parked?.turn ?? 0) - (b.parked?.turn ?? 0))
  const last = Math.max(...found.map(({ parked }) => parked?.turn ?? 0))
  const { slot } = (own ?? oldest) as { slot: CookieHandle }
  return { slot, turn: own?.parked?.turn ?? last + 1 }
}

async function clearSlot(ctx: KernelContext, id: string): Promise<void> {
  for (const slot of slots) if ((await fromCookie(ctx, slot))?.id === id) slot.delete(ctx)
}

/** What is left out, in this order, until the rest fits. */
function trims({ profile, account }: Login): string[][] {
  const has = (name: string): boolean => account[name] !== undefined
  return [[], ...(profile ? [['profile']] : []), ...(has('id_token') ? [['profile', 'id_token']] : []), ['profile', 'id_token', 'tokens']]
}

function without({ profile, account, ...login }: Login, trimmed: readonly string[]): Login {
  const { id_token, access_token, refresh_token, ...rest } = account
  const tokens = trimmed.includes('tokens')
    ? {}
    : { ...(access_token !== undefined && { access_token }), ...(refresh_token !== undefined && { refresh_token }) }
  const kept = { ...rest, ...tokens, ...(!trimmed.includes('id_token') && id_token !== undefined && { id_token }) }
  return { ...login, account: kept, ...(!trimmed.includes('profile') && profile && { profile }), trimmed }
}

/** JSON has no dates: they are marked, and come back as dates. */
function plain(value: unknown): unknown {
  if (Object.prototype.toString.call(value) === '[object Date]') return { $date: (value as Date).getTime() }
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}

function revived(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revived)
  if (typeof value !== 'object' || value === null) return value
  const { $date } = value as { $date?: unknown }
  if (typeof $date === 'number') return new Date($date)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revived(item)]))
}
