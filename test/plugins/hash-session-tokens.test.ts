import { hashSessionTokens } from 'authkernel/plugins/hash-session-tokens'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { testAdapter } from 'authkernel/testing'
import { describe, expect, it } from 'vitest'
import { inHours, newSession, newUser } from '../../src/testing/adapter-subject.ts'

testAdapter('hashSessionTokens over memory', { adapter: () => hashSessionTokens(memoryAdapter()) })

describe('hashSessionTokens (D53)', () => {
  it('the store sees no token, and what it holds opens nothing', async () => {
    const data = memoryData()
    const adapter = hashSessionTokens(memoryAdapter(data))
    const user = await adapter.createUser(newUser())
    const session = newSession(user.id)
    expect(await adapter.createSession(session)).toMatchObject(session)
    const [[stored]] = data.sessions as Iterable<[string, unknown]> as [[string, unknown]]
    expect(stored).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(JSON.stringify([...data.sessions])).not.toContain(session.sessionToken)
    expect(await adapter.getSessionAndUser(stored)).toBeNull()
    expect((await adapter.updateSession({ sessionToken: stored, expires: inHours(9) })) ?? null).toBeNull()
    expect((await adapter.getSessionAndUser(session.sessionToken))?.session.sessionToken).toBe(session.sessionToken)
    expect(await adapter.updateSession({ sessionToken: session.sessionToken, expires: inHours(2) })).toMatchObject({
      sessionToken: session.sessionToken,
    })
    expect(await adapter.deleteSession(session.sessionToken)).toMatchObject({ sessionToken: session.sessionToken, userId: user.id })
  })

  it('a listed session can be ended by what the list says, and kept as well', async () => {
    const adapter = hashSessionTokens(memoryAdapter())
    const user = await adapter.createUser(newUser())
    const [first, second] = [newSession(user.id), newSession(user.id)]
    await adapter.createSession(first)
    await adapter.createSession(second)
    const [listed] = await adapter.listSessionsByUserId(user.id)
    await adapter.deleteSession(listed!.sessionToken)
    expect(await adapter.listSessionsByUserId(user.id)).toHaveLength(1)
    const [kept] = await adapter.listSessionsByUserId(user.id)
    await adapter.deleteSessionsByUserId(user.id, kept)
    expect(await adapter.listSessionsByUserId(user.id)).toHaveLength(1)
    await adapter.deleteSessionsByUserId(user.id)
    expect(await adapter.listSessionsByUserId(user.id)).toEqual([])
  })
})
