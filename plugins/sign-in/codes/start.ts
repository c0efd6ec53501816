/** Asking for a code. Everybody gets the same answer, whoever they are, and the message leaves after it. */
import {
  AccessDenied,
  type Context,
  type LoggerInstance,
  mailedHostFault,
  randomHex,
  redirectTo,
  sha256,
  subjectOf,
  toHex,
} from 'authkernel/kernel'
import { isStopped } from './guesses.ts'
import type { Line } from './line.ts'
import { guessId, messageId } from './tables.ts'

/** Seconds that code and link live (NIST SP 800-63B-4 section 3.1.3: at most ten minutes). */
export const lifetime = 600

/** What the browser that asked keeps, sealed. */
export interface Asked {
  identifier: string
  /** Random; its hash stands in the row. */
  browser: string
  /** Who was signed in. */
  startedBy: string | null
}

/** `POST /signin/:provider`. */
export async function start(ctx: Context, line: Line): Promise<Response> {
  // First, and for everybody: the cookie it may set would tell who was refused.
  const target = await ctx.callbackUrl()
  // The last of several would be used and another one shown.
  const once = (await ctx.form()).getAll(line.field).length < 2
  const identifier = await line.read(ctx, once ? (await ctx.body())[line.field] : undefined)
  const answer = redirectTo(`${ctx.base}${line.path}`)
  const verdict = await ask(ctx, line, identifier)
  if (typeof verdict === 'string') return ctx.redirect(verdict)
  const attempt = verdict && (await line.count(ctx, identifier))
  const former = await line.cookie.open<Asked>(ctx)
  const older = former?.identifier === identifier ? toHex(await sha256(former.browser)) : undefined
  // A message that is out stays good: the browser keeps what it has, unless it has nothing.
  if (verdict && !attempt && older !== undefined) return answer
  const browser = randomHex(ctx.runtime, 32)
  const asked: Asked = { identifier, browser, startedBy: await subjectOf(ctx) }
  line.cookie.set(ctx, await line.cookie.seal(ctx, { ...asked }, lifetime))
  const asker = { browser: toHex(await sha256(browser)), older }
  if (attempt) later(ctx, send(ctx, line, identifier, asker, target, attempt))
  return answer
}

/** What is stored of a code: it counts for one identifier in one browser. */
export function codePurpose(line: Line, identifier: string, browser: string, code: string): [string, string] {
  return ['sign-in code', `${line.name} ${identifier} ${browser} ${code}`]
}

async function send(
  ctx: Context,
  line: Line,
  identifier: string,
  { browser, older }: { browser: string; older: string | undefined },
  target: string,
  attempt: { end(counts: boolean): Promise<void> },
): Promise<void> {
  const id = await messageId(line.name, identifier, browser)
  const codes = ctx.records('signInCode')
  const hasLinks = line.field === 'email'
  const stopped = await isStopped(ctx, await guessId(line.name, identifier), hasLinks)
  const withLink = line.link || (stopped && hasLinks)
  const token = randomHex(ctx.runtime, 32)
  const code = stopped ? undefined : sixDigits(ctx)
  const expires = new Date(ctx.now.getTime() + lifetime * 1000)
  const link = await ctx.digest('sign-in link', token)
  const hashed = code === undefined ? null : await ctx.digest(...codePurpose(line, identifier, browser, code))
  try {
    const fault = mailedHostFault(ctx)
    // A message names the host: in its link, and as the host that a phone fills the code in for.
    if (fault) throw fault
    if (code === undefined && !withLink) return await attempt.end(true)
    // The newer code of a browser voids its older one.
    if (older !== undefined) await codes.delete(await messageId(line.name, identifier, older))
    await codes.put({ id, identifier, browser, code: hashed, link, tries: 0, target, created: ctx.now, expires })
    const url = withLink ? `${ctx.base}/callback/${line.name}?token=${token}` : undefined
    await line.deliver(ctx, { to: identifier, code, url, expires })
    await attempt.end(true)
  } catch (error) {
    // No message went out, so none is counted and none is good.
    await attempt.end(false)
    await codes.take(id, { if: { link } })
    throw error
  }
}

/** The answer of the `signIn` hook: true, a URL to go to, or false, which is logged and not shown. */
async function ask(ctx: Context, line: Line, identifier: string): Promise<boolean | string> {
  const user = await line.person(ctx, identifier)
  const account = { provider: line.name, type: line.name, providerAccountId: identifier, userId: user.id }
  const refused = async (error: AccessDenied): Promise<false> => {
    ctx.logger.error(error)
    await ctx.emit('signInFailed', { provider: line.name, error, user })
    return false
  }
  try {
    const verdict = await ctx.ask('signIn', { user, account, email: { verificationRequest: true } })
    return verdict || (await refused(new AccessDenied('The signIn callback refused this identifier.', { cause: { provider: line.name } })))
  } catch (thrown) {
    const err = thrown instanceof Error ? thrown : new Error(String(thrown))
    return refused(new AccessDenied(err.message, { cause: { err, provider: line.name } }))
  }
}

/** Work that the answer does not wait for, so that its time tells nothing. */
export function later(ctx: { logger: LoggerInstance }, work: Promise<void>): void {
  work.catch((error: unknown) => ctx.logger.error(error as Error))
}

// Rejection sampling: a million does not divide 2^32.
function sixDigits(ctx: Context): string {
  for (;;) {
    const number = new DataView(ctx.runtime.random(4).slice().buffer).getUint32(0)
    if (number < 4_294_000_000) return String(number % 1_000_000).padStart(6, '0')
  }
}
