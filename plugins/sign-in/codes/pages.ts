/** The page on which the code is typed. */
import type { Context, PageTools, PageView } from 'authkernel/kernel'
import type { CodeKind } from './kind.ts'
import type { PendingCode } from './start.ts'

export async function drawCodePage(
  ctx: Context,
  { say, form, field, submit, alert, html, duration }: PageTools,
  { error }: Readonly<Record<string, string | undefined>>,
  kind: CodeKind,
): Promise<PageView | Response> {
  const pending = await kind.cookie.open<PendingCode>(ctx)
  if (!pending) return ctx.page('signIn')
  const code = field('code', {
    label: `${kind.name}.code`,
    type: 'text',
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    required: true,
    maxlength: 32,
    autofocus: true,
  })
  return {
    title: say(`${kind.name}.title`),
    lead: say(`${kind.name}.lead`, { to: html`<b><bdi>${pending.identifier}</bdi></b>` }),
    body: [
      alert(error),
      await form(`/callback/${kind.name}`, [code, submit(say(`${kind.name}.continue`))]),
      html`<p class="hint">${say(`${kind.name}.valid`, { left: duration(600) })} ${say(`${kind.name}.never-tell`)}</p>`,
      await form(`/signin/${kind.name}`, submit(say(`${kind.name}.again`), { quiet: true }), { [kind.field]: pending.identifier }),
    ],
    ...(error !== undefined && { status: 400 }),
  }
}
