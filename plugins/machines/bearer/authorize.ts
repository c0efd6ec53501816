/** The authorization endpoint: people come by the browser of the device, are signed in there, and go back to the app with a code. */
import {
  type AppGrant,
  type Context,
  HttpError,
  type Kernel,
  type PageTools,
  type PageView,
  redirectTo,
  toBase64Url,
  type User,
  withParams,
} from 'authkernel/kernel'
import { type ResolvedOptions } from './options.ts'
import { personOf, rightsOf } from './person.ts'
import { redirectKind } from './redirect.ts'
import { type AppRequest, readRequest, type Target } from './request.ts'

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
export async function authorize(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const request = readRequest(ctx, options, ctx.url.searchParams)
  // A scanner that only looks gets no code.
  if (ctx.request.method === 'HEAD') return new Response(null)
  if ('error' in request) return back(request, { error: request.error, error_description: request.description })
  if (ctx.url.href.length > ctx.app.config.limits.callbackUrl)
    return back(request, { error: 'invalid_request', error_description: 'The request is too long.' })
  const user = await ctx.session.user(ctx)
  if (user?.id === undefined || user.id === null) return ctx.page('signIn', { callbackUrl: ctx.url.href })
  // Another program of the device may listen at any other address: the person says whether the app asked.
  if (redirectKind(request.redirectUri) === 'claimed') return allow(ctx, options, request, user as User & { id: string })
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

/** `POST /oauth/authorize`: what the person says. */
export async function decide(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { ticket: sealed, decision } = await ctx.body()
  const ticket = typeof sealed === 'string' ? await ctx.open<Ticket & object>(purpose, sealed) : null
  const user = await ctx.session.user(ctx)
  const app = ticket && options.apps.get(ticket.clientId)
  // The person who reads the page is the one who answers it, once.
  if (!ticket || !app || user?.id !== ticket.userId || !(await ctx.once.take(`bearer.consent ${ticket.id}`, ticketSeconds)))
    throw new HttpError(400, 'This page is too old. Go back to the app and sign in again.')
  const { redirectUri, state, issuer, challenge, jkt, scopes } = ticket
  if (decision !== 'allow') return back({ redirectUri, state, issuer }, { error: 'access_denied' })
  return allow(ctx, options, { redirectUri, state, issuer, challenge, jkt, scopes, app }, user as User & { id: string })
}

/** Adds the page that asks. */
export function addConsent(kernel: Kernel): void {
  kernel.page('appConsent', draw)
}

async function draw(_ctx: Context, tools: PageTools, params: Readonly<Record<string, string | undefined>>): Promise<PageView> {
  const { html, say, form, submit } = tools
  const { ticket, app = '', who = '', target = '' } = params
  const scopes = (params['scopes'] ?? '').split(' ').filter(Boolean)
  const asked = scopes.map((scope) => {
    const text = say(`bearer.scope.${scope}`)
    return html`<li>${text === '' ? scope : text}</li>`
  })
  const buttons = [
    submit(say('bearer.allow'), { name: 'decision', value: 'allow' }),
    submit(say('bearer.deny'), { name: 'decision', value: 'deny', quiet: true }),
  ]
  return {
    title: say('bearer.title', { app }),
    lead: say('bearer.lead', { who }),
    body: [
      scopes.length > 0 &&
        html`<p>${say('bearer.scopes')}</p>
          <ul>
            ${asked}
          </ul>`,
      html`<p>${say('bearer.warning', { app })}</p>`,
      await form('/oauth/authorize', buttons, { ticket }),
    ],
    forms: [target],
  }
}

async function allow(ctx: Context, options: ResolvedOptions, request: AppRequest, user: User & { id: string }): Promise<Response> {
  const { app, challenge, jkt, redirectUri, scopes } = request
  const person = await personOf(ctx, options, { userId: user.id, clientId: app.id, id: '' })
  if (!person) return back(request, { error: 'access_denied' })
  const held = await rightsOf(ctx, options, person, scopes)
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
    scopes: held,
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
  return back(request, { code })
}

function back({ redirectUri, state, issuer }: Target, params: Record<string, string>): Response {
  return redirectTo(withParams(redirectUri, { ...params, state, iss: issuer }), { 'Referrer-Policy': 'no-referrer' })
}
