/** Routes that providers post signals to (RFC 8935), and requests for Global Token Revocation. */
import { type AuthError, type Context, HttpError, json, type Kernel } from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'
import { SignalRefused } from './errors.ts'
import type { Sender } from './options.ts'
import { revocationFailure, revokeGlobally } from './revocation.ts'
import { receiveToken } from './signals.ts'

const maxBytes = 65_536

/** `globally`: whether a provider may ask for Global Token Revocation. */
export function addRoutes(kernel: Kernel, senders: ReadonlyMap<string, Sender>, globally: boolean): void {
  if (globally)
    kernel.route({
      method: 'POST',
      path: '/global-token-revocation/:provider',
      csrf: 'bearer',
      body: { bytes: maxBytes },
      handler: (ctx) => revokeGlobally(ctx, senders),
      failure: (_ctx, error) => revocationFailure(error),
    })
  kernel.route({
    method: 'POST',
    path: '/signals/:provider',
    csrf: 'bearer',
    body: { bytes: maxBytes },
    handler: (ctx) => receiveSignal(ctx, senders),
    // The kernel looks the provider up first.
    failure: (_ctx, error) => (error instanceof InvalidProvider ? signalErrorResponse(unknownSender()) : signalErrorResponse(error)),
  })
}

async function receiveSignal(ctx: Context, senders: ReadonlyMap<string, Sender>): Promise<Response> {
  const { provider = '' } = ctx.params
  const sender = senders.get(provider)
  if (!sender) throw unknownSender()
  const { headers } = ctx.request
  if (sender.authorization !== undefined && !(await isSameText(ctx, headers.get('authorization') ?? '', sender.authorization)))
    throw new SignalRefused('authentication_failed', 'The header `Authorization` is missing or wrong.')
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/secevent+jwt') throw new SignalRefused('invalid_request', 'The content type must be application/secevent+jwt.')
  await receiveToken(ctx, provider, sender, await bodyOf(ctx))
  return new Response(null, { status: 202, headers: { 'Cache-Control': 'no-store' } })
}

function unknownSender(): SignalRefused {
  return new SignalRefused('access_denied', 'This provider may not send signals.')
}

/** What the sender did wrong is told; for everything else it should try again. */
function signalErrorResponse(error: AuthError): Response {
  return error instanceof SignalRefused
    ? json({ err: error.code, description: error.message }, 400, { 'Content-Language': 'en' })
    : new Response(null, { status: 503, headers: { 'Retry-After': '60', 'Cache-Control': 'no-store' } })
}

async function bodyOf(ctx: Context): Promise<string> {
  try {
    return await ctx.text()
  } catch (error) {
    if (error instanceof HttpError) throw new SignalRefused('invalid_request', error.message)
    throw error
  }
}

// Keyed hashes: how long a comparison takes tells nothing.
async function isSameText(ctx: Context, given: string, expected: string): Promise<boolean> {
  return (await ctx.digest('signals', given)) === (await ctx.digest('signals', expected))
}
