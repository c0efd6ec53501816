/** The border to the data layer (D26, D31, rows 158 to 176). */
import { describe, expect, it } from 'vitest'
import { type Adapter, createStore } from 'authkernel/kernel'
import { lateAnswer } from '../../src/store/store.ts'

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
      expect(found?.session.expires).toBeInstanceOf(Date)
      expect(found?.session.expires.toISOString()).toBe('2026-01-02T03:04:05.000Z')
      expect(found?.user.emailVerified?.toISOString()).toBe('2026-01-02T03:04:05.000Z')
    },
  )

  it('users without an address: the adapter says so, and for a tenant only where it keeps tenants apart itself', async () => {
    const made: unknown[] = []
    const adapter = { nullableEmail: true, createUser: (given: unknown) => (made.push(given), given) } as Adapter
    const [store, nobody] = [createStore(adapter), { ...user, email: null as never }]
    expect([store.nullableEmail, createStore({}).nullableEmail]).toEqual([true, false])
    expect(await store.createUser(nobody)).toMatchObject({ email: null })
    expect(store.namespaced('acme').nullableEmail).toBe(false)
    expect(made).toHaveLength(1)
    expect(createStore({ ...adapter, namespaced: () => adapter } as Adapter).namespaced('acme').nullableEmail).toBe(true)
  })

  it.each([
    ['numbers', 7, 8],
    ['big integers', 7n, 8n],
  ])('D28: ids that are %s are texts here, and for the adapter what it gave', async (_name, id, other) => {
    const seen: unknown[] = []
    const row = { ...user, id: id as never }
    const adapter: Adapter = {
      createUser: () => row,
      getUser: (asked) => (seen.push(asked), row),
      updateUser: (change) => (seen.push(change.id), row),
      deleteUser: (asked) => (seen.push(asked), row),
      linkAccount: (account) => (seen.push(account.userId), { ...account, userId: id as never }),
      unlinkAccount: (key) => void seen.push(key),
      createSession: (session) => (seen.push(session.userId), { ...session, id: 99, userId: id as never }),
      getSessionAndUser: () => ({ session: { id: 99, sessionToken: 's', userId: id as never, expires: new Date() }, user: row }),
      listSessionsByUserId: (asked) => (seen.push(asked), [{ sessionToken: 's', userId: id as never, expires: new Date() }]),
      deleteSession: (token) => void seen.push(token),
      useVerificationToken: (key) => (seen.push(key.identifier), { ...key, expires: new Date() }),
    }
    const store = createStore(adapter)
    // Nothing is known of its ids yet.
    await store.getUser('1')
    expect((await store.createUser(user)).id).toBe('7')
    expect((await store.updateUser({ id: '8' })).id).toBe('7')
    expect(await store.deleteUser('8')).toMatchObject({ id: '7' })
    const account = { userId: '8', type: 'oidc', provider: 'acme', providerAccountId: '12' } as const
    expect(await store.linkAccount(account)).toEqual({ ...account, userId: '7' })
    await store.unlinkAccount({ provider: 'acme', providerAccountId: '12' })
    expect(await store.createSession({ sessionToken: '5', userId: '8', expires: new Date() })).toMatchObject({ id: 99, userId: '7' })
    expect(await store.getSessionAndUser('5')).toMatchObject({ session: { id: 99, userId: '7' }, user: { id: '7' } })
    expect(await store.listSessionsByUserId('8')).toMatchObject([{ userId: '7' }])
    await store.deleteSession('5')
    await store.useVerificationToken({ identifier: '15551234', token: 't' })
    await store.getUser('not-a-number')
    expect(seen).toEqual([
      '1',
      other,
      other,
      other,
      { provider: 'acme', providerAccountId: '12' },
      other,
      other,
      '5',
      '15551234',
      'not-a-number',
    ])
  })

  it('row 168: an adapter that fails where there is nothing to delete or to extend, as Prisma does, answers null; elsewhere it fails', async () => {
    const absent = (): never => {
      throw Object.assign(new Error('No record was found for a delete.'), { code: 'P2025' })
    }
    const later = async (): Promise<never> => absent()
    for (const fail of [absent, later]) {
      const store = createStore({ deleteSession: fail, updateSession: fail, unlinkAccount: fail, deleteUser: fail, updateUser: fail })
      expect([
        await store.deleteSession('s'),
        await store.updateSession({ sessionToken: 's' }),
        await store.unlinkAccount({ provider: 'a', providerAccountId: 'b' }),
        await store.deleteUser('1'),
      ]).toEqual([null, null, null, null])
      expect(await caught(() => store.updateUser({ id: '1' }))).toMatchObject({ name: 'AdapterError' })
    }
  })

  it('a key with a NUL or half a character, which databases cannot hold, is unknown without a question', () => {
    const fail = (): never => {
      throw new Error('invalid byte sequence for encoding "UTF8": 0x00')
    }
    const store = createStore({ getSessionAndUser: fail, getUserByAccount: fail, useVerificationToken: fail, getUser: fail })
    expect([
      store.getSessionAndUser('a\0b'),
      store.getUserByAccount({ provider: 'acme', providerAccountId: '\0' }),
      store.useVerificationToken({ identifier: 'a@b.c', token: '\ud800' }),
    ]).toEqual([null, null, null])
    for (const whole of ['\\0', '\u{1f600}']) expect(() => store.getUser(whole)).toThrow('getUser() failed')
  })

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
