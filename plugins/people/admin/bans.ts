/** Bans: at every sign-in, at one that was parked, for API keys, and for a session that began at the same moment. */
import { AccessDenied, type AnyContext, type Kernel, sha256, toHex } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/jwt'
import type {} from 'authkernel/plugins/organizations'
import { never } from './tables.ts'

/** A ban as it may be shown to administrators. */
export interface Ban {
  reason: string
  /** Id of the administrator. */
  by: string
  since: Date
  /** Null: it does not end by itself. */
  until: Date | null
}

/** Rejects banned users at every way to get access. */
export function addBans(kernel: Kernel): void {
  kernel.hook('signIn', async ({ user, ctx }) => !(await isBanned(ctx, user.id)))
  // The owner may be found after `signIn` was asked, and the ban may have come while the login waited.
  kernel.hook('login', async ({ login, ctx }) => {
    if (await isBanned(ctx, login.user.id)) throw new AccessDenied('The user is banned.')
    return undefined
  })
  // Whatever gives access asks: sessions, API keys, tokens of apps, approvals of devices.
  kernel.hook('access', async ({ userId, ctx }) => !(await isBanned(ctx, userId)))
  // A resource server that asks learns of the ban.
  kernel.hook('accessToken', async ({ claims: { sub }, ctx }) => typeof sub !== 'string' || !(await isBanned(ctx, sub)), { of: 'jwt' })
  kernel.hook('invitation', async ({ inviterId, ctx }) => !(await isBanned(ctx, inviterId)), { of: 'organizations' })
}

async function isBanned(ctx: AnyContext, userId: string | undefined): Promise<boolean> {
  return userId !== undefined && (await findBan(ctx, userId)) !== null
}

/** The id of the row of a user. */
export async function banId(userId: string): Promise<string> {
  return toHex(await sha256(userId))
}

/** Null: the user is not banned now. */
export async function findBan(ctx: AnyContext, userId: string): Promise<Ban | null> {
  const row = await ctx.records('userBan').get(await banId(userId))
  if (!row) return null
  const { reason, by, since, until } = row
  return { reason, by, since, until: until.getTime() === never.getTime() ? null : until }
}
