/** Routes that a user comes back to, and that providers send logouts to. */
import { type Kernel, redirectTo } from 'authkernel/kernel'
import { answerBackChannel, answerFrontChannel, logoutErrorResponse } from './logouts.ts'
import type { ResolvedOptions } from './options.ts'
import { takeReturn } from './sign-out.ts'

// Back-Channel Logout section 2.5: a token is small.
const maxBytes = 65_536

export function addRoutes(kernel: Kernel, options: ResolvedOptions): void {
  kernel.route({
    method: 'GET',
    path: '/signed-out',
    handler: async (ctx) => redirectTo(await takeReturn(ctx, ctx.url.searchParams.get('state') ?? '')),
  })
  if (options.receives) {
    kernel.route({
      method: 'POST',
      path: '/backchannel-logout/:provider',
      csrf: 'bearer',
      body: { bytes: maxBytes },
      handler: (ctx) => answerBackChannel(ctx, options),
      failure: (_ctx, error) => logoutErrorResponse(error),
    })
  }
  if (options.frames)
    kernel.route({
      method: 'GET',
      path: '/frontchannel-logout/:provider',
      handler: (ctx) => answerFrontChannel(ctx, options),
      failure: (_ctx, error) => logoutErrorResponse(error),
    })
}
