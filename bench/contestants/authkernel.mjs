/** The sources of this repository, bundled before the run. */
import { mapAdapter } from './_map-adapter.mjs'
import { routeRows } from './_routes.mjs'
import { client, fourProviders, issuer, origin, person, prove, providerFetch, quiet, secret } from './_setup.mjs'

const salt = 'authkernel.session-token'
const password = {
  id: 'credentials',
  name: 'Password',
  type: 'credentials',
  credentials: { username: {}, password: {} },
  authorize: () => ({ id: '1', ...person }),
}

export async function contestant(bundle) {
  const { createAuth, customFetch, decode, encode, expressBinding, getToken } = await import(bundle)
  const make = async (options) => {
    const auth = createAuth({ secret, trustHost: true, env: false, logger: quiet, throttle: false, ...options }).use(expressBinding())
    await auth.ready()
    return auth
  }
  const five = await make({ providers: [...fourProviders, password] })
  const acme = await make({
    providers: [{ id: 'acme', name: 'Acme', type: 'oidc', issuer, ...client, [customFetch]: await providerFetch() }],
  })
  const database = await make({ providers: [], adapter: mapAdapter() })
  const secrets = [...Array.from({ length: 4 }, (_, i) => `newer secret number ${i} of thirty-two characters`), secret]
  const token = await encode({ token: person, secret, salt })
  const cookie = `theme=dark; ${salt}=${token}`
  const jwtRequest = (value = cookie) => new Request(`${origin}/auth/session`, { headers: { cookie: value } })
  const databaseRequest = () => jwtRequest(`theme=dark; ${salt}=token`)
  const forged = `theme=dark; ${salt}=${token.slice(0, -4)}AAAA`
  const foreign = `theme=dark; ${salt}=${'x'.repeat(3800)}`
  const oversized = `theme=dark; ${[0, 1, 2, 3].map((n) => `${salt}.${n}=${'x'.repeat(3000)}`).join('; ')}`
  const rows = {
    ...(await routeRows(five.handler, acme.handler)),
    decode: () => decode({ token, secret, salt }),
    'decode, last of 5': () => decode({ token, secret: secrets, salt }),
    encode: () => encode({ token: person, secret, salt }),
    getToken: () => getToken({ req: { headers: { cookie } }, secret }),
    'jwt handler': async () => (await five.handler(jwtRequest())).text(),
    'jwt session': () => five.session(jwtRequest()),
    'jwt session, forged': () => five.session(jwtRequest(forged)),
    'jwt session, foreign': () => five.session(jwtRequest(foreign)),
    'jwt session, oversized': () => five.session(jwtRequest(oversized)),
    'database handler': async () => (await database.handler(databaseRequest())).text(),
    'database session': () => database.session(databaseRequest()),
    express: () =>
      five.express.session({ headers: { cookie, host: 'localhost:3000' }, method: 'GET', url: '/', protocol: 'http', originalUrl: '/' }),
  }
  return prove(rows, {
    decode: ({ name }) => name === person.name,
    'decode, last of 5': ({ name }) => name === person.name,
    'jwt session': ({ user }) => user.name === person.name,
    'jwt session, forged': (session) => session === null,
    'jwt session, foreign': (session) => session === null,
    'jwt session, oversized': (session) => session === null,
    'database session': ({ user }) => user.name === person.name,
    express: ({ user }) => user.name === person.name,
  })
}
