/** Pages on the way to an identity provider and back: a form that a browser with scripts sends by itself, and the question after a sign-in that began there. */
import type { Context, Kernel, PageDraw } from 'authkernel/kernel'
import { firstValue, type SamlAnswer } from './answer.ts'
import { mailNames } from './attributes.ts'
import type { Delivery } from './messages-out.ts'
import type { SamlConfig } from './options.ts'

/** What a page shows; parameters of a page could come from an address. */
const contents = new WeakMap<
  Context,
  { delivery: Extract<Delivery, { fields: object }> } | { provider: SamlConfig; answer: string; name?: string }
>()

/** Registers the pages. They have no address: a route draws them. */
export function addPages(kernel: Kernel): void {
  kernel.page('samlPost', drawPost)
  kernel.page('samlReturn', drawReturnPage)
  kernel.page('samlConfirm', drawConfirmPage)
}

/** A form that posts a message to the identity provider. */
export async function drawDelivery(ctx: Context, delivery: Extract<Delivery, { fields: object }>): Promise<Response> {
  contents.set(ctx, { delivery })
  return ctx.render('samlPost')
}

/** A form that posts a checked answer once more, so that the browser sends the cookies of the session with it. */
export async function drawReturn(ctx: Context, provider: SamlConfig, answer: string): Promise<Response> {
  contents.set(ctx, { provider, answer })
  return ctx.render('samlReturn')
}

/** Asks whether the user wants to sign in: another site may have sent the answer of an attacker's account. */
export async function drawConfirmation(ctx: Context, provider: SamlConfig, samlAnswer: SamlAnswer, answer: string): Promise<Response> {
  const name = firstValue(samlAnswer, mailNames) ?? samlAnswer.subject
  contents.set(ctx, { provider, answer, name })
  return ctx.render('samlConfirm')
}

const drawPost: PageDraw = (ctx, { html, say, submit }) => {
  const page = contents.get(ctx)
  if (!page || !('delivery' in page)) throw new TypeError('The page samlPost is drawn by its routes alone.')
  const { url, fields } = page.delivery
  const inputs = Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)
  return {
    title: say('saml.post.title'),
    lead: say('saml.post.lead'),
    body: html`<form id="saml-post" method="post" action="${url}">${inputs}${submit(say('saml.continue'))}</form>`,
    scripts: ["document.getElementById('saml-post').submit()"],
    forms: [new URL(url).origin],
  }
}

const drawReturnPage: PageDraw = async (ctx, { say, form, submit }) => {
  const { provider, answer } = answerOf(ctx)
  return {
    title: say('saml.return.title'),
    lead: say('saml.return.lead'),
    body: await form(`/saml/${provider.id}/continue`, submit(say('saml.continue')), { answer }),
    scripts: [`document.querySelector('form[action$="/saml/${provider.id}/continue"]').submit()`],
  }
}

const drawConfirmPage: PageDraw = async (ctx, { say, form, submit, link, html }) => {
  const { provider, answer, name = '' } = answerOf(ctx)
  const button = submit(say('saml.confirm.submit', { name }))
  return {
    title: say('saml.confirm.title'),
    lead: say('saml.confirm.lead', { name, provider: provider.name }),
    body: html`${await form(`/saml/${provider.id}/continue`, button, { answer })}${link(say('saml.cancel'), '/signin')}`,
  }
}

function answerOf(ctx: Context): { provider: SamlConfig; answer: string; name?: string } {
  const page = contents.get(ctx)
  if (!page || !('answer' in page)) throw new TypeError('The pages of samlPlugin are drawn by its routes alone.')
  return page
}
