/** What a stranger's plugin declares for the client appears there, typed, from its declaration alone. */
import { createAuth, type Session, type SessionOf } from 'authkernel'
import { createAuthClient, type SessionState } from 'authkernel/client'
import { type ClientPart, clientMethod, clientMethods, definePlugin, type Plugin } from 'authkernel/kernel'
import { guestPlugin } from 'authkernel/plugins/guest'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { describe, expectTypeOf, it } from 'vitest'

const schema = {
  '~standard': {
    validate: (value: unknown): { value: { text: string } } | { issues: { message: string }[] } => ({ value: value as { text: string } }),
  },
}
const notesPlugin = () =>
  definePlugin({
    name: 'notes',
    setup: (kernel) => ({
      notes: { count: 1 },
      ...clientMethods(kernel, 'notes', {
        add: clientMethod(schema, (_ctx, { text }) => ({ id: text.length, at: new Date(), tags: new Set<string>() })),
        list: clientMethod(async (ctx) => [{ text: 'a', mine: ctx.now }]),
        leave: clientMethod((ctx) => ctx.redirect('/')),
        forget: clientMethod(() => {}),
      }),
    }),
  })
const otherPlugin = (): Plugin<ClientPart<{ other: { ping(): Promise<'pong'> } }>> => ({
  name: 'other',
  setup: (kernel) => clientMethods(kernel, 'other', { ping: clientMethod(() => 'pong' as const) }),
})

const auth = createAuth().use(notesPlugin()).use(otherPlugin())
const client = createAuthClient<typeof auth>()

describe('SessionState', () => {
  it('is narrowed by its status, also by what it is not, and also when it was taken apart', () => {
    const { status, session } = {} as SessionState
    if (status === 'loading') return
    if (status === 'unauthenticated') return expectTypeOf(session).toEqualTypeOf<null>()
    expectTypeOf(session).toEqualTypeOf<Session>()
    return undefined
  })
})

describe('createAuthClient<typeof auth>()', () => {
  it('has the methods of all plugins, their inputs and what JSON leaves of their answers', () => {
    expectTypeOf(client.notes.add).parameters.toEqualTypeOf<[input: { text: string }]>()
    expectTypeOf<Awaited<ReturnType<typeof client.notes.add>>['at']>().toEqualTypeOf<string>()
    expectTypeOf(client.notes.list).toEqualTypeOf<() => Promise<{ text: string; mine: string }[]>>()
    expectTypeOf(client.notes.leave).toEqualTypeOf<() => Promise<{ url: string }>>()
    expectTypeOf(client.notes.forget).toEqualTypeOf<() => Promise<null>>()
    expectTypeOf(client.other.ping).returns.resolves.toEqualTypeOf<'pong'>()
  })

  it('has the functions of every client, and nothing else', () => {
    expectTypeOf(client.getSession).returns.resolves.toEqualTypeOf<SessionOf<typeof auth> | null>()
    expectTypeOf(client).not.toHaveProperty('twoFactor')
    expectTypeOf(client.notes).not.toHaveProperty('count')
    expectTypeOf(createAuthClient()).not.toHaveProperty('notes')
    // The API of the server stays where it was.
    expectTypeOf(auth.notes.count).toEqualTypeOf<number>()
  })
})

declare module 'authkernel' {
  interface Session {
    /** Of this host. */
    clientTest?: number
  }
}

describe('the session of createAuthClient<typeof auth>()', () => {
  const withGuests = createAuthClient<ReturnType<typeof makeWithGuests>>()
  const makeWithGuests = () => auth.use(guestPlugin()).use(organizationsPlugin())

  it('has no field of a plugin that the server does not use, although the program imports it', async () => {
    expectTypeOf<Session>().toHaveProperty('guest')
    const session = await client.getSession()
    expectTypeOf(session!).not.toHaveProperty('guest')
    expectTypeOf(session!).not.toHaveProperty('organization')
    expectTypeOf(session!).not.toHaveProperty('apiKey')
    expectTypeOf(session!).not.toHaveProperty('bearer')
    expectTypeOf(session!).not.toHaveProperty('actor')
    // @ts-expect-error the server has no guests
    void session?.guest
  })

  it('has those of the plugins that it uses, what every session has, and the fields of the host', () => {
    expectTypeOf<SessionOf<ReturnType<typeof makeWithGuests>>['guest']>().toEqualTypeOf<true | undefined>()
    expectTypeOf(withGuests.getSession).returns.resolves.exclude<null>().toHaveProperty('organization')
    expectTypeOf(withGuests.getSession).returns.resolves.exclude<null>().not.toHaveProperty('actor')
    expectTypeOf<SessionOf<typeof auth>['clientTest']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<SessionOf<typeof auth>['user']>().toEqualTypeOf<Session['user']>()
  })

  it('is that of update() and of every store', () => {
    expectTypeOf(client.update).returns.resolves.exclude<null>().not.toHaveProperty('guest')
    const state = client.createSession().get()
    if (state.status === 'authenticated') expectTypeOf(state.session).not.toHaveProperty('guest')
    expectTypeOf(client.createSession).toBeCallableWith({ initial: null })
  })

  it('is every field that there is where the server is not known', () => {
    expectTypeOf(createAuthClient().getSession).returns.resolves.toEqualTypeOf<Session | null>()
  })
})
