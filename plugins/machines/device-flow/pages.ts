/** What users see: the field for the code, and the question about the device. */
import type { Context, Kernel, PageTools, PageView } from 'authkernel/kernel'
import { signedInUser } from './approve.ts'
import { readUserCode } from './codes.ts'

type Params = Readonly<Record<string, string | undefined>>

export function addPages(kernel: Kernel): void {
  kernel.page('device', drawCodeForm, { path: '/device' })
  // Without a route of its own: it is the answer to a code that was typed.
  kernel.page('deviceConfirm', drawQuestion)
}

async function drawCodeForm(ctx: Context, tools: PageTools, params: Params): Promise<PageView | Response> {
  const { html, say, form, field, submit, alert } = tools
  if (!(await signedInUser(ctx))) return ctx.page('signIn', { callbackUrl: ctx.url.href })
  const title = say('device-flow.title')
  if (params['done'])
    return { title, body: html`<p role="status">${say(params['done'] === 'allowed' ? 'device-flow.allowed' : 'device-flow.denied')}</p>` }
  const code = readUserCode(params['user_code'])
  const input = field('user_code', {
    label: 'device-flow.code',
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
    lead: say(code === undefined ? 'device-flow.lead' : 'device-flow.compare'),
    body: [alert(params['error']), await form('/device', [input, submit(say('device-flow.continue'))])],
  }
}

async function drawQuestion(_ctx: Context, tools: PageTools, params: Params): Promise<PageView> {
  const { html, say, form, submit } = tools
  const { ticket, code = '', app = '', who = '', address, place, agent } = params
  const items = (params['scopes'] ?? '')
    .split(' ')
    .filter(Boolean)
    .map((scope) => {
      const text = say(`bearer.scope.${scope}`)
      return html`<li>${text === '' ? scope : text}</li>`
    })
  const from = [place, address].filter((part) => part !== undefined).join(', ')
  return {
    title: say('device-flow.confirm', { app }),
    lead: say('device-flow.who', { who }),
    body: [
      html`<p>${say('device-flow.same')} <strong>${code}</strong></p>`,
      from !== '' && html`<p>${say('device-flow.from', { from })}</p>`,
      agent !== undefined && html`<p>${say('device-flow.agent', { agent })}</p>`,
      items.length > 0 &&
        html`<p>${say('device-flow.scopes')}</p>
          <ul>
            ${items}
          </ul>`,
      html`<p><strong>${say('device-flow.warning')}</strong></p>`,
      await form(
        '/device/decide',
        [
          submit(say('device-flow.allow'), { name: 'decision', value: 'allow' }),
          submit(say('device-flow.deny'), { name: 'decision', value: 'deny', quiet: true }),
        ],
        { ticket },
      ),
    ],
  }
}
