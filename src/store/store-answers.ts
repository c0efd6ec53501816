/** What answers of a store must have. */
import type { AdapterMethod } from '../contract/adapter.ts'

/** What must be there in an answer for it to count as one: a store that lies must not sign anybody in. */
export const required: Partial<Record<AdapterMethod, readonly string[]>> = {
  createUser: ['id'],
  createUserWithAccount: ['id'],
  getUser: ['id'],
  getUserByEmail: ['id'],
  getUserByAccount: ['id'],
  updateUser: ['id'],
  createSession: ['sessionToken', 'userId'],
  getSessionAndUser: ['session', 'user'],
  useVerificationToken: ['identifier', 'token', 'expires'],
  getAuthenticator: ['credentialID', 'userId'],
}
/** Operations that may find nothing. */
export const mayBeNull: ReadonlySet<AdapterMethod> = /* @__PURE__ */ new Set<AdapterMethod>(
  /* @__PURE__ */ 'getUser getUserByEmail getUserByAccount getSessionAndUser useVerificationToken getAuthenticator'.split(
    ' ',
  ) as AdapterMethod[],
)
