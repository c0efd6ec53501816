/** `@auth/core`, set up as its documentation shows. */
import { Auth, customFetch } from '@auth/core'
import { decode, encode, getToken } from '@auth/core/jwt'
import { mapAdapter } from './_map-adapter.mjs'
import { routeRows } from './_routes.mjs'
import { client, fourProviders, issuer, origin, person, prove, providerFetch, quiet, secret } from './_setup.mjs'

const salt = 'authjs.session-token'
const password = {
  id: 'credentials',
  name: 'Password',
  type: 'credentials',
  credentials: { username: {}, password: {} },
  authorize: () => ({ id: '1', ...person }),
}

export async function contestant() {
  const config = { secret, trustHost: true, basePath: '/auth', logger: quiet }
  const acme = { id: 'acme', name: 'Acme', type: 'oidc', issuer, ...client, [customFetch]: await providerFetch() }
  const five = { ...config, providers: [...fourProviders, password] }
  // It remembers between configurations that there were passwords, and refuses them for this strategy without another provider.
  const database = { ...config, providers: fourProviders, adapter: mapAdapter(), session: { strategy: 'database' } }
  const token = await encode({ token: person, secret, salt })
  const jwtRequest = () => new Request(`${origin}/auth/session`, { headers: { cookie: `theme=dark; ${salt}=${token}` } })
  const databaseRequest = () => new Request(`${origin}/auth/session`, { headers: { cookie: `theme=dark; ${salt}=token` } })
  // Its bindings read a session by making a request and parsing the answer.
  const session = async (request, of) => (await Auth(request, of)).json()
  const rows = {
    ...(await routeRows(
      (request) => Auth(request, five),
      (request) => Auth(request, { ...config, providers: [acme] }),
    )),
    decode: () => decode({ token, secret, salt }),
    encode: () => encode({ token: person, secret, salt }),
    getToken: () => getToken({ req: { headers: { cookie: `${salt}=${token}` } }, secret, salt }),
    'jwt handler': async () => (await Auth(jwtRequest(), five)).text(),
    'jwt session': () => session(jwtRequest(), five),
    'database handler': async () => (await Auth(databaseRequest(), database)).text(),
    'database session': () => session(databaseRequest(), database),
    express: () => session(jwtRequest(), five),
  }
  return prove(rows, {
    decode: ({ name }) => name === person.name,
    'jwt session': ({ user }) => user.name === person.name,
    'database session': ({ user }) => user.name === person.name,
  })
}
