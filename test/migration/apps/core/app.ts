import { Auth, type AuthConfig } from '@auth/core'
import { getToken } from '@auth/core/jwt'
import Credentials from '@auth/core/providers/credentials'
import GitHub from '@auth/core/providers/github'
import type { Session } from '@auth/core/types'

declare module '@auth/core/types' {
  interface Session {
    role?: string | undefined
  }
}
declare module '@auth/core/jwt' {
  interface JWT {
    role?: string
  }
}

const config: AuthConfig = {
  basePath: '/auth',
  secret: process.env.AUTH_SECRET!,
  trustHost: true,
  providers: [
    GitHub({ clientId: 'github-id', clientSecret: 'github-secret' }),
    {
      id: 'acme',
      name: 'Acme ID',
      type: 'oidc',
      issuer: process.env.AUTH_ACME_ISSUER!,
      clientId: process.env.AUTH_ACME_ID!,
      clientSecret: process.env.AUTH_ACME_SECRET!,
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
    signOut: (message) => console.log(`out: ${'token' in message ? message.token?.email : 'somebody'}`),
  },
}

async function sessionOf(request: Request): Promise<Session | null> {
  const response = await Auth(new Request(new URL('/auth/session', request.url), { headers: request.headers }), config)
  return (await response.json()) as Session | null
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/auth/')) return Auth(request, config)
    if (pathname === '/role') {
      const secureCookie = request.url.startsWith('https:')
      const token = await getToken({ req: request, secret: process.env.AUTH_SECRET!, secureCookie })
      return Response.json(token?.role ?? null)
    }
    const session = await sessionOf(request)
    return new Response(session?.user ? `${session.user.name}, ${session.role}` : 'nobody')
  },
}
