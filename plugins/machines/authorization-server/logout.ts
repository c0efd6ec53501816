/** Sign-out that a client begins (OpenID Connect RP-Initiated Logout 1.0). */
import { type Context, HttpError, type Kernel, type PageTools, type PageView, redirectTo, withParams } from 'authkernel/kernel'
import { findClient } from './clients.ts'
import { listFrames, showFrames } from './front-channel.ts'
import type { ResolvedOptions } from './options.ts'

const purpose = 'authorization-server.logout'
const ticketSeconds = 600

interface Ticket {
  userId: string
  /** Where the browser goes afterwards; undefined: to the app. */
  to: string | undefined
}

/** Adds the page that asks. It has no separate route. */
export function addLogoutPage(kernel: Kernel): void {
  kernel.page('clientLogout', drawQuestion)
}

/** `GET /oauth2/logout`: with an ID token of this session the user is signed out by the form of a page, else asked by the same page without a client. */
export async function startLogout(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const params = ctx.url.searchParams
  const to = await readTarget(ctx, options, params)
  const user = await ctx.session.user(ctx)
  if (!user?.id) return to === undefined ? redirectTo(ctx.origin) : redirectTo(to)
  const ticket: Ticket = { userId: user.id, to }
  return ctx.render('clientLogout', {
    ticket: await ctx.seal(purpose, { ...ticket }, ticketSeconds),
    who: user.email ?? user.name ?? user.id,
    target: to,
  })
}

/** `POST /oauth2/logout/confirm`: the user agrees. */
export async function confirmLogout(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { ticket: sealed } = await ctx.body()
  const ticket = typeof sealed === 'string' ? await ctx.open<Ticket & object>(purpose, sealed) : null
  const user = await ctx.session.user(ctx)
  if (!ticket || (user?.id !== undefined && user.id !== ticket.userId)) throw new HttpError(400, 'This page is too old. Sign out again.')
  const frames = await listFrames(ctx, options)
  const ended = await ctx.session.end(ctx)
  if (ended) await ctx.emit('signOut', ended)
  const to = ticket.to ?? ctx.origin
  return frames.length > 0 ? showFrames(ctx, frames, to) : redirectTo(to)
}

/** The address is one of the client that the hint or `client_id` names (section 3), and the ID token is of this server. Undefined: none that counts. */
async function readTarget(ctx: Context, options: ResolvedOptions, params: URLSearchParams): Promise<string | undefined> {
  const uri = params.get('post_logout_redirect_uri')
  const hint = params.get('id_token_hint')
  // An old ID token is a hint all the same (section 2): its end is not compared.
  const claims = hint === null ? null : await ctx.service('signingKeys').open(ctx, 'JWT', hint)
  // A hint that this server did not sign names no client, and a `client_id` beside it does not either.
  if (hint !== null && !claims) return undefined
  const id = params.get('client_id') ?? (typeof claims?.['aud'] === 'string' ? claims['aud'] : undefined)
  if (uri === null || id === undefined) return undefined
  if (claims && (claims['iss'] !== ctx.base || claims['aud'] !== id)) return undefined
  const client = id.startsWith('https://') ? undefined : await findClient(ctx, options, id)
  if (!client?.metadata.post_logout_redirect_uris.includes(uri)) return undefined
  return withParams(uri, { state: params.get('state') ?? undefined })
}

function drawQuestion(
  _ctx: Context,
  { say, form, submit }: PageTools,
  { ticket, who = '', target }: Readonly<Record<string, string | undefined>>,
): Promise<PageView> {
  return form('/oauth2/logout/confirm', [submit(say('authorization-server.signOut'))], { ticket }).then((body) => ({
    title: say('authorization-server.signOut'),
    lead: say('authorization-server.signOutLead', { who }),
    body,
    ...(target !== undefined && { forms: [new URL(target).protocol === 'https:' ? new URL(target).origin : target] }),
  }))
}
