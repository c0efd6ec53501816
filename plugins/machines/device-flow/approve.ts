/** The person at the page: types or compares the code, sees which device asks, and says yes or no. */
import { type Context, hasFreshProof, HttpError, networksOf, redirectTo, type User } from 'authkernel/kernel'
import { readUserCode, rowOf } from './codes.ts'
import { notify } from './notice.ts'
import type { ResolvedOptions } from './options.ts'
import type { DeviceCode } from './table.ts'

/** Codes that one person, and one network, may try in ten minutes (RFC 8628 section 5.1). */
const perUser = { max: 10, seconds: 600 }
const perNetwork = { max: 50, seconds: 600 }
const purpose = 'device-flow.confirm'
const ticketSeconds = 600

interface Ticket {
  id: string
  userId: string
}

/** Who is signed in by the session of a browser; null: nobody. */
export async function personOf(ctx: Context): Promise<(User & { id: string }) | null> {
  const user = await ctx.session.user(ctx)
  return user?.id === undefined || user.id === null ? null : { ...user, id: user.id }
}

/** `POST /device`: a code was typed. */
export async function enter(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { user_code: typed } = await ctx.body()
  const user = await personOf(ctx)
  if (!user) return ctx.page('signIn', { callbackUrl: `${ctx.base}/device` })
  const code = readUserCode(typed)
  const stale = await stepUp(ctx, options, code)
  if (stale) return stale
  if (!(await mayTry(ctx, user))) return ctx.render('device', { error: 'TooManyDeviceCodes' })
  const row = code === undefined ? null : await rowOf(ctx, 'user', code)
  const app = row && ctx.service('appTokens').client(row.clientId)
  if (!row || !app || row.status !== 'pending' || row.until <= ctx.now) return ctx.render('device', { error: 'DeviceCodeUnknown' })
  const ticket: Ticket = { id: row.id, userId: user.id }
  const place = row.address && options.place ? await options.place({ address: row.address, ctx }) : undefined
  return ctx.render('deviceConfirm', {
    ticket: await ctx.seal(purpose, { ...ticket }, ticketSeconds),
    code,
    app: app.name,
    who: user.email ?? user.name ?? user.id,
    scopes: row.scopes.join(' '),
    address: row.address ?? undefined,
    place,
    agent: row.userAgent ?? undefined,
  })
}

/** `POST /device/decide`: the person has seen the device, and answers. */
export async function decide(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { ticket: sealed, decision } = await ctx.body()
  const ticket = typeof sealed === 'string' ? await ctx.open<Ticket>(purpose, sealed) : null
  const user = await personOf(ctx)
  // The person who read the page is the one who answers it.
  if (!ticket || !user || user.id !== ticket.userId) throw new HttpError(400, 'This page is too old. Type the code again.')
  const isAllowed = decision === 'allow'
  const stale = isAllowed ? await stepUp(ctx, options, undefined) : undefined
  if (stale) return stale
  const row = await settle(ctx, ticket, user, isAllowed)
  if (!row) return ctx.render('device', { error: 'DeviceCodeUnknown' })
  await ctx.emit(isAllowed ? 'deviceFlowApproved' : 'deviceFlowDenied', { user, clientId: row.clientId })
  if (isAllowed) notify(ctx, user, ctx.service('appTokens').client(row.clientId)?.name ?? row.clientId, row)
  return redirectTo(`${ctx.base}/device?done=${isAllowed ? 'allowed' : 'denied'}`)
}

/** Null: it is too late, or was answered already. Of several answers one counts. */
async function settle(ctx: Context, { id }: Ticket, user: { id: string }, isAllowed: boolean): Promise<DeviceCode | null> {
  const codes = ctx.records('deviceCode')
  const row = await codes.get(id)
  if (!row || row.until <= ctx.now) return null
  const attributes = isAllowed ? ((await ctx.session.attributes?.(ctx)) ?? null) : null
  if (!isAllowed) return codes.update(id, { status: 'denied' }, { if: { status: 'pending' } })
  const access = await ctx.access.stampSession()
  if (access?.subject !== `user:${user.id}`) throw new HttpError(400, 'This page is too old. Type the code again.')
  return ctx.access.grant(
    access,
    'deviceApproval',
    () => codes.update(id, { status: 'approved', userId: user.id, attributes, access }, { if: { status: 'pending' } }),
    (approved) => approved && codes.delete(id),
  )
}

async function mayTry(ctx: Context, { id }: { id: string }): Promise<boolean> {
  const { allowed } = await ctx.limit.take(`deviceFlow.user:${id}`, perUser)
  const network = ctx.clientAddress === undefined ? undefined : networksOf(ctx.clientAddress)[0]?.key
  if (!allowed || network === undefined) return allowed
  return (await ctx.limit.take(`deviceFlow.network:${network}`, perNetwork)).allowed
}

/** Undefined: the proof is fresh enough. Else the way to a fresh one, and back to the page with the code. */
async function stepUp(ctx: Context, { stepUp: demand }: ResolvedOptions, code: string | undefined): Promise<Response | undefined> {
  if (!demand) return undefined
  const { maxAge, level } = demand
  if (await hasFreshProof(ctx, { maxAge, level })) return undefined
  const callbackUrl = `${ctx.base}/device${code === undefined ? '' : `?user_code=${code}`}`
  const login = await ctx.loginAgain({ callbackUrl })
  const answered = login && (await ctx.ask('stepUp', { login, level, maxAge }))
  return answered ?? ctx.page('signIn', { callbackUrl })
}
