/** The rows that any handler of Auth.js' routes can run: CSRF, the sign-in page, a password and a provider. */
import { cookiesOf, origin, post } from './_setup.mjs'

/** `five` has five ways to sign in, `acme` the one provider of OpenID Connect. */
export async function routeRows(five, acme) {
  const get = (path, cookie) => new Request(`${origin}/auth${path}`, cookie ? { headers: { cookie } } : undefined)
  const begin = async (handler) => {
    const response = await handler(get('/csrf'))
    return { cookie: cookiesOf(response), ...(await response.json()) }
  }
  const { cookie, csrfToken } = await begin(five)
  const other = await begin(acme)
  return {
    'csrf, none': async () => (await five(get('/csrf'))).text(),
    'csrf, cookie': async () => (await five(get('/csrf', cookie))).text(),
    'sign-in page': async () => {
      const html = await (await five(get('/signin', cookie))).text()
      if (!html.includes('Provider 3')) throw new Error('no sign-in page')
      return html
    },
    credentials: async () => {
      const response = await five(post(`${origin}/auth/callback/credentials`, cookie, { csrfToken, username: 'ada', password: 'secret' }))
      if (!/session-token=./.test(response.headers.getSetCookie().join())) throw new Error('no session by password')
      return response
    },
    oidc: async () => {
      const started = await acme(post(`${origin}/auth/signin/acme`, other.cookie, { csrfToken: other.csrfToken }))
      const to = new URL(started.headers.get('location'))
      const query = new URLSearchParams({ code: 'code', ...(to.searchParams.has('state') && { state: to.searchParams.get('state') }) })
      const response = await acme(get(`/callback/acme?${query}`, cookiesOf(started, other.cookie)))
      if (!/session-token=./.test(response.headers.getSetCookie().join()))
        throw new Error(`no session by OpenID Connect: ${response.headers.get('location')}`)
      return response
    },
  }
}
