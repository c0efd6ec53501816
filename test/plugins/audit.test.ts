/** The audit log: what is kept of what happens, sinks that fail, and chains. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuthConfig, createAuth } from 'authkernel'
import {
  type AuditAnchor,
  type AuditFunction,
  type AuditOptions,
  auditPlugin,
  type AuditRecord,
  type AuditSink,
  jsonLines,
  openTelemetryLogs,
  recordsSink,
} from 'authkernel/plugins/audit'
import { limitsPlugin } from 'authkernel/plugins/limits'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const canary = 'canary-Zk3x9'

function createHost(sink: AuditOptions['sink'], options: Partial<AuditOptions> = {}, config: AuthConfig = {}) {
  const settings = baseConfig({
    adapter: memoryAdapter(),
    session: { strategy: 'jwt' },
    deadlines: { network: 200 },
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        credentials: { username: { label: 'Name' }, password: { label: 'Password', type: 'password' } },
        authorize: ({ username, password }: Record<string, unknown>) =>
          String(password).endsWith('right') ? { id: String(username) } : null,
      } as never,
      { id: 'mail', name: 'Mail', type: 'email', sendVerificationRequest: ({ url }: { url: string }) => void (links[0] = url) } as never,
    ],
    ...config,
  })
  const links: string[] = []
  const auth = createAuth(settings).use(auditPlugin({ sink, pause: 1, ...options }))
  const client = (clientAddress = '192.0.2.77') => new Client({ handler: (request) => auth.handler(request, { clientAddress }) })
  const signIn = (password = 'right', username = 'ann', browser = client()) => browser.post('/callback/credentials', { username, password })
  return { auth, settings, client, signIn, links }
}
function collector(): { records: AuditRecord[]; sink: AuditFunction } {
  const records: AuditRecord[] = []
  return { records, sink: (batch) => void records.push(...batch) }
}
const names = (records: readonly AuditRecord[]) => records.map(({ name }) => name)

describe('what is kept', () => {
  it('sign-in, session, failure, sign-out, with actor, method, session and where from', async () => {
    const { records, sink } = collector()
    const { auth, client } = createHost(sink)
    const browser = client()
    const headers = { 'user-agent': 'Lynx', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    await browser.post('/callback/credentials', { username: 'ann', password: 'right' }, headers)
    await browser.post('/callback/credentials', { username: 'ann', password: 'wrong' }, headers)
    await browser.post('/signout')
    await auth.audit.flush()
    expect(names(records)).toEqual(['signIn.succeeded', 'session.created', 'signIn.failed', 'signOut.completed'])
    const [signedIn, session, failed, out] = records
    expect(signedIn).toMatchObject({
      outcome: 'success',
      actor: { type: 'user', id: 'ann' },
      subject: { type: 'user', id: 'ann' },
      provider: 'credentials',
      method: 'credentials',
      amr: ['pwd'],
      address: '192.0.2.77',
      userAgent: 'Lynx',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      tenant: '',
      time: Date.UTC(2026, 0, 2, 3, 4, 5),
    })
    expect(signedIn!.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(session!.sessionId).toEqual(signedIn!.sessionId)
    expect([signedIn!.requestId === session!.requestId, signedIn!.requestId === failed!.requestId]).toEqual([true, false])
    expect(failed).toMatchObject({
      outcome: 'failure',
      reason: 'CredentialsSignin',
      actor: { type: 'anonymous' },
      target: { tried: expect.stringMatching(/^[\da-f]{32}$/) },
    })
    expect(out).toMatchObject({ actor: { type: 'user', id: 'ann' } })
  })

  it('refusals: CSRF, host, path, body, limit, configuration', async () => {
    const { records, sink } = collector()
    const { auth, client } = createHost(sink, {}, { allowedHosts: ['localhost:3000'] })
    auth.use(limitsPlugin({ rules: [{ by: 'network', routes: '/providers', max: 1, seconds: 60 }] }))
    const plain = (path: string, init: RequestInit = {}) => auth.handler(new Request(`http://localhost:3000/auth${path}`, init))
    await plain('/callback/credentials', { method: 'POST', body: new URLSearchParams({ username: canary }) })
    await plain('/callback/credentials', { method: 'POST', headers: { origin: 'https://evil.example' }, body: new URLSearchParams() })
    await auth.handler(new Request('http://evil.example/auth/session'))
    await plain(`/${canary}`)
    await plain('/signout', { method: 'POST', body: new Uint8Array(100_000), headers: { 'content-type': 'application/json' } })
    for (let at = 0; at < 2; at++) await client().get('/providers')
    await auth.audit.flush()
    const refused = records.filter(({ name }) => name === 'request.refused').map(({ target, reason }) => [target?.['kind'], reason])
    expect(refused).toEqual(
      expect.arrayContaining([
        ['csrf', 'MissingCSRF'],
        ['host', 'UntrustedHost'],
        ['path', 'UnknownAction'],
        ['limit', 'TooManyRequests'],
      ]),
    )
    expect(refused.some(([kind]) => kind === 'body')).toBe(true)
    expect(JSON.stringify(records)).not.toContain(canary)
  })

  it('users, accounts and addresses of the mailed link; credentials that change; events of plugins', async () => {
    const { records, sink } = collector()
    const { auth, client, links } = createHost(sink)
    auth.use({
      name: 'own',
      setup(kernel) {
        kernel.route({
          method: 'GET',
          path: '/own',
          async handler(ctx) {
            await ctx.emit('credentialChanged', { user: { id: '7' }, kind: 'password', action: 'changed' })
            await ctx.emit('credentialChanged', { user: { id: '7' }, kind: 'factor', action: 'added', id: 'f1' })
            await ctx.emit('backupCodeUsed' as never, { user: { id: '7' }, left: 2, code: canary } as never)
            await ctx.emit('factorsReset' as never, { user: { id: '7' }, admin: { id: '1' }, reason: 'lost phone' } as never)
            await ctx.emit('sessionsEnded', { which: { userId: '7' }, count: 3, by: 'two-factor' })
            await ctx.emit('somethingOwn' as never, { userId: '7', kind: 'x', secret: canary, token: { value: canary } } as never)
            return new Response()
          },
        })
      },
    })
    await client().post('/signin/mail', { email: 'ann@example.com' })
    await client().get(links[0]!.replace('http://localhost:3000/auth', ''))
    await client().get('/own')
    await auth.audit.flush()
    expect(records.find(({ name }) => name === 'factor.enrolled')).toMatchObject({ actor: { type: 'user', id: '7' }, target: { id: 'f1' } })
    expect(records.find(({ name }) => name === 'backupCodes.used')).toMatchObject({ actor: { type: 'user', id: '7' }, target: { left: 2 } })
    expect(records.find(({ name }) => name === 'factor.reset')).toMatchObject({
      actor: { type: 'admin', id: '1' },
      subject: { type: 'user', id: '7' },
      target: { reason: 'lost phone' },
    })
    expect(records.find(({ name }) => name === 'session.revoked')).toMatchObject({
      subject: { id: '7' },
      target: { count: 3, by: 'two-factor' },
    })
    expect(records.find(({ name }) => name === 'somethingOwn')).toMatchObject({ subject: { type: 'user', id: '7' }, target: { kind: 'x' } })
    expect(names(records)).toEqual(expect.arrayContaining(['user.created', 'signIn.succeeded', 'password.changed']))
    expect(JSON.stringify(records)).not.toContain(canary)
  })

  it('never a token, code, password or query; control characters and length are tamed', async () => {
    const { records, sink } = collector()
    const { auth, client, signIn, links } = createHost(sink)
    await signIn(`${canary}right`)
    await signIn(`${canary}wrong`, canary)
    await client().get(`/callback/mail?token=${canary}&email=${canary}@example.com`)
    await client().get(`/callback/${canary}?code=${canary}&state=${canary}`)
    await client().post('/signin/mail', { email: 'ann@example.com' })
    await client().get('/session', { 'user-agent': 'a\u009b31m\u0085b', cookie: `authkernel.session-token=${canary}` })
    await client().post(
      `/callback/credentials?x=${canary}`,
      { username: 'x', password: 'y' },
      { 'user-agent': `evil \u009b[31m${'A'.repeat(100_000)}` },
    )
    await auth.audit.flush()
    expect(records.length).toBeGreaterThan(4)
    const text = JSON.stringify(records)
    expect(text).not.toContain(canary)
    expect(text).not.toContain(new URL(links[0]!).searchParams.get('token')!)
    expect(text).not.toMatch(/\p{Cc}/u)
    for (const { userAgent = '' } of records) expect(userAgent.length).toBeLessThan(256)
  })

  it.each([
    ['full', '192.0.2.77', '2001:db8:1:2:3::4', ['192.0.2.77', '2001:db8:1:2:3::4']],
    ['truncated', '192.0.2.77', '2001:db8:1:2:3::4', ['192.0.2.0/24', '2001:db8:1::/48']],
  ] as const)('addresses %s', async (addresses, v4, v6, expected) => {
    const { records, sink } = collector()
    const { auth, signIn, client } = createHost(sink, { addresses })
    await signIn('wrong', 'ann', client(v4))
    await signIn('wrong', 'ann', client(v6))
    await auth.audit.flush()
    expect(records.map(({ address }) => address)).toEqual(expected)
  })

  it('addresses keyed compare, and say nothing', async () => {
    const { records, sink } = collector()
    const { auth, signIn, client } = createHost(sink, { addresses: 'keyed' })
    for (const address of ['192.0.2.77', '192.0.2.77', '192.0.2.78']) await signIn('wrong', 'ann', client(address))
    await auth.audit.flush()
    const [one, two, three] = records.map(({ address }) => address)
    expect(one).toMatch(/^[\da-f]{32}$/)
    expect([one === two, one === three]).toEqual([true, false])
  })
})

describe('sinks', () => {
  it('records: listed by user, name and time, per tenant, and ended by retention', async () => {
    const { auth, signIn, settings } = createHost(recordsSink({ retention: 30 }))
    let namespace = 'one'
    auth.hook('settings', () => ({ namespace, cookiePrefix: namespace }))
    auth.hook('tenant', ({ tenant }) => ({ namespace: tenant, cookiePrefix: tenant }))
    await signIn()
    await signIn('wrong')
    settings.runtime.advance(60_000)
    await signIn('right', 'bob')
    namespace = 'two'
    await signIn('right', 'ann')
    await auth.audit.flush()
    const list = async (query: object) => names((await auth.audit.list({ tenant: 'one', ...query })).records)
    expect(await list({})).toEqual(['session.created', 'signIn.succeeded', 'signIn.failed', 'session.created', 'signIn.succeeded'])
    expect(await list({ userId: 'ann' })).toEqual(['session.created', 'signIn.succeeded'])
    expect(await list({ userId: 'ann', name: 'signIn.succeeded' })).toEqual(['signIn.succeeded'])
    expect(await list({ name: 'signIn.failed' })).toEqual(['signIn.failed'])
    expect(await list({ since: new Date(settings.runtime.now()) })).toEqual(['session.created', 'signIn.succeeded'])
    expect(await list({ until: new Date(settings.runtime.now()), limit: 1 })).toHaveLength(1)
    expect(names((await auth.audit.list({ tenant: 'two' })).records)).toEqual(['session.created', 'signIn.succeeded'])
    const { cursor, records } = await auth.audit.list({ tenant: 'one', limit: 2 })
    expect([...names(records), ...names((await auth.audit.list({ tenant: 'one', cursor })).records)]).toHaveLength(5)
    await expect(auth.audit.list({})).rejects.toThrow(/tenant/)
    settings.runtime.advance(31 * 86_400_000)
    expect(await list({})).toEqual([])
  })

  it('JSON lines and OpenTelemetry', async () => {
    let text = ''
    const emitted: { eventName?: string; attributes?: object }[] = []
    const lib = async () => ({
      logs: { getLogger: () => ({ emit: (record: object) => void emitted.push(record), enabled: () => true }) } as never,
    })
    const { auth, signIn } = createHost([jsonLines({ write: (lines) => void (text += lines) }), openTelemetryLogs({ lib })])
    await signIn()
    await auth.audit.flush()
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditRecord)
    expect(names(lines)).toEqual(['signIn.succeeded', 'session.created'])
    expect(emitted.map(({ eventName }) => eventName)).toEqual(['authkernel.signIn.succeeded', 'authkernel.session.created'])
    expect(emitted[0]!.attributes).toMatchObject({ 'user.id': 'ann', 'client.address': '192.0.2.77', 'authkernel.outcome': 'success' })
  })

  it('one that throws, hangs and comes back loses nothing, delays no request, and is told once', async () => {
    let state: 'throws' | 'hangs' | 'works' = 'throws'
    const { records, sink } = collector()
    const flaky: AuditFunction = (batch) => {
      if (state === 'throws') throw new Error('disk full')
      return state === 'hangs' ? new Promise(() => {}) : sink(batch)
    }
    const { auth, signIn, settings } = createHost(flaky)
    for (const next of ['throws', 'hangs', 'works'] as const) {
      state = next
      const started = performance.now()
      for (let at = 0; at < 5; at++) expect((await signIn()).headers.get('location')).toBe('http://localhost:3000')
      expect(performance.now() - started).toBeLessThan(1_500)
      if (next !== 'works') await expect(auth.audit.flush()).rejects.toThrow('could not be written')
    }
    await auth.audit.flush()
    expect(records).toHaveLength(30)
    expect(new Set(records.map(({ id }) => id)).size).toBe(30)
    expect(settings.logger.errors.map(({ message }) => message)).toEqual(['disk full'])
    expect(auth.audit.state()).toEqual({ dropped: 0, waiting: 0, failing: false })
  })

  it('one that is full drops, counts and says so; another one is not touched', async () => {
    let full = true
    const { records, sink } = collector()
    const other = collector()
    const { auth, signIn } = createHost([(batch) => (full ? Promise.reject(new Error('full')) : sink(batch)), other.sink], {
      maxRecords: 10,
    })
    for (let at = 0; at < 10; at++) await signIn('wrong', `u${at}`)
    await auth.audit.flush().catch(() => {})
    for (let at = 0; at < 5; at++) await signIn('wrong', `v${at}`)
    await auth.audit.flush().catch(() => {})
    expect(auth.audit.state()).toMatchObject({ dropped: 5, failing: true })
    full = false
    await auth.audit.flush()
    await signIn()
    await auth.audit.flush()
    expect(records.filter(({ name }) => name === 'signIn.failed')).toHaveLength(10)
    expect(records.find(({ name }) => name === 'audit.dropped')).toMatchObject({ target: { count: 5 } })
    expect(other.records.filter(({ name }) => name === 'signIn.failed')).toHaveLength(15)
  })

  it('a file is added to, and no other account may read it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'audit-'))
    const path = join(folder, 'audit.jsonl')
    for (let at = 0; at < 2; at++) {
      const { auth, signIn } = createHost(jsonLines({ path }))
      await signIn()
      await auth.close()
    }
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(4)
    expect(statSync(path).mode & 0o077).toBe(0)
    rmSync(folder, { recursive: true })
  })

  it('close writes what waits', async () => {
    const { records, sink } = collector()
    const { auth, signIn } = createHost(sink, { pause: 60_000 })
    await signIn()
    await auth.close()
    expect(records).toHaveLength(2)
  })

  it('durable: the record is there before the answer, for what must not be lost', async () => {
    const order: string[] = []
    const sink: AuditFunction = async (batch) => {
      await new Promise((resolve) => setTimeout(resolve, 30))
      order.push(...names(batch))
    }
    const { auth, client, signIn } = createHost(sink, { durable: true, pause: 60_000 })
    auth.use({
      name: 'own',
      setup(kernel) {
        const handler = async (ctx: Parameters<Parameters<typeof kernel.route>[0]['handler']>[0]) => {
          await ctx.emit('credentialChanged', { user: { id: '7' }, kind: 'password', action: 'changed' })
          return new Response()
        }
        kernel.route({ method: 'GET', path: '/own', handler })
      },
    })
    await client().get('/own')
    order.push('answer')
    await signIn()
    order.push('answer')
    expect(order).toEqual(['password.changed', 'answer', 'answer'])
    await auth.audit.flush()
  })

  it('needs a sink, and records for the table', async () => {
    expect(() => auditPlugin({} as never)).toThrow('`sink` is missing')
    const auth = createAuth(baseConfig()).use(auditPlugin({ sink: recordsSink() }))
    await expect(auth.ready()).rejects.toThrow(/audit.*records/)
  })
})

describe('the chain', () => {
  const lines = async (): Promise<{ text: string[]; verify: (text: readonly string[]) => Promise<readonly string[]> }> => {
    let text = ''
    const { auth, signIn } = createHost(jsonLines({ write: (more) => void (text += more) }), { chain: true })
    for (let at = 0; at < 4; at++) await signIn(at % 2 ? 'wrong' : 'right', `user${at}`)
    await auth.close()
    return { text: text.trim().split('\n'), verify: async (all) => (await auth.audit.verify({ lines: all.join('\n') })).faults }
  }

  it('finds what was changed, taken out, swapped, and cut at the end', async () => {
    const { text, verify } = await lines()
    expect(await verify(text)).toEqual([])
    const record = (at: number) => JSON.parse(text[at]!) as AuditRecord
    const without = (at: number) => text.filter((_, index) => index !== at)
    const at = text.findIndex((line) => line.includes('"seq":3'))
    expect((await verify(without(at))).join()).toMatch(/1 records are missing before/)
    const changed = text.map((line, index) => (index === at ? JSON.stringify({ ...record(at), outcome: 'denied' }) : line))
    expect((await verify(changed)).join()).toContain(`record ${record(at).id} (${record(at).name}, 3 of chain`)
    const persons = text.map((line) => line.replaceAll('user2', 'user9'))
    expect((await verify(persons)).length).toBeGreaterThan(0)
    const swapped = text.map((line) => line.replace('"seq":2,', '"seq":X,').replace('"seq":3,', '"seq":2,').replace('"seq":X,', '"seq":3,'))
    expect((await verify(swapped)).length).toBeGreaterThan(0)
    const last = text.findLastIndex((line) => !line.startsWith('{"head"'))
    expect((await verify(without(last))).join()).toMatch(/1 records are missing at the end/)
    expect((await verify(text.filter((line) => !line.startsWith('{"head"')))).join()).toMatch(/the end of chain .* is missing/)
    expect((await verify(text.filter((line) => line.startsWith('{"head"')))).join()).toMatch(/all 6 records of chain/)
    expect((await verify(['{broken', ...text])).join()).toContain('1 lines are no JSON')
    // A batch that was written twice is no fault.
    expect(await verify([...text, text[0]!])).toEqual([])
  })

  it('goes on being right in the table, after records were erased and secrets were rotated', async () => {
    const adapter = memoryAdapter()
    const first = createHost(recordsSink(), { chain: true }, { adapter })
    for (const name of ['ann', 'bob', 'ann']) await first.signIn('right', name)
    await first.auth.audit.flush()
    expect(await first.auth.audit.verify()).toMatchObject({ ok: true, records: 6, chains: 1 })
    const config = { adapter, secret: ['another-secret-of-more-than-32-characters', String(first.settings.secret)] }
    const second = createHost(recordsSink(), { chain: true }, config)
    await second.signIn('right', 'eve')
    await second.auth.audit.flush()
    expect(await second.auth.audit.erase({ userId: 'ann' })).toBe(4)
    expect((await second.auth.audit.list({ userId: 'ann' })).records).toEqual([])
    const { records } = await second.auth.audit.list()
    expect(JSON.stringify(records)).not.toContain('"ann"')
    expect(JSON.stringify(records)).toContain('"bob"')
    expect(await second.auth.audit.verify()).toEqual({ ok: true, records: 8, chains: 2, faults: [] })
  })

  it('refuses to erase without the id of a user, and changes nothing', async () => {
    const { auth, client, signIn } = createHost(recordsSink(), { chain: true })
    const browser = client()
    await signIn('right', 'ann', browser)
    // Records without a user are listed under ''.
    await signIn('wrong', 'ann')
    await auth.audit.note({}, { name: 'report.made', outcome: 'success' })
    await auth.audit.flush()
    const before = await auth.audit.list()
    const request = new Request('http://localhost:3000/', { headers: { cookie: browser.cookieHeader() } })
    for (const wrong of [{}, { userId: undefined }, { userId: null }, { userId: '' }, { userId: { id: 'ann' } }, { tenant: 'a' }])
      await expect(auth.audit.erase(wrong as never), JSON.stringify(wrong)).rejects.toThrow(/`userId` must be the id of a user/)
    for (const wrong of [undefined, null, 'ann', request])
      await expect(auth.audit.erase(wrong as never), String(wrong)).rejects.toThrow('auth.audit.erase: takes an object')
    await expect(auth.audit.list(request as never)).rejects.toThrow('auth.audit.list: takes an object')
    await expect(auth.audit.verify(request as never)).rejects.toThrow('auth.audit.verify: takes an object')
    expect(await auth.audit.erase({ userId: 'nowhere' })).toBe(0)
    expect(await auth.audit.list()).toEqual(before)
    expect(await auth.audit.verify()).toMatchObject({ ok: true })
  })

  it('erases each record once, although a sink goes on listing what it replaced', async () => {
    const kept = new Map<string, AuditRecord>()
    const pages = ['first', 'second', undefined]
    const sink: AuditSink = {
      name: 'kept',
      write: (records) => records.forEach((record) => kept.set(record.id, record)),
      list: (_ctx, { cursor = 'first' }) => {
        const at = pages.indexOf(cursor)
        return Promise.resolve({ records: [...kept.values()].slice(at * 2, at * 2 + 2), cursor: pages[at + 1] })
      },
      replace: (_ctx, record) => Promise.resolve(void kept.set(record.id, record)),
    }
    const { auth, signIn } = createHost(sink)
    await signIn()
    await signIn()
    expect(await auth.audit.erase({ userId: 'ann' })).toBe(4)
    expect(JSON.stringify([...kept.values()])).not.toContain('"ann"')
  })

  it('is whole although records were dropped and the sink failed', async () => {
    let [down, text] = [true, '']
    const sink: AuditSink = { ...jsonLines({ write: (more) => void (text += more) }) }
    const flaky: AuditSink = {
      ...sink,
      write: (batch, contextOf) => (down ? Promise.reject(new Error('down')) : sink.write(batch, contextOf)),
    }
    const { auth, signIn } = createHost(flaky, { chain: true, maxRecords: 3 })
    for (let at = 0; at < 6; at++) await signIn('wrong', `u${at}`)
    await auth.audit.flush().catch(() => {})
    down = false
    await auth.audit.flush()
    await signIn('wrong', 'last')
    await auth.close()
    expect(text).toContain('audit.dropped')
    expect(await auth.audit.verify({ lines: text })).toMatchObject({ ok: true, faults: [] })
  })
})

describe('what the chain alone does not show', () => {
  it('a column of the table that `list` asks by was changed', async () => {
    const later = new Date(Date.UTC(2030, 0, 1))
    for (const change of [
      { userId: 'eve' },
      { userId: '' },
      { name: 'signOut.completed' },
      { at: new Date(1) },
      { until: later },
      { chainId: 'another' },
      { seq: 7 },
    ]) {
      const data = memoryData()
      const { auth, signIn } = createHost(recordsSink(), { chain: true }, { adapter: memoryAdapter(data) })
      await signIn()
      await auth.audit.flush()
      expect((await auth.audit.verify()).faults).toEqual([])
      const [row] = [...(data.records?.get('audit')?.values() ?? [])]
      Object.assign(row!, change)
      expect((await auth.audit.verify()).faults.join()).toContain('was changed')
    }
  })

  it('`list` shows no row whose columns disagree with its record, and names it', async () => {
    for (const chain of [true, false]) {
      for (const change of [
        { userId: 'eve' },
        { name: 'signOut.completed' },
        { at: new Date(1) },
        { until: new Date(Date.UTC(2030, 0, 1)) },
      ]) {
        const data = memoryData()
        const { auth, signIn } = createHost(recordsSink(), { chain }, { adapter: memoryAdapter(data) })
        await signIn()
        await auth.audit.flush()
        const [row] = [...(data.records?.get('audit')?.values() ?? [])]
        const { id } = row as unknown as AuditRecord
        Object.assign(row!, change)
        for (const query of [{}, { userId: 'eve' }, { name: 'signOut.completed' }, { until: new Date(2) }]) {
          const { records, altered = [] } = await auth.audit.list(query)
          expect(records.map((record) => record.id)).not.toContain(id)
          if (Object.keys(query).length === 0) expect(altered).toEqual([id])
        }
      }
    }
  })

  it('an end whose column was changed, and an anchor that is none', async () => {
    const data = memoryData()
    const { auth, signIn } = createHost(recordsSink(), { chain: true }, { adapter: memoryAdapter(data) })
    await signIn()
    await auth.audit.flush()
    expect((await auth.audit.verify({ anchors: [{ chainId: 'x' } as unknown as AuditAnchor] })).faults.join()).toContain('anchor 1 is none')
    for (const row of data.records?.get('auditHead')?.values() ?? []) Object.assign(row, { at: new Date(1) })
    expect((await auth.audit.verify()).faults.join()).toMatch(/the end of chain \S+ was changed/)
  })

  it('a chain that was cut, or replaced as a whole: an anchor kept elsewhere shows it', async () => {
    const anchors: AuditAnchor[] = []
    const first: string[] = []
    const made = (lines: string[]) =>
      createHost(jsonLines({ write: (text) => void lines.push(text) }), { chain: true, anchor: (anchor) => void anchors.push(anchor) })
    const one = made(first)
    await one.signIn()
    await one.auth.audit.flush()
    await one.auth.close()
    expect(anchors.at(-1)).toMatchObject({ tenant: '', seq: anchors.at(-1)?.count, mac: expect.any(String) as string })
    const kept = [...anchors]
    const second: string[] = []
    const other = made(second)
    await other.signIn()
    await other.auth.audit.flush()
    await other.auth.close()
    const { auth } = createHost(() => {})
    const verify = async (lines: string[]) => (await auth.audit.verify({ lines: lines.join(''), anchors: kept })).faults
    expect(await verify(first)).toEqual([])
    // Genuine in itself, and not the log that was anchored.
    expect((await auth.audit.verify({ lines: second.join('') })).faults).toEqual([])
    expect((await verify(second)).join()).toContain('not as it was anchored')
    expect((await verify([])).join()).toContain('not as it was anchored')
  })
})
