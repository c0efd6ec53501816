/** Routes: a device asks for its code, and a user types and answers it. */
import { type AuthError, type Context, HttpError, json, type Kernel } from 'authkernel/kernel'
import { answerDevice, enterCode } from './approve.ts'
import type { ResolvedOptions } from './options.ts'
import { startFlow } from './start.ts'

export function addRoutes(kernel: Kernel, options: ResolvedOptions): void {
  kernel.route({
    method: 'POST',
    path: '/oauth/device',
    csrf: 'bearer',
    cors: { origins: 'any' },
    body: { bytes: 16_384 },
    handler: (ctx) => startFlow(ctx, options).catch(requestError),
    failure: failureResponse,
  })
  kernel.route({ method: 'POST', path: '/device', handler: (ctx) => enterCode(ctx, options) })
  kernel.route({ method: 'POST', path: '/device/decide', handler: (ctx) => answerDevice(ctx, options) })
}

/** What is wrong with the request itself, a body that is too long for example (RFC 6749 section 5.2). */
function requestError(error: unknown): Response {
  if (!(error instanceof HttpError) || error.status >= 500) throw error
  return json({ error: 'invalid_request', error_description: error.message }, error.status, error.headers)
}

function failureResponse(_ctx: Context, { status }: AuthError): Response {
  return json({ error: status < 500 ? 'invalid_request' : 'server_error' }, status)
}
