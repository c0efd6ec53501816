/** On the page "check your email": the address, and a button that sends the link again. The same for every address. */
import { type Context, type CookieHandle, createCookie, type PageTools, type SlotView } from 'authkernel/kernel'

/** What the cookie holds. */
interface SentLink {
  provider: string
  email: string
}

const seconds = 900
/** Sealed: the address stays out of URLs, and an attacker cannot plant one. */
export const sentMailCookie: CookieHandle = /* @__PURE__ */ createCookie('mailed-link', { path: 'base', maxAge: seconds })

/** Remembers what was typed, for the built-in page: in browsers that show it, not for scripts. Call it for every address, also for one that gets no mail. */
export async function keepSentMail(ctx: Context, provider: string, email: string): Promise<void> {
  const { headers } = ctx.request
  const isForm = headers.get('accept')?.includes('text/html') === true && !headers.has('x-auth-return-redirect')
  if (!isForm || ctx.app.config.pages.verifyRequest !== undefined) return
  sentMailCookie.set(ctx, await sentMailCookie.seal(ctx, { provider, email }, seconds))
}

/** The link was used: nothing is to be sent again. */
export function forgetSentMail(ctx: Context): void {
  if (sentMailCookie.get(ctx) !== undefined) sentMailCookie.delete(ctx)
}

/** The part of the page. Its form asks like the one of the sign-in page, so that the same limits and guards apply. */
export async function drawSentMail(ctx: Context, { form, submit, say, html }: PageTools): Promise<SlotView | undefined> {
  const mailed = await sentMailCookie.open<SentLink>(ctx)
  if (!mailed || ctx.url.searchParams.get('provider') !== mailed.provider) return undefined
  const again = await form(`/signin/${encodeURIComponent(mailed.provider)}`, submit(say('email.resend'), { quiet: true }), {
    email: mailed.email,
    flow: undefined,
  })
  return {
    html: html`<p class="who"><bdi>${mailed.email}</bdi></p>
      ${again}`,
  }
}
