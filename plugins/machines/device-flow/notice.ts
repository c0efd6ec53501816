/** Tells the person by mail that a device was let in: whoever was tricked learns of it. */
import type { Context, Kernel, User } from 'authkernel/kernel'
import type { DeviceCode } from './table.ts'

export function declareNotice(kernel: Kernel): void {
  kernel.mailTemplate('device-flow.notice', {
    subject: 'device-flow.notice.subject',
    lines: ['device-flow.notice.what', 'device-flow.notice.from', 'device-flow.notice.do'],
  })
}

/** Nobody waits for it. Sends nothing where no transport is configured, or where the person has no address. */
export function notify(ctx: Context, { email }: User, app: string, { address }: DeviceCode): void {
  if (!email || !ctx.app.services.mailTransport) return
  ctx
    .service('mail')
    .send(ctx, email, 'device-flow.notice', { app, time: ctx.now, address: address ?? '?' })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
