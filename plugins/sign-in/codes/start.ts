/** Asking for a code. Every identifier gets the same answer, and the message leaves after it. */
import {
  AccessDenied,
  type Context,
  type LoggerInstance,
  type NewUser,
  randomHex,
  redirectTo,
  sha256,
  subjectOf,
  toHex,
  type User,
} from 'authkernel/kernel'
import { mailedHostFault } from 'authkernel/kernel/mail'
import { mayCreateUser } from 'authkernel/kernel/users'
import { isStopped } from './guesses.ts'
import type { CodeKind } from './kind.ts'
import { guessId, messageId } from './tables.ts'

/** Seconds that code and link live (NIST SP 800-63B-4 section 3.1.3: at most ten minutes). */
export const codeLifetime = 600

/** What the browser that asked keeps, sealed. */
export interface PendingCode {
  identifier: string
  /** Random; its hash stands in the row. */
  browser: string
  /** Subject of the session, null: none. */
  startedBy: string | null
}

/** `POST /signin/:provider`. */
export async function startCodeSignIn(ctx: Context, kind: CodeKind): Promise<Response> {
  // First, and for every identifier: the cookie it may set would tell which was refused.
  const target = await ctx.callbackUrl()
  // The last of several would be used and another one shown.
  const once = (await ctx.form()).getAll(kind.field).length < 2
  const identifier = await kind.readIdentifier(ctx, once ? (await ctx.body())[kind.field] : undefined)
  const answer = redirectTo(`${ctx.base}${kind.path}`)
  const verdict = await askSignInForCode(ctx, kind, identifier)
  if (typeof verdict === 'string') return ctx.redirect(verdict)
  const attempt = verdict && (await kind.count(ctx, identifier))
  const former = await kind.cookie.open<PendingCode>(ctx)
  const older = former?.identifier === identifier ? toHex(await sha256(former.browser)) : undefined
  // A message that is out stays good: the browser keeps what it has, unless it has nothing.
  if (verdict && !attempt && older !== undefined) return answer
  const browser = randomHex(ctx.runtime, 32)
  const pending: PendingCode = { identifier, browser, startedBy: await subjectOf(ctx) }
  kind.cookie.set(ctx, await kind.cookie.seal(ctx, { ...pending }, codeLifetime))
  const asker = { browser: toHex(await sha256(browser)), older }
  if (attempt) runDetached(ctx, sendMessage(ctx, kind, identifier, asker, target, attempt))
  return answer
}

/** What is stored of a code: it works for one identifier in one browser. */
export function codePurpose(kind: CodeKind, identifier: string, browser: string, code: string): [string, string] {
  return ['sign-in code', `${kind.name} ${identifier} ${browser} ${code}`]
}

async function sendMessage(
  ctx: Context,
  kind: CodeKind,
  identifier: string,
  { browser, older }: { browser: string; older: string | undefined },
  target: string,
  attempt: { end(counts: boolean): Promise<void> },
): Promise<void> {
  const id = await messageId(kind.name, identifier, browser)
  const codes = ctx.records('signInCode')
  const hasLinks = kind.field === 'email'
  const stopped = await isStopped(ctx, await guessId(kind.name, identifier), hasLinks)
  const withLink = kind.link || (stopped && hasLinks)
  const token = randomHex(ctx.runtime, 32)
  const code = stopped ? undefined : drawCode(ctx)
  const expires = new Date(ctx.now.getTime() + codeLifetime * 1000)
  const link = await ctx.digest('sign-in link', token)
  const hashed = code === undefined ? null : await ctx.digest(...codePurpose(kind, identifier, browser, code))
  try {
    const fault = mailedHostFault(ctx)
    // A message names the host: in its link, and as the host that a phone fills the code in for.
    if (fault) throw fault
    if (code === undefined && !withLink) return await attempt.end(true)
    // The newer code of a browser voids its older one.
    if (older !== undefined) await codes.delete(await messageId(kind.name, identifier, older))
    await codes.put({ id, identifier, browser, code: hashed, link, tries: 0, target, created: ctx.now, expires })
    const url = withLink ? `${ctx.base}/callback/${kind.name}?token=${token}` : undefined
    await kind.deliver(ctx, { to: identifier, code, url, expires })
    await attempt.end(true)
  } catch (error) {
    // No message went out, so none is counted and none is good.
    await attempt.end(false)
    await codes.take(id, { if: { link } })
    throw error
  }
}

/** The answer of the `signIn` hook: true, a URL to go to, or false, which is logged and not shown. */
async function askSignInForCode(ctx: Context, kind: CodeKind, identifier: string): Promise<boolean | string> {
  const user = await kind.findUser(ctx, identifier)
  const account = { provider: kind.name, type: kind.name, providerAccountId: identifier, userId: user.id }
  const reportRefusal = async (error: AccessDenied): Promise<false> => {
    ctx.logger.error(error)
    await ctx.emit('signInFailed', { provider: kind.name, error, user })
    return false
  }
  try {
    const verdict = await ctx.ask('signIn', { user, account, email: { verificationRequest: true } })
    const allowed = verdict === true ? await mayHaveUser(ctx, kind, user, account) : verdict
    return (
      allowed ||
      (await reportRefusal(new AccessDenied('The signIn callback rejected this identifier.', { cause: { provider: kind.name } })))
    )
  } catch (thrown) {
    const err = thrown instanceof Error ? thrown : new Error(String(thrown))
    return reportRefusal(new AccessDenied(err.message, { cause: { err, provider: kind.name } }))
  }
}

/** Whether the user is there, is linked to the one who is signed in, or may be made. */
async function mayHaveUser(ctx: Context, kind: CodeKind, user: User & { id: string }, account: NewUser['account']): Promise<boolean> {
  if (!ctx.has('hook', 'createUser') || (await ctx.service('store').getUser(user.id))) return true
  const isLink = kind.field !== 'email' && (await subjectOf(ctx)) !== null
  return isLink || mayCreateUser(ctx, { user, account, proved: true })
}

/** Work that the answer does not wait for, so that its time tells nothing. */
export function runDetached(ctx: { logger: LoggerInstance }, work: Promise<void>): void {
  work.catch((error: unknown) => ctx.logger.error(error as Error))
}

// Rejection sampling: a million does not divide 2^32.
function drawCode(ctx: Context): string {
  for (;;) {
    const number = new DataView(ctx.runtime.random(4).slice().buffer).getUint32(0)
    if (number < 4_294_000_000) return String(number % 1_000_000).padStart(6, '0')
  }
}
