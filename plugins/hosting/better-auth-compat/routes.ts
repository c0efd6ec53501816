/** Routes of better-auth's own client: each one asks the route of authkernel that does the work, and answers in the form of better-auth. */
import { type AuthError, type Context, json, type Kernel, type Route } from 'authkernel/kernel'
import { refusalOf, refuse } from './client-errors.ts'
import { type SessionForms, describeSession, describeVisitor } from './client-forms.ts'
import { askOwnRoute, type Outcome } from './own-route.ts'
import { addExpoRoutes, exchangeTicket, type ExpoParts, isForApp, startForApp } from './routes-expo.ts'

type Parts = ExpoParts
type Work = (ctx: Context, sent: Readonly<Record<string, unknown>>) => Promise<Response>

/** Paths of better-auth's client that can be answered here. */
export const clientRoutes = [
  '/ok',
  '/get-session',
  '/sign-in/email',
  '/sign-up/email',
  '/sign-in/social',
  '/sign-in/oauth2',
  '/sign-out',
  '/two-factor/verify-totp',
  '/two-factor/verify-backup-code',
  '/request-password-reset',
  '/forget-password',
  '/change-password',
] as const
/** One of them. */
export type BetterAuthRoute = (typeof clientRoutes)[number]

/** Adds the routes below the base path that clients of better-auth 1.6 and 1.7 call. */
export function addRoutes(parts: Parts, paths: readonly BetterAuthRoute[] = clientRoutes): void {
  const { kernel } = parts
  if (paths.includes('/ok')) kernel.route({ method: 'GET', path: '/ok', handler: () => json({ ok: true }) })
  if (paths.includes('/get-session')) {
    kernel.route({ method: 'GET', path: '/get-session', handler: (ctx) => answerSession(ctx, parts), failure })
  }
  const works: Readonly<Record<Exclude<BetterAuthRoute, '/ok'>, Work>> = {
    '/get-session': (ctx) => answerSession(ctx, parts),
    '/sign-in/email': (ctx, sent) => signInByEmail(ctx, parts, sent),
    '/sign-up/email': (ctx, sent) => signUpByEmail(ctx, parts, sent),
    '/sign-in/social': (ctx, sent) => signInAtProvider(ctx, parts, sent['provider'], sent),
    // Of `genericOAuth` in 1.6.
    '/sign-in/oauth2': (ctx, sent) => signInAtProvider(ctx, parts, sent['providerId'], sent),
    '/sign-out': async (ctx) => answerWith(await askOwnRoute(kernel, ctx, '/signout', { form: {} }), { success: true }),
    '/two-factor/verify-totp': (ctx, sent) => verifyFactor(ctx, parts, sent, 'INVALID_CODE'),
    '/two-factor/verify-backup-code': (ctx, sent) => verifyFactor(ctx, parts, sent, 'INVALID_BACKUP_CODE'),
    '/request-password-reset': (ctx, sent) => requestReset(ctx, parts, sent),
    '/forget-password': (ctx, sent) => requestReset(ctx, parts, sent),
    '/change-password': (ctx, sent) => changePassword(ctx, parts, sent),
  }
  for (const [path, work] of Object.entries(works) as [Exclude<BetterAuthRoute, '/ok'>, Work][])
    if (paths.includes(path)) addPost(kernel, path, work)
  if (parts.schemes.length > 0) addExpoRoutes(parts)
}

/** JSON alone, from the site itself or from a client that is no browser. */
function addPost(kernel: Kernel, path: Route['path'], work: Work): void {
  kernel.route({
    method: 'POST',
    path,
    csrf: 'crossSite',
    body: { types: ['json'] },
    failure,
    refusal: (_ctx, error) => refuse('INVALID_REQUEST', error.message, error.status),
    handler: async (ctx) => (isForeign(ctx) ? refuse('INVALID_ORIGIN', 'Invalid origin', 403) : work(ctx, await ctx.body())),
  })
}

