/** A code that was typed, or a link that was opened: each counts once, and using one consumes both. */
import { AdapterError, type Context, equal, type Row, SessionTokenError, sha256, toHex, Verification } from 'authkernel/kernel'
import { TooManyCodes, WrongCode } from './errors.ts'
import { beginGuess, restart } from './guesses.ts'
import type { Line } from './line.ts'
import { type Asked, codePurpose } from './start.ts'
import { byLink, guessId, messageId, type SignInCodeRow } from './tables.ts'

/** `/callback/:provider`. */
export async function finish(ctx: Context, line: Line): Promise<Response> {
  if (ctx.request.method === 'GET') return openLink(ctx, line)
  const { token, code } = await ctx.body()
  return token === undefined ? typed(ctx, line, code) : redeem(ctx, line, token)
}

// Scanners of mail open every link; only a person presses the button.
async function openLink(ctx: Context, line: Line): Promise<Response> {
  const token = ctx.url.searchParams.get('token') ?? undefined
  const row = await mine(ctx, line, token)
  await ctx.callbackUrl(row.target)
  const action = `${ctx.base}/callback/${line.name}`
  return ctx.render('verifyConfirm', { action, token, email: row.identifier, callbackUrl: row.target })
}

async function redeem(ctx: Context, line: Line, token: unknown): Promise<Response> {
  const row = await mine(ctx, line, token)
  await ctx.callbackUrl(row.target)
  if (!(await ctx.records('signInCode').take(row.id, { if: { link: row.link } }))) throw oldLink()
  await restart(ctx, await guessId(line.name, row.identifier))
  // Whoever opens a link was not the one who asked, as far as anybody knows: it links nothing to a session that is here.
  return end(ctx, line, row, null)
}

async function mine(ctx: Context, line: Line, token: unknown): Promise<Row<SignInCodeRow>> {
  const row = await byLink(ctx, token)
  if (!row || row.id !== (await messageId(line.name, row.identifier, row.browser))) throw oldLink()
  return row
}

async function typed(ctx: Context, line: Line, given: unknown): Promise<Response> {
  await ctx.callbackUrl()
  const asked = await line.cookie.open<Asked>(ctx)
  const code = typeof given === 'string' && given.length <= 32 ? given.normalize('NFKC').replace(/[\s-]/g, '') : ''
  const browser = asked && toHex(await sha256(asked.browser))
  const row = asked && browser !== null && (await ctx.records('signInCode').get(await messageId(line.name, asked.identifier, browser)))
  if (!asked || !row || browser === null || !equal(row.browser, browser) || row.code === null)
    throw wrong(line, 'There is no code for this browser.')
  if (!/^[0-9]{6}$/.test(code)) throw wrong(line, 'What was typed is no code.')
  const guess = await beginGuess(ctx, await guessId(line.name, row.identifier), { id: row.id, code: row.code })
  if (!guess) throw new TooManyCodes('Too many codes were tried.', { cause: { provider: line.name } })
  const digests = await ctx.digests(...codePurpose(line, row.identifier, browser, code))
  const right = digests.some((digest) => equal(digest, row.code as string))
  // One of many callers with the right code gets the row.
  if (!right || !(await ctx.records('signInCode').take(row.id, { if: { code: row.code } }))) {
    await guess.wrong(line.name)
    throw wrong(line, 'The code is wrong, or was used.')
  }
  await guess.right()
  const answer = await end(ctx, line, row, asked.startedBy)
  line.cookie.delete(ctx)
  return answer
}

async function end(ctx: Context, line: Line, row: Row<SignInCodeRow>, startedBy: string | null): Promise<Response> {
  await line.proved(ctx, row.identifier)
  try {
    return await ctx.complete(await line.identify(ctx, row.identifier, startedBy))
  } catch (error) {
    // Not the person's fault: code and link work again when the store does.
    if (error instanceof AdapterError || error instanceof SessionTokenError) await giveBack(ctx, row)
    throw error
  }
}

async function giveBack(ctx: Context, row: Row<SignInCodeRow>): Promise<void> {
  try {
    await ctx.records('signInCode').create(row)
  } catch {
    // The store is still down, or a newer message is out.
  }
}

function wrong(line: Line, message: string): WrongCode {
  return new WrongCode(message, { cause: { provider: line.name } })
}

function oldLink(): Verification {
  return new Verification('The sign-in link was used before, is too old, or was never sent.')
}
