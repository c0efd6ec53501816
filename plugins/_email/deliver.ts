/** Hands one mail over, in time, and says of a failure what a log may know. */
import { type Context, EmailSignInError, type EmailConfig } from 'authkernel/kernel'
import { sendThroughApi } from './api.ts'
import { toAsciiAddress } from './identifier.ts'
import { createMessage } from './message.ts'
import { sendThroughServer } from './nodemailer.ts'

/** A link that is about to be mailed. */
export interface Outgoing {
  identifier: string
  url: string
  token: string
  expires: Date
}

/** Sends the link. Throws EmailSignInError when it was not accepted before `deadlines.network` (D31). */
export async function deliver(ctx: Context, provider: EmailConfig, outgoing: Outgoing): Promise<void> {
  try {
    await within(ctx.app.config.deadlines.network, ctx.signal, (signal) => send(ctx, provider, outgoing, signal))
  } catch (error) {
    const err = withoutSecrets(error, secretsOf(provider, outgoing))
    const failure = new EmailSignInError(`Provider "${provider.id}" could not send the mail with the sign-in link: ${err.message}`, {
      cause: { err, provider: provider.id },
    })
    // The error page, not the form: trying again at once would not help (WIRE 9.7).
    failure.kind = 'error'
    throw failure
  }
}

async function send(ctx: Context, provider: EmailConfig, outgoing: Outgoing, signal: AbortSignal): Promise<void> {
  const { deadlines, limits, theme } = ctx.app.config
  if (provider.sendVerificationRequest) {
    const request = await readable(ctx)
    return provider.sendVerificationRequest({ ...outgoing, provider, theme, request })
  }
  const message = createMessage({ url: outgoing.url, theme, maxAge: (outgoing.expires.getTime() - ctx.now.getTime()) / 1000 })
  const mail = {
    ...message,
    url: outgoing.url,
    to: toAsciiAddress(outgoing.identifier),
    from: provider.from ?? `no-reply@${new URL(ctx.origin).hostname}`,
  }
  if (provider.api) {
    return sendThroughApi(provider, provider.api, mail, {
      fetch: ctx.runtime.fetch,
      deadline: deadlines.network,
      limit: limits.providerResponse,
      signal,
    })
  }
  return sendThroughServer(provider, provider.server ?? {}, mail, signal)
}

/** The request with its body again, as JSON: the stream was read (row 215). */
async function readable(ctx: Context): Promise<Request> {
  const headers = new Headers(ctx.request.headers)
  headers.set('content-type', 'application/json')
  headers.delete('content-length')
  return new Request(ctx.url, { method: 'POST', headers, body: JSON.stringify(await ctx.body()) })
}

/** Runs `work` until it ends, the time is over or `parent` is aborted. What comes later is not an unhandled rejection. */
async function within(milliseconds: number, parent: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let stop: (() => void) | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const end = (message: string): void => {
      const error = new Error(message)
      reject(error)
      controller.abort(error)
    }
    timer = setTimeout(() => end(`no answer within ${milliseconds} ms (deadlines.network)`), milliseconds)
    stop = () => end('the request was given up')
    parent.addEventListener('abort', stop, { once: true })
  })
  try {
    if (parent.aborted) stop?.()
    await Promise.race([late, work(controller.signal)])
  } finally {
    clearTimeout(timer)
    if (stop) parent.removeEventListener('abort', stop)
  }
}

/** Longest first: a part of one would leave the rest of it behind. */
function secretsOf(provider: EmailConfig, { token, url }: Outgoing): string[] {
  const { apiKey, secret, server } = provider
  const { url: serverUrl, auth } = typeof server === 'object' ? server : { url: server }
  const secrets = [
    url,
    token,
    encodeURIComponent(token),
    apiKey,
    secret,
    serverUrl,
    ...passwordsOf(serverUrl),
    ...Object.values({ ...(auth as object) }),
  ]
  // Short ones would redact half of a message; they protect nothing.
  return secrets.filter((value): value is string => typeof value === 'string' && value.length > 3).sort((a, b) => b.length - a.length)
}

function passwordsOf(url: unknown): string[] {
  if (typeof url !== 'string' || !URL.canParse(url)) return []
  const { password } = new URL(url)
  return [password, decodeURIComponent(password.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'))]
}

/** A copy of an error that can be logged: transports and mailers like to repeat what they were sent (GHSA-p6mm-27gq-9v3p). */
function withoutSecrets(error: unknown, secrets: readonly string[]): Error {
  const clean = (text: string): string => secrets.reduce((result, secret) => result.replaceAll(secret, '[redacted]'), text)
  if (!(error instanceof Error)) return new Error(clean(String(error)))
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  const copy = new Error(clean(error.message + inner))
  copy.name = error.name
  if (error.stack) copy.stack = clean(error.stack)
  return copy
}
