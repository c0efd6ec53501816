/** The whole of authentication in this playground: what a host writes. */
import { createAuth, CredentialsSignin } from 'authkernel'
import type { Adapter, Auth } from 'authkernel'
import { expressBinding, type ExpressFace } from 'authkernel/bindings/express'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { emailPlugin } from 'authkernel/plugins/email'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import passkey from 'authkernel/providers/passkey'
import { pinPlugin } from './pin-plugin.ts'

/** What the playground starts beside the app. */
export interface Surroundings {
  issuer: string
  clients: Record<'acme' | 'globex', { id: string; secret: string }>
  mailServer: Record<string, unknown>
  adapter: Adapter
  secret: string
  strategy: 'jwt' | 'database'
}
/** What the pages use. */
export type PlaygroundAuth = Auth<{ express: ExpressFace; pin: { open: boolean } }>

/** People with a password. A real host compares hashes; these passwords are printed on the sign-in page. */
const demo = { id: 'demo', name: 'Demo Person', email: 'demo@example.com', password: 'playground' }

export function createPlaygroundAuth({ issuer, clients, mailServer, adapter, secret, strategy }: Surroundings): PlaygroundAuth {
  const auth = createAuth({
    secret,
    adapter,
    session: { strategy },
    // On loopback every Host header is ours. A deployment sets AUTH_URL instead.
    trustHost: true,
    theme: { brandColor: '#9a3412' },
  })
    .use(oidcPlugin({ id: 'acme', name: 'Acme ID', issuer, clientId: clients.acme.id, clientSecret: clients.acme.secret }))
    .use(
      oauthPlugin({
        id: 'globex',
        name: 'Globex (plain OAuth 2)',
        authorization: { url: `${issuer}/auth`, params: { scope: 'openid profile email' } },
        token: `${issuer}/token`,
        userinfo: `${issuer}/me`,
        issuer,
        clientId: clients.globex.id,
        clientSecret: clients.globex.secret,
        profile: ({ sub, name, email, picture }) => ({ id: String(sub), name: name ?? null, email: email ?? null, image: String(picture) }),
      }),
    )
    .use(
      credentialsPlugin({
        type: 'credentials',
        id: 'credentials',
        name: 'Password',
        credentials: {
          username: { label: 'User name', autocomplete: 'username', placeholder: 'demo', required: true },
          password: { label: 'Password', type: 'password', autocomplete: 'current-password', placeholder: 'playground', required: true },
        },
        authorize: ({ username, password }) => checkPassword(username, password),
      }),
    )
    .use(emailPlugin({ type: 'email', id: 'email', name: 'Email', server: mailServer, from: 'Playground <no-reply@example.com>' }))
    .use(webauthnPlugin(passkey({ name: 'Passkey' })))
    .use(pinPlugin({ type: 'pin', id: 'kiosk', name: 'Kiosk PIN', people: [{ id: 'kiosk-1', name: 'Kim at the kiosk', email: 'kim@example.com', pin: '4711' }] }))
    .use(expressBinding())

  // A decision: the flow waits for the answer.
  auth.hook('signIn', ({ user }) => !user.email?.endsWith('@evil.example'))
  return auth
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
  if (username !== 'demo' || password !== demo.password) throw new WrongPassword('User name and password do not fit.')
  return { id: demo.id, name: demo.name, email: demo.email }
}
