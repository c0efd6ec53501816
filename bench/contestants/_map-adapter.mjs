/** An adapter that answers a session read from a Map, for both libraries that take one. */
import { person } from './_setup.mjs'

const unused = [
  'createUser',
  'getUser',
  'getUserByEmail',
  'getUserByAccount',
  'updateUser',
  'linkAccount',
  'createSession',
  'updateSession',
  'deleteSession',
]

export function mapAdapter() {
  const sessions = new Map([['token', { sessionToken: 'token', userId: '1', expires: new Date(Date.now() + 30 * 86_400_000) }]])
  const users = new Map([['1', { id: '1', name: person.name, email: person.email, image: person.picture, emailVerified: null }]])
  const never = async () => {
    throw new Error('not in a session read')
  }
  return {
    ...Object.fromEntries(unused.map((name) => [name, never])),
    async getSessionAndUser(token) {
      const session = sessions.get(token)
      const user = session && users.get(session.userId)
      return session && user ? { session: { ...session }, user: { ...user } } : null
    },
  }
}
