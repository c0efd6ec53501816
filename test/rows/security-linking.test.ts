/** Attacks on who owns an account: pre-hijacking, races for a credential, addresses that only a database holds for equal. */
import type { Adapter } from 'authkernel'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { Authenticator, type CreationOptions, type RequestOptions } from '../plugins/_authenticator.ts'
import { Client } from '../_setup.ts'
import { createWorld, type World } from './_world.ts'

const origin = 'http://localhost:3000'
const sessionCookie = 'authkernel.session-token'
type Action = 'register' | 'authenticate'

async function ceremony(client: Client, key: Authenticator, action: Action, query = ''): Promise<() => Promise<Response>> {
  const answer = await client.get(`/webauthn-options/passkey?action=${action}${query}`)
  const { options } = (await answer.json()) as { options: CreationOptions & RequestOptions }
  const data = action === 'register' ? key.create(options) : key.get(options)
  return () => client.post('/callback/passkey', { action, data })
}
const passkey = async (client: Client, key: Authenticator, action: Action, query = ''): Promise<Response> =>
  (await ceremony(client, key, action, query))()
const to = (response: Response): string | null => response.headers.get('location')

async function byLink(world: World, client: Client, email = 'ann@example.com'): Promise<Response> {
  await client.post('/signin/mail', { email })
  return client.get(world.mails.at(-1)?.url ?? '')
}

describe('GHSA-g38m-r43w-p2q7: an attacker registers a passkey for the address of a person who is not here yet', () => {
  async function planted(store: 'whole' | 'split' = 'whole', config = {}) {
    const data = memoryData()
    const world = createWorld('database', store, { adapter: memoryAdapter(data), ...config })
    const attacker = new Client(world.auth)
    const key = new Authenticator(origin)
    expect(to(await passkey(attacker, key, 'register', '&email=ann@example.com'))).toBe(origin)
    expect(await attacker.session()).not.toBeNull()
    return { world, data, attacker, key }
  }

  it('a magic link verifies the email: passkeys and sessions of before are gone, the user is in', async () => {
    const { world, data, attacker, key } = await planted()
    const victim = new Client(world.auth)
    expect(to(await byLink(world, victim))).toBe(origin)
    expect(await victim.session()).toMatchObject({ user: { email: 'ann@example.com' } })
    expect(await attacker.session()).toBeNull()
    expect(to(await passkey(new Client(world.auth), key, 'authenticate'))).toContain('error=')
    expect([data.users.size, data.accounts.size, data.authenticators.size, data.sessions.size]).toEqual([1, 0, 0, 1])
    // From here on passkeys are the person's own.
    const own = new Authenticator(origin)
    await passkey(victim, own, 'register')
    const later = new Client(world.auth)
    expect(to(await byLink(world, later))).toBe(origin)
    expect(to(await passkey(new Client(world.auth), own, 'authenticate'))).toBe(origin)
  })

  it('a provider that may be believed about the address does the same', async () => {
    const { world, attacker, key } = await planted()
    const victim = new Client(world.auth)
    const back = await world.toProvider('trusting', {}, victim)
    expect(to(await victim.get(back))).toBe(origin)
    expect(await victim.session()).toMatchObject({ user: { email: 'ann@example.com' } })
    expect(await attacker.session()).toBeNull()
    expect(to(await passkey(new Client(world.auth), key, 'authenticate'))).toContain('error=')
  })

  it('a user who proves the address of their own session keeps everything', async () => {
    const { world, data, attacker, key } = await planted()
    expect(to(await byLink(world, attacker))).toBe(origin)
    expect(data.authenticators.size).toBe(1)
    expect(to(await passkey(new Client(world.auth), key, 'authenticate'))).toBe(origin)
  })

  it('a user whom a provider knows was not made by typing an address: everything stays', async () => {
    const world = createWorld('database', 'whole')
    const first = new Client(world.auth)
    await first.get(await world.toProvider('oidc', {}, first))
    const key = new Authenticator(origin)
    await passkey(first, key, 'register')
    expect(to(await byLink(world, new Client(world.auth)))).toBe(origin)
    expect([world.data.accounts.size, world.data.authenticators.size]).toEqual([2, 1])
    const again = new Client(world.auth)
    expect(to(await again.get(await world.toProvider('oidc', {}, again)))).toBe(origin)
  })

  it('an adapter of Auth.js, which cannot end sessions or list accounts: the owner gets a new user, the other one loses the address', async () => {
    const data = memoryData()
    const {
      deleteAuthenticator: _a,
      deleteSessionsByUserId: _b,
      listAccountsByUserId: _c,
      createUserWithAccount: _d,
      ...plain
    } = memoryAdapter(data)
    const { world, key } = await planted('split', { adapter: plain as Adapter })
    const [former] = [...data.users.keys()]
    const victim = new Client(world.auth)
    expect(to(await byLink(world, victim))).toBe(origin)
    expect([...data.users.values()].map(({ id, email }) => [id === former, email])).toEqual([
      [true, null],
      [false, 'ann@example.com'],
    ])
    const attacker = new Client(world.auth)
    expect(to(await passkey(attacker, key, 'authenticate'))).toBe(origin)
    expect(await attacker.session()).not.toMatchObject({ user: { email: 'ann@example.com' } })
  })

  it('a store that fails on the way leaves the address unproven and the link usable', async () => {
    const data = memoryData()
    const memory = memoryAdapter(data)
    let down = true
    const unlinkAccount: Adapter['unlinkAccount'] = (key) => {
      if (down) throw new Error('down')
      return memory.unlinkAccount(key)
    }
    const { world, key } = await planted('whole', { adapter: { ...memory, unlinkAccount } })
    const victim = new Client(world.auth)
    expect(to(await byLink(world, victim))).toContain('error=')
    expect([...data.users.values()].map(({ emailVerified }) => emailVerified)).toEqual([null])
    down = false
    expect(to(await victim.get(world.mails.at(-1)?.url ?? ''))).toBe(origin)
    expect(to(await passkey(new Client(world.auth), key, 'authenticate'))).toContain('error=')
  })
})

