/**
 * Sign-in at a provider for `@better-auth/expo`. better-auth hands the session over in the address that opens the app, where any app with the same scheme reads it. Here
 * that address has a ticket, which counts once, for two minutes, and only together with a verifier that the app got in its cookies when it began.
 */
import { type Context, type Kernel, redirectTo, type SessionCookie, sha256, toBase64Url, toHex } from 'authkernel/kernel'
import { refuse, refusalOf } from './client-errors.ts'
import { describeSession, type SessionForms } from './client-forms.ts'
import { askOwnRoute } from './own-route.ts'
import type { FindRow } from './source.ts'

/** What the routes need. */
export interface ExpoParts {
  kernel: Kernel
  cookie: SessionCookie
  findRow: FindRow
  /** Schemes of apps, such as `acme`. */
  schemes: readonly string[]
}
/** One sign-in, sealed: it travels through the app and the browser. */
interface Flow {
  id: string
  provider: string
  callbackURL: string
  /** SHA-256 of the verifier in hex. */
  challenge: string
  hint?: string
  [claim: string]: unknown
}
interface Ticket {
  id: string
  token: string
  challenge: string
  [claim: string]: unknown
}

const flowPurpose = 'better-auth-compat.expo-flow'
const ticketPurpose = 'better-auth-compat.expo-ticket'
const flowSeconds = 600
const ticketSeconds = 120
const startPath = '/expo/start'

/** Adds the routes that the browser of the phone visits. */
export function addExpoRoutes(parts: ExpoParts): void {
  const { kernel } = parts
  kernel.route({ method: 'GET', path: '/expo-authorization-proxy', handler: (ctx) => startInBrowser(ctx, parts) })
  kernel.route({ method: 'GET', path: '/expo/finish', handler: (ctx) => finishInBrowser(ctx, parts) })
}

/** Whether an app asks, and names one of its pages. */
export function isForApp({ request: { headers } }: Context, callbackURL: unknown): callbackURL is string {
  return (
    headers.has('expo-origin') &&
    typeof callbackURL === 'string' &&
    /^[a-z][a-z0-9+.-]*:\/\//i.test(callbackURL) &&
    !/^https?:/i.test(callbackURL)
  )
}

