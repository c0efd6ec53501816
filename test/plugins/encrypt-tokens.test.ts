import type { Adapter } from 'authkernel/kernel'
import { encryptTokens } from 'authkernel/plugins/encrypt-tokens'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { testAdapter } from 'authkernel/testing'
import { describe, expect, it } from 'vitest'
import { newAccount, newUser } from '../../src/testing/adapter-subject.ts'

const secret = 'a-secret-of-more-than-32-characters-for-tests'

testAdapter('encryptTokens over memory', { adapter: () => encryptTokens(memoryAdapter(), { secret }) })

async function setUp(options: Partial<Parameters<typeof encryptTokens>[1]> = {}) {
  const memory = memoryAdapter()
  const adapter = encryptTokens(memory, { secret, ...options })
  const user = await adapter.createUser(newUser())
  const account = newAccount(user.id, { access_token: 'canary-access', refresh_token: 'canary-refresh', id_token: 'canary-id' })
  await adapter.linkAccount(account)
  const raw = async () => (await memory.getAccount(account.providerAccountId, 'acme'))!
  return { memory, adapter, user, account, raw }
}

describe('encryptTokens (D53)', () => {
  it('the store sees no token, the kernel sees all', async () => {
    const { adapter, account, raw } = await setUp()
    expect(JSON.stringify(await raw())).not.toContain('canary')
    expect(await raw()).toMatchObject({ scope: account.scope, expires_at: account.expires_at })
    expect(await adapter.getAccount(account.providerAccountId, 'acme')).toMatchObject(account)
    expect((await adapter.listAccountsByUserId(account.userId))[0]).toMatchObject(account)
    await adapter.updateAccount({ provider: 'acme', providerAccountId: account.providerAccountId, access_token: 'canary-fresh' })
    expect(JSON.stringify(await raw())).not.toContain('canary')
    expect(await adapter.unlinkAccount(account)).toMatchObject({ access_token: 'canary-fresh', refresh_token: 'canary-refresh' })
  })

  it('createUserWithAccount encrypts too', async () => {
    const { adapter, memory } = await setUp()
    const { userId: _none, ...account } = newAccount('', { access_token: 'canary' })
    await adapter.createUserWithAccount(newUser(), account)
    expect(JSON.stringify(await memory.getAccount(account.providerAccountId as string, 'acme'))).not.toContain('canary')
  })

  it('reads what was stored before', async () => {
    const { memory, adapter, user } = await setUp()
    const old = newAccount(user.id, { provider: 'old', access_token: 'plain' })
    await memory.linkAccount(old)
    expect(await adapter.getAccount(old.providerAccountId, 'old')).toMatchObject({ access_token: 'plain' })
  })

  it('the newest secret encrypts, every secret decrypts', async () => {
    const { memory, account } = await setUp()
    const next = `next-${secret}`
    const rotated = encryptTokens(memory, { secret: [next, secret] })
    expect(await rotated.getAccount(account.providerAccountId, 'acme')).toMatchObject(account)
    await rotated.updateAccount(account)
    expect(await encryptTokens(memory, { secret: next }).getAccount(account.providerAccountId, 'acme')).toMatchObject(account)
    const behind = await encryptTokens(memory, { secret }).getAccount(account.providerAccountId, 'acme')
    expect(behind).toMatchObject({ scope: account.scope, unreadable: ['access_token', 'refresh_token', 'id_token'] })
    for (const field of ['access_token', 'refresh_token', 'id_token']) expect(behind).not.toHaveProperty(field)
  })

  it('a value that was altered, or moved to another account or field, is no token', async () => {
    const { memory, adapter, user, account, raw } = await setUp()
    const { access_token } = (await raw()) as { access_token: string }
    const { provider, providerAccountId } = account
    await memory.updateAccount({ provider, providerAccountId, refresh_token: access_token })
    const read = await adapter.getAccount(providerAccountId, provider)
    expect(read).toMatchObject({ access_token: 'canary-access', unreadable: ['refresh_token'] })
    expect(read).not.toHaveProperty('refresh_token')
    const thief = newAccount(user.id, { access_token })
    await memory.linkAccount(thief)
    expect(await adapter.getAccount(thief.providerAccountId, provider)).not.toHaveProperty('access_token')
  })

  it('keeps what else the adapter has, and adds nothing that it lacks', () => {
    const extra = { ...memoryAdapter(), once: 1 } as Adapter & { once: number }
    expect(encryptTokens(extra, { secret }).once).toBe(1)
    expect(Object.keys(encryptTokens({ getUser: () => null } as Adapter, { secret }))).toEqual([
      'getUser',
      'encryptsTokens',
      'onUnreadable',
    ])
  })

  it('refuses a short secret', () => {
    expect(() => encryptTokens(memoryAdapter(), { secret: 'short' })).toThrow(/32 characters/)
    expect(() => encryptTokens(memoryAdapter(), { secret: [] })).toThrow(/32 characters/)
  })
})
