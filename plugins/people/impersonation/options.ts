/** Options of `impersonationPlugin`. */
import { assertOptions, AuthError, type Awaitable, type Context, type User } from 'authkernel/kernel'

/** What `impersonationPlugin` takes. */
export interface ImpersonationOptions {
  /**
   * Whether `admin` may act as `user`; asked at the start and at every use, with what is stored at that moment. Anything but true is no. Reject
   * users of an equal or higher role here.
   */
  can: (question: { admin: User; user: User; ctx: Context }) => Awaitable<boolean>
  /** How many seconds ago the administrator may have proved who they are; default 300. */
  proofAge?: number | undefined
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: ImpersonationOptions): Required<ImpersonationOptions> & { proofAge: number } {
  assertOptions('Plugin "impersonation"', options ?? {}, { can: true, proofAge: true })
  const { can, proofAge = 300 } = (options ?? {}) as ImpersonationOptions
  if (typeof can !== 'function') throw new AuthError('Plugin "impersonation": the option `can` is missing. Say who may act as whom.')
  if (!(proofAge >= 1 && proofAge <= 3600)) throw new AuthError('Plugin "impersonation": `proofAge` must be 1 to 3600 seconds.')
  return { can, proofAge }
}