/** The address that the app opens in a browser. The verifier goes into the cookies of the app alone. */
export async function startForApp(
  ctx: Context,
  { schemes }: ExpoParts,
  { provider, callbackURL, hint }: { provider: string; callbackURL: string; hint: string | undefined },
): Promise<{ url: string } | Response> {
  const scheme = callbackURL.slice(0, callbackURL.indexOf(':'))
  if (!schemes.includes(scheme) || callbackURL.length > 500 || /[\s#\p{Cc}]/u.test(callbackURL))
    return refuse('INVALID_CALLBACK_URL', 'Invalid callbackURL', 403)
  const verifier = toBase64Url(ctx.runtime.random(32))
  const flow: Flow = {
    id: toHex(ctx.runtime.random(16)),
    provider,
    callbackURL,
    challenge: toHex(await sha256(verifier)),
    ...(hint !== undefined && { hint }),
  }
  ctx.setCookie(nameOf(ctx, 'expo_verifier'), verifier, { httpOnly: true, sameSite: 'lax', path: '/', maxAge: flowSeconds })
  return { url: `${ctx.base}${startPath}?flow=${await ctx.seal(flowPurpose, flow, flowSeconds)}` }
}

/** The session that a ticket in the cookies of an app stands for; undefined: there is none, or it was used before. */
export async function exchangeTicket(ctx: Context, { cookie, findRow }: ExpoParts): Promise<SessionForms | undefined> {
  const [sealed, verifier] = [ctx.cookie(nameOf(ctx, 'expo_ticket')), ctx.cookie(nameOf(ctx, 'expo_verifier'))]
  if (sealed === undefined) return undefined
  const ticket = await ctx.open<Ticket>(ticketPurpose, sealed)
  const isOwn = ticket !== null && verifier !== undefined && toHex(await sha256(verifier)) === ticket.challenge
  if (!isOwn) return undefined
  ctx.deleteCookie(nameOf(ctx, 'expo_ticket'), { path: '/' })
  ctx.deleteCookie(nameOf(ctx, 'expo_verifier'), { path: '/' })
  if (!(await ctx.once.take(`better-auth-compat.expo ${ticket.id}`, ticketSeconds))) return undefined
  const described = await describeSession(ctx, findRow, ticket.token)
  if (!described) return undefined
  const { name, options } = ctx.cookies.sessionToken
  const expires = new Date(String(described.session['expiresAt']))
  ctx.setCookie(name, await cookie.write(ctx, ticket.token), { ...options, expires })
  return described
}

/** `GET /expo-authorization-proxy`: the sign-in begins in this browser. */
async function startInBrowser(ctx: Context, { kernel }: ExpoParts): Promise<Response> {
  const begin = `${ctx.base}${startPath}?flow=`
  const target = ctx.url.searchParams.get('authorizationURL') ?? ''
  const sealed = target.startsWith(begin) ? target.slice(begin.length) : ''
  const flow = await ctx.open<Flow>(flowPurpose, sealed)
  if (!flow) return refuse('INVALID_AUTHORIZATION_URL', 'Invalid authorizationURL', 400)
  const outcome = await askOwnRoute(kernel, ctx, `/signin/${flow.provider}`, {
    form: { callbackUrl: `${ctx.base}/expo/finish?flow=${sealed}` },
    query: flow.hint === undefined ? {} : { login_hint: flow.hint },
  })
  if (outcome.error !== undefined || !outcome.url) return refusalOf(outcome)
  // Of this browser, and when: a session that was here before is not handed to an app.
  const mark = await ctx.seal(flowPurpose, { id: flow.id, began: ctx.now.getTime() }, flowSeconds)
  ctx.setCookie(nameOf(ctx, 'expo_flow'), mark, { httpOnly: true, sameSite: 'lax', path: '/', maxAge: flowSeconds })
  const headers = new Headers(redirectTo(outcome.url.href, { 'Referrer-Policy': 'no-referrer' }).headers)
  for (const line of outcome.setCookies) headers.append('Set-Cookie', line)
  return new Response(null, { status: 302, headers })
}

/** `GET /expo/finish`: the session leaves this browser and goes to the app. */
async function finishInBrowser(ctx: Context, { cookie, findRow }: ExpoParts): Promise<Response> {
  const flow = await ctx.open<Flow>(flowPurpose, ctx.url.searchParams.get('flow') ?? '')
  const mark = await ctx.open<{ id: string; began: number }>(flowPurpose, ctx.cookie(nameOf(ctx, 'expo_flow')) ?? '')
  if (!flow || !mark || mark.id !== flow.id)
    return refuse('INVALID_STATE', 'This sign-in is too old. Go back to the app and begin again.', 400)
  ctx.deleteCookie(nameOf(ctx, 'expo_flow'), { path: '/' })
  const value = ctx.chunkedCookie(ctx.cookies.sessionToken.name)
  const token = value === undefined ? undefined : await cookie.open(ctx, value)
  const described = token === undefined ? null : await describeSession(ctx, findRow, token)
  // Databases keep whole seconds.
  const isNew = described !== null && Date.parse(String(described.session['createdAt'])) >= mark.began - 1000
  if (token === undefined || !isNew) return leaveTo(ctx, withParameter(flow.callbackURL, 'error', 'sign_in_failed'))
  ctx.deleteCookie(ctx.cookies.sessionToken.name, ctx.cookies.sessionToken.options)
  const ticket: Ticket = { id: toHex(ctx.runtime.random(16)), token, challenge: flow.challenge }
  const sealed = await ctx.seal(ticketPurpose, ticket, ticketSeconds)
  // The client of better-auth reads lines of Set-Cookie in this parameter.
  const line = `${nameOf(ctx, 'expo_ticket')}=${sealed}; Max-Age=${ticketSeconds}; Path=/`
  return leaveTo(ctx, withParameter(flow.callbackURL, 'cookie', line))
}

/** Chromium compares redirects with `form-action` of a page whose form led here, such as that of a second factor: then the answer leads on by its header. */
function leaveTo(ctx: Context, url: string): Response {
  const quiet = { 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-store' }
  if (ctx.request.headers.get('sec-fetch-site') === 'same-origin')
    return new Response(null, { headers: { ...quiet, Refresh: `0; url=${url}` } })
  return new Response(null, { status: 302, headers: { ...quiet, Location: url } })
}

function withParameter(url: string, name: string, value: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
}

/** Beside the cookie of the session, with its prefix: the client keeps no others. */
function nameOf(ctx: Context, name: string): string {
  return ctx.cookies.sessionToken.name.replace('session_token', name)
}