/** Browsers say with each POST where it comes from. A form of another site cannot send JSON without asking first, which is not permitted here. */
function isForeign({ request: { headers }, origin }: Context): boolean {
  const [from, site] = [headers.get('origin'), headers.get('sec-fetch-site')]
  return (from !== null && from !== origin) || (site !== null && site !== 'same-origin' && site !== 'none')
}

/** A store that is away is 503, so that the client keeps the session that it knows. */
function failure(_ctx: Context, error: AuthError): Response {
  return refuse('INTERNAL_SERVER_ERROR', 'Internal server error', error.status)
}

async function answerSession(ctx: Context, parts: Parts): Promise<Response> {
  const { cookie, findRow } = parts
  const fromTicket = parts.schemes.length > 0 ? await exchangeTicket(ctx, parts) : undefined
  if (fromTicket) return json(fromTicket)
  if (!(await ctx.currentSession())) return json(null)
  const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
  const token = value === undefined ? undefined : await cookie.open(ctx, value)
  return json(token === undefined ? null : await describeSession(ctx, findRow, token))
}

async function signInByEmail(
  ctx: Context,
  parts: Parts,
  { email, password, callbackURL }: Readonly<Record<string, unknown>>,
): Promise<Response> {
  if (typeof email !== 'string' || typeof password !== 'string')
    return refuse('VALIDATION_ERROR', '[body.email] and [body.password] must be text', 400)
  const form = { email, password, callbackUrl: textOf(callbackURL) ?? '/' }
  const outcome = await askOwnRoute(parts.kernel, ctx, '/callback/passwords', { form })
  return answerSignIn(ctx, parts, outcome, textOf(callbackURL))
}

/** The session, or what is asked before it. */
async function answerSignIn(ctx: Context, parts: Parts, outcome: Outcome, callbackURL: string | undefined): Promise<Response> {
  if (outcome.error !== undefined || outcome.status >= 400) return answerRefusal(outcome)
  const signedIn = await sessionIn(ctx, parts, outcome)
  if (signedIn) {
    const { session, user } = signedIn
    const more = callbackURL === undefined ? { redirect: false } : { redirect: true, url: outcome.url?.href ?? callbackURL }
    return answerWith(outcome, { ...more, token: session.token, user })
  }
  const path = outcome.url?.pathname ?? ''
  if (path === `${ctx.basePath}/two-factor`) return answerWith(outcome, { twoFactorRedirect: true, twoFactorMethods: ['totp'] })
  // The mailbox decides: a link was sent to the address.
  if (path === `${ctx.basePath}/passwords/mailed`) return withCookies(refuse('EMAIL_NOT_VERIFIED', 'Email not verified', 403), outcome)
  // A page of ours asks for something that better-auth does not know: a longer password, a factor to set up.
  // The client of a phone would open it through a route that is not here: the app decides.
  const redirect = !ctx.request.headers.has('expo-origin')
  return answerWith(outcome, { redirect, url: outcome.url?.href ?? ctx.base, token: null, user: null })
}

async function signUpByEmail(
  ctx: Context,
  { kernel }: Parts,
  { email, password, name, image }: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const outcome = await askOwnRoute(kernel, ctx, '/passwords/sign-up', { fields: { email, password, name, image } })
  if (outcome.error !== undefined || outcome.status >= 400) return answerRefusal(outcome)
  // As better-auth with `requireEmailVerification`: the same answer for every address, and no session before the mail is opened.
  return answerWith(outcome, { token: null, user: describeVisitor(ctx, { email: String(email), name, image }) })
}

