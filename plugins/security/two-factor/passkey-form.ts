/** The form that asks for a passkey: a button and a script, and nothing without JavaScript. */
import { type Content, type Context, json, type PageTools } from 'authkernel/kernel'
import { browserScript } from './browser.generated.ts'
import { isFresh } from './changes.ts'
import type { Options } from './options.ts'
import { beginAdd, beginAsk } from './passkey.ts'
import { findWaiting } from './question.ts'
import { mustProveAddress, visitorOf } from './setup.ts'

/** For the `scripts` of a page with the form. */
export const passkeyScript: string = browserScript

/** `purpose` `ask`: for the sign-in that waits; `add`: on the page of factors. */
export async function drawPasskeyForm(
  ctx: Context,
  { html, say, base }: PageTools,
  { action, purpose, label, flow }: { action: string; purpose: 'ask' | 'add'; label: Content; flow: string | undefined },
): Promise<Content> {
  const csrfToken = await ctx.csrfToken()
  return html`<form
    class="stack needs-script"
    id="passkey-factor-form"
    action="${base}${action}"
    method="post"
    data-options-url="${base}/two-factor/passkey"
    data-text-cancelled="${say('script.cancelled')}"
    data-text-failed="${say('script.failed')}"
    data-text-known="${say('script.known')}"
    data-text-unsupported="${say('script.unsupported')}"
  >
    <input type="hidden" name="csrfToken" value="${csrfToken}" /><input type="hidden" name="purpose" value="${purpose}" />${
      flow !== undefined ? html`<input type="hidden" name="flow" value="${flow}" />` : undefined
    }
    <button class="button" type="submit" id="submitButton-passkey"><span class="label">${label}</span></button>
    <div class="script-message" role="alert"></div>
  </form>`
}

/** `GET /two-factor/passkey`: what a browser needs to begin a ceremony. */
export async function answerCeremony(ctx: Context, options: Options): Promise<Response> {
  const ceremony = await beginCeremony(ctx, ctx.url.searchParams.get('purpose'), options)
  return ceremony ? json(ceremony) : json({ error: 'Invalid request' }, 400)
}

async function beginCeremony(ctx: Context, purpose: string | null, options: Options): Promise<object | undefined> {
  if (purpose === 'ask') {
    const waiting = await findWaiting(ctx, options)
    if (!waiting?.kinds.includes('passkey')) return undefined
    return { action: 'authenticate', options: await beginAsk(ctx, waiting.person) }
  }
  const visitor = await visitorOf(ctx, options)
  if (purpose !== 'add' || !visitor || (await mustProveAddress(ctx, visitor))) return undefined
  if (!visitor.parked && !(await isFresh(ctx, options.maxAge))) return undefined
  const creation = await beginAdd(ctx, visitor.person)
  return creation ? { action: 'register', options: creation } : undefined
}
