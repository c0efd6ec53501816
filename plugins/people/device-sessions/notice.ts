/** Telling people that somebody signed in from a browser that was not theirs so far. */
import { type Context, isKnownDevice, rememberDevice, type User } from 'authkernel/kernel'

/** Tells once for each browser; nobody is told of the first sign-in of a new user. */
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
