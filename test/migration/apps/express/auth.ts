import type { ExpressAuthConfig } from '@auth/express'
import GitHub from '@auth/express/providers/github'
import PostgresAdapter from '@auth/pg-adapter'
import pg from 'pg'

declare module '@auth/express' {
  interface Session {
    role?: string
  }
}

export const authConfig: ExpressAuthConfig = {
  adapter: PostgresAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL })),
  providers: [
    GitHub,
    {
      id: 'acme',
      name: 'Acme ID',
      type: 'oidc',
      issuer: process.env.AUTH_ACME_ISSUER!,
      clientId: process.env.AUTH_ACME_ID!,
      clientSecret: process.env.AUTH_ACME_SECRET!,
    },
  ],
  callbacks: {
    session({ session, user }) {
      session.role = user.email === 'ada@example.com' ? 'admin' : 'member'
      return session
    },
  },
  events: {
    signIn: ({ user, account }) => console.log(`in: ${user.email} by ${account?.provider}`),
    signOut: () => console.log('out'),
  },
}
