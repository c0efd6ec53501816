/** A secret that was dropped without `reseal`: what it sealed is gone, and nothing fails with a 500. */
import { describe, expect, it } from 'vitest'
import type { AnyContext, FieldSpec, RecordTable } from 'authkernel/kernel'
import { memoryData, type MemoryData } from 'authkernel/plugins/memory'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'
import { everything, type Made } from './_every-plugin.ts'

const former = 'the-former-secret-of-this-host-has-40-letters'
const present = 'the-present-secret-of-this-host-has-40-letters'
const runtime = baseConfig().runtime

function world(secret: string | string[], data: MemoryData) {
  const logger = recordingLogger()
  const seen: unknown[][] = []
  const made = everything(
    {
      secret,
      runtime,
      logger: { ...logger, warn: ((...told: unknown[]) => void seen.push(told)) as never },
      origin: 'http://localhost:3000',
    },
    { data },
  )
  return { ...made, logger, seen }
}

async function begin(data: MemoryData) {
  const made = world(former, data)
  await made.auth.ready()
  for (const id of ['ada', 'root']) await made.store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const browser = new Client(made.auth)
  await browser.post('/callback/credentials', { user: 'ada' })
  return { ...made, browser }
}

/** The browser of `former` at the app with another secret: sessions in the database need none. */
function sameBrowser({ auth }: Pick<Made, 'auth'>, { cookies }: Client): Client {
  const client = new Client(auth)
  for (const [name, value] of cookies) client.cookies.set(name, value)
  return client
}
const asks = (client: Client) => new Request('http://localhost:3000/', { headers: { cookie: client.cookieHeader() } })

/** A row of a record as its declaration says, owned by ada. */
function rowOf(fields: ReadonlyMap<string, FieldSpec>, at: number): Record<string, unknown> {
  const known: Record<string, unknown> = {
    userId: 'ada',
    person: 'user:ada',
    kind: 'totp',
    confirmed: true,
    provider: 'orbit',
    clientId: 'app',
    scopes: ['read'],
    by: 'two-factor',
    owner: 'ada',
  }
  const value = (name: string, { type, max = 40 }: FieldSpec): unknown => {
    if (name in known) return known[name]
    if (type === 'date') return new Date(runtime.now() + 60_000)
    if (type === 'boolean') return true
    if (type === 'integer') return at + 1
    return type === 'json' ? { value: `${name} ${at}` } : `${name}${at}`.slice(0, max)
  }
  return Object.fromEntries([...fields].map(([name, field]) => [name, value(name, field)]))
}

/** One row of ada in every record that has a sealed field. */
async function fill({ auth, kernel }: Pick<Made, 'auth' | 'kernel'>): Promise<string[]> {
  const ctx = await kernel.contextOf({ job: 'fill' })
  const { compiled } = ctx as unknown as { compiled: { records: Map<string, { fields: Map<string, FieldSpec> }> } }
  const names = [...new Set(auth.inspect().sealed.map(({ record }) => record))]
  for (const [at, name] of names.entries())
    await (ctx.records(name as never) as unknown as RecordTable<Record<string, unknown>>).put({
      id: `row-${at}`,
      ...rowOf(compiled.records.get(name)!.fields, at),
    } as never)
  return names
}

const body = {
  userId: 'ada',
  id: 'row-1',
  email: 'ada@example.com',
  client_id: 'app',
  grant_type: 'refresh_token',
  refresh_token: 'rt.x',
  code: '123456',
}

