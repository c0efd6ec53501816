/** The authorization endpoint (RFC 6749 section 4.1.1 with PKCE): users come by the browser of the device, are signed in there, and go back to the app with a code. */
import { type AppClient, type AppGrant, type Context, HttpError, toBase64Url, type User } from 'authkernel/kernel'
import { readOwner, scopesOf } from './app-sessions.ts'
import { AppRequestRefused } from './errors.ts'
import { scopesFor } from './grants.ts'
import { bearerIssuer, type ResolvedOptions } from './options.ts'
import { isRegistered, redirectBack, redirectKind, type Target } from './redirect.ts'
import { leadToApp } from './return-page.ts'

/** Seconds that a code is valid, and that its row stays so that a second use is noticed. */
const codeSeconds = 60
const keptSeconds = 600
const ticketSeconds = 600
const purpose = 'bearer.consent'

/** What the page hands on to the form that answers it. */
interface Ticket extends Target {
  id: string
  userId: string
  clientId: string
  challenge: string
  jkt: string | null
  scopes: string[]
}

/** `GET /oauth/authorize`. */
export async function startAuthorization(ctx: Context, options: ResolvedOptions): Promise<Response> {
  return leadToApp(ctx, 'appReturn', await answerRequest(ctx, options))
}

async function answerRequest(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const request = parseRequest(ctx, options, ctx.url.searchParams)
  // A scanner that only looks gets no code.
  if (ctx.request.method === 'HEAD') return new Response(null)
  if ('error' in request) return redirectBack(request, { error: request.error, error_description: request.description })
  if (ctx.url.href.length > ctx.app.config.limits.callbackUrl)
    return redirectBack(request, { error: 'invalid_request', error_description: 'The request is too long.' })
  const user = await ctx.session.user(ctx)
  if (user?.id === undefined || user.id === null) return ctx.page('signIn', { callbackUrl: ctx.url.href })
  // Another program of the device may listen at any other address: the user says whether the app asked.
  if (redirectKind(request.redirectUri) === 'claimed') return giveCode(ctx, options, request, user as User & { id: string })
  const { app, scopes, ...rest } = request
  const ticket: Ticket = { ...rest, id: toBase64Url(ctx.runtime.random(16)), userId: user.id, clientId: app.id, scopes: [...scopes] }
  return ctx.render('appConsent', {
    ticket: await ctx.seal(purpose, { ...ticket }, ticketSeconds),
    app: app.name,
    who: user.email ?? user.name ?? user.id,
    scopes: scopes.join(' '),
    target: request.redirectUri,
  })
}

/** `POST /oauth/authorize`: what the user says. */
export async function answerConsent(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { ticket: sealed, decision } = await ctx.body()
  const ticket = typeof sealed === 'string' ? await ctx.open<Ticket & object>(purpose, sealed) : null
  const user = await ctx.session.user(ctx)
  const app = ticket && options.apps.get(ticket.clientId)
  // The user who reads the page is the one who answers it, once.
  if (!ticket || !app || user?.id !== ticket.userId || !(await ctx.once.take(`bearer.consent ${ticket.id}`, ticketSeconds)))
    throw new HttpError(400, 'This page is too old. Go back to the app and sign in again.')
  const { redirectUri, state, issuer, challenge, jkt, scopes } = ticket
  if (decision !== 'allow') return redirectBack({ redirectUri, state, issuer }, { error: 'access_denied' })
  return giveCode(ctx, options, { redirectUri, state, issuer, challenge, jkt, scopes, app }, user as User & { id: string })
}

