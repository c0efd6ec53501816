/** `POST /mail/bounces/:mailer`: mailers report here what came back. */
import { type Context, json, type Kernel, lazily } from 'authkernel/kernel'
import type { BouncesOptions } from './options.ts'

const load = /* @__PURE__ */ lazily(() => import('./bounce-webhooks.ts'))

/** Adds the route. */
export function addBounceRoute(kernel: Kernel, options: BouncesOptions): void {
  kernel.route({
    method: 'POST',
    path: '/mail/bounces/:mailer',
    csrf: 'bearer',
    body: { bytes: 262_144 },
    handler: async (ctx: Context) => (await load()).receiveReport(ctx, options),
    // Mailers read the status alone, and repeat what was not taken.
    failure: (_ctx, { status }) => json({}, status),
  })
}
