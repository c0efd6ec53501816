/** Where a ban holds: at every sign-in, at one that was parked, for API keys, and for a session that began at the same moment. */
import { AccessDenied, type AnyContext, endSessions, type Kernel } from 'authkernel/kernel'
import { banOf } from './table.ts'

export function addBans(kernel: Kernel): void {
  kernel.hook('signIn', async ({ user, ctx }) => !(await isBanned(ctx, user.id)))
  // The owner may be found after `signIn` was asked, and the ban may have come while the login waited.
  kernel.hook('login', async ({ login, ctx }) => {
    if (await isBanned(ctx, login.user.id)) throw new AccessDenied('The user is banned.')
    return undefined
  })
  // A ban ends the sessions that are there. This one was on its way.
  kernel.on('signedIn', async ({ login, ctx }) => {
    const { id } = login.user
    if (id === undefined || !(await isBanned(ctx, id))) return
    await endSessions(ctx, { userId: id }, 'admin.ban')
    await ctx.emit('noted', { name: 'session.refused', outcome: 'denied', reason: 'banned', user: { id } })
  })
  // The hook belongs to the plugin of API keys, which may be absent: its types are not there then.
  kernel.hook('apiKey' as never, (async ({ key, ctx }: KeyQuestion) => !(await isBanned(ctx, key.owner.userId))) as never)
  // That of apps belongs to bearerPlugin.
  kernel.hook('appSession' as never, (async ({ user, ctx }: AppQuestion) => !(await isBanned(ctx, user.id))) as never)
  // That of signed tokens to jwtPlugin: a resource server that asks learns of the ban.
  kernel.hook('accessToken' as never, (async ({ claims: { sub }, ctx }: TokenQuestion) => !(await isBanned(ctx, sub))) as never)
  // That of invitations to organizationsPlugin.
  kernel.hook('invitation' as never, (async ({ inviterId, ctx }: InvitationQuestion) => !(await isBanned(ctx, inviterId))) as never)
}

interface TokenQuestion {
  claims: { sub?: string }
  ctx: AnyContext
}
interface InvitationQuestion {
  inviterId: string
  ctx: AnyContext
}
interface AppQuestion {
  user: { id?: string }
  ctx: AnyContext
}
interface KeyQuestion {
  key: { owner: { userId?: string } }
  ctx: AnyContext
}

async function isBanned(ctx: AnyContext, userId: string | undefined): Promise<boolean> {
  return userId !== undefined && (await banOf(ctx, userId)) !== null
}
