/** The page that asks whether an app may sign in. */
import type { Context, Kernel, PageTools, PageView } from 'authkernel/kernel'

/** Adds the page. It has no separate route: `GET /oauth/authorize` renders it. */
export function addPages(kernel: Kernel): void {
  kernel.page('appConsent', drawConsent)
}

async function drawConsent(_ctx: Context, tools: PageTools, params: Readonly<Record<string, string | undefined>>): Promise<PageView> {
  const { html, say, form, submit } = tools
  const { ticket, app = '', who = '', target = '' } = params
  const scopes = (params['scopes'] ?? '').split(' ').filter(Boolean)
  const items = scopes.map((scope) => {
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
            ${items}
          </ul>`,
      html`<p>${say('bearer.warning', { app })}</p>`,
      await form('/oauth/authorize', buttons, { ticket }),
    ],
    forms: [target],
  }
}
