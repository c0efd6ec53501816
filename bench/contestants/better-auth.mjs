/** better-auth, set up as its documentation shows. It has no encrypted session cookie by default. */
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { cookiesOf, origin, person, prove, secret } from './_setup.mjs'

export async function contestant() {
  const auth = betterAuth({
    secret,
    baseURL: origin,
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: {
      enabled: true,
      password: { hash: async (value) => value, verify: async ({ hash, password }) => hash === password },
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
  })
  const body = { email: person.email, password: 'correct horse battery', name: person.name }
  const cookie = cookiesOf(await auth.api.signUpEmail({ body, asResponse: true }))
  const request = () => new Request(`${origin}/api/auth/get-session`, { headers: { cookie: `theme=dark; ${cookie}` } })
  const rows = {
    'database handler': async () => (await auth.handler(request())).text(),
    'database session': () => auth.api.getSession({ headers: request().headers }),
    credentials: () => auth.api.signInEmail({ body: { email: body.email, password: body.password }, asResponse: true }),
  }
  return prove(rows, { 'database session': ({ user }) => user.name === person.name, credentials: (response) => response.status === 200 })
}
