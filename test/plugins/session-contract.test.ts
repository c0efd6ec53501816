/** Both strategies, and a third one as a stranger would write it, under the exported contract. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { Plugin, Session, User } from 'authkernel/kernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { databaseSessionPlugin } from 'authkernel/plugins/session-database'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { signedIn, testProvider, testSession } from 'authkernel/testing'
import { baseConfig, Client } from '../_setup.ts'

/** Opaque tokens in a map: neither jwt nor database. */
function mapSessionPlugin(maxAge: number): Plugin {
  return {
    name: 'session-map',
    setup(kernel) {
      const sessions = new Map<string, { user: User; until: number }>()
      const { now } = kernel.runtime
      kernel.provide('session', {
        async read(ctx): Promise<Session | null> {
          const entry = sessions.get(ctx.cookie(ctx.cookies.sessionToken.name) ?? '')
          if (!entry || entry.until <= now()) return null
          return { user: entry.user, expires: new Date(entry.until).toISOString() }
        },
        async user(ctx) {
          return sessions.get(ctx.cookie(ctx.cookies.sessionToken.name) ?? '')?.user ?? null
        },
        async issue(ctx, { user }) {
          const { name, options } = ctx.cookies.sessionToken
          sessions.delete(ctx.cookie(name) ?? '')
          const id = crypto.randomUUID()
          sessions.set(id, { user, until: now() + maxAge * 1000 })
          ctx.setCookie(name, id, options)
          return { id }
        },
        update: () => null,
        async end(ctx) {
          const { name, options } = ctx.cookies.sessionToken
          const known = sessions.delete(ctx.cookie(name) ?? '')
          ctx.deleteCookie(name, options)
          return known ? { token: null } : null
        },
      })
    },
  }
}

testSession('jwt', { plugin: () => jwtSessionPlugin({ maxAge: 3600 }), maxAge: 3600 })
testSession('database', { plugin: () => databaseSessionPlugin({ maxAge: 3600 }), adapter: () => memoryAdapter(), maxAge: 3600 })
testSession('a stranger with a map', { plugin: () => mapSessionPlugin(3600), maxAge: 3600 })

testProvider('credentials', {
  auth: (plugin) =>
    createAuth(baseConfig())
      .use(credentialsPlugin({ id: 'c', authorize: () => ({ id: '1', name: 'Ann' }) }))
      .use(plugin),
  signIn: (auth) => new Client(auth).post('/callback/c'),
})

describe('signedIn', () => {
  it.each(['jwt', 'database'] as const)('gives a cookie header under the %s strategy and leaves no trace in auth', async (strategy) => {
    const auth = createAuth(baseConfig({ adapter: memoryAdapter(), session: { strategy } }))
    const before = auth.inspect()
    const cookie = await signedIn(auth, { name: 'Ann', email: 'ann@example.com' })
    expect(await auth.session(new Request('http://localhost:3000', { headers: { cookie } }))).toMatchObject({ user: { name: 'Ann' } })
    expect(auth.inspect()).toEqual(before)
  })

  it('uses secure names on https and needs no store', async () => {
    const auth = createAuth(baseConfig())
    const cookie = await signedIn(auth, { id: '1', name: 'Ann' }, { origin: 'https://app.example' })
    expect(cookie).toMatch(/^__Secure-authkernel\.session-token=/)
    expect(await auth.session(new Request('https://app.example', { headers: { cookie } }))).toMatchObject({ user: { name: 'Ann' } })
  })
})
