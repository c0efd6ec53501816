/** What users see: the form, the question behind each magic link, and a section of the account page. None of it needs JavaScript. */
import { type Context, type Kernel, type PageTools, type PageView, proveAgain } from 'authkernel/kernel'
import { confirmChange, readChange, requestChange } from './change.ts'
import type { ResolvedOptions } from './options.ts'
import { readUndo, undoChange } from './undo.ts'
import { findUser } from './user.ts'

type Params = Readonly<Record<string, string | undefined>>

const back = '/account'
const path = '/account/address'

/** Adds the pages, what their forms post to, and the section of the account page. */
export function addPages(kernel: Kernel, options: ResolvedOptions): void {
  kernel.page('address', (ctx, tools, params) => drawForm(ctx, tools, params, options), { path })
  kernel.page(
    'addressMailed',
    (_ctx, { say, link }) => ({ title: say('address.mailed'), lead: say('address.mailed-lead'), body: link(say('address.back'), back) }),
    { path: `${path}/mailed` },
  )
  kernel.page('addressConfirm', drawConfirm)
  kernel.page('addressUndo', drawUndo)
  addTokenPage(kernel, `${path}/confirm`, 'addressConfirm')
  addTokenPage(kernel, `${path}/undo`, 'addressUndo')
  kernel.route({ method: 'POST', path: '/account/address', handler: (ctx) => requestChange(ctx, options) })
  kernel.route({ method: 'POST', path: '/account/address/confirm', handler: (ctx) => confirmChange(ctx, options) })
  kernel.route({ method: 'POST', path: '/account/address/undo', handler: undoChange })
  kernel.accountSection({
    id: 'address',
    order: 105,
    async draw(ctx, { say, buttonLink, html }) {
      const user = await findUser(ctx)
      if (!user) return undefined
      const text = user.email && html`<bdi>${user.email}</bdi>`
      return { heading: say('address.title'), text, actions: buttonLink(say('address.change'), path) }
    },
  })
}

// The address of the page has a token: no other site is told it.
function addTokenPage(kernel: Kernel, where: `/${string}`, page: string): void {
  kernel.route({
    method: 'GET',
    path: where,
    async handler(ctx) {
      const response = await ctx.render(page, { token: ctx.url.searchParams.get('token') ?? undefined })
      const headers = new Headers(response.headers)
      headers.set('Referrer-Policy', 'no-referrer')
      return new Response(response.body, { status: response.status, headers })
    },
  })
}

async function drawForm(ctx: Context, tools: PageTools, { error }: Params, { maxAge }: ResolvedOptions): Promise<PageView | Response> {
  const { say, field, submit, alert, link, html } = tools
  const user = await findUser(ctx)
  if (!user) return ctx.page('signIn', { callbackUrl: `${ctx.base}${path}` })
  const led = error === undefined && (await proveAgain(ctx, maxAge, `${ctx.base}${path}`))
  if (led) return led
  const input = field('email', {
    label: 'address.new',
    type: 'email',
    required: true,
    autocomplete: 'email',
    maxlength: 254,
    autocapitalize: 'none',
    spellcheck: 'false',
    autofocus: true,
    value: tools.typed('email'),
  })
  return {
    title: say('address.title'),
    lead: say('address.lead'),
    body: [
      alert(error),
      user.email ? html`<p class="who"><bdi>${user.email}</bdi></p>` : undefined,
      await tools.form(path, [input, submit(say('address.send'))]),
      link(say('address.back'), back),
    ],
    ...(error !== undefined && { status: 400 }),
  }
}

async function drawConfirm(ctx: Context, tools: PageTools, { token }: Params): Promise<PageView | Response> {
  const { say, submit, alert, link, html } = tools
  const found = await readChange(ctx, token)
  // Not where to come back to: that address would carry the token through another page.
  if (found === null || typeof found === 'string') {
    const errors = { signedOut: 'AddressSignInFirst', otherUser: 'AddressOfOther' } as const
    const way = found === 'signedOut' ? link(say('address.sign-in'), '/signin') : link(say('address.back'), back)
    return { title: say('address.title'), body: [alert(found ? errors[found] : 'AddressLinkInvalid'), way], status: 400 }
  }
  const { change } = found
  return {
    title: say('address.confirm'),
    lead: say('address.confirm-lead'),
    body: [
      html`<p class="who"><bdi>${change.to}</bdi></p>`,
      await tools.form(`${path}/confirm`, submit(say('address.confirm')), { token }),
      link(say('address.keep'), back),
    ],
  }
}

async function drawUndo(ctx: Context, tools: PageTools, { token, done, error }: Params): Promise<PageView> {
  const { say, submit, alert, link, html } = tools
  const title = say('address.undo')
  if (done !== undefined) return { title, lead: say('address.undone'), body: link(say('address.sign-in'), '/signin') }
  const found = error === undefined ? await readUndo(ctx, token) : null
  if (!found) return { title, body: [alert(error ?? 'AddressLinkInvalid'), link(say('address.sign-in'), '/signin')], status: 400 }
  return {
    title,
    lead: say('address.undo-lead'),
    body: [html`<p class="who"><bdi>${found.from}</bdi></p>`, await tools.form(`${path}/undo`, submit(title), { token })],
  }
}
