/** What a stranger's plugin declares for the client appears there, typed, from its declaration alone. */
import { createAuth, type Session } from 'authkernel'
import { createAuthClient, type SessionState } from 'authkernel/client'
import { type ClientPart, clientMethod, clientMethods, definePlugin, type Plugin } from 'authkernel/kernel'
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
    expectTypeOf(client.getSession).returns.resolves.toEqualTypeOf<Session | null>()
    expectTypeOf(client).not.toHaveProperty('twoFactor')
    expectTypeOf(client.notes).not.toHaveProperty('count')
    expectTypeOf(createAuthClient()).not.toHaveProperty('notes')
    // The API of the server stays where it was.
    expectTypeOf(auth.notes.count).toEqualTypeOf<number>()
  })
})
