/** What users see: the field for the code, and the question about the device. */
import type { Content, Context, Kernel, PageTools, PageView, User } from 'authkernel/kernel'
import { readUserCode } from './codes.ts'

type Params = Readonly<Record<string, string | undefined>>
/** Where a form is sent, and what the names of texts begin with. */
interface Place {
  action: string
  texts: string
}

export function addPages(kernel: Kernel): void {
  kernel.page('device', (ctx, tools, params) => drawCodeForm(ctx, tools, params, { action: '/device', texts: 'device-flow' }), {
    path: '/device',
  })
  // Without a route of its own: it is the answer to a code that was typed.
  kernel.page('deviceConfirm', (_ctx, tools, params) =>
    drawQuestion(tools, params, { action: '/device/decide', texts: 'device-flow', scopes: 'bearer.scope' }),
  )
}

/** The user of the session of a browser; null: signed out. */
export async function signedInUser(ctx: Context): Promise<(User & { id: string }) | null> {
  const user = await ctx.session.user(ctx)
  return user?.id === undefined || user.id === null ? null : { ...user, id: user.id }
}

/** The field for the code. */
export async function drawCodeForm(ctx: Context, tools: PageTools, params: Params, { action, texts }: Place): Promise<PageView | Response> {
  const { html, say, form, field, submit, alert } = tools
  if (!(await signedInUser(ctx))) return ctx.page('signIn', { callbackUrl: ctx.url.href })
  const title = say(`${texts}.title`)
  if (params['done'])
    return { title, body: html`<p role="status">${say(`${texts}.${params['done'] === 'allowed' ? 'allowed' : 'denied'}`)}</p>` }
  const code = readUserCode(params['user_code'])
  const input = field('user_code', {
    label: `${texts}.code`,
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'characters',
    spellcheck: false,
    required: true,
    maxlength: 20,
    // Filled in by a link or a QR code, which an attacker may have sent: the user compares it.
    ...(code === undefined ? { autofocus: true } : { value: code }),
  })
  return {
    title,
    lead: say(`${texts}.${code === undefined ? 'lead' : 'compare'}`),
    body: [alert(params['error']), await form(action, [input, submit(say(`${texts}.continue`))])],
  }
}

/** The question about the device. `scopes`: what the names of texts of scopes begin with. `more`: shown after them. */
export async function drawQuestion(
  tools: PageTools,
  params: Params,
  { action, texts, scopes, more = [] }: Place & { scopes: string; more?: readonly Content[] },
): Promise<PageView> {
  const { html, say, form, submit } = tools
  const { ticket, code = '', app = '', who = '', address, place, agent } = params
  const items = (params['scopes'] ?? '')
    .split(' ')
    .filter(Boolean)
    .map((scope) => {
      const text = say(`${scopes}.${scope}`)
      return html`<li>${text === '' ? scope : text}</li>`
    })
  const from = [place, address].filter((part) => part !== undefined).join(', ')
  return {
    title: say(`${texts}.confirm`, { app }),
    lead: say(`${texts}.who`, { who }),
    body: [
      html`<p>${say(`${texts}.same`)} <strong>${code}</strong></p>`,
      from !== '' && html`<p>${say(`${texts}.from`, { from })}</p>`,
      agent !== undefined && html`<p>${say(`${texts}.agent`, { agent })}</p>`,
      items.length > 0 &&
        html`<p>${say(`${texts}.scopes`)}</p>
          <ul>
            ${items}
          </ul>`,
      ...more,
      html`<p><strong>${say(`${texts}.warning`)}</strong></p>`,
      await form(
        action,
        [
          submit(say(`${texts}.allow`), { name: 'decision', value: 'allow' }),
          submit(say(`${texts}.deny`), { name: 'decision', value: 'deny', quiet: true }),
        ],
        { ticket },
      ),
    ],
  }
}
