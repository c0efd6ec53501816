/** The sign-in link: made, mailed, taken back, redeemed. Only a keyed hash of its token is stored (row 355, D3). */
import {
  type Attempt,
  beginAttempt,
  type Context,
  type EmailConfig,
  equal,
  isAddress,
  randomHex,
  type Store,
  type VerificationToken,
} from 'authkernel/kernel'
import { Verification } from 'authkernel/errors'
import { isKnownMailbox, mailedHostFault } from 'authkernel/kernel/mail'
import { deliverLink } from './deliver.ts'

const purpose = 'verification-token'
/** Seconds: out-of-band secrets live at most ten minutes (ASVS 6.5.5, D29). */
const defaultMaxAge = 600
/** Characters: 22 of base64url are 128 bits (ASVS 6.5.3). */
const minLength = 22

/** Mails a fresh link. The row is there before the mail is, and goes away when the mail does not (D44). Throws EmailSignInError. */
export async function mailLink(ctx: Context, store: Store, provider: EmailConfig, identifier: string): Promise<void> {
  const fault = mailedHostFault(ctx)
  // The answer is that of a mail that was sent: the attacker who sent the Host header learns nothing.
  if (fault) return void ctx.logger.error(fault)
  const token = await createToken(ctx, provider)
  const expires = new Date(ctx.runtime.now() + (provider.maxAge ?? defaultMaxAge) * 1000)
  const params = new URLSearchParams({ callbackUrl: await ctx.callbackUrl(), token, email: identifier })
  // The configured origin, never a header of this request: a mail is read elsewhere.
  const url = `${ctx.base}/callback/${provider.id}?${params}`
  const hashed = await ctx.digest(purpose, token, provider.secret)
  await store.createVerificationToken({ identifier, token: hashed, expires })
  try {
    await deliverLink(ctx, provider, { identifier, url, token, expires })
  } catch (error) {
    await takeBack(store, identifier, hashed)
    throw error
  }
}

async function createToken(ctx: Context, provider: EmailConfig): Promise<string> {
  if (!provider.generateVerificationToken) return randomHex(ctx.runtime, 32)
  const token: unknown = await provider.generateVerificationToken()
  if (typeof token === 'string' && token !== '') return token
  throw new Error('generateVerificationToken did not return a text.')
}

/** A link that was spent by this request. */
export interface SpentLink {
  /** Makes the link work once more: the sign-in failed for a reason that is not the user's. */
  giveBack(): Promise<void>
}

/** Spends a link: once, for the right address, in time. Throws Verification (row 222) and what the store throws. */
export async function redeemLink(ctx: Context, store: Store, provider: EmailConfig, identifier: string, token: string): Promise<SpentLink> {
  // What no mail of ours can have carried need not bother the store.
  if (!isAddress(identifier)) throw new Verification('The link names no email address.')
  const guess = token.length < minLength ? await beginGuess(ctx, identifier) : undefined
  if (guess?.refused) throw new Verification('Too many wrong tokens for this email address: see the option `throttle.credentials`.')
  try {
    const link = await spendLink(ctx, store, provider, identifier, token)
    await guess?.end(false)
    return link
  } catch (error) {
    // A store that is away is no wrong guess.
    await guess?.end(error instanceof Verification)
    throw error
  }
}

async function spendLink(ctx: Context, store: Store, provider: EmailConfig, identifier: string, token: string): Promise<SpentLink> {
  for (const hashed of await ctx.digests(purpose, token, provider.secret)) {
    const row = await store.useVerificationToken({ identifier, token: hashed })
    if (!row) continue
    // Adapters may look up by one of the two alone (GHSA-4rxr-27mm-mxq9).
    if (row.identifier !== identifier || !equal(row.token, hashed)) throw new Verification('The link belongs to another email address.')
    const { expires } = row
    // With the expiry, because a host's own tokens may come again.
    const key = `verification:${hashed}:${identifier}:${expires.getTime()}`
    const seconds = Math.ceil((expires.getTime() - ctx.runtime.now()) / 1000)
    if (!(seconds > 0)) throw new Verification('The link has expired.')
    await claimLink(ctx, key, seconds)
    return { giveBack: () => restoreLink(ctx, store, { identifier, token: hashed, expires }, key, seconds) }
  }
  throw new Verification('The link was used before, or never sent.')
}

/**
 * After the store, so that its failure does not spend the link; before the session, so that an adapter which finds and deletes in two steps
 * cannot let two requests through. A link that was given back has one more claim.
 */
async function claimLink(ctx: Context, key: string, seconds: number): Promise<void> {
  if (await ctx.once.take(key, seconds)) return
  if ((await ctx.once.taken(`${key}:back`)) && (await ctx.once.take(`${key}:again`, seconds))) return
  throw new Verification('The link was used at the same moment by another request.')
}

async function restoreLink(ctx: Context, store: Store, row: VerificationToken, key: string, seconds: number): Promise<void> {
  if (!(await ctx.once.take(`${key}:back`, seconds))) return
  try {
    await store.createVerificationToken(row)
  } catch {
    // The store is still down: the user asks for a new link.
  }
}

/** Best effort: the failed mail is the error to report, and the row expires by itself. */
async function takeBack(store: Store, identifier: string, token: string): Promise<void> {
  try {
    await store.useVerificationToken({ identifier, token })
  } catch {
    // The link was not sent.
  }
}

/**
 * Counts a guess of a short token that a host's own `generateVerificationToken` may return (ASVS 6.6.3); undefined: the throttle is off. There are few
 * of them, so an address has no larger budget for all networks together.
 */
export async function beginGuess(ctx: Context, identifier: string): Promise<Attempt | undefined> {
  const rule = ctx.app.config.throttle.credentials
  if (!rule) return undefined
  const device = await isKnownMailbox(ctx, identifier)
  return beginAttempt(ctx, [{ key: `link:${device ? `device ${device} ` : ''}${identifier}`, rule }])
}
