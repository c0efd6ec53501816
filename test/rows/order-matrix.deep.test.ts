/** Who owns a user when several people come with one address, in every order of the ways in (issue of pre-hijacked accounts). */
import type { Adapter } from 'authkernel'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { Kysely } from 'kysely'
import { createStorage } from 'unstorage'
import { describe, expect, it } from 'vitest'
import { address, type Move, moves, people, proofs } from './_people.ts'

/** The operations of Auth.js, and no more. */
function published(): Adapter {
  const {
    createUserWithAccount: _a,
    listAccountsByUserId: _b,
    deleteSessionsByUserId: _c,
    deleteAuthenticator: _d,
    ...rest
  } = memoryAdapter()
  return rest as Adapter
}
const adapters: Record<string, () => Adapter> = {
  memory: () => memoryAdapter(),
  published,
  unstorage: () => unstorageAdapter(createStorage()),
  sqlite: () => sqlAdapter(new Kysely({ dialect: libsqlDialect({ url: ':memory:' }) }), { migrate: true }),
}
const strategies = ['jwt', 'database'] as const
const worlds = Object.keys(adapters).flatMap((name) => strategies.map((strategy) => ({ name, strategy })))
const open = ({ name, strategy }: (typeof worlds)[number]) => people(strategy, adapters[name]!())

describe.each(worlds)('$name, $strategy sessions', (world) => {
  const attacks: Move[][] = moves
    .filter((move) => move !== 'link')
    .flatMap((one) => [[one], ...moves.filter((two) => two !== 'link' && two !== one).map((two) => [one, two])])
  // What a provider says truthfully is no attack: it speaks for the owner alone. Orders of three do not depend on the database.
  const whole = world.name === 'memory' || world.name === 'published'
  const hostile = attacks.filter((attack) => !attack.includes('checked') && (whole || attack.length === 1))

  it.each(proofs.flatMap((proof) => hostile.map((attack) => ({ attack, proof }))))(
    'the attacker comes by $attack, the owner proves by $proof: nothing of the attacker opens what is the owner’s',
    async ({ attack, proof }) => {
      const { person } = open(world)
      const [attacker, elsewhere, owner] = [person('eve'), person('eve'), person('victim')]
      for (const move of attack) await attacker.come(move)
      // The same again, not as one more account of the first user.
      for (const move of attack) await elsewhere.come(move)
      expect(await owner.come(proof)).toBe('/')
      const id = await owner.who()
      expect(id).not.toBeNull()
      const reached = [await attacker.who(), await elsewhere.who(), ...(await Promise.all(attack.map((move) => attacker.again(move))))]
      expect(reached).not.toContain(id)
      // And the owner comes back to the same user.
      if (proof === 'checked') expect(await owner.again('checked')).toBe(id)
      const later = person('victim')
      expect(await later.come('link')).toBe('/')
      expect(await later.who()).toBe(id)
      if (attack.includes('passkey')) expect(await attacker.again('passkey')).not.toBe(id)
    },
  )

  it.each(moves.filter((move) => move !== 'link' && move !== 'checked'))(
    'the owner was first and proved it: %s with the same address changes nothing',
    async (move) => {
      const { person } = open(world)
      const [owner, attacker] = [person('victim'), person('eve')]
      await owner.come('link')
      const id = await owner.who()
      await attacker.come(move)
      expect(await attacker.who()).toBeNull()
      expect(await owner.who()).toBe(id)
      expect(await owner.client.session()).toMatchObject({ user: { email: address } })
    },
  )

  it('nothing is added to a user whose address was only typed', async () => {
    const { person, errors } = open(world)
    const eve = person('eve')
    expect(await eve.come('passkey')).toBe('/')
    expect(await eve.come('denied')).toContain('error=OAuthAccountNotLinked')
    expect(await eve.come('rogue')).toContain('error=OAuthAccountNotLinked')
    expect(errors.at(-1)).toMatchObject({ status: 403 })
    expect(await eve.more()).toContain('error=AccountNotLinked')
    // An account that proves this very address does, and from then on the user is this person's.
    const id = await eve.who()
    expect(await eve.come('checked')).toBe('/')
    expect(await eve.again('checked')).toBe(id)
    expect(await eve.come('denied')).toBe('/')
    expect(await eve.again('denied')).toBe(id)
  })

  it('a link that the attacker asked for signs in the browser that opens it', async () => {
    const { person } = open(world)
    const [owner, attacker] = [person('victim'), person('eve')]
    expect(await attacker.come('link', owner)).toBe('/')
    expect([await attacker.who(), await owner.who()]).toEqual([null, expect.any(String)])
  })

  it('a user who proves the address of the own session keeps passkey and user', async () => {
    const { person } = open(world)
    const ann = person('ann')
    await ann.come('passkey')
    const id = await ann.who()
    await ann.come('link')
    expect([await ann.who(), await ann.again('passkey')]).toEqual([id, id])
  })
})

describe('one address, one user, on a store without unique keys', () => {
  function loose(): { adapter: Adapter; data: ReturnType<typeof memoryData> } {
    const data = memoryData()
    const memory = memoryAdapter(data)
    const createUser: Adapter['createUser'] = (user) => (data.users.set(user.id, user), user)
    const { createUserWithAccount: _, ...rest } = memory
    return { data, adapter: { ...rest, createUser } }
  }

  it.each(strategies)('two links, one slow signIn hook, %s sessions', async (strategy) => {
    const { adapter, data } = loose()
    const gates: (() => void)[] = []
    let slow = false
    const signIn = async ({ email }: { email?: unknown }): Promise<boolean> => {
      if (slow && !email) await new Promise<void>((resolve) => gates.push(resolve))
      return true
    }
    const { person, mails } = people(strategy, adapter, { callbacks: { signIn } })
    const [one, two] = [person('one'), person('two')]
    for (const { client } of [one, two]) await client.post('/signin/mail', { email: address })
    slow = true
    const first = one.client.get(mails[0]!.url)
    while (gates.length === 0) await new Promise((resolve) => setImmediate(resolve))
    slow = false
    expect((await two.client.get(mails[1]!.url)).status).toBe(302)
    gates[0]!()
    expect((await first).headers.getSetCookie().join()).toContain('session-token')
    expect(data.users.size).toBe(1)
  })

  it('a link and a provider at the same moment', async () => {
    const { adapter, data } = loose()
    const { person } = people('database', adapter)
    const [one, two] = [person('one'), person('two')]
    await Promise.all([one.come('link'), two.come('checked')])
    expect([...data.users.values()].filter(({ email }) => email === address)).toHaveLength(1)
  })
})
