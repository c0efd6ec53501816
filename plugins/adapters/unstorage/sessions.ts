/** Sessions and verification tokens of the unstorage adapter. */
import type { Adapter, AdapterSession, VerificationToken } from 'authkernel/kernel'
import type { Model } from './model.ts'
import { copyForStore, loadValue, takenError } from './values.ts'

type Sessions = Pick<
  Required<Adapter>,
  | 'createSession'
  | 'getSessionAndUser'
  | 'updateSession'
  | 'deleteSession'
  | 'listSessionsByUserId'
  | 'deleteSessionsByUserId'
  | 'deleteSessions'
>
type Tokens = Pick<Required<Adapter>, 'createVerificationToken' | 'useVerificationToken' | 'deleteVerificationTokens'>

export function sessionMethods(model: Model): Sessions {
  const { engine, keys } = model
  const find = async (reader: Parameters<typeof loadValue>[0], token: string): Promise<AdapterSession | null> =>
    loadValue(reader, 'session', await keys.session(token), token)
  return {
    createSession: (given) =>
      engine.transact(async (tx) => {
        const session = copyForStore(given)
        const { sessionToken, userId, expires } = session
        await model.needUser(tx, userId, 'createSession')
        if (await find(tx, sessionToken)) throw takenError('session token')
        tx.put(await keys.session(sessionToken), session, expires)
        const entry = { key: [sessionToken], expires: expires.getTime() }
        model.add(tx, await keys.sessionsOf(userId), await model.knownEntries(tx, 'session', userId), entry)
        return copyForStore(session)
      }),
    async getSessionAndUser(sessionToken) {
      const session = await find(engine, sessionToken)
      const user = session && (await loadValue(engine, 'user', await keys.user(session.userId), session.userId))
      return session && user ? { session, user } : null
    },
    updateSession: (change) =>
      engine.transact(async (tx) => {
        const before = await find(tx, change.sessionToken)
        if (!before) return null
        const session: AdapterSession = { ...before, ...copyForStore(change), userId: before.userId }
        tx.put(await keys.session(session.sessionToken), session, session.expires)
        if (session.expires.getTime() !== before.expires.getTime()) {
          const entry = { key: [session.sessionToken], expires: session.expires.getTime() }
          model.add(tx, await keys.sessionsOf(session.userId), await model.knownEntries(tx, 'session', session.userId), entry)
        }
        return copyForStore(session)
      }),
    deleteSession: (sessionToken) =>
      engine.transact(async (tx) => {
        const session = await find(tx, sessionToken)
        if (!session) return null
        tx.remove(await keys.session(sessionToken))
        model.drop(tx, await keys.sessionsOf(session.userId), await model.knownEntries(tx, 'session', session.userId), [sessionToken])
        return session
      }),
    async listSessionsByUserId(userId) {
      const found: AdapterSession[] = []
      for (const { key } of await model.entries(engine, 'session', userId)) {
        const session = await find(engine, key[0]!)
        if (session?.userId === userId) found.push(session)
      }
      return found
    },
    deleteSessions: (sessionTokens) =>
      engine.transact(async (tx) => {
        const users = new Set<string>()
        const gone = new Set(sessionTokens)
        // At once: a logout token may end thousands, and Redis is not waited for between two of them.
        for (const session of await Promise.all([...gone].map((sessionToken) => find(tx, sessionToken)))) {
          if (!session) continue
          users.add(session.userId)
          tx.remove(await keys.session(session.sessionToken))
        }
        for (const userId of users) {
          const entries = await model.knownEntries(tx, 'session', userId)
          const kept = entries.filter(({ key }) => !gone.has(key[0]!))
          model.save(tx, await keys.sessionsOf(userId), kept)
        }
      }),
    deleteSessionsByUserId: (userId, except) =>
      engine.transact(async (tx) => {
        const entries = await model.entries(tx, 'session', userId)
        const kept = entries.filter(({ key }) => key[0] === except?.sessionToken)
        for (const entry of entries) if (!kept.includes(entry)) tx.remove(await keys.session(entry.key[0]!))
        model.save(tx, await keys.sessionsOf(userId), kept)
      }),
  }
}

export function tokenMethods(model: Model): Tokens {
  const { engine, keys } = model
  return {
    createVerificationToken: (given) =>
      engine.transact(async (tx) => {
        const token = copyForStore(given)
        const key = await keys.token(token.identifier, token.token)
        if (await loadValue(tx, 'token', key, token.identifier, token.token)) throw takenError('verification token')
        tx.put(key, token, token.expires)
        const index = await keys.tokensOf(token.identifier)
        model.add(tx, index, await model.list(tx, index), { key: [token.token], expires: token.expires.getTime() })
        return copyForStore(token)
      }),
    useVerificationToken: ({ identifier, token }) =>
      engine.transact(async (tx) => {
        const key = await keys.token(identifier, token)
        const found: VerificationToken | null = await loadValue(tx, 'token', key, identifier, token)
        if (!found) return null
        tx.remove(key)
        const index = await keys.tokensOf(identifier)
        model.drop(tx, index, await model.list(tx, index), [token])
        return found
      }),
    deleteVerificationTokens: (identifier) =>
      engine.transact(async (tx) => {
        const index = await keys.tokensOf(identifier)
        for (const { key } of await model.list(tx, index)) tx.remove(await keys.token(identifier, key[0]!))
        tx.remove(index)
      }),
  }
}
