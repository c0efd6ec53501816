/**
 * Where parked logins wait. With records: a sealed row, named by the hash of a random handle that is in a sealed cookie; neither resumes anything
 * alone. Without: deflated and sealed in cookies, at most two, good for one use in this process or wherever `once` is shared.
 */
import type { StampOfAccess } from '../contract/access.ts'
import type { CookieHandle } from '../contract/cookie.ts'
import type { Login, ParkedLogin } from '../contract/login.ts'
import type { RecordTable } from '../contract/records.ts'
import { AuthError, type ErrorRow } from '../errors/index.ts'
import { bytes, fromBase64, sha256, toBase64Url, toHex } from '../keys/crypto.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { type ParkedRow, handles, maxSeconds, slots } from './parked-parts.ts'

/** A login does not fit into cookies. */
export class LoginTooLarge extends AuthError {
  static override type = 'LoginTooLarge'
  static override row: ErrorRow = { page: 'error', status: 500 }
}
/** What is kept of a login. */
export interface ParkedData {
  by: string
  login: Login
  data: unknown
  /** Who was signed in, for logins that keep or renew a session. */
  subject: string | null
  /** The state of the user's access when the sign-in began. */
  access: StampOfAccess
}
/** One that waits. */
export type StoredLogin = ParkedData & { id: string; expires: Date }
/** One in a cookie; the later one has the higher turn. */
type InCookie = StoredLogin & { turn: number }

const maxChunks = 3
const chunkSize = 4096 - 160

/** Stores a login; answers its id. Throws LoginTooLarge. */
export async function storeParked(ctx: KernelContext, kept: ParkedData, seconds: number): Promise<StoredLogin> {
  const handle = toBase64Url(ctx.runtime.random(32))
  const id = toHex(await sha256(handle))
  const expires = new Date(ctx.runtime.now() + seconds * 1000)
  if (!hasRecords(ctx)) return { ...(await writeSlot(ctx, id, kept, expires, seconds)), id, expires }
  const { login, ...rest } = kept
  const owner = ctx.store ? (login.user.id ?? null) : null
  await tableOf(ctx).create({ id, ...rest, login: markDates(login), data: rest.data ?? null, owner, expires })
  await handles.add(ctx, id, { handle })
  return { ...kept, id, expires }
}

