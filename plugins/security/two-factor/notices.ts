/** Notices by mail about changed factors. They leave after the answer was decided; a mail that fails changes nothing. */
import type { AnyContext, MailValue } from 'authkernel/kernel'
import type { Person } from './person.ts'

/** Sends nothing where no transport is configured, or where the person has no address. */
export function mailNotice(ctx: AnyContext, { user }: Person, template: string, data: Record<string, MailValue> = {}): void {
  const { email } = user
  if (!email || !ctx.app.services.mailTransport) return
  ctx
    .service('mail')
    .send(ctx, email, template, { at: ctx.now, ...data })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
