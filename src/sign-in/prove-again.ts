/** Asking people who are signed in to prove again who they are. */
import type { Context } from '../contract/context.ts'
import { redirectTo } from '../http/responses.ts'

/**
 * Undefined where the last sign-in is at most `maxAge` seconds ago; else a redirect through the second factor, the provider or the first method, and
 * back to the URL `back`. For what matters most: a deletion, another address.
 */
export async function proveAgain(ctx: Context, maxAge: number, back: string): Promise<Response | undefined> {
  const attributes = await ctx.session.attributes?.(ctx)
  const age = attributes ? ctx.now.getTime() / 1000 - attributes.authTime : Infinity
  // A time from the future is a clock that was moved, and proves nothing.
  if (age <= maxAge && age >= -60) return undefined
  const login = await ctx.loginAgain({ callbackUrl: back })
  const asked = login && ({ login, level: undefined, maxAge } as const)
  const led = asked && ((await ctx.ask('stepUp', asked)) ?? (await ctx.app.services.oauth?.stepUp?.(ctx, asked)))
  return led ?? redirectTo(`${ctx.base}/signin?callbackUrl=${encodeURIComponent(back)}`)
}