describe('a credential id that two people register at the same moment', () => {
  it('attestation "none" signs no credential id: the second one is not taken for the first', async () => {
    const gate: (() => void)[] = []
    const memory = memoryAdapter()
    let held = false
    const createUserWithAccount: Adapter['createUserWithAccount'] = async (user, account) => {
      if (held) await new Promise<void>((resolve) => gate.push(resolve))
      return memory.createUserWithAccount(user, account)
    }
    const world = createWorld('database', 'whole', { adapter: { ...memory, createUserWithAccount } })
    const [ann, eve] = [new Client(world.auth), new Client(world.auth)]
    const key = new Authenticator(origin)
    const forged = new Authenticator(origin, key.id)
    const first = await ceremony(ann, key, 'register', '&email=ann@example.com')
    const second = await ceremony(eve, forged, 'register', '&email=eve@example.com')
    held = true
    const winning = first()
    while (gate.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const losing = second()
    // Until the second one waits for the first.
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
    held = false
    for (const open of gate) open()
    expect(to(await winning)).toBe(origin)
    const response = await losing
    expect(to(response)).toContain('error=AccountNotLinked')
    expect(response.headers.getSetCookie().join()).not.toContain(`${sessionCookie}=`)
    expect(await eve.session()).toBeNull()
  })
})

describe('addresses that a collation of the database holds for equal', () => {
  // MySQL's utf8mb4_0900_ai_ci: neither case nor accents count.
  const folded = (email: string): string => email.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  function collating() {
    const data = memoryData()
    const memory = memoryAdapter(data)
    const adapter: Adapter = {
      ...memory,
      getUserByEmail: (email) => [...data.users.values()].find((user) => folded(user.email) === folded(email)) ?? null,
      createUser(user) {
        if ([...data.users.values()].some(({ email }) => folded(email) === folded(user.email))) throw new Error('duplicate entry')
        return memory.createUser(user)
      },
    }
    return { data, world: createWorld('database', 'split', { adapter }) }
  }

  it('the owner of exámple.com is not signed in as the user of example.com', async () => {
    const { data, world } = collating()
    data.users.set('u-ann', { id: 'u-ann', email: 'ann@example.com', emailVerified: new Date() })
    const eve = new Client(world.auth)
    const asked = await eve.post('/signin/mail', { email: 'ann@exámple.com' })
    expect(to(asked)).toContain('error=')
    expect(world.mails).toEqual([])
    eve.cookies.clear()
    world.op.person = { ...world.op.person, sub: 'eve', email: 'ann@exámple.com' }
    expect(to(await eve.get(await world.toProvider('trusting', {}, eve)))).toContain('error=')
    expect(await eve.session()).toBeNull()
    expect(data.sessions.size).toBe(0)
  })

  it('an address that was stored in capitals is still its own', async () => {
    const { data, world } = collating()
    data.users.set('u-ann', { id: 'u-ann', email: 'Ann@Example.com', emailVerified: new Date() })
    const ann = new Client(world.auth)
    expect(to(await byLink(world, ann))).toBe(origin)
    expect([...data.sessions.values()].map(({ userId }) => userId)).toEqual(['u-ann'])
  })
})
