/** The user at the page types or compares the code, sees which device asks, and answers. The answer is mailed: a user who was tricked learns of it. */
import { type Context, HttpError, type Kernel, redirectTo, type User } from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { readUserCode, findCode } from './codes.ts'
import { takeTry } from './limits.ts'
import type { ResolvedOptions } from './options.ts'
import { signedInUser } from './pages.ts'
import type { DeviceCode } from './tables.ts'

const purpose = 'device-flow.confirm'
const ticketSeconds = 600

interface Ticket {
  id: string
  userId: string
}

/** `POST /device`: a code was typed. */
export async function enterCode(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { user_code: typed } = await ctx.body()
  const user = await signedInUser(ctx)
  if (!user) return ctx.page('signIn', { callbackUrl: `${ctx.base}/device` })
  const code = readUserCode(typed)
  const stale = await demandFreshProof(ctx, options, code)
  if (stale) return stale
  if (!(await takeTry(ctx, user))) return ctx.render('device', { error: 'TooManyDeviceCodes' })
  const row = code === undefined ? null : await findCode(ctx, 'user', code)
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

/** `POST /device/decide`: the user has seen the device, and answers. */
export async function answerDevice(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { ticket: sealed, decision } = await ctx.body()
  const ticket = typeof sealed === 'string' ? await ctx.open<Ticket>(purpose, sealed) : null
  const user = await signedInUser(ctx)
  // The user who read the page is the one who answers it.
  if (!ticket || !user || user.id !== ticket.userId) throw new HttpError(400, 'This page is too old. Type the code again.')
  const isAllowed = decision === 'allow'
  const stale = isAllowed ? await demandFreshProof(ctx, options, undefined) : undefined
  if (stale) return stale
  const row = await writeDecision(ctx, ticket, user, isAllowed)
  if (!row) return ctx.render('device', { error: 'DeviceCodeUnknown' })
  await ctx.emit(isAllowed ? 'deviceFlowApproved' : 'deviceFlowDenied', { user, clientId: row.clientId })
  if (isAllowed) mailApproval(ctx, user, ctx.service('appTokens').client(row.clientId)?.name ?? row.clientId, row)
  return redirectTo(`${ctx.base}/device?done=${isAllowed ? 'allowed' : 'denied'}`)
}

/** The mail about a device that was let in. */
export function declareNotice(kernel: Kernel): void {
  kernel.mailTemplate('device-flow.notice', {
    subject: 'device-flow.notice.subject',
    lines: ['device-flow.notice.what', 'device-flow.notice.from', 'device-flow.notice.do'],
  })
}

/** Null: it is too late, or was answered already. Of several answers one counts. */
async function writeDecision(ctx: Context, { id }: Ticket, user: { id: string }, isAllowed: boolean): Promise<DeviceCode | null> {
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
    // Its own approval: another user may have read the same code.
    (approved) => approved !== null && codes.take(id, { if: { userId: user.id } }),
  )
}

/** Undefined: the proof is fresh enough. Else the way to a fresh one, and back to the page with the code. */
async function demandFreshProof(
  ctx: Context,
  { stepUp: demand }: ResolvedOptions,
  code: string | undefined,
): Promise<Response | undefined> {
  if (!demand) return undefined
  const { maxAge, level } = demand
  if (await hasFreshProof(ctx, { maxAge, level })) return undefined
  const callbackUrl = `${ctx.base}/device${code === undefined ? '' : `?user_code=${code}`}`
  const login = await ctx.loginAgain({ callbackUrl })
  const response = login && (await ctx.ask('stepUp', { login, level, maxAge }))
  return response ?? ctx.page('signIn', { callbackUrl })
}

/** The response does not wait for it. Sends nothing where no transport is configured, or where the user has no address. */
function mailApproval(ctx: Context, { email }: User, app: string, { address }: DeviceCode): void {
  if (!email || !ctx.app.services.mailTransport) return
  ctx
    .service('mail')
    .send(ctx, email, 'device-flow.notice', { app, time: ctx.now, address: address ?? '?' })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
