import { QwikAuth$ } from '@auth/qwik'
import Credentials from '@auth/qwik/providers/credentials'
import GitHub from '@auth/qwik/providers/github'

declare module '@auth/qwik' {
  interface Session {
    role?: unknown
  }
}

export const { onRequest, useSession, useSignIn, useSignOut } = QwikAuth$(({ env }) => ({
  providers: [
    GitHub,
    { id: 'acme', name: 'Acme ID', type: 'oidc', issuer: env.get('AUTH_ACME_ISSUER') },
    Credentials({
      name: 'Password',
      credentials: { username: { label: 'Username' }, password: { label: 'Password', type: 'password' } },
      authorize({ username, password }) {
        return username === 'demo' && password === 'open sesame' ? { id: 'demo', name: 'Demo Person', email: 'demo@example.com' } : null
      },
    }),
  ],
  callbacks: {
    jwt({ token, user }) {
      if (user) token.role = user.email === 'demo@example.com' ? 'admin' : 'member'
      return token
    },
    session({ session, token }) {
      session.role = token.role
      return session
    },
  },
  events: {
    signIn: ({ user, account }) => console.log(`in: ${user.email} by ${account?.provider}`),
    signOut: () => console.log('out'),
  },
}))
