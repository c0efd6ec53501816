/** The page `/admission/manage` for administrators: invitations and the waitlist. Each act asks `can`, as the API does. */
import { AuthError, type Content, type Context, type Kernel, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
import { type Actor, requireAdministrator } from './actor.ts'
import { createInvitation, listInvitations, revokeInvitation } from './invitations.ts'
import type { AdmissionAct, ResolvedOptions } from './options.ts'
import type { Invitation, WaitlistRequest } from './tables.ts'
import { approveRequest, declineRequest, listWaitlist } from './waitlist.ts'

type Params = Readonly<Record<string, string | undefined>>

const path = '/admission/manage'
const perPage = 50

/** Adds the page, what its forms post to, and the page that shows a new code once. */
export function addManagePage(kernel: Kernel, options: ResolvedOptions): void {
  kernel.page('admissionManage', (ctx, tools, params) => drawManage(ctx, tools, params, options), { path })
  kernel.page('admissionInvited', drawInvited)
  kernel.route({ method: 'POST', path, handler: (ctx) => postAct(ctx, options) })
}

/** A refusal is a page with its status, or the sign-in page when signed out. */
async function drawManage(ctx: Context, tools: PageTools, params: Params, options: ResolvedOptions): Promise<PageView | Response> {
  const { say, alert } = tools
  try {
    const may = (act: AdmissionAct): Promise<Actor> => requireAdministrator(ctx, options, null, act)
    const waiting =
      options.mode === 'waitlist'
        ? await listWaitlist(await may('listWaitlist'), { cursor: params['waiting'], limit: perPage })
        : { requests: [], next: undefined }
    const found = await listInvitations(await may('listInvitations'), { cursor: params['after'], limit: perPage })
    return {
      title: say('admission.manage'),
      body: [
        alert(params['error']),
        params['done'] !== undefined && tools.html`<p role="status">${say('admission.done')}</p>`,
        options.mode === 'waitlist' && (await drawWaitlist(tools, waiting.requests, waiting.next)),
        await drawInvitations(tools, found.invitations, found.next),
        await drawInviteForm(tools),
      ],
      ...(params['error'] !== undefined && { status: 400 }),
    }
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (!(await ctx.currentSession())) return ctx.page('signIn', { callbackUrl: `${ctx.base}${path}` })
    return { title: say('admission.manage'), body: alert('AdmissionDenied'), status: error.status }
  }
}

async function drawWaitlist(tools: PageTools, requests: readonly WaitlistRequest[], next: string | undefined): Promise<Content> {
  const { html, say, date, link } = tools
  const rows = requests.map(
    async ({ id, email, created }) =>
      html`<li>
        <span id="request-${id}"><bdi>${email}</bdi><small>${date(created)}</small></span>
        ${await drawButton(tools, 'approve', id, `request-${id}`)}${await drawButton(tools, 'decline', id, `request-${id}`)}
      </li>`,
  )
  return [
    html`<h2>${say('admission.waitlist')}</h2>`,
    requests.length === 0
      ? html`<p class="note">${say('admission.no-requests')}</p>`
      : html`<ul class="rows">
          ${await Promise.all(rows)}
        </ul>`,
    next !== undefined && link(say('admission.more'), `${path}?${new URLSearchParams({ waiting: next }).toString()}`),
  ]
}

async function drawInvitations(tools: PageTools, invitations: readonly Invitation[], next: string | undefined): Promise<Content> {
  const { html, say, date, link } = tools
  const rows = invitations.map(async ({ id, email, note, uses, left, expires }) => {
    const facts = [note, say('admission.left', { left, uses }), say('admission.until', { date: date(expires) })].filter(Boolean)
    return html`<li>
      <span id="invitation-${id}"
        ><bdi>${email ?? say('admission.any')}</bdi><small>${facts.map((fact, at) => [at > 0 && ' · ', fact])}</small></span
      >
      ${await drawButton(tools, 'revoke', id, `invitation-${id}`)}
    </li>`
  })
  return [
    html`<h2>${say('admission.invitations')}</h2>`,
    invitations.length === 0
      ? html`<p class="note">${say('admission.no-invitations')}</p>`
      : html`<ul class="rows">
          ${await Promise.all(rows)}
        </ul>`,
    next !== undefined && link(say('admission.more'), `${path}?${new URLSearchParams({ after: next }).toString()}`),
  ]
}

function drawButton({ html, form, say }: PageTools, action: string, id: string, about: string): Promise<Content> {
  const button = html`<button class="button small" type="submit" aria-describedby="${about}">
    <span class="label">${say(`admission.${action}`)}</span>
  </button>`
  return form(path, button, { action, id })
}

async function drawInviteForm({ html, say, form, field, submit }: PageTools): Promise<Content> {
  return [
    html`<h2>${say('admission.invite')}</h2>`,
    await form(
      path,
      [
        field('email', { label: 'admission.email-optional', type: 'email', maxlength: 254, autocomplete: 'off' }, 'invite'),
        field('uses', { label: 'admission.uses', type: 'number', min: '1', max: '100000', value: '1', required: true }, 'invite'),
        field('note', { label: 'admission.note', type: 'text', maxlength: 200, autocomplete: 'off' }, 'invite'),
        submit(say('admission.invite')),
      ],
      { action: 'invite' },
    ),
  ]
}

async function postAct(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { action, id, email, uses, note } = await ctx.body()
  try {
    const may = (act: AdmissionAct): Promise<Actor> => requireAdministrator(ctx, options, null, act)
    if (action === 'invite') {
      const wanted = { email: textOf(email), uses: Number(textOf(uses) ?? 1), note: textOf(note) }
      const { code, url } = await createInvitation(await may('invite'), wanted)
      return await ctx.render('admissionInvited', { code, url, email: wanted.email })
    }
    if (action === 'revoke') await revokeInvitation(await may('revoke'), id)
    if (action === 'approve') await approveRequest(await may('approve'), id)
    if (action === 'decline') await declineRequest(await may('decline'), id)
    return redirectTo(`${ctx.base}${path}?done=1`)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return redirectTo(`${ctx.base}${path}?error=${error.type === 'AdmissionInput' ? error.type : 'AdmissionDenied'}`)
  }
}

// The answer to a form, which no history keeps: the code is shown once.
function drawInvited(_ctx: Context, { html, say, link }: PageTools, { code = '', url = '', email }: Params): PageView {
  return {
    title: say('admission.invited'),
    lead: email === undefined ? say('admission.once') : say('admission.mailed', { email }),
    body: [html`<p><code class="key">${code}</code></p>`, html`<p><code class="key">${url}</code></p>`, link(say('admission.back'), path)],
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

function isRefusal(error: unknown): error is AuthError {
  return error instanceof AuthError && error.status < 500
}
