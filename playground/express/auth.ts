/** The whole of authentication in this playground: what a host writes. */
import { createAuth, CredentialsSignin } from 'authkernel'
import type { Adapter, Auth } from 'authkernel'
import { expressBinding, type ExpressApi } from 'authkernel/bindings/express'
import type { AccountsApi } from 'authkernel/plugins/accounts'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { emailPlugin } from 'authkernel/plugins/email'
import type { MailApi } from 'authkernel/plugins/mail'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import type { ProviderTokensApi } from 'authkernel/plugins/provider-tokens'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import passkey from 'authkernel/providers/passkey'
import type { Switch } from './catalogue.ts'
import { pinPlugin } from './pin-plugin.ts'

/** What the playground starts beside the app. */
export interface Surroundings {
  issuer: string
  clients: Record<'acme' | 'globex', { id: string; secret: string }>
  mailServer: Record<string, unknown>
  adapter: Adapter
  secret: string
  strategy: 'jwt' | 'database'
  quiet: boolean
}
/** What the pages use. */
export type PlaygroundAuth = Auth<AccountsApi & MailApi & ProviderTokensApi & { express: ExpressApi; pin: { open: boolean } }>

// Logos travel inside the page: nothing is loaded from elsewhere (D19).
const svg = (color: string, path: string): string =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="${color}" fill-rule="evenodd" d="${path}"/></svg>`)}`
const shield = svg(
  '#9a3412',
  'M12 1.5 20.5 5v6.2c0 5.2-3.6 9.4-8.5 11.3-4.9-1.9-8.5-6.1-8.5-11.3V5zm0 6a2.8 2.8 0 0 0-1.3 5.3l-.9 4h4.4l-.9-4A2.8 2.8 0 0 0 12 7.5',
)
const peak = svg('#0b57d0', 'M12 2 3 20h5l4-8 4 8h5z')

/** People with a password. A real host compares hashes; these passwords are printed on the sign-in page. */
const demo = { id: 'demo', name: 'Demo Person', email: 'demo@example.com', password: 'playground' }

/** What cannot be switched: the store, the session strategy and the framework. The ways to sign in are plugins of `waysIn`. */
export function createPlaygroundAuth({ adapter, secret, strategy, quiet }: Surroundings): PlaygroundAuth {
  const auth = createAuth({
    secret,
    adapter,
    // Sessions in a cookie can be ended from elsewhere, too.
    session: { strategy, revocable: strategy === 'jwt' },
    ...(quiet && { logger: { error: () => {}, warn: () => {} } }),
    theme: { brandColor: '#9a3412', logo: shield },
    messages: { en: { 'error.CredentialsSignin.wrong_password': 'Username and password do not fit.' } },
  }).use(expressBinding())

  // A hook: the flow waits for the answer.
  auth.hook('signIn', ({ user }) => !user.email?.endsWith('@evil.example'))
  // The types of what is switched on at run time.
  return auth as PlaygroundAuth
}

/** The ways to sign in that the playground begins with. */
export function waysIn({ issuer, clients, mailServer }: Surroundings): readonly Switch[] {
  const acme = { id: 'acme', name: 'Acme ID', issuer, clientId: clients.acme.id, clientSecret: clients.acme.secret, style: { logo: peak } }
  const globex = {
    id: 'globex',
    name: 'Globex',
    authorization: { url: `${issuer}/auth`, params: { scope: 'openid profile email' } },
    token: `${issuer}/token`,
    userinfo: `${issuer}/me`,
    issuer,
    clientId: clients.globex.id,
    clientSecret: clients.globex.secret,
    profile: ({ sub, name, email, picture }: Record<string, unknown>) => ({
      id: String(sub),
      name: typeof name === 'string' ? name : null,
      email: typeof email === 'string' ? email : null,
      image: String(picture),
    }),
  }
  const password = {
    type: 'credentials' as const,
    id: 'credentials',
    name: 'Password',
    credentials: {
      username: { label: 'Username', autocomplete: 'username', placeholder: 'demo', required: true },
      password: { label: 'Password', type: 'password', autocomplete: 'current-password', placeholder: 'playground', required: true },
    },
    authorize: ({ username, password }: Record<string, unknown>) => checkPassword(username, password),
  }
  const kiosk = [{ id: 'kiosk-1', name: 'Kim at the kiosk', email: 'kim@example.com', pin: '4711' }]
  const on = true
  return [
    { id: 'oidc', text: 'Acme ID, the OpenID Provider next door.', on, make: () => oidcPlugin(acme) },
    { id: 'oauth', text: 'Globex, the same provider as plain OAuth 2.', on, make: () => oauthPlugin(globex) },
    { id: 'credentials', text: 'A password that the host checks.', on, make: () => credentialsPlugin(password) },
    {
      id: 'email',
      text: 'A link by mail.',
      on,
      make: () => emailPlugin({ type: 'email', id: 'email', name: 'Email', server: mailServer, from: 'Playground <no-reply@example.com>' }),
    },
    { id: 'webauthn', text: 'Passkeys.', on, make: () => webauthnPlugin(passkey({ name: 'Passkey' })) },
    {
      id: 'pin',
      text: 'A provider type that this playground made up.',
      on,
      make: () => pinPlugin({ type: 'pin', id: 'kiosk', name: 'Kiosk PIN', people: kiosk }),
    },
  ]
}

/** Credentials are not stored by the kernel; with database sessions their user must exist. */
export async function seed(adapter: Adapter): Promise<void> {
  const { id, name, email } = demo
  if (!(await adapter.getUser?.(id))) await adapter.createUser?.({ id, name, email, emailVerified: null })
}

/** The page shows a text for the code, and programs read it: say what helps and no more. */
class WrongPassword extends CredentialsSignin {
  override code = 'wrong_password'
}

function checkPassword(username: unknown, password: unknown): { id: string; name: string; email: string } {
  if (username !== 'demo' || password !== demo.password) throw new WrongPassword('Username and password do not fit.')
  return { id: demo.id, name: demo.name, email: demo.email }
}
