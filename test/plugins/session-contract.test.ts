/** Both strategies, and a third one as a stranger would write it, under the exported contract. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { databaseSessionPlugin } from 'authkernel/plugins/session-database'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { signedIn, testProvider, testSession } from 'authkernel/testing'
import { baseConfig, Client } from '../_setup.ts'
import { ticketSessionPlugin } from './_ticket-session.ts'

testSession('jwt', { plugin: () => jwtSessionPlugin({ maxAge: 3600 }), maxAge: 3600, kinds: true })
testSession('database', {
  plugin: () => databaseSessionPlugin({ maxAge: 3600 }),
  adapter: () => memoryAdapter(),
  maxAge: 3600,
  kinds: true,
})
testSession('the one of docs/writing-a-session-strategy.md', {
  plugin: () => ticketSessionPlugin({ maxAge: 3600 }),
  maxAge: 3600,
  kinds: true,
})

testProvider('credentials', {
  auth: (plugin) =>
    createAuth(baseConfig())
      .use(credentialsPlugin({ id: 'c', authorize: () => ({ id: '1', name: 'Ann' }) }))
      .use(plugin),
  signIn: (auth) => new Client(auth).post('/callback/c'),
})

describe('a strategy of a stranger', () => {
  it('answers hooks and tells events like the built-in ones', async () => {
    const told: string[] = []
    const auth = createAuth(baseConfig()).use(ticketSessionPlugin())
    auth.hook('session', ({ session }) => ({ ...session, role: 'guest' }))
    auth.on('session', () => told.push('session'))
    const cookie = await signedIn(auth, { id: '1', name: 'Ann' })
    expect(await auth.session(new Request('http://localhost:3000', { headers: { cookie } }))).toMatchObject({
      user: { name: 'Ann' },
      role: 'guest',
    })
    expect(told).toEqual(['session'])
  })
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
