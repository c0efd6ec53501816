/** Codes: six digits for one browser, five tries, ten minutes, once; code and link of one mail are one thing. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAuth } from 'authkernel'
import { createAuthClient } from 'authkernel/client'
import type { AuthConfig, AuthError, MailMessage, Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type CodeMessage, codesPlugin, type CodesOptions, email } from 'authkernel/plugins/codes'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { baseConfig, Client } from '../_setup.ts'
import { settle } from '../_settle.ts'

const ada = 'ada@example.com'
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

async function world(options: CodesOptions = { via: email() }, config: AuthConfig = {}) {
  const base = baseConfig({ session: { strategy: 'database' }, ...config })
  const mails: MailMessage[] = []
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const adapter = memoryAdapter(memoryData())
  const auth = createAuth(base).use(adapterPlugin(adapter)).use(postbox).use(codesPlugin(options))
  // The mails are waited for, and not the first load of what writes them.
  await auth.ready({ warm: true })
  const failures: AuthError[] = []
  auth.on('signInFailed', ({ error }) => void failures.push(error))
  const last = () => mails.at(-1)?.text ?? ''
  const code = async () => (await settle(), /^\s*(\d{6})\s*$/m.exec(last())?.[1] ?? '')
  const link = async () => (await settle(), /https?:\S+token=[0-9a-f]{64}/.exec(last())?.[0] ?? '')
  const ask = async (client = new Client(auth), address = ada) => {
    const response = await client.post('/signin/codes', { email: address, callbackUrl: '/app' }, { 'user-agent': firefox })
    return { client, response, code: await code(), link: await link() }
  }
  const type = (client: Client, typed: string) => client.post('/callback/codes', { code: typed })
  return { auth, adapter, base, mails, failures, ask, type, settle, code, link }
}

const where = (response: Response): string => {
  const { pathname, search } = new URL(response.headers.get('location') ?? '/none', 'http://localhost:3000')
  return pathname + search
}
const notThis = (code: string, n = 1) => String((Number(code) + n) % 1_000_000).padStart(6, '0')

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  const start = (options?: CodesOptions) => world(options, { session: { strategy } })

  it('signs in by the code, makes a user with a proved address, and goes where the person was going', async () => {
    const { adapter, ask, type } = await start()
    const { client, response, code, link } = await ask()
    expect([where(response), code, link]).toEqual(['/auth/codes', expect.stringMatching(/^\d{6}$/), expect.stringContaining('token=')])
    expect([await client.session(), await adapter.getUserByEmail!(ada)]).toEqual([null, null])
    expect(where(await type(client, ` ${code.slice(0, 3)} ${code.slice(3)} `))).toBe('/app')
    expect((await client.session())?.user?.email).toBe(ada)
    expect((await adapter.getUserByEmail!(ada))?.emailVerified).toBeInstanceOf(Date)
  })

  it('code and link are one record: using either consumes both', async () => {
    const { auth, ask, type } = await start()
    const first = await ask()
    await type(first.client, first.code)
    const opened = await new Client(auth).get(new URL(first.link).pathname.slice(5) + new URL(first.link).search)
    expect(where(opened)).toContain('error=Verification')
    const second = await ask()
    const reader = new Client(auth)
    const token = new URL(second.link).searchParams.get('token')!
    expect(await (await reader.get(`/callback/codes?token=${token}`)).text()).toContain(ada)
    expect(await reader.session()).toBeNull()
    await reader.post('/callback/codes', { token })
    expect([(await reader.session())?.user?.email, await second.client.session()]).toEqual([ada, null])
    expect(where(await type(second.client, second.code))).toBe('/auth/codes?error=WrongCode')
    expect(where(await new Client(auth).post('/callback/codes', { token }))).toContain('error=Verification')
  })

  it('another browser and an older code are refused', async () => {
    const { auth, ask, type } = await start()
    const first = await ask()
    const stranger = new Client(auth)
    expect([where(await type(stranger, first.code)), await stranger.session()]).toEqual(['/auth/signin?error=WrongCode', null])
    const second = await ask(first.client)
    if (second.code !== first.code) await type(first.client, first.code)
    expect(await first.client.session()).toBeNull()
    await type(first.client, second.code)
    expect((await first.client.session())?.user?.email).toBe(ada)
  })
})

it('a stranger who asks for the same address voids no code of its owner, and gets no further than ten wrong ones', async () => {
  const { auth, base, ask, type } = await world()
  const owner = await ask()
  const stranger = await ask(new Client(auth))
  // The code of one browser is none in the other, in both directions.
  await type(stranger.client, owner.code)
  expect(await stranger.client.session()).toBeNull()
  await type(owner.client, owner.code)
  expect((await owner.client.session())?.user?.email).toBe(ada)
  // Several browsers have one count: ten wrong codes in all.
  base.runtime.advance(700_000)
  const [one, two, three] = [await ask(new Client(auth)), await ask(new Client(auth)), await ask(new Client(auth))]
  let compared = 0
  for (const { client, code } of [one, two, three])
    for (let i = 1; i <= 6; i++) if (where(await type(client, notThis(code, i))).includes('WrongCode')) compared++
  expect(compared).toBeLessThanOrEqual(10)
})

it('of twenty tries at the same moment five are compared, and the right one is too late', async () => {
  const { ask, type, failures } = await world()
  const { client, code } = await ask()
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => type(client, notThis(code, i + 1))))
  expect(answers.map(where).filter((at) => at.includes('WrongCode'))).toHaveLength(5)
  expect(where(await type(client, code))).toBe('/auth/codes?error=TooManyCodes')
  expect([await client.session(), failures.filter(({ type }) => type === 'WrongCode').length]).toEqual([null, 5])
})

it('of eight requests with the right code at the same moment one signs in', async () => {
  const { ask, type } = await world()
  const { client, code } = await ask()
  const answers = await Promise.all(Array.from({ length: 5 }, () => type(client, code)))
  expect(answers.filter((answer) => where(answer) === '/app')).toHaveLength(1)
})

it('a code ends after ten minutes, and so does its link', async () => {
  const { auth, base, ask, type } = await world()
  const { client, code, link } = await ask()
  base.runtime.advance(599_000)
  expect((await client.get('/codes')).status).toBe(200)
  base.runtime.advance(2_000)
  await type(client, code)
  const token = new URL(link).searchParams.get('token')!
  expect(where(await new Client(auth).post('/callback/codes', { token }))).toContain('error=Verification')
  expect(await client.session()).toBeNull()
})

it('guessing over time: after ten wrong codes only the link works, until it was used', async () => {
  const { auth, base, ask, type, mails } = await world()
  for (let round = 0; round < 3; round++) {
    const { client, code } = await ask()
    for (let i = 1; i <= 5; i++) await type(client, notThis(code, i))
    base.runtime.advance(700_000)
  }
  const stopped = await ask()
  expect([stopped.code, stopped.link]).toEqual(['', expect.stringContaining('token=')])
  expect(mails.at(-1)?.text).toContain('Codes are off')
  expect(where(await type(stopped.client, '123456'))).toBe('/auth/codes?error=WrongCode')
  await new Client(auth).post('/callback/codes', { token: new URL(stopped.link).searchParams.get('token')! })
  base.runtime.advance(700_000)
  expect((await ask()).code).toMatch(/^\d{6}$/)
})

it('a right code takes its own try back: ten sign-ins with one slip each stop nothing', async () => {
  const { base, ask, type, auth } = await world({ via: email() }, { throttle: { mail: { max: 100, seconds: 600 } } })
  for (let round = 0; round < 9; round++) {
    const { client, code } = await ask()
    await type(client, notThis(code))
    await type(client, code)
    expect((await client.session())?.user?.email).toBe(ada)
    base.runtime.advance(1_000)
  }
  expect((await ask(new Client(auth))).code).toMatch(/^\d{6}$/)
})

it('one try on each of many addresses raises an alarm', async () => {
  const { auth, ask, type } = await world({ via: email() }, { throttle: false })
  const alarms: string[] = []
  auth.on('codesGuessed', ({ plugin }) => void alarms.push(plugin))
  for (let i = 0; i < 62; i++) {
    const { client, code } = await ask(new Client(auth), `p${i}@example.com`)
    await type(client, notThis(code))
  }
  expect(alarms).toEqual(['codes'])
})

it('known, unknown, refused and throttled addresses get the same answer', async () => {
  const { auth, adapter, ask, mails } = await world()
  await adapter.createUser!({ id: 'bob', email: 'bob@example.com', emailVerified: new Date() })
  auth.hook('signIn', ({ user }) => user.email !== 'eve@example.com')
  const shape = async (address: string) => {
    const { response } = await ask(new Client(auth), address)
    const cookies = response.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, ''))
    return [response.status, where(response), cookies.filter((line) => line.includes('code'))]
  }
  const known = await shape('bob@example.com')
  expect([await shape('nobody@example.com'), await shape('eve@example.com')]).toEqual([known, known])
  expect(mails.map(({ to }) => to)).toEqual(['bob@example.com', 'nobody@example.com'])
  for (let i = 0; i < 4; i++) await shape('bob@example.com')
  expect([mails.filter(({ to }) => to === 'bob@example.com').length, await shape('bob@example.com')]).toEqual([3, known])
})

it('mail and page name the device and say never to tell the code', async () => {
  const { ask, mails } = await world()
  const { client } = await ask()
  const page = await (await client.get('/codes')).text()
  expect(mails[0]?.text).toMatch(/Firefox, Linux[\s\S]*Never tell/)
  expect(page).toMatch(/Never tell/)
  expect(page).toContain('autocomplete="one-time-code"')
  expect(page).not.toContain('token=')
  expect((await client.get('/codes', { 'accept-language': 'de' })).headers.get('content-language')).toBe('de')
})

it('a planted cookie, a code of another address and another tenant’s give nothing', async () => {
  const { auth, ask, type } = await world()
  const eve = await ask(new Client(auth), 'eve@example.com')
  const victim = await ask()
  const [name, value] = [...eve.client.cookies].find(([key]) => key.endsWith('.code'))!
  victim.client.cookies.set(name, value)
  await type(victim.client, victim.code)
  expect(await victim.client.session()).toBeNull()
  victim.client.cookies.set(name, 'planted')
  expect(where(await type(victim.client, victim.code))).toBe('/auth/signin?error=WrongCode')
})

it.each([
  ['three addresses', 'a@x.example,b@x.example'],
  ['no address', 'ada'],
  ['nothing', ''],
  ['a control character', 'a\u0000@x.example'],
])('refuses %s', async (_name, address) => {
  const { ask, mails } = await world()
  expect([where((await ask(undefined, address)).response), mails]).toEqual(['/auth/signin?error=UnknownRecipient', []])
})

it.each([
  ['an object', { code: { a: 1 } }],
  ['a list', { code: ['123456'] }],
  ['a megabyte', { code: '1'.repeat(60_000) }],
  ['a number', { code: 123456 }],
])('answers %s as a code with an error, never 500', async (_name, body) => {
  const { ask } = await world()
  const { client } = await ask()
  const csrfToken = await client.csrfToken()
  const response = await client.send('/callback/codes', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-auth-return-redirect': '1' },
    body: JSON.stringify({ ...body, csrfToken }),
  })
  expect(response.status).toBeLessThan(500)
  expect(((await response.json()) as { url: string }).url).toContain('error=WrongCode')
})

it('sends through `send`, with the text and without a link where it is left out', async () => {
  const sent: CodeMessage[] = []
  const { auth, type, settle } = await world({ via: { link: false, send: (message) => void sent.push(message) } })
  const client = new Client(auth)
  await client.post('/signin/codes', { email: ada }, { 'accept-language': 'de' })
  await settle()
  expect(sent).toMatchObject([{ to: ada, code: expect.stringMatching(/^\d{6}$/), url: undefined }])
  expect(sent[0]?.text).toContain(`${sent[0]?.code} ist Ihr Code`)
  await type(client, sent[0]!.code!)
  expect((await client.session())?.user?.email).toBe(ada)
})

it('a message that could not be sent is logged without the code, costs nothing, and its code is void', async () => {
  let fail = true
  const codes: (string | undefined)[] = []
  const { auth, base, type, settle } = await world({
    send({ code }) {
      codes.push(code)
      if (fail) throw new Error('the carrier is down')
    },
  })
  const client = new Client(auth)
  for (let i = 0; i < 5; i++) {
    await client.post('/signin/codes', { email: ada })
    await settle()
  }
  await type(client, codes[4]!)
  expect([codes.length, await client.session()]).toEqual([5, null])
  expect(base.logger.errors.some(({ message }) => message.includes('carrier is down'))).toBe(true)
  expect(base.logger.errors.some(({ message }) => message.includes(codes[0]!))).toBe(false)
  fail = false
  await client.post('/signin/codes', { email: ada })
  await settle()
  await type(client, codes[5]!)
  expect((await client.session())?.user?.email).toBe(ada)
})

it('a store that fails at the end gives code and link back', async () => {
  const { adapter, ask, type } = await world()
  const { client, code } = await ask()
  const createUser = adapter.createUser!.bind(adapter)
  adapter.createUser = () => Promise.reject(new Error('down'))
  expect(where(await type(client, code))).not.toBe('/app')
  adapter.createUser = createUser
  expect(where(await type(client, code))).toBe('/app')
})

it('the client has typed methods', async () => {
  const { auth, code } = await world()
  const jar = new Client(auth)
  vi.stubGlobal('fetch', (input: string, init: RequestInit) => jar.send(`http://localhost:3000${input}`, init))
  onTestFinished(() => void vi.unstubAllGlobals())
  const client = createAuthClient<typeof auth>()
  expect((await client.codes.send({ email: ada })).url).toContain('/auth/codes')
  const typed = await code()
  await expect(client.codes.verify({ code: notThis(typed) })).rejects.toMatchObject({ error: 'WrongCode', status: 401 })
  await client.codes.verify({ code: typed })
  expect((await jar.session())?.user?.email).toBe(ada)
})

it('refuses options of the wrong shape and a host that could not send', async () => {
  expect(() => codesPlugin({})).toThrow('`via` must be email()')
  expect(() => codesPlugin({ via: email(), send: () => undefined })).toThrow('not both')
  const auth = createAuth(baseConfig())
    .use(adapterPlugin(memoryAdapter()))
    .use(codesPlugin({ via: email() }))
  await expect(auth.ready()).rejects.toThrow('mailTransport')
})
