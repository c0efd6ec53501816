/** Hands one mail over, in time, and says of a failure what a log may know. */
import { type Context, type EmailConfig, MailNotSent, toAsciiAddress, withFields } from 'authkernel/kernel'
import { EmailSignInError } from 'authkernel/errors'
import { redactError, withDeadline } from 'authkernel/kernel/protocols'
import { transportOf } from './transport.ts'

/** A link that is about to be mailed. */
export interface OutgoingLink {
  identifier: string
  url: string
  token: string
  expires: Date
}

/** Sends the link. Throws EmailSignInError when it was not accepted before `deadlines.network` (D31). */
export async function deliverLink(ctx: Context, provider: EmailConfig, outgoing: OutgoingLink): Promise<void> {
  try {
    const { network: deadline } = ctx.app.config.deadlines
    await withDeadline(
      deadline,
      [ctx.signal],
      () => sendLink(ctx, provider, outgoing),
      (given) => new Error(given ? 'the request was given up' : `no answer within ${deadline} ms (deadlines.network)`),
    )
  } catch (error) {
    const err = redactError(error, secretsOf(provider, outgoing))
    throw new EmailSignInError(`Provider "${provider.id}" could not send the mail with the sign-in link: ${err.message}`, {
      cause: { err, provider: provider.id },
    })
  }
}

async function sendLink(ctx: Context, provider: EmailConfig, outgoing: OutgoingLink): Promise<void> {
  const { identifier, url, expires } = outgoing
  if (provider.sendVerificationRequest) {
    const request = withFields(ctx.request, await ctx.body())
    return provider.sendVerificationRequest({ ...outgoing, provider, theme: ctx.app.config.theme, request })
  }
  const duration = { seconds: (expires.getTime() - ctx.now.getTime()) / 1000 }
  try {
    await ctx.service('mail').send(ctx, toAsciiAddress(identifier), 'email.link', { url, duration }, { transport: transportOf(provider) })
  } catch (error) {
    throw error instanceof MailNotSent ? (error.cause?.err ?? error) : error
  }
}

/** What mailers and transports like to repeat (GHSA-p6mm-27gq-9v3p). */
function secretsOf(provider: EmailConfig, { token, url }: OutgoingLink): string[] {
  const { apiKey, secret, server } = provider
  const { url: serverUrl, auth } = typeof server === 'object' ? server : { url: server }
  const secrets = [url, token, apiKey, secret, serverUrl, ...passwordsOf(serverUrl), ...Object.values({ ...(auth as object) })]
  return secrets.filter((value): value is string => typeof value === 'string')
}

function passwordsOf(url: unknown): string[] {
  if (typeof url !== 'string' || !URL.canParse(url)) return []
  const { password } = new URL(url)
  return [password, decodeURIComponent(password.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'))]
}
