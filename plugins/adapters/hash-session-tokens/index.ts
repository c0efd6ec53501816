/** Keeps session tokens hashed in any store: an attacker who reads the database cannot sign in with what it holds. */
import { type Adapter, sha256, type TenantAdapter, toHex } from 'authkernel/kernel'

/** How a stored token looks: no cookie holds this, so what is read from a database opens nothing. Tokens of a tenant have its name in front. */
const storedForm = /^(?:~[a-z0-9-]{0,32}~)?sha256:[0-9a-f]{64}$/
const tenant = /^~[a-z0-9-]{1,32}~/

/**
 * An adapter that stores SHA-256 of each session token. Tokens are random, so they need no salt. Sessions that were stored before are not
 * found any more: users sign in once again. `listSessionsByUserId` returns the stored form, which `deleteSession` takes too.
 */
export function hashSessionTokens<A extends Adapter>(adapter: A): A {
  // The tenant stays readable, so that a session is known to be the tenant's, and the hash is that of the cookie.
  const hash = async (token: string): Promise<string> => {
    const [lead = ''] = tenant.exec(token) ?? []
    return `${lead}sha256:${toHex(await sha256(token.slice(lead.length)))}`
  }
  const withToken = <T>(session: T, sessionToken: string): T => (session ? { ...session, sessionToken } : session)

  const wrapped: Adapter = {
    async createSession(session) {
      const created = await adapter.createSession!({ ...session, sessionToken: await hash(session.sessionToken) })
      return withToken(created, session.sessionToken)
    },
    async getSessionAndUser(sessionToken) {
      // Hashed even when it looks like a stored one: a stolen row must not be a cookie.
      const found = await adapter.getSessionAndUser!(await hash(sessionToken))
      return found && { ...found, session: withToken(found.session, sessionToken) }
    },
    async updateSession(session) {
      const updated = await adapter.updateSession!({ ...session, sessionToken: await hash(session.sessionToken) })
      return withToken(updated, session.sessionToken)
    },
    async deleteSession(sessionToken) {
      // Ending a session by its stored form does no harm, and is how a list of sessions ends one.
      const deleted = await adapter.deleteSession!(storedForm.test(sessionToken) ? sessionToken : await hash(sessionToken))
      return withToken(deleted, sessionToken)
    },
    async deleteSessions(sessionTokens) {
      const all = sessionTokens.map((token) => (storedForm.test(token) ? token : hash(token)))
      return adapter.deleteSessions!(await Promise.all(all))
    },
    async deleteSessionsByUserId(userId, except) {
      if (!except) return adapter.deleteSessionsByUserId!(userId)
      const { sessionToken } = except
      return adapter.deleteSessionsByUserId!(userId, {
        sessionToken: storedForm.test(sessionToken) ? sessionToken : await hash(sessionToken),
      })
    },
  }
  const present = Object.entries(wrapped).filter(([name]) => typeof adapter[name as keyof Adapter] === 'function')
  const tenants = adapter as Partial<TenantAdapter>
  // An adapter that keeps tenants apart answers with another one for each of them.
  const apart = tenants.namespaced && { namespaced: (namespace: string) => hashSessionTokens(tenants.namespaced!(namespace)) }
  return { ...adapter, ...Object.fromEntries(present), ...apart }
}
