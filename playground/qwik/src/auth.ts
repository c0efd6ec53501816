import { createAuth } from 'authkernel'
import { CredentialsSignin, qwikBinding } from 'authkernel/bindings/qwik'
import { memoryAdapter } from 'authkernel/plugins/memory'
import passkey from 'authkernel/providers/passkey'

/** The page shows a text for the code: say what helps and no more. */
class WrongPassword extends CredentialsSignin {
  override code = 'wrong_password'
}

export const auth = createAuth({
  adapter: memoryAdapter(), // a database of yours
  session: { strategy: 'jwt' },
  providers: [
    // Its id, secret and issuer are in AUTH_ACME_ID, AUTH_ACME_SECRET and AUTH_ACME_ISSUER.
    { id: 'acme', name: 'Acme ID', type: 'oidc' },
    {
      id: 'credentials',
      name: 'Password',
      type: 'credentials',
      credentials: { username: { label: 'Username' }, password: { label: 'Password', type: 'password' } },
      authorize({ username, password }) {
        if (username !== 'demo' || password !== 'playground') throw new WrongPassword('Username and password do not fit.')
        return { id: 'demo', name: 'Demo Person', email: 'demo@example.com' }
      },
    },
    {
      id: 'email',
      name: 'Email',
      type: 'email',
      server: process.env.MAIL_SERVER,
      from: 'Playground <no-reply@example.com>',
      lib: () => import('nodemailer'),
    },
    passkey({ lib: () => import('@simplewebauthn/server') }),
  ],
}).use(qwikBinding())
