/** The three libraries, each set up the plainest way that its documentation shows, with one signed-in user. */
import { Auth } from '@auth/core'
import { encode as encodeAuthjs } from '@auth/core/jwt'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'

export const secret = 'a secret of at least thirty-two characters'
const origin = 'http://localhost:3000'
const person = { name: 'Ada Lovelace', email: 'ada@example.com', picture: 'https://example.com/ada.png', sub: '1' }
const quiet = { error() {}, warn() {}, debug() {} }

/** Providers as data: none of them is used by a session read. */
export const providers = (count) =>
  Array.from({ length: count }, (_, i) => ({
    id: `op${i}`,
    name: `Provider ${i}`,
    type: 'oauth',
    clientId: 'client',
    clientSecret: 'secret',
    authorization: `https://op${i}.example.com/authorize`,
    token: `https://op${i}.example.com/token`,
    userinfo: `https://op${i}.example.com/userinfo`,
  }))

/** An adapter that answers a session read from a Map, for both libraries that take one. */
export function mapAdapter() {
  const sessions = new Map([['token', { sessionToken: 'token', userId: '1', expires: new Date(Date.now() + 30 * 86_400_000) }]])
  const users = new Map([['1', { id: '1', name: person.name, email: person.email, image: person.picture, emailVerified: null }]])
  const never = async () => {
    throw new Error('not in a session read')
  }
  const names = [
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
  return {
    ...Object.fromEntries(names.map((name) => [name, never])),
    async getSessionAndUser(token) {
      const session = sessions.get(token)
      const user = session && users.get(session.userId)
      return session && user ? { session: { ...session }, user: { ...user } } : null
    },
  }
}

/** Ours. `handler`: Request to Response; `session`: what an application calls. */
export async function ours({ createAuth, encode }, { secrets = [secret], sealedBy = secret, ...config } = {}) {
  const auth = createAuth({ secret: secrets, trustHost: true, env: false, logger: quiet, ...config })
  await auth.ready()
  const token = config.adapter ? 'token' : await encode({ token: person, secret: sealedBy, salt: 'authkernel.session-token' })
  return door(
    (request) => auth.handler(request),
    (request) => auth.session(request),
    `theme=dark; authkernel.session-token=${token}`,
  )
}

export async function authjs({ secrets = [secret], sealedBy = secret, ...options } = {}) {
  const config = { secret: secrets, trustHost: true, basePath: '/auth', providers: [], logger: quiet, ...options }
  const token = config.adapter ? 'token' : await encodeAuthjs({ token: person, secret: sealedBy, salt: 'authjs.session-token' })
  // Its bindings read a session by making a request of their own and parsing the answer.
  const handler = (request) => Auth(request, config)
  return door(handler, async (request) => (await handler(request)).json(), `theme=dark; authjs.session-token=${token}`)
}

export async function better() {
  const database = { user: [], session: [], account: [], verification: [] }
  const auth = betterAuth({
    secret,
    baseURL: origin,
    database: memoryAdapter(database),
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
  })
  const body = { email: person.email, password: 'correct horse battery', name: person.name }
  const signUp = await auth.api.signUpEmail({ body, asResponse: true })
  const cookie = signUp.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  return door(
    (request) => auth.handler(request),
    ({ headers }) => auth.api.getSession({ headers }),
    `theme=dark; ${cookie}`,
    '/api/auth/get-session',
  )
}

async function door(handler, session, cookie, path = '/auth/session') {
  const request = () => new Request(origin + path, { headers: { cookie } })
  const made = {
    handler: async () => (await handler(request())).text(),
    session: () => session(request()),
  }
  // A contestant that reads nothing would be the fastest of all.
  if (JSON.parse(await made.handler())?.user?.name !== person.name) throw new Error('no session through the handler')
  if ((await made.session())?.user?.name !== person.name) throw new Error('no session')
  return made
}
