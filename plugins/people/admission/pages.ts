/** What visitors see: the form for a code, the form of the waitlist, and a link to both below the sign-in page. None of it needs JavaScript. */
import { AuthError, type Content, type Context, type Kernel, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
import { findShownInvitation, keepCode } from './codes.ts'
import { AdmissionInput, InvitationCodeInvalid } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { joinWaitlist } from './waitlist.ts'

type Params = Readonly<Record<string, string | undefined>>

const path = '/admission'

/** Adds the pages and what their forms post to. */
export function addPages(kernel: Kernel, options: ResolvedOptions): void {
  kernel.page('admission', (ctx, tools, params) => drawAdmission(ctx, tools, params, options), { path })
  kernel.route({ method: 'GET', path: `${path}/invitation`, handler: (ctx) => openInvitation(ctx, ctx.url.searchParams.get('code')) })
  kernel.route({ method: 'POST', path: `${path}/invitation`, handler: async (ctx) => openInvitation(ctx, (await ctx.body())['code']) })
  if (options.mode === 'waitlist') {
    kernel.page(
      'admissionWaiting',
      (_ctx, { say, link }) => ({
        title: say('admission.waiting'),
        lead: say('admission.waiting-lead'),
        body: link(say('admission.to-sign-in'), '/signin'),
      }),
      { path: `${path}/waiting` },
    )
    kernel.route({ method: 'POST', path: `${path}/waitlist`, handler: (ctx) => postRequest(ctx, options) })
  }
  if (options.mode === 'open' && !options.hasAllowList) return
  kernel.slot('signIn', 'foot', (_ctx, { html, say, base }) => ({
    html: html`<p class="hint"><a href="${base}${path}">${say(`admission.link-${options.mode}`)}</a></p>`,
  }))
}

/** The code goes from the address into a sealed cookie: addresses are written to logs. Opening it uses nothing up. */
async function openInvitation(ctx: Context, code: unknown): Promise<Response> {
  const query = (await keepCode(ctx, code)) ? '' : `?error=${InvitationCodeInvalid.type}`
  const headers = { Location: `${ctx.base}${path}${query}`, 'Cache-Control': 'private, no-store', 'Referrer-Policy': 'no-referrer' }
  return new Response(null, { status: ctx.request.method === 'GET' ? 302 : 303, headers })
}

async function postRequest(ctx: Context, options: ResolvedOptions): Promise<Response> {
  try {
    await joinWaitlist(ctx, options, (await ctx.body())['email'])
  } catch (error) {
    if (!(error instanceof AdmissionInput)) throw error
    return ctx.render('admission', { error: error.type })
  }
  return redirectTo(`${ctx.base}${path}/waiting`)
}

async function drawAdmission(ctx: Context, tools: PageTools, { error }: Params, { mode }: ResolvedOptions): Promise<PageView> {
  const { say, link, alert } = tools
  const shown = error === undefined ? await findShownInvitation(ctx).catch(ignoreRefusal) : null
  if (shown) return { title: say('admission.ready'), lead: say('admission.ready-lead'), body: link(say('admission.to-sign-up'), '/signin') }
  return {
    title: say('admission.title'),
    lead: say(`admission.lead-${mode}`),
    body: [
      alert(error),
      await drawCodeForm(tools),
      mode === 'waitlist' && (await drawWaitlistForm(tools)),
      link(say('admission.to-sign-in'), '/signin'),
    ],
    ...(error !== undefined && { status: 400 }),
  }
}

function drawCodeForm({ form, field, submit, say }: PageTools): Promise<Content> {
  const input = field('code', {
    label: 'admission.code',
    type: 'text',
    required: true,
    maxlength: 64,
    autocomplete: 'off',
    autocapitalize: 'characters',
    spellcheck: 'false',
    placeholder: 'K7QX-2MPD-9HVB-T4RC',
  })
  return form(`${path}/invitation`, [input, submit(say('admission.use'))])
}

function drawWaitlistForm({ form, field, submit, say, typed }: PageTools): Promise<Content> {
  const input = field(
    'email',
    {
      label: 'Email',
      type: 'email',
      required: true,
      maxlength: 254,
      autocomplete: 'email',
      autocapitalize: 'none',
      spellcheck: 'false',
      value: typed('email'),
    },
    'waitlist',
  )
  return form(`${path}/waitlist`, [input, submit(say('admission.join'), { quiet: true })])
}

function ignoreRefusal(error: unknown): null {
  if (error instanceof AuthError && error.status < 500) return null
  throw error
}
