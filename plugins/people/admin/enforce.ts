/** Where a ban holds: at every sign-in, at one that was parked, for API keys, and for a session that began at the same moment. */
import { AccessDenied, type AnyContext, type Kernel } from 'authkernel/kernel'
import { banOf } from './table.ts'

export function addBans(kernel: Kernel): void {
  kernel.hook('signIn', async ({ user, ctx }) => !(await isBanned(ctx, user.id)))
  // The owner may be found after `signIn` was asked, and the ban may have come while the login waited.
  kernel.hook('login', async ({ login, ctx }) => {
    if (await isBanned(ctx, login.user.id)) throw new AccessDenied('The user is banned.')
    return undefined
  })
  // Whatever gives access asks: sessions, API keys, tokens of apps, approvals of devices.
  kernel.hook('access', async ({ userId, ctx }) => !(await isBanned(ctx, userId)))
  // A resource server that asks learns of the ban. The hook belongs to jwtPlugin, which may be absent: its types are not there then.
  kernel.hook('accessToken', async ({ claims: { sub }, ctx }: TokenQuestion) => !(await isBanned(ctx, sub)), { of: 'jwt' })
  // That of invitations to organizationsPlugin.
  kernel.hook('invitation', async ({ inviterId, ctx }: InvitationQuestion) => !(await isBanned(ctx, inviterId)), { of: 'organizations' })
}

interface TokenQuestion {
  claims: { sub?: string }
  ctx: AnyContext
}
interface InvitationQuestion {
  inviterId: string
  ctx: AnyContext
}

async function isBanned(ctx: AnyContext, userId: string | undefined): Promise<boolean> {
  return userId !== undefined && (await banOf(ctx, userId)) !== null
}
