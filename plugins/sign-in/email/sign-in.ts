/** Asking for a link and following it: loaded by the first of them. */
import {
  AccessDenied,
  AdapterError,
  type AdapterUser,
  AuthError,
  CallbackRouteError,
  type Context,
  type ProviderOf,
  randomUUID,
  readAddress,
  type SignInQuestion,
} from 'authkernel/kernel'
import { EmailSignInError, SessionTokenError, Verification } from 'authkernel/errors'
import { beginMail, rememberMailbox } from 'authkernel/kernel/mail'
import { mayCreateUser } from 'authkernel/kernel/users'
import { mailLink, redeemLink } from './link.ts'
import { forgetSentMail, keepSentMail } from './sent-mail.ts'

export { drawSentMail } from './sent-mail.ts'

type Email = ProviderOf<'email'>

/** `POST /signin/:provider`. */
export async function startEmailSignIn(ctx: Context, provider: Email): Promise<Response> {
  // First, and for every address: the cookie it may set would tell which was refused.
  await ctx.callbackUrl()
  const identifier = await readIdentifier(ctx, provider)
  await keepSentMail(ctx, provider.id, identifier)
  const store = ctx.service('store')
  const known = await store.getUserByEmail(identifier)
  const user = known ?? newUser(ctx, identifier)
  const account = { provider: provider.id, type: 'email' as const, providerAccountId: identifier, userId: user.id }
  const answer = (): Response => ctx.page('verifyRequest', { provider: provider.id, type: 'email' })

  const verdict = await askSignInForLink(ctx, { user, account, email: { verificationRequest: true } }, known === null)
  if (typeof verdict === 'string') return ctx.redirect(verdict)
  if (!verdict) {
    const error = new AccessDenied('The signIn callback rejected this address.', { cause: { provider: provider.id } })
    if (provider.revealDenied) throw error
    ctx.logger.error(error)
    await ctx.emit('signInFailed', { provider: provider.id, error, user })
    return answer()
  }
  const attempt = await beginMail(ctx, identifier)
  // The same answer as always: a mailbox is spared, and the visitor does not learn that it was used before.
  if (attempt?.refused) return answer()
  try {
    await mailLink(ctx, store, provider, identifier)
    await attempt?.end(true)
    await ctx.emit('noted', { name: 'address.proofRequested', outcome: 'success', provider: provider.id, typed: identifier })
  } catch (error) {
    // No mail went out, so none is counted.
    await attempt?.end(false)
    throw error instanceof AuthError ? error : signInError(provider, error)
  }
  return answer()
}

/** `/callback/:provider`. */
export async function finishEmailSignIn(ctx: Context, provider: Email): Promise<Response> {
  const callbackUrl = await ctx.callbackUrl()
  const { token, email } = await readLink(ctx)
  if (token === undefined) {
    throw new CallbackRouteError('The sign-in link has no token: it was cut, or not written by this library.', {
      cause: { provider: provider.id },
    })
  }
  if (email === undefined) throw new Verification('The sign-in link has no email address: it was cut, or not written by this library.')
  // Scanners of mail open every link; only a user presses the button (D17).
  if (provider.confirm && ctx.request.method === 'GET') {
    // The page posts everything but `action` back, so the token leaves the address bar.
    return ctx.render('verifyConfirm', {
      action: `${ctx.base}/callback/${provider.id}`,
      token,
      email,
      callbackUrl,
    })
  }
  const link = await redeemLink(ctx, ctx.service('store'), provider, email, token)
  const user = newUser(ctx, email)
  const account = { provider: provider.id, type: 'email' as const, providerAccountId: email }
  await rememberMailbox(ctx, email)
  forgetSentMail(ctx)
  try {
    return await ctx.complete({ user, account, match: 'email', proof: { amr: ['email'] } })
  } catch (error) {
    // Not the user's fault: the same link works again when the store does.
    if (error instanceof AdapterError || error instanceof SessionTokenError) await link.giveBack()
    throw error
  }
}

/** Exactly one address, from exactly one field. Throws EmailSignInError. */
async function readIdentifier(ctx: Context, provider: Email): Promise<string> {
  const { email } = await ctx.body()
  const { internationalAddresses: international, normalizeIdentifier: normalize } = provider
  try {
    // The last of several would be used and another one shown: a client that repeats a field has a reason (GHSA-xv97-c62v-4587).
    if ((await ctx.form()).getAll('email').length > 1) throw new Error('The field "email" was sent more than once.')
    return readAddress(email, { international, normalize })
  } catch (error) {
    throw signInError(provider, error)
  }
}

function signInError(provider: Email, thrown: unknown): EmailSignInError {
  const err = thrown instanceof Error ? thrown : new Error(String(thrown))
  return new EmailSignInError(err.message, { cause: { err, provider: provider.id } })
}

/** `token` and `email` of the link, from the confirm form or the query. Throws Verification for repeated ones (D36). */
async function readLink(ctx: Context): Promise<{ token: string | undefined; email: string | undefined }> {
  const sources = [new URL(ctx.request.url).searchParams]
  if (ctx.request.method === 'POST') sources.unshift(await ctx.form())
  const one = (name: string): string | undefined => {
    const values = sources.map((source) => source.getAll(name)).find((all) => all.length > 0) ?? []
    if (values.length > 1) throw new Verification(`The sign-in link has more than one ${name}.`)
    return values[0] || undefined
  }
  return { token: one('token'), email: one('email') }
}

/** The answer of the `signIn` hook. What it throws is AccessDenied here, AuthErrors included (rows 137, 138). */
async function askSignInForLink(ctx: Context, message: SignInQuestion, isNew: boolean): Promise<boolean | string> {
  try {
    const verdict = await ctx.ask('signIn', message)
    const { user, account } = message
    return verdict === true && isNew ? await mayCreateUser(ctx, { user, account, proved: true }) : verdict
  } catch (error) {
    const err = error instanceof Error ? error : new Error(String(error))
    throw new AccessDenied(err.message, { cause: { err, provider: message.account.provider } })
  }
}

/** A user who is not stored yet. */
function newUser(ctx: Context, email: string): AdapterUser {
  return { id: randomUUID(ctx.runtime), email, emailVerified: null }
}
