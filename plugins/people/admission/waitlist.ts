/** The waitlist: visitors ask, administrators approve or decline. */
import { type Context, HttpError, RecordConflict, toAddress } from 'authkernel/kernel'
import { mailWithinLimit } from 'authkernel/kernel/mail'
import type { Actor } from './actor.ts'
import { AdmissionInput } from './errors.ts'
import { isAddressAdmitted } from './guard.ts'
import { linkTo, newInvitation, readPage, secondsLeft } from './invitations.ts'
import { sendInBackground, sendMail } from './mails.ts'
import type { ResolvedOptions } from './options.ts'
import { type RequestRow, toRequest, type WaitlistRequest } from './tables.ts'

/** Puts an address on the waitlist. The answer is the same for every address, and does not wait. Throws AdmissionInput, and HttpError 429. */
export async function joinWaitlist(ctx: Context, options: ResolvedOptions, typed: unknown): Promise<void> {
  const address = toAddress(typed)
  if (address === undefined) throw new AdmissionInput('admission.join: `email` is no mail address.')
  const { allowed, retryAfter } = await ctx.limit.take(`admission join ${ctx.clientAddress ?? 'unknown'}`, { max: 20, seconds: 3600 })
  if (!allowed) throw new HttpError(429, 'Too many requests came from this address.', { 'Retry-After': String(retryAfter) })
  storeRequest(ctx, options, address).catch((error: unknown) => ctx.logger.error(error as Error))
}

async function storeRequest(ctx: Context, options: ResolvedOptions, email: string): Promise<void> {
  const store = ctx.service('store')
  if ((await store.getUserByEmail(email)) || (await options.lists.isBlocked(email)) || (await isAddressAdmitted(ctx, options, email)))
    return
  const lang = ctx.request.headers.get('accept-language')?.split(/[,;]/)[0]?.trim().slice(0, 35) ?? null
  const expires = new Date(ctx.now.getTime() + options.requestAge * 1000)
  try {
    await ctx.records('admissionRequest').create({ email, state: 'waiting', lang, created: ctx.now, expires })
  } catch (error) {
    // It is on the list already: no second mail.
    if (error instanceof RecordConflict) return
    throw error
  }
  await ctx.emit('noted', { name: 'admission.requested', outcome: 'success', typed: email })
  await mailWithinLimit(ctx, email, () => sendMail(ctx, email, 'admission.waiting', {}))
}

/** Oldest first, a page at a time. */
export async function listWaitlist(
  { ctx }: Actor,
  {
    state = 'waiting',
    cursor,
    limit = 50,
  }: { state?: RequestRow['state'] | undefined; cursor?: string | undefined; limit?: number | undefined },
): Promise<{ requests: WaitlistRequest[]; next: string | undefined }> {
  if (!['waiting', 'declined'].includes(state)) throw new AdmissionInput('admission.listWaitlist: `state` must be "waiting" or "declined".')
  const page = readPage('listWaitlist', cursor, limit)
  const { rows, cursor: next } = await ctx.records('admissionRequest').find({ where: { state }, ...page })
  return { requests: rows.map(toRequest), next }
}

/** Takes the request off the list and mails an invitation for its address: both or none. False: there is no such request. */
export async function approveRequest(actor: Actor, id: unknown): Promise<boolean> {
  const { ctx, user } = actor
  const request = isRowId(id) ? await ctx.records('admissionRequest').get(id) : null
  if (!request) return false
  const { row, code } = await newInvitation(actor, { email: request.email })
  const url = linkTo(ctx, code)
  const written = await ctx.atomic([
    { record: 'admissionRequest', take: request.id },
    { record: 'admissionInvitation', create: row },
  ])
  // Another administrator was faster.
  if (!written) return false
  const left = { seconds: secondsLeft(ctx, row) }
  sendInBackground(ctx, request.email, 'admission.approved', { url, left }, request.lang ?? undefined)
  await ctx.emit('noted', { name: 'admission.approved', outcome: 'success', user, details: { request: request.id } })
  return true
}

/** Keeps the request as declined, so that it does not come back. The visitor is not told. False: there is no request that waits. */
export async function declineRequest({ ctx, user }: Actor, id: unknown): Promise<boolean> {
  if (!isRowId(id) || !(await ctx.records('admissionRequest').update(id, { state: 'declined' }, { if: { state: 'waiting' } }))) return false
  await ctx.emit('noted', { name: 'admission.declined', outcome: 'success', user, details: { request: id } })
  return true
}

function isRowId(id: unknown): id is string {
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id)
}
