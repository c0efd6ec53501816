/** The routes of forms that magic links and parked sign-ins lead to. Those with a method of the client are in `methods.ts`. */
import type { Kernel } from 'authkernel/kernel'
import { replaceShort } from './change.ts'
import type { Parts } from './options.ts'
import { resendProof } from './pending.ts'
import { finishReset, submitReset } from './reset.ts'
import { confirmSignUp } from './sign-up.ts'

/** Adds them. */
export function addRoutes(kernel: Kernel, parts: Parts): void {
  kernel.route({
    method: 'POST',
    path: '/passwords/confirm',
    flow: 'callback',
    takes: 'proof',
    handler: (ctx) => confirmSignUp(ctx, parts),
  })
  kernel.route({ method: 'POST', path: '/passwords/resend', takes: 'typed', handler: resendProof })
  kernel.route({ method: 'POST', path: '/passwords/reset', takes: 'typed', handler: submitReset })
  kernel.route({ method: 'POST', path: '/passwords/new', flow: 'callback', takes: 'proof', handler: (ctx) => finishReset(ctx, parts) })
  kernel.route({ method: 'POST', path: '/passwords/longer', flow: 'callback', takes: 'proof', handler: (ctx) => replaceShort(ctx, parts) })
}
