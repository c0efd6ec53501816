/** One report: whose it is, what it says, and what is kept of it. */
import { type Context, HttpError, json } from 'authkernel/kernel'
import { readReports } from './bounce-reports.ts'
import { amazonUrl, checkMailgun, checkPostmark, checkResend, checkSns } from './bounce-signatures.ts'
import { keepBounces } from './bounces.ts'
import type { BouncesOptions } from './options.ts'

/** Checks the signature before anything of the body is believed. Throws HttpError 400, 401 and 404. */
export async function receiveReport(ctx: Context, { resend, postmark, mailgun, ses }: BouncesOptions): Promise<Response> {
  const { mailer } = ctx.params
  const text = await ctx.text()
  const body = parseJson(text)
  if (mailer === 'resend' && resend) await checkResend(ctx, text, resend)
  else if (mailer === 'postmark' && postmark) await checkPostmark(ctx, postmark)
  else if (mailer === 'mailgun' && mailgun) await checkMailgun(ctx, body, mailgun)
  else if (mailer === 'ses' && ses) {
    await checkSns(ctx, body, ses)
    if (body['Type'] === 'SubscriptionConfirmation') return confirmSubscription(ctx, body)
    await keepBounces(ctx, mailer, readReports.ses(parseJson(String(body['Message'] ?? ''))))
    return json({})
  } else throw new HttpError(404, 'No such mailer.')
  await keepBounces(ctx, mailer, readReports[mailer](body))
  return json({})
}

/** SNS sends nothing before its address was opened once. */
async function confirmSubscription(ctx: Context, { SubscribeURL: address }: Readonly<Record<string, unknown>>): Promise<Response> {
  const url = amazonUrl(address)
  if (!url) throw new HttpError(400, 'SubscribeURL is no address of Amazon SNS.')
  const response = await ctx.runtime.fetch(url, { redirect: 'error', signal: ctx.signal })
  if (!response.ok) throw new HttpError(502, 'Amazon SNS did not confirm the subscription.')
  await response.body?.cancel()
  return json({})
}

function parseJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Below.
  }
  throw new HttpError(400, 'The body is no JSON object.')
}
