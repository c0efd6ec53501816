import type { SolidAuthConfig } from '@auth/solid-start'
import Credentials from '@auth/solid-start/providers/credentials'
import GitHub from '@auth/solid-start/providers/github'

declare module '@auth/solid-start' {
  interface Session {
    role?: unknown
  }
}

export const authOptions: SolidAuthConfig = {
  basePath: '/api/auth',
  providers: [
    GitHub({ clientId: 'github-id', clientSecret: 'github-secret' }),
    {
      id: 'acme',
      name: 'Acme ID',
      type: 'oidc',
      issuer: process.env.AUTH_ACME_ISSUER,
      clientId: process.env.AUTH_ACME_ID,
      clientSecret: process.env.AUTH_ACME_SECRET,
    },
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
}