async function giveCode(ctx: Context, options: ResolvedOptions, request: AppRequest, user: User & { id: string }): Promise<Response> {
  const { app, challenge, jkt, redirectUri, scopes } = request
  const owner = await readOwner(ctx, options, { userId: user.id, clientId: app.id, id: '' })
  if (!owner) return redirectBack(request, { error: 'access_denied' })
  const allowed = await scopesOf(ctx, options, owner, scopes)
  const code = toBase64Url(ctx.runtime.random(32))
  const { now } = ctx
  const access = await ctx.access.stampSession()
  if (access?.subject !== `user:${user.id}`) return ctx.page('signIn', { callbackUrl: ctx.url.href })
  const grant: Pick<AppGrant, 'userId' | 'attributes'> = { userId: user.id, attributes: (await ctx.session.attributes?.(ctx)) ?? null }
  const codes = ctx.records('appCode')
  const row = {
    ...grant,
    access,
    id: await ctx.digest('bearer.code', code),
    clientId: app.id,
    redirectUri,
    challenge,
    jkt,
    scopes: allowed,
    until: new Date(now.getTime() + codeSeconds * 1000),
    session: '',
    expires: new Date(now.getTime() + keptSeconds * 1000),
  }
  await ctx.access.grant(
    access,
    'appCode',
    () => codes.create(row),
    () => codes.delete(row.id),
  )
  return redirectBack(request, { code })
}

/** What an app asks for. */
interface AppRequest extends Target {
  app: AppClient
  challenge: string
  /** Thumbprint of the key that the app will prove for the code (RFC 9449 section 10); null: it named none. */
  jkt: string | null
  scopes: readonly string[]
}
/** What is wrong with a request that may be answered. */
interface RefusedRequest extends Target {
  error: string
  description: string
}

/** Throws AppRequestRefused where the answer would have to go to an unknown address. */
function parseRequest(ctx: Context, options: ResolvedOptions, query: URLSearchParams): AppRequest | RefusedRequest {
  const one = (name: string): string | undefined => (query.getAll(name).length === 1 ? (query.get(name) as string) : undefined)
  const app = options.apps.get(one('client_id') ?? '')
  if (!app) throw new AppRequestRefused('An authorization request names no app of bearerPlugin: look at its `client_id` and at `apps`.')
  const redirectUri = one('redirect_uri')
  if (redirectUri === undefined || !app.redirectUris.some((registered) => isRegistered(registered, redirectUri)))
    throw new AppRequestRefused(
      `An authorization request of the app "${app.id}" has a redirect_uri that is not among its \`redirectUris\`.`,
    )
  const target = { redirectUri, state: one('state'), issuer: one('iss') === ctx.base ? ctx.base : bearerIssuer(ctx, options) }
  const refuse = (error: string, description: string): RefusedRequest => ({ ...target, error, description })
  for (const name of new Set(query.keys()))
    if (query.getAll(name).length > 1) return refuse('invalid_request', `${printableName(name)} is repeated.`)
  if (one('response_type') !== 'code')
    return refuse(query.has('response_type') ? 'unsupported_response_type' : 'invalid_request', 'response_type must be code.')
  if (!['query', undefined].includes(one('response_mode'))) return refuse('invalid_request', 'response_mode must be query.')
  if (query.has('request') || query.has('request_uri')) return refuse('request_not_supported', 'Send the parameters themselves.')
  const challenge = one('code_challenge') ?? ''
  if (!/^[\w-]{43}$/.test(challenge) || one('code_challenge_method') !== 'S256')
    return refuse('invalid_request', 'PKCE is needed: code_challenge with code_challenge_method S256.')
  const jkt = one('dpop_jkt') ?? null
  if (jkt !== null && !/^[\w-]{43}$/.test(jkt)) return refuse('invalid_request', 'dpop_jkt must be a SHA-256 thumbprint.')
  if ((target.state?.length ?? 0) > 1000) return refuse('invalid_request', 'state is longer than 1000 characters.')
  const scopes = scopesFor(app, query.get('scope'))
  if (!scopes) return refuse('invalid_scope', 'The app may not ask for one of these scopes.')
  return { ...target, app, challenge, jkt, scopes }
}

function printableName(name: string): string {
  return name.replace(/[^\w-]/g, '').slice(0, 40)
}