/** What this browser has parked, newest first. */
export async function listParked(ctx: KernelContext): Promise<StoredLogin[]> {
  if (!hasRecords(ctx)) {
    const inCookies = await Promise.all(slots.map((slot) => readSlot(ctx, slot)))
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
        login: reviveDates(row.login) as Login,
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
export async function takeParked(ctx: KernelContext, parked: Pick<ParkedLogin, 'id' | 'expires'>): Promise<boolean> {
  if (hasRecords(ctx)) {
    const row = await tableOf(ctx).take(parked.id)
    await handles.drop(ctx, [parked.id])
    return row !== null
  }
  await clearSlot(ctx, parked.id)
  return ctx.once.take(`parked ${parked.id}`, maxSeconds)
}

/** Replaces `data`. */
export async function replaceData(ctx: KernelContext, { id, login, by, expires }: ParkedLogin, data: unknown): Promise<void> {
  const found = (await listParked(ctx)).find((one) => one.id === id)
  if (!found) return
  // A factor that was set up here ends other access, and not the sign-in that set it up.
  const access = ctx.access.restamp(found.access)
  if (hasRecords(ctx)) return void (await tableOf(ctx).update(id, { data: data ?? null, access }))
  const seconds = Math.max(1, Math.round((expires.getTime() - ctx.runtime.now()) / 1000))
  await writeSlot(ctx, id, { by, login, data, subject: found.subject, access }, expires, seconds)
}

function hasRecords(ctx: KernelContext): boolean {
  return ctx.compiled.records.has('parkedLogin')
}

function tableOf(ctx: KernelContext): RecordTable<ParkedRow> {
  return ctx.ownRecords<ParkedRow>('parkedLogin')
}

// ---- without records

async function writeSlot(ctx: KernelContext, id: string, kept: ParkedData, expires: Date, seconds: number): Promise<ParkedData> {
  const { slot, turn } = await chooseSlot(ctx, id)
  for (const trimmed of trimSteps(kept.login)) {
    const login = trimmed.length === 0 ? kept.login : withoutFields(kept.login, trimmed)
    const packed = await deflateJson(markDates({ ...kept, login }))
    const value = await slot.seal(ctx, { id, turn, until: expires.getTime(), packed }, seconds)
    if (value.length > maxChunks * chunkSize) continue
    if (trimmed.length > 0) ctx.logger.warn('login-trimmed')
    slot.set(ctx, value, { expires })
    return { ...kept, login }
  }
  throw new LoginTooLarge(
    `A login of provider "${kept.login.account.provider}" is too large to be parked in cookies. \`.use(recordsPlugin(...))\`, or an adapter of authkernel, keeps it on the server.`,
  )
}

async function readSlot(ctx: KernelContext, slot: CookieHandle): Promise<InCookie | null> {
  const opened = await slot.open<{ id: string; turn: number; until: number; packed: string }>(ctx)
  if (!opened || opened.until <= ctx.runtime.now() || (await ctx.once.taken(`parked ${opened.id}`))) return null
  const kept = reviveDates(await inflateJson(opened.packed)) as ParkedData
  if (!kept.access) return null
  return { ...kept, id: opened.id, turn: opened.turn, expires: new Date(opened.until) }
}

/** The slot of this login, else a free one, else the older one. */
async function chooseSlot(ctx: KernelContext, id: string): Promise<{ slot: CookieHandle; turn: number }> {
  const found = await Promise.all(slots.map(async (slot) => ({ slot, parked: await readSlot(ctx, slot) })))
  const own = found.find(({ parked }) => parked?.id === id)
  const [oldest] = found.toSorted((a, b) => (a.parked?.turn ?? 0) - (b.parked?.turn ?? 0))
  const last = Math.max(...found.map(({ parked }) => parked?.turn ?? 0))
  const { slot } = (own ?? oldest) as { slot: CookieHandle }
  return { slot, turn: own?.parked?.turn ?? last + 1 }
}

async function clearSlot(ctx: KernelContext, id: string): Promise<void> {
  for (const slot of slots) if ((await readSlot(ctx, slot))?.id === id) slot.delete(ctx)
}

/** What is left out, in this order, until the rest fits. */
function trimSteps({ profile, account }: Login): string[][] {
  const has = (name: string): boolean => account[name] !== undefined
  return [[], ...(profile ? [['profile']] : []), ...(has('id_token') ? [['profile', 'id_token']] : []), ['profile', 'id_token', 'tokens']]
}

function withoutFields({ profile, account, ...login }: Login, trimmed: readonly string[]): Login {
  const { id_token, access_token, refresh_token, ...rest } = account
  const tokens = trimmed.includes('tokens')
    ? {}
    : { ...(access_token !== undefined && { access_token }), ...(refresh_token !== undefined && { refresh_token }) }
  const kept = { ...rest, ...tokens, ...(!trimmed.includes('id_token') && id_token !== undefined && { id_token }) }
  return { ...login, account: kept, ...(!trimmed.includes('profile') && profile && { profile }), trimmed }
}

/** JSON has no dates: they are marked, and come back as dates. */
function markDates(value: unknown): unknown {
  if (Object.prototype.toString.call(value) === '[object Date]') return { $date: (value as Date).getTime() }
  if (Array.isArray(value)) return value.map(markDates)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, markDates(item)]))
}

function reviveDates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reviveDates)
  if (typeof value !== 'object' || value === null) return value
  const { $date } = value as { $date?: unknown }
  if (typeof $date === 'number') return new Date($date)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, reviveDates(item)]))
}

/** JSON, deflated (RFC 1951), as base64url behind a mark; without compression streams as it is. */
async function deflateJson(value: unknown): Promise<string> {
  const json = JSON.stringify(value)
  if (typeof CompressionStream === 'undefined') return `-${json}`
  return `d${toBase64Url(await pipeBytes(bytes(json), new CompressionStream('deflate-raw')))}`
}

/** What `deflateJson` made. */
async function inflateJson(text: string): Promise<unknown> {
  if (text.startsWith('-')) return JSON.parse(text.slice(1)) as unknown
  const json = await pipeBytes(fromBase64(text.slice(1)), new DecompressionStream('deflate-raw'))
  return JSON.parse(new TextDecoder().decode(json)) as unknown
}

async function pipeBytes(input: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const body = new Blob([input]).stream().pipeThrough(stream)
  return new Uint8Array(await new Response(body).arrayBuffer())
}
