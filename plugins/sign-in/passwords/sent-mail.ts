/** The page after a mail was asked for: it names the address, and sends the mail again. It says the same for every address. */
import { type Context, type CookieHandle, createCookie, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'

/** What was asked for: a new password, or an email verification. */
export type SentMailKind = 'reset' | 'proof'

/** What the cookie holds. */
interface SentMail {
  address: string
  kind: SentMailKind
}

const seconds = 1200
/** Sealed: the address stays out of URLs, and an attacker cannot plant one. */
export const sentMailCookie: CookieHandle = /* @__PURE__ */ createCookie('password-mailed', { path: 'base', maxAge: seconds })

/** Leads to the page. Call it for every address, also for one that gets no mail. */
export async function redirectToSentMail(ctx: Context, address: string, kind: SentMailKind): Promise<Response> {
  sentMailCookie.set(ctx, await sentMailCookie.seal(ctx, { address, kind }, seconds))
  return redirectTo(`${ctx.base}/passwords/mailed`)
}

/** `GET /passwords/mailed`. */
export async function drawSentMail(ctx: Context, { say, form, submit, link, html }: PageTools): Promise<PageView> {
  const mailed = await readSentMail(ctx)
  const title = say('passwords.mailed')
  if (!mailed) return { title, lead: say('passwords.mailed-lead'), body: link(say('passwords.back'), '/signin') }
  const [path, values] = mailed.kind === 'reset' ? (['/passwords/reset', { email: mailed.address }] as const) : ['/passwords/resend']
  return {
    title,
    lead: say('passwords.mailed-to', { email: html`<b><bdi>${mailed.address}</bdi></b>` }),
    body: [
      html`<p class="hint">${say('passwords.mailed-hint')}</p>`,
      html`<div class="actions">
        ${await form(path, submit(say('passwords.resend'), { quiet: true }), values)}${link(say('passwords.back'), '/signin')}
      </div>`,
    ],
  }
}

/** Undefined: no mail was asked for in this browser, or too long ago. */
export async function readSentMail(ctx: Context): Promise<SentMail | undefined> {
  return (await sentMailCookie.open<SentMail>(ctx)) ?? undefined
}
