/** The border to the data layer (D26, D31, rows 158 to 176). */
import { describe, expect, it } from 'vitest'
import { type Adapter, createStore } from 'authkernel/kernel'
import { lateAnswer } from '../../src/store.ts'

const user = { id: '1', email: 'a@b.c', emailVerified: null }
const caught = async (call: () => unknown): Promise<Error> => {
  try {
    await call()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}

describe('createStore', () => {
  it('rows 5, 159: a missing operation throws with its name; supports() tells', async () => {
    const store = createStore({ getUser: () => null })
    expect([store.supports('getUser'), store.supports('createUser')]).toEqual([true, false])
    expect(await caught(() => store.createUser(user))).toMatchObject({
      name: 'AdapterError',
      message: expect.stringContaining('createUser()') as string,
    })
  })

  it('row 158: synchronous answers stay synchronous', () => {
    expect(createStore({ getUser: () => user }).getUser('1')).toEqual(user)
  })

  it('methods keep their `this`', () => {
    const adapter = {
      rows: [user],
      getUser(id: string) {
        return this.rows.find((row) => row.id === id) ?? null
      },
    }
    expect(createStore(adapter as Adapter).getUser('1')).toEqual(user)
  })

  it.each(['2026-01-02T03:04:05.000Z', Date.UTC(2026, 0, 2, 3, 4, 5), new Date('2026-01-02T03:04:05Z')])(
    'D26: %j is a date',
    async (date) => {
      const adapter = {
        getSessionAndUser: async () => ({
          session: { sessionToken: 's', userId: '1', expires: date },
          user: { ...user, emailVerified: date },
        }),
      }
      const found = await createStore(adapter as unknown as Adapter).getSessionAndUser('s')
      expect(found?.session.expires.toISOString()).toBe('2026-01-02T03:04:05.000Z')
      expect(found?.user.emailVerified?.toISOString()).toBe('2026-01-02T03:04:05.000Z')
    },
  )

  const lies: [string, Adapter, (store: ReturnType<typeof createStore>) => unknown][] = [
    ['an empty user', { getUser: () => ({}) as never }, (store) => store.getUser('1')],
    ['nothing for a created user', { createUser: () => undefined as never }, (store) => store.createUser(user)],
    [
      'a session without its user',
      { getSessionAndUser: () => ({ session: { sessionToken: 's', userId: '1', expires: new Date() } }) as never },
      (store) => store.getSessionAndUser('s'),
    ],
    [
      "somebody else's session",
      { getSessionAndUser: () => ({ session: { sessionToken: 's', userId: '2', expires: new Date() }, user }) },
      (store) => store.getSessionAndUser('s'),
    ],
    [
      'a session that never ends',
      { getSessionAndUser: () => ({ session: { sessionToken: 's', userId: '1' }, user }) as never },
      (store) => store.getSessionAndUser('s'),
    ],
    [
      'nonsense for a date',
      { useVerificationToken: () => ({ identifier: 'a', token: 't', expires: 'soon' }) as never },
      (store) => store.useVerificationToken({ identifier: 'a', token: 't' }),
    ],
    ['a date that is an object', { getUser: () => ({ ...user, emailVerified: {} }) as never }, (store) => store.getUser('1')],
  ]
  it.each(lies)('an adapter that answers %s fails', async (_name, adapter, call) => {
    expect(await caught(() => call(createStore(adapter)))).toMatchObject({ name: 'AdapterError' })
  })

  it('rows 171, 172: null and lists pass; undefined is null', async () => {
    const store = createStore({ getUser: () => undefined as never, getUserByEmail: () => null, listAuthenticatorsByUserId: () => [] })
    expect([await store.getUser('1'), await store.getUserByEmail('a'), await store.listAuthenticatorsByUserId('1')]).toEqual([
      null,
      null,
      [],
    ])
  })

  it('D31: what does not answer is given up, and a late answer can be had', async () => {
    let answer: (value: typeof user) => void = () => {}
    const store = createStore(
      {
        createUser: () =>
          new Promise((resolve) => {
            answer = resolve as never
          }),
      },
      { deadline: 20 },
    )
    const error = await caught(() => store.createUser(user))
    expect(error.message).toContain('createUser() did not answer within 20 ms')
    const late = lateAnswer(error)
    answer(user)
    expect(await late).toEqual(user)
    expect(JSON.stringify(error.cause)).not.toContain('late')
  })

  it('a failure keeps its cause for the log', async () => {
    const error = await caught(() => createStore({ getUser: () => Promise.reject(new TypeError('down')) }).getUser('1'))
    expect(error.cause).toMatchObject({ err: { name: 'TypeError', message: 'down' }, method: 'getUser' })
  })
})
