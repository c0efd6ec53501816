/** The mail about a sign-in from a browser that was not known for the user. */
import { type Context, type Kernel, type User } from 'authkernel/kernel'
import { isKnownDevice, rememberDevice } from 'authkernel/kernel/users'
import { messages } from './messages.ts'

/** The texts of the mail, and its template. */
export function addMail(kernel: Kernel): void {
  kernel.messages(messages)
  kernel.mailTemplate('device-sessions.new', {
    subject: 'device-sessions.mail.subject',
    lines: ['device-sessions.mail.text', 'device-sessions.mail.browser', 'device-sessions.mail.address'],
    button: { text: 'device-sessions.mail.open', url: 'url', optional: true },
    note: 'device-sessions.mail.not-you',
  })
}

/** One mail for each browser, and none for the first sign-in of a new user. */
export async function notifyOfDevice(
  ctx: Context,
  user: User & { id: string },
  { wanted, isNew }: { wanted: boolean; isNew: boolean },
): Promise<void> {
  const name = `device-sessions ${user.id}`
  if (await isKnownDevice(ctx, name)) return
  await rememberDevice(ctx, name)
  if (isNew) return
  const { address, userAgent } = ctx.facts
  await ctx.emit('deviceNew', { user, address: address ?? null, userAgent: userAgent ?? null })
  // What an `authorize` answers may lack the address.
  const to = wanted ? (user.email ?? (await ctx.store?.getUser(user.id))?.email) : undefined
  if (!to) return
  const data = {
    at: ctx.now,
    ...(address !== undefined && { address }),
    ...(userAgent !== undefined && { browser: userAgent }),
    url: `${ctx.base}/account`,
  }
  ctx
    .service('mail')
    .send(ctx, to, 'device-sessions.new', data)
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
