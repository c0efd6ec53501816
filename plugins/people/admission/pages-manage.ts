/** The page `/admission/manage` for administrators: invitations and the waitlist. Each act asks `can`, as the API does. */
import {
  AuthError,
  type Content,
  type Context,
  type Kernel,
  type Navigation,
  type PageTools,
  type PageView,
  redirectTo,
  type Tone,
} from 'authkernel/kernel'
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

/** A rejection is a page with its status, or the sign-in page when signed out. */
async function drawManage(ctx: Context, tools: PageTools, params: Params, options: ResolvedOptions): Promise<PageView | Response> {
  const { say, alert, toast } = tools
  try {
    const may = (act: AdmissionAct): Promise<Actor> => requireAdministrator(ctx, options, null, act)
    const waiting =
      options.mode === 'waitlist'
        ? await listWaitlist(await may('listWaitlist'), { cursor: params['waiting'], limit: perPage })
        : { requests: [], next: undefined }
    const found = await listInvitations(await may('listInvitations'), { cursor: params['after'], limit: perPage })
    return {
      title: say('admission.manage'),
      layout: 'wide',
      navigation: navigationOf(ctx, tools),
      body: [
        alert(params['error']),
        params['done'] !== undefined && toast(say('admission.done')),
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

/** The way back to the console, where adminPlugin has its pages. */
function navigationOf({ app }: Context, { say }: PageTools): Navigation {
  const console = app.parts.pages.get('adminUsers')?.path
  return {
    label: say('admission.manage'),
    items: [
      { label: say('admission.manage'), to: path, current: true },
      ...(console === undefined ? [] : [{ label: say('admin.console'), to: console }]),
    ],
  }
}

async function drawWaitlist(tools: PageTools, requests: readonly WaitlistRequest[], next: string | undefined): Promise<Content> {
  const { html, say, card, row, moment, buttonLink, emptyState } = tools
  const rows = requests.map(async ({ id, email, created }) =>
    row({
      id: `request-${id}`,
      title: html`<bdi>${email}</bdi>`,
      text: moment(created),
      actions: [
        await drawButton(tools, 'approve', id, `request-${id}`, 'primary'),
        await drawButton(tools, 'decline', id, `request-${id}`, 'danger'),
      ],
    }),
  )
  return card({
    title: say('admission.waitlist'),
    body: [
      requests.length === 0 ? emptyState({ title: say('admission.no-requests') }) : await Promise.all(rows),
      next !== undefined && buttonLink(say('admission.more'), `${path}?${new URLSearchParams({ waiting: next }).toString()}`),
    ],
  })
}

async function drawInvitations(tools: PageTools, invitations: readonly Invitation[], next: string | undefined): Promise<Content> {
  const { html, say, card, row, date, buttonLink, emptyState } = tools
  const rows = invitations.map(async ({ id, email, note, uses, left, expires }) =>
    row({
      id: `invitation-${id}`,
      title: html`<bdi>${email ?? say('admission.any')}</bdi>`,
      text: [note, say('admission.left', { left, uses }), say('admission.until', { date: date(expires) })],
      actions: await drawButton(tools, 'revoke', id, `invitation-${id}`, 'danger'),
    }),
  )
  return card({
    title: say('admission.invitations'),
    body: [
      invitations.length === 0 ? emptyState({ title: say('admission.no-invitations') }) : await Promise.all(rows),
      next !== undefined && buttonLink(say('admission.more'), `${path}?${new URLSearchParams({ after: next }).toString()}`),
    ],
  })
}

function drawButton({ form, say, button }: PageTools, action: string, id: string, describedBy: string, tone: Tone): Promise<Content> {
  return form(path, button(say(`admission.${action}`), { tone, describedBy }), { action, id })
}

async function drawInviteForm({ say, card, form, field, submit, typed }: PageTools): Promise<Content> {
  const [email, uses, note] = ['email', 'uses', 'note'].map((name) => typed(name, 'invite'))
  return card({
    title: say('admission.invite'),
    body: await form(
      path,
      [
        field('email', { label: 'admission.email-optional', type: 'email', maxlength: 254, autocomplete: 'off', value: email }, 'invite'),
        field('uses', { label: 'admission.uses', type: 'number', min: '1', max: '100000', value: uses ?? '1', required: true }, 'invite'),
        field('note', { label: 'admission.note', type: 'text', maxlength: 200, autocomplete: 'off', value: note }, 'invite'),
        submit(say('admission.invite')),
      ],
      { action: 'invite' },
    ),
  })
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
    if (error.type !== 'AdmissionInput') return redirectTo(`${ctx.base}${path}?error=AdmissionDenied`)
    // The response is the page itself, with what was typed.
    return ctx.render('admissionManage', { error: error.type })
  }
}

// The answer to a form, which no history keeps: the code is shown once.
function drawInvited(ctx: Context, tools: PageTools, { code = '', url = '', email }: Params): PageView {
  const { say, card, copyable, buttonLink } = tools
  return {
    title: say('admission.invited'),
    lead: email === undefined ? say('admission.once') : say('admission.mailed', { email }),
    layout: 'wide',
    navigation: navigationOf(ctx, tools),
    body: [
      card({ title: say('admission.code'), body: copyable(code) }),
      card({ title: say('admission.link'), body: copyable(url) }),
      buttonLink(say('admission.back'), path),
    ],
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

function isRefusal(error: unknown): error is AuthError {
  return error instanceof AuthError && error.status < 500
}