describe('every sealed field of every record', () => {
  it('says what becomes of its row', async () => {
    const { auth } = world(former, memoryData())
    await auth.ready()
    const { sealed } = auth.inspect()
    expect(
      sealed
        .filter(({ unreadable }) => unreadable === 'null')
        .map(({ record, field }) => `${record}.${field}`)
        .toSorted(),
    ).toEqual([
      'parkedLogin.data',
      'parkedLogin.subject',
      'providerToken.tokens',
      'sessionRecord.token',
      'ssoConnection.secret',
      'twoFactor.secret',
    ])
    expect(sealed.length).toBeGreaterThan(10)
  })

  it('is absent for all routes and for all APIs: no 500, and one warning for each record', async () => {
    const data = memoryData()
    const first = await begin(data)
    await fill(first)
    const { auth, logger, seen } = world(present, data)
    await auth.ready()
    const client = sameBrowser({ auth }, first.browser)
    expect((await client.session())?.user?.['id']).toBe('ada')
    for (const { method, path } of auth.inspect().routes) {
      const to = path.replace(/\*\*:?\w*$|\*$/, 'x').replace(/:(\w+)/g, (_, name: string) => (name === 'provider' ? 'orbit' : 'row-1'))
      if (['/signout', '/account/delete'].includes(to)) continue
      const url = to.startsWith('/.well-known') ? `http://localhost:3000${to}` : to
      for (const kind of method === 'GET' ? [undefined] : ['application/x-www-form-urlencoded', 'application/json']) {
        const fields = { ...body, csrfToken: await client.csrfToken() }
        const sent = kind?.endsWith('json') ? JSON.stringify(fields) : new URLSearchParams(fields).toString()
        const headers: Record<string, string> = { origin: 'http://localhost:3000', ...(kind && { 'content-type': kind }) }
        const response = await sameBrowser({ auth }, first.browser).send(url, { method, headers, ...(kind && { body: sent }) })
        // Orbit is not there: that is no fault of a row.
        if (!/orbit/.test(to)) expect(response.status, `${method} ${to} ${kind}`).toBeLessThan(500)
      }
    }
    const call = (name: string, args: unknown[]): Promise<unknown> => {
      const [of, member] = [name.split('.').slice(0, -1), name.split('.').at(-1)!]
      const owner = of.reduce<object>((object, key) => Reflect.get(object, key) as object, auth)
      return Promise.resolve().then(() => (Reflect.get(owner, member) as (...args: unknown[]) => unknown)(...args))
    }
    const faults: string[] = []
    for (const { name } of auth.inspect().apis)
      for (const args of [
        [asks(client)],
        [{ userId: 'ada' }],
        [asks(client), 'orbit'],
        [{ userId: 'ada' }, 'orbit'],
        [{ userId: 'ada' }, 'row-1'],
      ])
        if (!/delete|erase|verify/i.test(name))
          await call(name, args).catch((error: Error & { status?: number }) => {
            // A wrong type of an argument is the mistake of this walk.
            if (/sealed|decrypt|JWK|null \(reading|"privateKey"/.test(error.message)) faults.push(`${name}: ${error.message}`)
          })
    expect(faults).toEqual([])
    const told = seen.filter(([code]) => code === 'unreadable-record').map(([, details]) => (details as { record: string }).record)
    expect(told).toEqual([...new Set(told)])
    expect(told.length).toBeGreaterThan(3)
    expect(JSON.stringify([seen, logger.errors.map(String)])).not.toContain(former)
  })

  it('gives way to a new row of its key, also in one write with others', async () => {
    const data = memoryData()
    const names = await fill(await begin(data))
    const ctx: AnyContext = await world(present, data).kernel.contextOf({ job: 'again' })
    const { compiled } = ctx as unknown as { compiled: { records: Map<string, { fields: Map<string, FieldSpec>; spec: object }> } }
    for (const [at, name] of names.entries()) {
      const { fields } = compiled.records.get(name)!
      if (![...fields.values()].some(({ unreadable }) => unreadable === 'absent')) continue
      const create = { id: `again-${at}`, ...rowOf(fields, at) }
      expect(await ctx.atomic([{ record: name, create }] as never), name).not.toBe(false)
    }
  })
})

describe('signing keys', () => {
  it('a new one signs at once, and the unreadable one leaves the key set', async () => {
    const data = memoryData()
    const first = await begin(data)
    const wanted = { audience: 'https://api.example' }
    const kidOf = (token: string | undefined) => (JSON.parse(atob(token!.split('.')[0]!)) as { kid: string }).kid
    const [before] = [(await first.auth.jwt.issue(asks(first.browser), wanted))?.accessToken]
    const second = world(present, data)
    const client = sameBrowser(second, first.browser)
    const jwks = async () =>
      ((await (await client.send('http://localhost:3000/.well-known/jwks.json')).json()) as { keys: { kid: string }[] }).keys.map(
        ({ kid }) => kid,
      )
    const [after, keys] = [(await second.auth.jwt.issue(asks(client), wanted))?.accessToken, await jwks()]
    expect(keys).toEqual([kidOf(after)])
    expect(keys).not.toContain(kidOf(before))
    expect((await second.auth.jwt.rotate()).kid).not.toBe(keys[0])
    expect(await jwks()).toHaveLength(2)
  })
})

describe('second factors', () => {
  it('that are lost do not let the first factor alone in: the address is proved, and a new factor set up', async () => {
    const data = memoryData()
    const first = await begin(data)
    await fill(first)
    const second = world(present, data)
    const client = new Client(second.auth)
    const response = await client.post('/callback/credentials', { user: 'ada' })
    expect(response.headers.get('location')).toContain('/two-factor/setup')
    expect(await client.session()).toBeNull()
    expect(await second.auth.twoFactor.list({ userId: 'ada' })).toEqual([])
    // With both secrets nothing is lost.
    const both = world([present, former], data)
    const asked = await new Client(both.auth).post('/callback/credentials', { user: 'ada' })
    expect(asked.headers.get('location')).toMatch(/\/two-factor\?/)
  })
})
