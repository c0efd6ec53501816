/** A typed code or an opened link: each counts once, and using one consumes both. */
import { AdapterError, type Context, equal, type Row, sha256, toHex } from 'authkernel/kernel'
import { SessionTokenError, Verification } from 'authkernel/errors'
import { TooManyCodes, WrongCode } from './errors.ts'
import { beginGuess, forgetGuesses } from './guesses.ts'
import type { CodeKind } from './kind.ts'
import { type PendingCode, codePurpose } from './start.ts'
import { findByLink, guessId, messageId, type SignInCodeRow } from './tables.ts'

/** `/callback/:provider`. */
export async function finishCodeSignIn(ctx: Context, kind: CodeKind): Promise<Response> {
  if (ctx.request.method === 'GET') return openLink(ctx, kind)
  const { token, code } = await ctx.body()
  return token === undefined ? redeemCode(ctx, kind, code) : redeemLink(ctx, kind, token)
}

// Scanners of mail open every link; only a user presses the button.
async function openLink(ctx: Context, kind: CodeKind): Promise<Response> {
  const token = ctx.url.searchParams.get('token') ?? undefined
  const row = await findCodeRow(ctx, kind, token)
  await ctx.callbackUrl(row.target)
  const action = `${ctx.base}/callback/${kind.name}`
  return ctx.render('verifyConfirm', { action, token, email: row.identifier, callbackUrl: row.target })
}

async function redeemLink(ctx: Context, kind: CodeKind, token: unknown): Promise<Response> {
  const row = await findCodeRow(ctx, kind, token)
  await ctx.callbackUrl(row.target)
  if (!(await ctx.records('signInCode').take(row.id, { if: { link: row.link } }))) throw oldLink()
  await forgetGuesses(ctx, await guessId(kind.name, row.identifier))
  // The browser that opens a link need not be the one that asked: it links nothing to a session that is here.
  return completeSignIn(ctx, kind, row, null)
}

async function findCodeRow(ctx: Context, kind: CodeKind, token: unknown): Promise<Row<SignInCodeRow>> {
  const row = await findByLink(ctx, token)
  if (!row || row.id !== (await messageId(kind.name, row.identifier, row.browser))) throw oldLink()
  return row
}

async function redeemCode(ctx: Context, kind: CodeKind, given: unknown): Promise<Response> {
  await ctx.callbackUrl()
  const pending = await kind.cookie.open<PendingCode>(ctx)
  const code = typeof given === 'string' && given.length <= 32 ? given.normalize('NFKC').replace(/[\s-]/g, '') : ''
  const browser = pending && toHex(await sha256(pending.browser))
  const row = pending && browser !== null && (await ctx.records('signInCode').get(await messageId(kind.name, pending.identifier, browser)))
  if (!pending || !row || browser === null || !equal(row.browser, browser) || row.code === null)
    throw wrongCode(kind, 'There is no code for this browser.')
  if (!/^[0-9]{6}$/.test(code)) throw wrongCode(kind, 'What was typed is no code.')
  const guess = await beginGuess(ctx, await guessId(kind.name, row.identifier), { id: row.id, code: row.code })
  if (!guess) throw new TooManyCodes('Too many codes were tried.', { cause: { provider: kind.name } })
  const digests = await ctx.digests(...codePurpose(kind, row.identifier, browser, code))
  const right = digests.some((digest) => equal(digest, row.code as string))
  // One of many callers with the right code gets the row.
  if (!right || !(await ctx.records('signInCode').take(row.id, { if: { code: row.code } }))) {
    await guess.wrong(kind.name)
    throw wrongCode(kind, 'The code is wrong, or was used.')
  }
  await guess.right()
  const response = await completeSignIn(ctx, kind, row, pending.startedBy)
  kind.cookie.delete(ctx)
  return response
}

async function completeSignIn(ctx: Context, kind: CodeKind, row: Row<SignInCodeRow>, startedBy: string | null): Promise<Response> {
  await kind.recordProof(ctx, row.identifier)
  try {
    return await ctx.complete(await kind.identify(ctx, row.identifier, startedBy))
  } catch (error) {
    // Not the user's fault: code and link work again when the store does.
    if (error instanceof AdapterError || error instanceof SessionTokenError) await restoreRow(ctx, row)
    throw error
  }
}

async function restoreRow(ctx: Context, row: Row<SignInCodeRow>): Promise<void> {
  try {
    await ctx.records('signInCode').create(row)
  } catch {
    // The store is still down, or a newer message is out.
  }
}

function wrongCode(kind: CodeKind, message: string): WrongCode {
  return new WrongCode(message, { cause: { provider: kind.name } })
}

function oldLink(): Verification {
  return new Verification('The sign-in link was used before, is too old, or was never sent.')
}
