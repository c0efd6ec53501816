/** Six digits by mail: a weak second step, and the proof of the address before a first factor. */
import { type AnyContext, type Context, equal } from 'authkernel/kernel'
import { mailWithinLimit } from 'authkernel/kernel/mail'
import type { Person } from './person.ts'

const seconds = 600
const purpose = 'two-factor mailed code'

/** Whether a code may be mailed to this user. */
export function hasAddress({ user }: Person): boolean {
  return typeof user.email === 'string' && user.email !== ''
}

/** Mails a code; a former one of this `id` is void. `limit` is that of `mailWithinLimit`. False: too many were sent. Throws MailNotSent. */
export async function mailCode(ctx: Context, person: Person, id: string, limit: { provedBy?: string } = {}): Promise<boolean> {
  const { email } = person.user
  return email ? mailWithinLimit(ctx, email, () => sendCode(ctx, person, email, id), limit) : false
}

/** Mails a code as an enrolled factor: the user has proved the first factor, and attackers who know the address must not lock the user out. */
export function mailChallengeCode(ctx: Context, person: Person, id: string): Promise<boolean> {
  return mailCode(ctx, person, id, { provedBy: person.key })
}

async function sendCode(ctx: Context, person: Person, email: string, id: string): Promise<void> {
  const code = sixDigits(ctx)
  const expires = new Date(ctx.now.getTime() + seconds * 1000)
  const digest = await ctx.digest(purpose, `${id} ${code}`)
  await ctx.records('twoFactorMailedCode').put({ id, person: person.key, userId: person.userId, digest, expires })
  await ctx.service('mail').send(ctx, email, 'two-factor.code', { code, left: { seconds } })
}

/** True to one of many callers with the right code. A wrong one does not use it up: tries are counted elsewhere. */
export async function takeMailedCode(ctx: AnyContext, person: Person, id: string, given: string): Promise<boolean> {
  const code = given.replace(/\s/g, '')
  if (!/^\d{6}$/.test(code)) return false
  const table = ctx.records('twoFactorMailedCode')
  const row = await table.get(id)
  if (!row || row.person !== person.key) return false
  for (const digest of await ctx.digests(purpose, `${id} ${code}`))
    if (equal(digest, row.digest)) return (await table.take(id, { if: { digest: row.digest } })) !== null
  return false
}

// Rejection sampling: a million does not divide 2^32.
function sixDigits(ctx: AnyContext): string {
  for (;;) {
    const number = new DataView(ctx.runtime.random(4).slice().buffer).getUint32(0)
    if (number < 4_294_000_000) return String(number % 1_000_000).padStart(6, '0')
  }
}
