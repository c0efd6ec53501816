import NextAuth, { type DefaultSession, type NextAuthConfig } from 'next-auth'
import 'next-auth/jwt'
import Auth0 from 'next-auth/providers/auth0'
import Credentials from 'next-auth/providers/credentials'
import GitHub from 'next-auth/providers/github'

declare module 'next-auth' {
  interface Session {
    user: { role?: string } & DefaultSession['user']
  }
}
declare module 'next-auth/jwt' {
  interface JWT {
    role?: string
  }
}

const config = {
  providers: [
    Auth0,
    GitHub,
    { id: 'acme', name: 'Acme ID', type: 'oidc', issuer: process.env.AUTH_ACME_ISSUER },
    Credentials({
      name: 'Password',
      credentials: { username: { label: 'Username' }, password: { label: 'Password', type: 'password' } },
      authorize({ username, password }) {
        return username === 'demo' && password === 'open sesame' ? { id: 'demo', name: 'Demo Person', email: 'demo@example.com' } : null
      },
    }),
  ],
  callbacks: {
    authorized: ({ auth }) => !!auth?.user,
    jwt({ token, user, trigger, session }) {
      if (trigger === 'update') token.name = session.user.name
      if (user) token.role = user.email === 'demo@example.com' ? 'admin' : 'member'
      return token
    },
    session({ session, token }) {
      session.user.role = token.role
      return session
    },
  },
  events: {
    signIn: ({ user, account }) => console.log(`in: ${user.email} by ${account?.provider}`),
    signOut: () => console.log('out'),
  },
} satisfies NextAuthConfig

export const { handlers, auth, signIn, signOut } = NextAuth(config)
