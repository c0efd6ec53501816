/** The user types the code of a device, sees who asks and what for, and answers. The answer is mailed: a user who was tricked learns of it. */
import { type Context, HttpError, redirectTo, type User } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { readUserCode } from '../device-flow/codes.ts'
import { takeTry } from '../device-flow/limits.ts'
import { describeDetail } from './authorization-details.ts'
import { type Client, findClient } from './clients.ts'
import { rememberConsent } from './consent-store.ts'
import { findDeviceCode } from './device-request.ts'
import type { DeviceOptions, ResolvedOptions } from './options.ts'
import { scopesWithoutPage } from './organization-consent.ts'
import { allowedScopes } from './rights.ts'
import type { OAuthDeviceCode } from './tables-polled.ts'

const purpose = 'authorization-server.device-question'
const ticketSeconds = 600

interface Ticket {
  id: string
  userId: string
}
type SignedInUser = User & { id: string }

/** `POST /oauth2/device`: a code was typed. */
export async function enterDeviceCode(ctx: Context, options: ResolvedOptions, { place: findPlace }: DeviceOptions): Promise<Response> {
  const { user_code: typed } = await ctx.body()
  const user = await findUser(ctx)
  if (!user) return ctx.page('signIn', { callbackUrl: `${ctx.base}/oauth2/device` })
  if (!(await takeTry(ctx, user))) return ctx.render('clientDevice', { error: 'TooManyDeviceCodes' })
  const code = readUserCode(typed)
  const row = code === undefined ? null : await findDeviceCode(ctx, 'user', code)
  const client = row && isOpen(ctx, row) ? await findClient(ctx, options, row.clientId) : undefined
  if (!row || !client) return ctx.render('clientDevice', { error: 'DeviceCodeUnknown' })
  const ticket: Ticket = { id: row.id, userId: user.id }
  return ctx.render('clientDeviceConfirm', {
    ticket: await ctx.seal(purpose, { ...ticket }, ticketSeconds),
    code,
    app: row.clientName,
    who: user.email ?? user.name ?? user.id,
    scopes: (await scopesToGive(ctx, options, client, user, row)).join(' '),
    details: JSON.stringify(row.details.map((detail) => describeDetail(options.authorizationDetails.get(detail.type), detail))),
    address: row.address ?? undefined,
    place: row.address && findPlace ? await findPlace({ address: row.address, ctx }) : undefined,
    agent: row.userAgent ?? undefined,
  })
}

/** `POST /oauth2/device/decide`: the user has seen the device, and answers. */
export async function answerDevice(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { ticket: sealed, decision } = await ctx.body()
  const ticket = typeof sealed === 'string' ? await ctx.open<Ticket & object>(purpose, sealed) : null
  const user = await findUser(ctx)
  // The user who read the page is the one who answers it.
  if (!ticket || user?.id !== ticket.userId) throw new HttpError(400, 'This page is too old. Type the code again.')
  const row = await ctx.records('oauthDeviceCode').get(ticket.id)
  const client = row && isOpen(ctx, row) ? await findClient(ctx, options, row.clientId) : undefined
  if (!row || !client) return ctx.render('clientDevice', { error: 'DeviceCodeUnknown' })
  const isAllowed = decision === 'allow'
  const written = isAllowed ? await approveCode(ctx, options, client, user, row) : await denyCode(ctx, row)
  if (!written) return ctx.render('clientDevice', { error: 'DeviceCodeUnknown' })
  if (isAllowed) {
    const { clientId, clientName: name, scopes, audiences } = written
    await rememberConsent(ctx, { userId: user.id, clientId, name, scopes, audiences })
    await ctx.emit('clientAuthorized', { user: { id: user.id }, clientId, scopes })
    mailApproval(ctx, user, written)
  }
  return redirectTo(`${ctx.base}/oauth2/device?done=${isAllowed ? 'allowed' : 'denied'}`)
}

/** A guest, an impersonator and an API key are no user here: no page asks them for consent. */
async function findUser(ctx: Context): Promise<SignedInUser | null> {
  const user = await findOwnUser(ctx)
  return user?.id ? { ...user, id: user.id } : null
}

function isOpen(ctx: Context, { status, until }: OAuthDeviceCode): boolean {
  return status === 'pending' && until > ctx.now
}

/** What this user can give this client: no scope that needs a fresh proof, and none that only an administrator can allow, unless one has. */
async function scopesToGive(
  ctx: Context,
  options: ResolvedOptions,
  client: Client,
  user: SignedInUser,
  { scopes }: OAuthDeviceCode,
): Promise<string[]> {
  return allowedScopes(ctx, options, user, client, await scopesWithoutPage(ctx, options, client, user.id, scopes))
}

/** Of several answers one counts. Null: it was answered already. */
async function approveCode(
  ctx: Context,
  options: ResolvedOptions,
  client: Client,
  user: SignedInUser,
  row: OAuthDeviceCode,
): Promise<OAuthDeviceCode | null> {
  const codes = ctx.records('oauthDeviceCode')
  const access = await ctx.access.stampSession()
  if (access?.subject !== `user:${user.id}`) throw new HttpError(400, 'This page is too old. Type the code again.')
  const attributes = (await ctx.session.attributes?.(ctx)) ?? null
  const scopes = await scopesToGive(ctx, options, client, user, row)
  const change = { status: 'approved' as const, userId: user.id, scopes, attributes, access }
  return ctx.access.grant(
    access,
    'deviceApproval',
    () => codes.update(row.id, change, { if: { status: 'pending' } }),
    // Its own approval: another user may have read the same code.
    (approved) => approved !== null && codes.take(row.id, { if: { userId: user.id } }),
  )
}

function denyCode(ctx: Context, { id }: OAuthDeviceCode): Promise<OAuthDeviceCode | null> {
  return ctx.records('oauthDeviceCode').update(id, { status: 'denied' }, { if: { status: 'pending' } })
}

/** The response does not wait for it. Sends nothing where no transport is configured, or where the user has no address. */
function mailApproval(ctx: Context, { email }: User, { clientName, address }: OAuthDeviceCode): void {
  if (!email || !ctx.app.services.mailTransport) return
  ctx
    .service('mail')
    .send(ctx, email, 'authorization-server.device', { app: clientName, time: ctx.now, address: address ?? '?' })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
