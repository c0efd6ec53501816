/** Tells the owner of an account that somebody tries to get in. */
import type { Context, Kernel } from 'authkernel/kernel'
import { messages } from './messages.ts'

const day = 86_400

export function declareNotice(kernel: Kernel): void {
  kernel.messages(messages)
  kernel.mailTemplate('limits.notice', {
    subject: 'limits.notice.subject',
    lines: ['limits.notice.what', 'limits.notice.from', 'limits.notice.do'],
    note: 'limits.notice.note',
  })
}

/** At most one mail a day for an account. Nobody waits for it, so that time does not tell whether the account exists. */
export function sendNotice(ctx: Context, account: string): void {
  const send = async (): Promise<void> => {
    const user = await ctx.store?.getUserByEmail(account)
    if (!user || !user.emailVerified || !(await ctx.once.take(`limits notice ${account}`, day))) return
    await ctx.service('mail').send(ctx, user.email, 'limits.notice', { time: ctx.now, address: ctx.clientAddress ?? '?' })
  }
  void send().catch((error: unknown) => ctx.logger.error(error instanceof Error ? error : new Error(String(error))))
}
