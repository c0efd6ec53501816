/** Usernames: one form, no look-alikes, no reserved ones, and a way in beside the address. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { type UsernamesOptions, usernamesPlugin } from 'authkernel/plugins/usernames'
import { baseConfig, Client } from '../_setup.ts'
import { confusables } from '../../plugins/sign-in/usernames/confusables.generated.ts'
import { skeletonOf } from '../../plugins/sign-in/usernames/skeleton.ts'
import { settle } from '../_settle.ts'

const good = 'seven purple otters sing'
const emails = { ada: 'ada@example.com', eve: 'eve@example.com' }

async function world(options: UsernamesOptions = {}, strategy: 'jwt' | 'database' = 'database') {
  const mails: string[] = []
  const postbox: Plugin = {
    name: 'postbox',
    setup: (kernel) => kernel.provide('mailTransport', { send: ({ text }) => void mails.push(text) }),
  }
  const adapter = memoryAdapter(memoryData())
  const auth = createAuth(baseConfig({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } }))
    .use(adapterPlugin(adapter))
    .use(postbox)
    .use(passwordsPlugin({ breached: false }))
    .use(usernamesPlugin(options))
  await auth.ready({ warm: true })
  for (const [id, email] of Object.entries(emails)) await adapter.createUser!({ id, email, emailVerified: new Date() })
  const signIn = async (email: string, password = good) => {
    const client = new Client(auth)
    await client.post('/callback/passwords', { email, password })
    return client
  }
  const own = async (address = emails.ada) => {
    const client = new Client(auth)
    await client.post('/passwords/reset', { email: address })
    await settle()
    await client.post('/passwords/new', { token: /token=([0-9a-f]{64})/.exec(mails.at(-1)!)![1]!, password: good })
    return signIn(address)
  }
  const set = async (name: string, userId = 'ada') => {
    const answer = await auth.usernames.set({ userId }, name)
    return 'name' in answer ? answer.name : answer.error
  }
  return { auth, adapter, signIn, own, set }
}

describe('names', () => {
  it.each([
    ['Ada', 'ada'],
    ['  ada_99 ', 'ada_99'],
    ['ＡＤＡ', 'ada'],
    ['a.b-c', 'a.b-c'],
    ['ad', 'UserNameInvalid'],
    ['a'.repeat(33), 'UserNameInvalid'],
    ['.ada', 'UserNameInvalid'],
    ['ada..b', 'UserNameInvalid'],
    ['ada-', 'UserNameInvalid'],
    ['ada b', 'UserNameInvalid'],
    ['ada@example.com', 'UserNameInvalid'],
    ['аda', 'UserNameInvalid'],
    ['ada\u200b', 'UserNameInvalid'],
    ['admin', 'UserNameReserved'],
    ['Adm1n', 'UserNameReserved'],
    ['r00t', 'UserNameReserved'],
    ['su-pp.ort', 'UserNameReserved'],
    ['acme', 'UserNameReserved'],
  ])('%j is %s', async (typed, outcome) => {
    const { set } = await world({ reserved: ['acme'] })
    expect(await set(typed)).toBe(outcome)
  })

  it('no look-alike of an existing name, and no user has two', async () => {
    const { auth, set } = await world()
    expect(await set('paypal_shop')).toBe('paypal_shop')
    for (const name of ['paypa1_shop', 'PayPalShop', 'paypal-sh0p', 'paypal.shop'])
      expect([name, await set(name, 'eve')]).toEqual([name, 'UserNameTaken'])
    expect([await set('mornington'), await set('momington', 'eve')]).toEqual(['mornington', 'UserNameTaken'])
    // The former name is free again.
    expect(await set('paypal_shop', 'eve')).toBe('paypal_shop')
    expect([await auth.usernames.get({ userId: 'ada' }), await auth.usernames.find('MORNINGTON')]).toEqual(['mornington', 'ada'])
  })

  it('Unicode by option: one script per name, look-alikes of other scripts are one name', async () => {
    const { set } = await world({ characters: 'unicode' })
    expect([await set('зоя-99'), await set('жозé-éa'), await set('pаypal')]).toEqual(['зоя-99', 'UserNameInvalid', 'UserNameInvalid'])
    expect(await set('ѕсоре')).toBe('ѕсоре')
    expect([await set('scope', 'eve'), await set('jose', 'eve'), await set('josé', 'ada'), await set('たなかさん', 'ada')]).toEqual([
      'UserNameTaken',
      'jose',
      'UserNameTaken',
      'たなかさん',
    ])
  })

  it('of twenty who want one name at once one gets it', async () => {
    const { auth, adapter } = await world()
    for (let i = 0; i < 20; i++) await adapter.createUser!({ id: `u${i}`, email: `u${i}@example.com`, emailVerified: null })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => auth.usernames.set({ userId: `u${i}` }, 'champion')))
    expect(answers.filter((answer) => 'name' in answer)).toHaveLength(1)
  })
})

describe.each(['jwt', 'database'] as const)('signing in by a name under the %s strategy', (strategy) => {
  it('every character that UTS #39 reads as another one makes the same skeleton', () => {
    const groups = confusables.split(' ').map((group) => group.split('=') as [string, string])
    expect(groups.reduce((sum, [, all]) => sum + Array.from(all).length, 0)).toBeGreaterThan(1200)
    for (const [target, all] of groups)
      for (const one of all) expect([one, skeletonOf(`ab${one}c`)]).toEqual([one, skeletonOf(`ab${target}c`)])
    // Cherokee, Lisu, Coptic and mathematical letters that a list by hand forgets.
    for (const alike of ['ꮲaypal', 'рayрal', 'ⲣaypal', 'paypa𝟷', 'pаypаӏ', 'ᴘaypal'].map((name) => name.normalize('NFKC').toLowerCase()))
      expect([alike, skeletonOf(alike)]).toEqual([alike, skeletonOf('paypal')])
    expect(skeletonOf('paypal')).not.toBe(skeletonOf('payroll'))
  })

  it('works beside the address, with one error for all that is wrong', async () => {
    const { own, set, signIn } = await world({}, strategy)
    const client = await own()
    await set('countess')
    expect((await (await signIn('Countess')).session())?.user?.email).toBe(emails.ada)
    expect((await (await signIn(emails.ada)).session())?.user?.email).toBe(emails.ada)
    for (const [name, password] of [
      ['countess', 'nine yellow llamas dance'],
      ['nobody-here', good],
      ['count ess', good],
    ] as const)
      expect(await (await signIn(name, password)).session()).toBeNull()
    expect(await (await client.get('/signin')).text()).toContain('Email or username')
  })

  it('a name that is an address does not exist, so it signs no other user in', async () => {
    const { own, set, signIn } = await world({}, strategy)
    await own()
    expect(await set('eve@example.com')).toBe('UserNameInvalid')
    expect(await (await signIn('eve@example.com')).session()).toBeNull()
  })
})

it('people choose it on the account page; the page says why a name cannot be taken', async () => {
  const { own, set, auth } = await world()
  const client = await own()
  await set('countess', 'eve')
  expect(await (await client.get('/account')).text()).toContain('Choose a username')
  const refused = await client.post('/username', { username: 'c0untess' })
  expect([refused.status, (await refused.text()).includes('looks like it')]).toEqual([400, true])
  expect((await client.post('/username', { username: 'lovelace' })).headers.get('location')).toContain('/auth/account')
  expect(await auth.usernames.get({ userId: 'ada' })).toBe('lovelace')
  expect(await (await client.get('/username')).text()).toContain('value="lovelace"')
  expect((await new Client(auth).post('/username', { username: 'mallory' })).headers.get('location')).toContain('/signin')
})

it('names go with their user, and options of the wrong shape are refused', async () => {
  const { auth, adapter, set } = await world()
  await set('countess')
  await adapter.deleteUser!('ada')
  expect([await auth.usernames.find('countess'), await set('countess', 'eve')]).toEqual([null, 'countess'])
  expect(() => usernamesPlugin({ characters: 'emoji' as never })).toThrow('`characters`')
  expect(() => usernamesPlugin({ reserved: 'admin' as never })).toThrow('`reserved`')
})
