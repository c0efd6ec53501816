/** Codes by text message: numbers in one form, messages that phones understand, and numbers that change hands. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { AuthConfig, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { type CodeMessage, phonePlugin, type PhoneOptions } from 'authkernel/plugins/phone'
import { type TwoFactorApi, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { settle } from '../_settle.ts'

const number = '+4915123456789'
const none = { name: 'none', setup: () => ({}) } as unknown as Plugin<TwoFactorApi>

async function world(options: Partial<PhoneOptions> = {}, config: AuthConfig = {}, more: Plugin<TwoFactorApi> = none) {
  const base = baseConfig({ session: { strategy: 'database' }, ...config })
  const sent: CodeMessage[] = []
  const adapter = memoryAdapter(memoryData())
  const auth = createAuth(base)
    .use(adapterPlugin(adapter))
    .use(phonePlugin({ send: (message) => void sent.push(message), ...options }))
    .use(more)
  await auth.ready({ warm: true })
  const ask = async (phone = number, client = new Client(auth), address?: string) => {
    const handler = (request: Request) => auth.handler(request, address ? { clientAddress: address } : {})
    const asker = address ? new Client({ handler }) : client
    const response = await asker.post('/signin/phone', { phone, callbackUrl: '/app' })
    await settle()
    return { client: asker, response, code: sent.at(-1)?.code ?? '' }
  }
  const signIn = async (phone = number, client = new Client(auth)) => {
    const { code } = await ask(phone, client)
    await client.post('/callback/phone', { code })
    return { client, user: (await client.session())?.user }
  }
  return { auth, base, adapter, sent, ask, signIn }
}
const where = (response: Response): string => new URL(response.headers.get('location') ?? '/none', 'http://localhost:3000').pathname
const error = (response: Response) => new URL(response.headers.get('location')!, 'http://localhost:3000').searchParams.get('error')

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  it('signs in by the code, and the same number is the same user', async () => {
    const { ask, signIn, adapter, auth } = await world({}, { session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } })
    const { response } = await ask()
    expect(where(response)).toBe('/auth/phone')
    const first = await signIn()
    const again = await signIn('+49 151 2345 6789', new Client(auth))
    const account = await adapter.getUserByAccount!({ provider: 'phone', providerAccountId: number })
    expect([account?.email, typeof account?.id]).toEqual([null, 'string'])
    expect([first.user, again.user].every(Boolean)).toBe(true)
    const attributes = strategy === 'database' ? first.user?.['id'] === again.user?.['id'] : true
    expect(attributes).toBe(true)
  })
})

it('the message is bound to the site: its last line is read by phones', async () => {
  const { ask, sent } = await world()
  const { code } = await ask()
  expect(sent[0]).toMatchObject({ to: number, code: expect.stringMatching(/^\d{6}$/), url: undefined })
  expect(sent[0]?.text).toMatch(new RegExp(`^${code} is your code for [^]*Never tell[^]*\\n\\n@localhost #${code}$`))
})

it.each([
  ['a national number', '015123456789'],
  ['an extension', '+4915123456789;ext=12'],
  ['words around it', 'call +4915123456789'],
  ['two numbers', '+4915123456789 +4915123456780'],
  ['too many digits', '+4915123456789012345'],
  ['premium rate', '+499001234567'],
  ['a land line', '+493012345678'],
  ['Inmarsat', '+870773111632'],
  ['Iridium', '+881631234567'],
  ['an international network', '+882160012345'],
  ['international premium rate', '+979123456789'],
  ['freephone', '+8001234567890'],
  ['nothing', ''],
])('refuses %s', async (_name, phone) => {
  const { ask, sent } = await world()
  expect([error((await ask(phone)).response), sent]).toEqual(['UnknownRecipient', []])
})

it('takes the forms that people type, and numbers of the listed countries alone', async () => {
  const { ask, sent } = await world({ countries: ['DE'] })
  await ask('+49 (151) 234-567.89')
  await ask('＋４９ 151 23456789')
  expect(sent.map(({ to }) => to)).toEqual([number, number])
  expect(error((await ask('+436641234567')).response)).toBe('UnknownRecipient')
})

it('pumping ends at three per number, at twenty per network, and at the ceiling of the hour', async () => {
  const { ask, sent } = await world()
  for (let i = 0; i < 5; i++) await ask()
  expect(sent).toHaveLength(3)
  const many = await world()
  for (let i = 0; i < 25; i++) await many.ask(`+49151234567${String(i).padStart(2, '0')}`, undefined, '192.0.2.7')
  expect(many.sent).toHaveLength(20)
  const low = await world({ perHour: 4 })
  for (let i = 0; i < 7; i++) await low.ask(`+49151234567${String(i).padStart(2, '0')}`, undefined, `192.0.2.${i}`)
  expect([low.sent.length, low.base.logger.warnings.includes('phone-ceiling')]).toEqual([4, true])
})

it('a number that was not used for 90 days leads to a new user', async () => {
  const { base, signIn, auth } = await world()
  const told: string[] = []
  auth.on('unlinkAccount', ({ userId, account }) => void told.push(`${userId} ${account.provider}`))
  const first = await signIn()
  base.runtime.advance(89 * 86_400_000)
  const same = await signIn(number, new Client(auth))
  base.runtime.advance(91 * 86_400_000)
  const other = await signIn(number, new Client(auth))
  expect(same.user?.['id']).toBe(first.user?.['id'])
  expect(other.user?.['id']).not.toBe(first.user?.['id'])
  expect(told).toEqual([`${String(first.user?.['id'])} phone`])
})

it('a person who got the number of a person with a second factor begins a new user, and proves no factor', async () => {
  const told: string[] = []
  const { auth, base, adapter, signIn, ask } = await world({}, {}, twoFactorPlugin())
  auth.on('unlinkAccount', ({ userId, account }) => void told.push(`${userId} ${account.provider}`))
  const { client, user } = await signIn()
  const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
  const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)![1]!.replaceAll(' ', '')
  const id = /name="id" value="([^"]+)"/.exec(page)![1]!
  await client.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, base.runtime.now()) })
  const newcomer = await ask(number, new Client(auth))
  const led = await newcomer.client.post('/callback/phone', { code: newcomer.code })
  expect([where(led), await newcomer.client.session()]).toEqual(['/auth/two-factor', null])
  const question = await (await newcomer.client.get('/two-factor')).text()
  expect(question).toContain('the number is new to me')
  // Another browser, and a browser that proved nothing, take no number away.
  expect(where(await new Client(auth).post('/phone/newcomer'))).toBe('/auth/signin')
  expect((await adapter.getUserByAccount!({ provider: 'phone', providerAccountId: number }))?.id).toBe(user?.['id'])
  await Promise.all([newcomer.client.post('/phone/newcomer'), newcomer.client.post('/phone/newcomer')])
  const now = (await newcomer.client.session())?.user?.['id']
  expect([typeof now, now === user?.['id']]).toEqual(['string', false])
  expect((await adapter.getUserByAccount!({ provider: 'phone', providerAccountId: number }))?.id).toBe(now)
  // The former user keeps everything but the number.
  expect((await client.session())?.user?.['id']).toBe(user?.['id'])
  expect(await auth.twoFactor.list({ userId: String(user?.['id']) })).toHaveLength(1)
  expect(await auth.twoFactor.list({ userId: String(now) })).toEqual([])
  expect(told).toEqual([`${String(user?.['id'])} phone`])
})

it('ten wrong codes stop a number for a day', async () => {
  const { base, ask, sent } = await world()
  for (let round = 0; round < 2; round++) {
    const { client, code } = await ask()
    for (let i = 1; i <= 5; i++) await client.post('/callback/phone', { code: String((Number(code) + i) % 1_000_000).padStart(6, '0') })
    base.runtime.advance(700_000)
  }
  await ask()
  expect(sent).toHaveLength(2)
  base.runtime.advance(86_400_000)
  await ask()
  expect(sent).toHaveLength(3)
})

it('refuses options of the wrong shape, and an adapter that needs addresses', async () => {
  expect(() => phonePlugin({} as never)).toThrow('`send(message)`')
  expect(() => phonePlugin({ send: () => 0, countries: ['Germany'] })).toThrow('`countries`')
  expect(() => phonePlugin({ send: () => 0, perHour: 0 })).toThrow('`perHour`')
  const { nullableEmail: _no, ...strict } = memoryAdapter()
  const auth = createAuth(baseConfig())
    .use(adapterPlugin(strict))
    .use(phonePlugin({ send: () => 0 }))
  await expect(auth.ready()).rejects.toThrow(/phone/)
})