async function signInAtProvider(ctx: Context, parts: Parts, provider: unknown, sent: Readonly<Record<string, unknown>>): Promise<Response> {
  if (sent['idToken'] !== undefined) return refuse('ID_TOKEN_NOT_SUPPORTED', 'id_token not supported', 404)
  if (typeof provider !== 'string' || !/^[\w.-]{1,64}$/.test(provider) || !(await ctx.providers()).some(({ id }) => id === provider))
    return refuse('PROVIDER_NOT_FOUND', 'Provider not found', 404)
  const hint = textOf(sent['loginHint'])
  const { callbackURL } = sent
  if (isForApp(ctx, callbackURL)) {
    const started = await startForApp(ctx, parts, { provider, callbackURL, hint })
    return started instanceof Response ? started : json({ url: started.url, redirect: sent['disableRedirect'] !== true })
  }
  const form = { callbackUrl: textOf(callbackURL) ?? '/' }
  const outcome = await askOwnRoute(parts.kernel, ctx, `/signin/${provider}`, {
    form,
    query: hint === undefined ? {} : { login_hint: hint },
  })
  if (outcome.error !== undefined || !outcome.url) return answerRefusal(outcome)
  return answerWith(outcome, { url: outcome.url.href, redirect: sent['disableRedirect'] !== true })
}

async function verifyFactor(
  ctx: Context,
  parts: Parts,
  { code, trustDevice }: Readonly<Record<string, unknown>>,
  wrong: 'INVALID_CODE' | 'INVALID_BACKUP_CODE',
): Promise<Response> {
  const fields = { code: String(code ?? ''), remember: trustDevice === true }
  const outcome = await askOwnRoute(parts.kernel, ctx, '/two-factor/verify', { fields })
  if (outcome.error === 'WrongSecondFactor')
    return withCookies(refuse(wrong, wrong === 'INVALID_CODE' ? 'Invalid code' : 'Invalid backup code', 401), outcome)
  return answerSignIn(ctx, parts, outcome, undefined)
}

async function requestReset(ctx: Context, { kernel }: Parts, { email }: Readonly<Record<string, unknown>>): Promise<Response> {
  const outcome = await askOwnRoute(kernel, ctx, '/passwords/request-reset', { fields: { email } })
  if (outcome.status >= 400 && outcome.error !== 'PasswordAddress') return answerRefusal(outcome)
  return answerWith(
    { ...outcome, status: 200 },
    { status: true, message: 'If this email exists in our system, check your email for the reset link' },
  )
}

/** The other sessions of the user end, as with `revokeOtherSessions`. The session is not read here before: its cookie would go out beside the new one. */
async function changePassword(
  ctx: Context,
  parts: Parts,
  { currentPassword, newPassword }: Readonly<Record<string, unknown>>,
): Promise<Response> {
  if (typeof currentPassword !== 'string' || currentPassword === '') return refuse('INVALID_PASSWORD', 'Invalid password', 400)
  const fields = { current: currentPassword, password: newPassword }
  const outcome = await askOwnRoute(parts.kernel, ctx, '/passwords/change', { fields })
  if (outcome.error === 'AccessDenied') return refuse('UNAUTHORIZED', 'Unauthorized', 401)
  if (outcome.error !== undefined) return answerRefusal(outcome)
  const former = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
  const token = former === undefined ? undefined : await parts.cookie.open(ctx, former)
  const described =
    (await sessionIn(ctx, parts, outcome)) ?? (token === undefined ? null : await describeSession(ctx, parts.findRow, token))
  return answerWith(outcome, { token: null, user: described?.user ?? null })
}

/** The session that an answer begins. */
async function sessionIn(ctx: Context, { cookie, findRow }: Parts, outcome: Outcome): Promise<SessionForms | null> {
  const value = outcome.cookies.get(ctx.cookies.sessionToken.name)
  const token = value === undefined || value === '' ? undefined : await cookie.open(ctx, value)
  return token === undefined ? null : describeSession(ctx, findRow, token)
}

function answerWith(outcome: Outcome, body: unknown): Response {
  return outcome.status >= 400 ? answerRefusal(outcome) : withCookies(json(body), outcome)
}

function answerRefusal(outcome: Outcome): Response {
  return withCookies(refusalOf(outcome), outcome)
}

/** `set-auth-token` is what the bearer plugin of better-auth reads: it is not sent, so that a token is in the cookie alone. */
function withCookies(response: Response, { setCookies }: Outcome): Response {
  const headers = new Headers(response.headers)
  for (const line of setCookies) headers.append('Set-Cookie', line)
  return new Response(response.body, { status: response.status, headers })
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
