/** Options under `exactOptionalPropertyTypes`: what comes from the environment may be undefined. */
import { createAuth, type AuthConfig, customFetch } from 'authkernel'

export const config: AuthConfig = {
  providers: [
    {
      id: 'acme',
      name: 'Acme',
      type: 'oidc',
      issuer: process.env.ACME_ISSUER,
      clientId: process.env.ACME_ID,
      clientSecret: process.env.ACME_SECRET,
      [customFetch]: fetch,
    },
    {
      id: 'hub',
      name: 'Hub',
      type: 'oauth',
      authorization: 'https://hub.example/authorize',
      token: process.env.HUB_TOKEN_URL,
      clientId: process.env.HUB_ID,
    },
    { id: 'password', name: 'Password', type: 'credentials', credentials: {}, authorize: async ({ name }) => ({ id: String(name) }) },
  ],
  secret: process.env.AUTH_SECRET,
  basePath: process.env.AUTH_PATH,
  trustHost: undefined,
  origin: process.env.AUTH_URL,
  session: { strategy: undefined, maxAge: undefined },
  callbacks: { signIn: ({ user }) => user.email === 'a@b.example', redirect: undefined },
  events: { signOut: undefined },
  pages: { signIn: '/login' },
  debug: undefined,
}
createAuth(config)
createAuth({ ...config, callbacks: undefined, events: undefined, logger: undefined, cookies: undefined, jwt: undefined, theme: undefined })
