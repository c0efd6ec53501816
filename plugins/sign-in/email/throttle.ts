/** How many mails may go out. A mailbox is spared, whoever asks; strangers who ask for somebody's mails do not keep the owner from one. */
import { type Attempt, beginAttempt, type Bucket, type Context, isKnownDevice, networksOf, rememberDevice } from 'authkernel/kernel'

const day = 86_400
// Mails to one address in a day, as a multiple of those in one window: 10 where 3 go out in ten minutes.
const dayScale = 10 / 3
const networkScale = 100

/** Counts a mail before it is sent; undefined: the throttle is off. End it with false when no mail went out. */
export async function beginMail(ctx: Context, identifier: string): Promise<Attempt | undefined> {
  const rule = ctx.app.config.throttle.mail
  if (!rule) return undefined
  const { max, seconds } = rule
  const device = await isKnownDevice(ctx, deviceName(identifier))
  const addressed = device ? `device ${device} ${identifier}` : identifier
  const buckets: Bucket[] = [{ key: `mail:${addressed}`, rule: { max, seconds } }]
  if (seconds < day) buckets.push({ key: `mail day:${addressed}`, rule: { max: Math.ceil(max * dayScale), seconds: day } })
  if (!device) {
    for (const { key, scale } of networksOf(ctx.clientAddress))
      buckets.push({ key: `mail network:${key}`, rule: { max: max * networkScale * scale, seconds } })
  }
  return beginAttempt(ctx, buckets)
}

/**
 * Counts a guess of a short token, which a host's own `generateVerificationToken` may make (ASVS 6.6.3); undefined: the throttle is off. There are few
 * of them, so an address has no larger budget for all networks together.
 */
export async function beginGuess(ctx: Context, identifier: string): Promise<Attempt | undefined> {
  const rule = ctx.app.config.throttle.credentials
  if (!rule) return undefined
  const device = await isKnownDevice(ctx, deviceName(identifier))
  return beginAttempt(ctx, [{ key: `link:${device ? `device ${device} ` : ''}${identifier}`, rule }])
}

/** This browser has opened a link that went to the address. */
export async function rememberMailbox(ctx: Context, identifier: string): Promise<void> {
  if (ctx.app.config.throttle.mail) await rememberDevice(ctx, deviceName(identifier))
}

function deviceName(identifier: string): string {
  return `mail ${identifier}`
}
