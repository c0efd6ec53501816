/** Why a password or an address was rejected, as pages and clients read it. */
import { AuthError, type Context } from 'authkernel/kernel'
import type { Refusal } from './policy.ts'

/** Each has the message `error.<name>`. */
export type PasswordRefusal = Refusal | 'PasswordAddress' | 'PasswordWrong' | 'PasswordLinkInvalid'

/** What was typed cannot be taken. `type` says why: `PasswordTooShort`, `PasswordBreached`, `PasswordWrong` … */
export class PasswordRefused extends AuthError {
  static override type = 'PasswordRefused'
  static override row = { page: 'error' as const, status: 400, visible: true }
  constructor(why: PasswordRefusal) {
    super(`passwords: ${why}.`)
    this.type = why
  }
}

/** Draws a page again with what it rejected. */
export async function orPage(
  ctx: Context,
  page: string,
  act: () => Promise<Response>,
  params: Readonly<Record<string, string | undefined>> = {},
): Promise<Response> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof PasswordRefused) return ctx.render(page, { ...params, error: error.type })
    throw error
  }
}
