/** A password that waits for a proof of its address: the browser that asked, the mail, and the row between them. */
import { type Context, type CookieHandle, createCookie, equal, randomHex, sha256, toHex } from 'authkernel/kernel'
import { mailWithinLimit } from 'authkernel/kernel/mail'
import { mayCreateUser } from 'authkernel/kernel/users'
import { readSentMail, redirectToSentMail } from './sent-mail.ts'
import { runDetached, sendPasswordMail } from './store-password.ts'
import { tokenDigest, newMailToken, type PendingRow } from './tables.ts'

export const browserCookie: CookieHandle = /* @__PURE__ */ createCookie('password-sign-up', { maxAge: 3600 })

const linkSeconds = 3600
const perAddress = 3

/** What waits. */
export type Registration = Pick<PendingRow, 'address' | 'hash' | 'userId' | 'short' | 'name' | 'image'>

/** Mails a link to the address and marks the browser; the answer is the same for every address, and does not wait for the mail. */
export async function askForProof(ctx: Context, waiting: Registration): Promise<Response> {
  const browser = randomHex(ctx.runtime, 32)
  browserCookie.set(ctx, browser)
  const asker = toHex(await sha256(browser))
  runDetached(
    ctx,
    mailWithinLimit(ctx, waiting.address, () => storeRegistration(ctx, waiting, asker)),
  )
  return redirectToSentMail(ctx, waiting.address, 'proof')
}

/**
 * `POST /passwords/resend`: a new link for what this browser asked for, within the limit of mails to the address. The answer is the same whether a mail
 * goes out.
 */
export async function resendProof(ctx: Context): Promise<Response> {
  const mailed = await readSentMail(ctx)
  const browser = browserCookie.get(ctx)
  if (mailed?.kind !== 'proof' || browser === undefined) return ctx.page('signIn')
  const { address } = mailed
  const asker = toHex(await sha256(browser))
  runDetached(
    ctx,
    mailWithinLimit(ctx, address, () => renewRegistration(ctx, address, asker)),
  )
  return redirectToSentMail(ctx, address, 'proof')
}

/** Whether this browser asked for the registration. Another one never activates its password. */
export async function isAsker(ctx: Context, row: { browser: string }): Promise<boolean> {
  const value = browserCookie.get(ctx)
  return value !== undefined && equal(toHex(await sha256(value)), row.browser)
}

/** The former link ends. False: no mail was sent. */
async function renewRegistration(ctx: Context, address: string, browser: string): Promise<boolean> {
  const table = ctx.records('passwordPending')
  const { rows } = await table.find({ where: { address }, order: 'desc', limit: perAddress })
  const former = rows.find((row) => equal(row.browser, browser))
  if (former) {
    const { hash, userId = null, short = null, name = null, image = null } = former
    const sent = await storeRegistration(ctx, { address, hash, userId, short, name, image }, browser)
    if (sent) await table.delete(former.id)
    return sent
  }
  // Without a row the address may have an owner, who gets the mail of an owner again.
  const known = await ctx.service('store').getUserByEmail(address)
  return known?.emailVerified ? mailOwner(ctx, address) : false
}

async function mailOwner(ctx: Context, address: string): Promise<true> {
  await sendPasswordMail(ctx, address, 'passwords.known', { url: `${ctx.base}/signin`, at: ctx.now })
  return true
}

/** False: no mail was sent. */
async function storeRegistration(ctx: Context, waiting: Registration, browser: string): Promise<boolean> {
  const { address } = waiting
  const known = await ctx.service('store').getUserByEmail(address)
  // A user whose address is not proved has no owner: the visitor who opens the mail gets the address.
  if (known?.emailVerified) return mailOwner(ctx, address)
  const account = { provider: 'passwords', providerAccountId: address, type: 'passwords' }
  if (!known && !(await mayCreateUser(ctx, { user: { email: address }, account, proved: true }))) return false
  const table = ctx.records('passwordPending')
  const { rows } = await table.find({ where: { address }, order: 'desc', limit: 100 })
  for (const { id } of rows.slice(perAddress - 1)) await table.delete(id)
  const token = newMailToken(ctx)
  const expires = new Date(ctx.now.getTime() + linkSeconds * 1000)
  await table.create({ ...waiting, token: await tokenDigest(ctx, 'pending', token), browser, created: ctx.now, expires })
  await sendPasswordMail(ctx, address, 'passwords.confirm', {
    url: `${ctx.base}/passwords/confirm?token=${token}`,
    left: { seconds: linkSeconds },
  })
  return true
}
