/** The user answers a backchannel request, signed in, on the page that shows who asks and what for. */
import { type Context, HttpError, type Kernel, type PageTools, type PageView, redirectTo, type User } from 'authkernel/kernel'
import { hasFreshProof, leadToProof } from 'authkernel/kernel/strategies'
import { listRows } from 'authkernel/kernel/stores'
import { findOwnUser } from 'authkernel/kernel/users'
import { describeDetail } from './authorization-details.ts'
import { approvalUrl, pingClient } from './ciba-notice.ts'
import { findClient } from './clients.ts'
import { rememberConsent } from './consent-store.ts'
import { openidScopes, type ResolvedOptions } from './options.ts'
import type { OAuthBackchannelRecord } from './tables-polled.ts'

const purpose = 'authorization-server.approval'
const ticketSeconds = 600

interface Ticket {
  id: string
  userId: string
}

/** Adds the page, and the section of the account page that lists what waits. */
export function addApproval(kernel: Kernel, options: ResolvedOptions): void {
  kernel.page('clientApproval', (ctx, tools, params) => drawQuestion(ctx, options, tools, params), { path: '/oauth2/approve' })
  kernel.accountSection({
    id: 'waiting-requests',
    order: 285,
    async draw(ctx, { say, row, link }) {
      const user = await findOwnUser(ctx)
      const waiting = user?.id ? await listRows(ctx.records('oauthBackchannel'), { where: { userId: user.id } }) : []
      const live = waiting.filter(({ status, until }) => status === 'pending' && until > ctx.now)
      const clients = await Promise.all(live.map(({ clientId }) => findClient(ctx, options, clientId)))
      const pending = live.filter((_, at) => clients[at])
      if (pending.length === 0) return undefined
      const rows = pending.map((one) =>
        row({
          id: `request-${one.id}`,
          title: one.clientName,
          text: one.binding ?? '',
          actions: link(say('authorization-server.look'), approvalUrl(ctx, one)),
        }),
      )
      return { heading: say('authorization-server.waiting'), body: rows }
    },
  })
}

/** `POST /oauth2/approve`. */
export async function answerApproval(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { ticket: sealed, decision } = await ctx.body()
  const ticket = typeof sealed === 'string' ? await ctx.open<Ticket & object>(purpose, sealed) : null
  const user = await findOwnUser(ctx)
  // The user who read the page is the one who answers it.
  if (!ticket || user?.id !== ticket.userId) throw new HttpError(400, 'This page is too old. Open the request again.')
  const row = await findPending(ctx, options, ticket.id, { ...user, id: ticket.userId })
  if (!row) return ctx.render('clientApproval', { error: 'ClientRequestGone' })
  if (decision === 'allow' && row.needsSecondFactor && (await ctx.session.attributes?.(ctx))?.factors !== 2)
    return leadToProof(ctx, { maxAge: ticketSeconds, level: 'mfa' }, approvalUrl(ctx, row))
  const client = await findClient(ctx, options, row.clientId)
  if (decision === 'allow' && client?.agent && !(await hasFreshProof(ctx, { maxAge: client.agent.proofAge })))
    return leadToProof(ctx, { maxAge: client.agent.proofAge }, approvalUrl(ctx, row))
  const written = decision === 'allow' ? await approve(ctx, row) : await writeDenial(ctx, row)
  if (!written) return ctx.render('clientApproval', { error: 'ClientRequestGone' })
  const { userId, clientId, clientName, scopes, audiences } = row
  if (decision === 'allow') {
    // An agent asks each time, and its owner finds it among the agents.
    if (!client?.agent) await rememberConsent(ctx, { userId, clientId, name: clientName, scopes, audiences })
    await ctx.emit('clientAuthorized', { user: { id: userId }, clientId, scopes })
  }
  pingClient(ctx, client, row)
  return redirectTo(`${ctx.base}/oauth2/approve?done=${decision === 'allow' ? 'allowed' : 'denied'}`)
}

/** Of several answers one counts. Null: it was answered already. */
async function approve(ctx: Context, { id, userId }: OAuthBackchannelRecord): Promise<OAuthBackchannelRecord | null> {
  const rows = ctx.records('oauthBackchannel')
  const attributes = (await ctx.session.attributes?.(ctx)) ?? null
  const access = await ctx.access.stampSession()
  if (access?.subject !== `user:${userId}`) throw new HttpError(400, 'This page is too old. Open the request again.')
  return ctx.access.grant(
    access,
    'appCode',
    () => rows.update(id, { status: 'approved', attributes, access }, { if: { status: 'pending' } }),
    (written) => written !== null && rows.delete(id),
  )
}

function writeDenial(ctx: Context, { id }: OAuthBackchannelRecord): Promise<OAuthBackchannelRecord | null> {
  return ctx.records('oauthBackchannel').update(id, { status: 'denied' }, { if: { status: 'pending' } })
}

/** Null: unknown, of another user, answered or too old, or the client is gone or disabled. */
async function findPending(
  ctx: Context,
  options: ResolvedOptions,
  id: string | undefined,
  user: User & { id: string },
): Promise<OAuthBackchannelRecord | null> {
  const row = id === undefined || id.length > 64 ? null : await ctx.records('oauthBackchannel').get(id)
  if (row?.userId !== user.id || row.status !== 'pending' || row.until <= ctx.now) return null
  return (await findClient(ctx, options, row.clientId)) ? row : null
}

async function drawQuestion(
  ctx: Context,
  options: ResolvedOptions,
  { html, say, form, submit, facts, alert }: PageTools,
  params: Readonly<Record<string, string | undefined>>,
): Promise<PageView | Response> {
  const user = await findOwnUser(ctx)
  // A guest and an administrator who acts as the user are asked to sign in: no page asks them for consent.
  if (!user?.id) return ctx.page('signIn', { callbackUrl: ctx.url.href })
  const title = say('authorization-server.approval')
  const { done, error } = params
  if (done !== undefined)
    return {
      title,
      body: html`<p role="status">${say(done === 'allowed' ? 'authorization-server.approved' : 'authorization-server.denied')}</p>`,
    }
  const row = error === undefined ? await findPending(ctx, options, params['request'], { ...user, id: user.id }) : null
  if (!row) return { title, body: alert(error ?? 'ClientRequestGone'), status: 404 }
  const items = row.scopes
    .map((scope) => say(`authorization-server.scope.${scope}`) || (openidScopes.includes(scope) ? '' : scope))
    .filter((text) => text !== '')
  const ticket: Ticket = { id: row.id, userId: user.id }
  return {
    title: say('authorization-server.title', { client: row.clientName }),
    lead: say('authorization-server.lead', { who: user.email ?? user.name ?? user.id }),
    body: [
      row.binding !== null && facts([[say('authorization-server.binding'), html`<strong><bdi>${row.binding}</bdi></strong>`]]),
      items.length > 0 &&
        html`<p>${say('authorization-server.scopes', { client: row.clientName })}</p>
          <ul>
            ${items.map((text) => html`<li>${text}</li>`)}
          </ul>`,
      ...row.details.map((detail) => facts(describeDetail(options.authorizationDetails.get(detail.type), detail))),
      html`<p class="note">${say('authorization-server.warning', { client: row.clientName })}</p>`,
      await form(
        '/oauth2/approve',
        [
          submit(say('authorization-server.allow'), { name: 'decision', value: 'allow' }),
          submit(say('authorization-server.deny'), { name: 'decision', value: 'deny', quiet: true }),
        ],
        { ticket: await ctx.seal(purpose, { ...ticket }, ticketSeconds) },
      ),
    ],
  }
}
