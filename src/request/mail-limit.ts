/**
 * How many mails may go to one address, whatever is in them: links, codes, registrations, resets, invitations. The limit of a mailbox holds for all
 * who ask. A known device, and a user who has proved the first factor, have shares of their own, so that strangers do not keep the owner from a mail.
 */
import type { AnyContext, Context } from '../contract/context.ts'
import type { LimitRule } from '../contract/services.ts'
import { countedName } from '../http/mail-address.ts'
import { networksOf } from '../http/hosts.ts'
import { type Attempt, beginAttempt, type Bucket } from './attempts.ts'
import { isKnownDevice, rememberDevice } from './sign-in-names.ts'

const day = 86_400
// Mails to one address in a day, as a multiple of those in one window: 10 where 3 go out in ten minutes.
const dayScale = 10 / 3
const networkScale = 100
// `throttle: false` is about sign-ins. What else mails an address is never without a limit.
const limitWithoutThrottle: LimitRule = { max: 3, seconds: 600 }

/**
 * Counts a mail to an address before it is sent; undefined: `throttle.mail` is off. Send nothing when it is `refused`, and answer as always. End it
 * with false when no mail went out. Every mail that a visitor can cause to a typed or unverified address is counted here.
 */
export async function beginMail(ctx: AnyContext, address: string): Promise<Attempt | undefined> {
  const rule = ctx.app.config.throttle.mail
  return rule ? countMail(ctx, address, rule) : undefined
}

async function countMail(ctx: AnyContext, address: string, { max, seconds }: LimitRule, provedBy?: string): Promise<Attempt> {
  const to = mailboxOf(address)
  const device = ctx.request && !provedBy ? await isKnownDevice(ctx, deviceName(to)) : undefined
  const share = provedBy ? `proved ${provedBy} ${to}` : device ? `device ${device} ${to}` : to
  const buckets: Bucket[] = [{ key: `mail:${share}`, rule: { max, seconds } }]
  if (seconds < day) buckets.push({ key: `mail day:${share}`, rule: { max: Math.ceil(max * dayScale), seconds: day } })
  if (share === to && ctx.request)
    for (const { key, scale } of networksOf(ctx.clientAddress))
      buckets.push({ key: `mail network:${key}`, rule: { max: max * networkScale * scale, seconds } })
  return beginAttempt(ctx, buckets)
}

/**
 * Sends a mail within the limit of its address; without `throttle.mail` 3 go out in ten minutes. `send` answers false when no mail went out. False: too
 * many, or none was sent. `provedBy`: a stable key of the user who has proved a first factor and waits for this mail; it has a separate share.
 */
export async function mailWithinLimit(
  ctx: AnyContext,
  address: string,
  send: () => Promise<unknown>,
  { provedBy }: { provedBy?: string } = {},
): Promise<boolean> {
  const attempt = await countMail(ctx, address, ctx.app.config.throttle.mail || limitWithoutThrottle, provedBy)
  if (attempt.refused) return false
  try {
    const sent = (await send()) !== false
    await attempt.end(sent)
    return sent
  } catch (error) {
    // No mail went out, so none is counted.
    await attempt.end(false)
    throw error
  }
}

/** This browser belongs to the owner of the address: a link or code was used here, or a sign-in of its user was completed. */
export async function rememberMailbox(ctx: Context, address: string): Promise<void> {
  if (ctx.app.config.throttle.mail) await rememberDevice(ctx, deviceName(mailboxOf(address)))
}

/** Whether the owner of the address has signed in with this browser: the id of the browser, else undefined. */
export function isKnownMailbox(ctx: Context, address: string): Promise<string | undefined> {
  return isKnownDevice(ctx, deviceName(mailboxOf(address)))
}

// One mailbox has one count, in whatever case a plugin or a store spells it.
function mailboxOf(address: string): string {
  return countedName(address)
}

function deviceName(address: string): string {
  return `mail ${address}`
}
