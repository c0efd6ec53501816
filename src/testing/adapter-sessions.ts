/** Contract: sessions. */
import { expect } from './runner.ts'
import { inHours, listedIds, newSession, newToken, type Subject, tokenKey } from './adapter-subject.ts'
import { dates } from './adapter-users.ts'

export function sessionRules({ rule, storeUser }: Subject): void {
  rule('row 167: getSessionAndUser returns both in one call', ['createSession', 'getSessionAndUser'], async (adapter) => {
    const user = await storeUser(adapter)
    const session = newSession(user.id)
    expect(await adapter.createSession(session)).toMatchObject(session)
    const found = await adapter.getSessionAndUser(session.sessionToken)
    expect(found?.session).toMatchObject(session)
    expect(found?.user).toMatchObject({ id: user.id, email: user.email, name: user.name, emailVerified: null })
  })

  rule('getSessionAndUser returns null for an unknown token', ['getSessionAndUser'], async (adapter) => {
    expect(await adapter.getSessionAndUser(crypto.randomUUID())).toBeNull()
    expect(await adapter.getSessionAndUser('')).toBeNull()
  })

  rule('row 175: expires is a Date to the millisecond', ['createSession', 'getSessionAndUser'], async (adapter) => {
    const user = await storeUser(adapter)
    const future = dates.filter((date) => date.getTime() > Date.now() + 60_000)
    for (const expires of [...future, inHours(1), inHours(24 * 200)]) {
      const session = newSession(user.id, { expires })
      await adapter.createSession(session)
      expect((await adapter.getSessionAndUser(session.sessionToken))?.session.expires).toEqual(expires)
    }
  })

  rule('a session belongs to a stored user', ['createSession', 'getSessionAndUser'], async (adapter) => {
    const session = newSession(crypto.randomUUID())
    await expect(adapter.createSession(session)).rejects.toBeInstanceOf(Error)
    expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
  })

  rule('a session token is used once', ['createSession', 'getSessionAndUser'], async (adapter) => {
    const [user, other] = [await storeUser(adapter), await storeUser(adapter)]
    const session = newSession(user.id)
    await adapter.createSession(session)
    await expect(adapter.createSession({ ...session, userId: other.id })).rejects.toBeInstanceOf(Error)
    expect((await adapter.getSessionAndUser(session.sessionToken))?.user.id).toBe(user.id)
  })

  rule('updateSession changes what it names', ['createSession', 'updateSession'], async (adapter) => {
    const user = await storeUser(adapter)
    const [session, other] = [newSession(user.id), newSession(user.id)]
    await adapter.createSession(session)
    await adapter.createSession(other)
    const expires = inHours(5)
    const updated = await adapter.updateSession({ sessionToken: session.sessionToken, expires })
    expect(updated ?? { expires }).toMatchObject({ expires })
    expect((await adapter.getSessionAndUser(session.sessionToken))?.session).toMatchObject({ expires, userId: user.id })
    expect((await adapter.getSessionAndUser(other.sessionToken))?.session.expires).toEqual(other.expires)
  })

  rule('updateSession never brings a deleted session back', ['updateSession', 'deleteSession'], async (adapter) => {
    const user = await storeUser(adapter)
    const session = newSession(user.id)
    await adapter.createSession(session)
    await adapter.deleteSession(session.sessionToken)
    expect((await adapter.updateSession({ ...session, expires: inHours(9) })) ?? null).toBeNull()
    expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
  })

  rule('row 168: deleteSession ends one session and may return it', ['createSession', 'deleteSession'], async (adapter) => {
    const user = await storeUser(adapter)
    const [session, kept] = [newSession(user.id), newSession(user.id)]
    await adapter.createSession(session)
    await adapter.createSession(kept)
    const deleted = await adapter.deleteSession(session.sessionToken)
    if (deleted) expect(deleted).toMatchObject({ sessionToken: session.sessionToken, userId: user.id })
    expect(await adapter.getSessionAndUser(session.sessionToken)).toBeNull()
    expect((await adapter.getSessionAndUser(kept.sessionToken))?.user.id).toBe(user.id)
    expect((await adapter.deleteSession(session.sessionToken)) ?? null).toBeNull()
  })

  rule('createdAt, where there is one, is when the session began (D37)', ['createSession', 'updateSession'], async (adapter) => {
    const user = await storeUser(adapter)
    const session = newSession(user.id, { createdAt: new Date('2026-02-03T04:05:06.789Z') })
    const created = await adapter.createSession(session)
    if (!created.createdAt) return expect(created.createdAt ?? null).toBeNull()
    await adapter.updateSession({ sessionToken: session.sessionToken, expires: inHours(2) })
    expect((await adapter.getSessionAndUser(session.sessionToken))?.session.createdAt).toEqual(session.createdAt)
  })

  rule('listSessionsByUserId lists the sessions of one user', ['listSessionsByUserId', 'createSession'], async (adapter) => {
    const [user, other] = [await storeUser(adapter), await storeUser(adapter)]
    expect(await adapter.listSessionsByUserId(user.id)).toEqual([])
    const sessions = [newSession(user.id), newSession(user.id), newSession(user.id)]
    for (const session of [...sessions, newSession(other.id)]) await adapter.createSession(session)
    await adapter.deleteSession(sessions[0]!.sessionToken)
    const listed = await adapter.listSessionsByUserId(user.id)
    expect(await listedIds(listed)).toEqual(await listedIds(sessions.slice(1)))
    expect(listed[0]!.expires).toBeInstanceOf(Date)
  })

  rule(
    'deleteSessionsByUserId ends all sessions of one user, or all but one',
    ['deleteSessionsByUserId', 'createSession'],
    async (adapter) => {
      const [user, other] = [await storeUser(adapter), await storeUser(adapter)]
      const [first, second, third, foreign] = [newSession(user.id), newSession(user.id), newSession(user.id), newSession(other.id)]
      for (const session of [first, second, third, foreign]) await adapter.createSession(session)
      await adapter.deleteSessionsByUserId(user.id, { sessionToken: second.sessionToken })
      expect(await adapter.getSessionAndUser(first.sessionToken)).toBeNull()
      expect(await adapter.getSessionAndUser(third.sessionToken)).toBeNull()
      expect((await adapter.getSessionAndUser(second.sessionToken))?.user.id).toBe(user.id)
      // The token of another user protects nothing and is not touched.
      await adapter.deleteSessionsByUserId(user.id, { sessionToken: foreign.sessionToken })
      expect(await adapter.getSessionAndUser(second.sessionToken)).toBeNull()
      expect((await adapter.getSessionAndUser(foreign.sessionToken))?.user.id).toBe(other.id)
      await adapter.deleteSessionsByUserId(other.id)
      expect(await adapter.getSessionAndUser(foreign.sessionToken)).toBeNull()
    },
  )

  rule(
    'deleteSessions ends the named sessions and no others, unknown ones included',
    ['deleteSessions', 'createSession'],
    async (adapter) => {
      const [user, other] = [await storeUser(adapter), await storeUser(adapter)]
      const [first, second, kept, foreign] = [newSession(user.id), newSession(user.id), newSession(user.id), newSession(other.id)]
      for (const session of [first, second, kept, foreign]) await adapter.createSession(session)
      await adapter.deleteSessions([first.sessionToken, 'unknown', second.sessionToken, foreign.sessionToken])
      for (const { sessionToken } of [first, second, foreign]) expect(await adapter.getSessionAndUser(sessionToken)).toBeNull()
      expect((await adapter.getSessionAndUser(kept.sessionToken))?.user.id).toBe(user.id)
    },
  )

  rule('deleteExpired removes what ended before the given time and nothing else', ['deleteExpired', 'createSession'], async (adapter) => {
    const user = await storeUser(adapter)
    const [old, live] = [newSession(user.id, { expires: inHours(-3) }), newSession(user.id, { expires: inHours(3) })]
    const [oldToken, liveToken] = [newToken({ expires: inHours(-3) }), newToken({ expires: inHours(3) })]
    for (const session of [old, live]) await adapter.createSession(session)
    for (const token of [oldToken, liveToken]) await adapter.createVerificationToken(token)
    await adapter.deleteExpired(inHours(-2))
    expect(await adapter.getSessionAndUser(old.sessionToken)).toBeNull()
    expect(await adapter.useVerificationToken(tokenKey(oldToken))).toBeNull()
    expect((await adapter.getSessionAndUser(live.sessionToken))?.user.id).toBe(user.id)
    expect(await adapter.useVerificationToken(tokenKey(liveToken))).toMatchObject(liveToken)
  })
}
