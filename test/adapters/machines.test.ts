/** Four processes, one store: refresh, theft, codes, devices and API keys; and what a kill in the middle of each leaves. */
import { sampleStores } from '../_tier.ts'
import { createHash, randomUUID } from 'node:crypto'
import { exportJWK, SignJWT } from 'jose'
import * as openid from 'openid-client'
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { begin, discover, signIn, ticketOf, visit } from '../plugins/_app.ts'
import { appHost, type AppTask, workOnApps } from './_apps.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore, type StoreSpec } from './_stores.ts'
import { startWorker, startWorkers, type Worker } from './_workers.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const afterGrace = 11_000
const redirectUri = 'http://127.0.0.1:49152/cb'
type Body = Record<string, string | undefined>
type Asked = Omit<AppTask, 'do'>

describe.each(sampleStores(['postgres', 'mysql', 'redis', 'libsql'] as const).filter((kind) => there[kind]))('%s', (kind) => {
  let store: StoreSpec
  let adapter: Required<Adapter>
  let auth: ReturnType<typeof appHost>
  let browser: Client
  let config: openid.Configuration
  let workers: Worker[] = []

  beforeAll(async () => {
    store = kind === 'redis' ? newStore(kind) : await newDatabase(kind)
    adapter = openStore(store) as Required<Adapter>
    auth = appHost(adapter)
    await auth.ready()
    await adapter.createUser({ id: 'ada', email: 'ada@example.com', name: 'Ada', emailVerified: null })
    browser = new Client(auth)
    await browser.post('/callback/credentials', { user: 'ada' })
    config = await discover(auth, 'app')
    workers = await startWorkers(4, store)
  }, 60_000)
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()))
    await auth.close()
    await dropStore(store)
  })

  /** All four processes, at the same moment. */
  async function all(task: Asked): Promise<Body[]> {
    const answers = await Promise.all(workers.map((worker) => worker.ask({ do: 'app', ...task })))
    expect(answers.flatMap(({ rejected }) => rejected)).toEqual([])
    return answers.flatMap(({ fulfilled }) => fulfilled as Body[])
  }
  /** This process, which outlives the others. */
  async function here(task: Asked): Promise<Body[]> {
    const answers = await workOnApps(adapter, { do: 'app', ...task })
    return answers.map((answer) => (answer.status === 'fulfilled' ? (answer.value as Body) : { error: String(answer.reason) }))
  }
  /** A process that ends in the middle of it. */
  async function killed(what: AppTask['what'], fields: Record<string, string>, when: 'before' | 'after', table: string): Promise<void> {
    const victim = workers.pop() ?? (await startWorker())
    await victim.ask({ do: 'open', store })
    await expect(victim.ask({ do: 'app', what, fields, times: 1, die: { when, table } })).rejects.toThrow('SIGKILL')
  }
  const refresh = (token: string | undefined): Record<string, string> => ({
    grant_type: 'refresh_token',
    client_id: 'app',
    refresh_token: token ?? '',
  })
  async function code(): Promise<Record<string, string>> {
    const begun = await begin(config, redirectUri)
    const given = new URL(await visit(browser, begun.url)).searchParams.get('code')!
    return { grant_type: 'authorization_code', client_id: 'app', redirect_uri: redirectUri, code: given, code_verifier: begun.verifier }
  }
  async function approved(): Promise<Record<string, string>> {
    const { device_code, user_code } = await openid.initiateDeviceAuthorization(config, {})
    const ticket = ticketOf(await (await browser.post('/device', { user_code })).text())
    await browser.post('/device/decide', { ticket, decision: 'allow' })
    return { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'app', device_code }
  }
  const different = (answers: readonly Body[], field: string): (string | undefined)[] => [
    ...new Set(answers.map((answer) => answer[field])),
  ]
  const withTokens = (answers: readonly Body[]): number => answers.filter((answer) => 'refresh_token' in answer).length
  const sessions = async (): Promise<number> => (await auth.bearer.list({ userId: 'ada' })).length
  const works = async (key: string): Promise<boolean> =>
    (await auth.session(new Request('http://localhost:3000', { headers: { 'x-api-key': key } }))) !== null

  it('twenty refreshes have one successor, and of twenty reuses one theft is told', async () => {
    const { refresh_token: first } = await signIn(config, browser, redirectUri)
    const answers = await all({ what: 'token', fields: refresh(first), times: 5 })
    const [next, ...more] = different(answers, 'refresh_token')
    expect([answers.length, more, next === first, typeof next]).toEqual([20, [], false, 'string'])
    const reused = await all({ what: 'token', fields: refresh(first), times: 5, ahead: afterGrace })
    expect([reused.length, different(reused, 'error')]).toEqual([20, ['invalid_grant']])
    expect(await here({ what: 'token', fields: refresh(next), times: 1 })).toEqual([{ error: 'invalid_grant' }])
    const thefts = (await all({ what: 'thefts', times: 1 })) as unknown as number[]
    expect(thefts.reduce((sum, count) => sum + count, 0)).toBe(1)
  })

  it('a code that twenty use at once gives at most one app session, and none at the end', async () => {
    expect([withTokens(await all({ what: 'token', fields: await code(), times: 5 })) <= 1, await sessions()]).toEqual([true, 0])
  })

  it('a device gets its tokens from one of twenty polls', async () => {
    expect(withTokens(await all({ what: 'token', fields: await approved(), times: 5 }))).toBe(1)
  })

  it('an API key is rotated once, its limit counts over processes, and an owner has no more keys than allowed', async () => {
    const key = await auth.apiKeys.create({ service: 'ci' }, { name: 'k' })
    const rotated = await all({ what: 'rotate', fields: { id: key.id }, times: 5 })
    expect(rotated.filter((answer) => answer !== null)).toHaveLength(1)
    const limited = await auth.apiKeys.create({ service: 'other' }, { name: 'k', limit: { max: 7, seconds: 600 } })
    const uses = (await all({ what: 'session', fields: { key: limited.key }, times: 5 })) as unknown[]
    expect([uses.filter((use) => use === true).length, uses.filter((use) => use === 429).length]).toEqual([7, 13])
    await all({ what: 'create', times: 5 })
    expect((await auth.apiKeys.list({ service: 'ci' })).length).toBeLessThanOrEqual(10)
  })

  it('a proof of a key counts once, in whichever process', async () => {
    const keys = await openid.randomDPoPKeyPair('ES256')
    const DPoP = openid.getDPoPHandle(config, keys)
    const begun = await begin(config, redirectUri)
    const answer = new URL(await visit(browser, begun.url))
    const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state }
    const { access_token: key } = await openid.authorizationCodeGrant(config, answer, checks, {}, { DPoP })
    const ath = createHash('sha256').update(key).digest('base64url')
    const dpop = await new SignJWT({
      jti: randomUUID(),
      htm: 'GET',
      htu: 'http://localhost:3000/',
      iat: Math.floor(Date.now() / 1000),
      ath,
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(keys.publicKey) })
      .sign(keys.privateKey)
    const uses = (await all({ what: 'session', fields: { key, dpop }, times: 5 })) as unknown as boolean[]
    expect([uses.length, uses.filter((use) => use).length]).toEqual([20, 1])
  })

  it('a user who is deleted leaves no key, no app session, no code and no approval', async () => {
    await adapter.createUser({ id: 'eve', email: 'eve@example.com', name: 'Eve', emailVerified: null })
    const eve = new Client(auth)
    await eve.post('/callback/credentials', { user: 'eve' })
    const { key } = await auth.apiKeys.create({ userId: 'eve' }, { name: 'k' })
    const { access_token: access, refresh_token: token } = await signIn(config, eve, redirectUri)
    const begun = await begin(config, redirectUri)
    const unused = new URL(await visit(eve, begun.url)).searchParams.get('code')!
    const device = await openid.initiateDeviceAuthorization(config, {})
    const ticket = ticketOf(await (await eve.post('/device', { user_code: device.user_code })).text())
    await eve.post('/device/decide', { ticket, decision: 'allow' })
    expect([await works(key), await works(access)]).toEqual([true, false])
    const bearer = async () => auth.session(new Request('http://localhost:3000', { headers: { authorization: `Bearer ${access}` } }))
    expect((await bearer())?.user?.id).toBe('eve')
    await adapter.deleteUser('eve')
    expect([await works(key), await bearer()]).toEqual([false, null])
    const left = [
      { ...refresh(token) },
      { grant_type: 'authorization_code', client_id: 'app', redirect_uri: redirectUri, code: unused, code_verifier: begun.verifier },
      { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'app', device_code: device.device_code },
    ]
    for (const fields of left) expect(await here({ what: 'token', fields, times: 1 })).toEqual([{ error: 'invalid_grant' }])
    expect([await auth.apiKeys.list({ userId: 'eve' }), await auth.bearer.list({ userId: 'eve' })]).toEqual([[], []])
  })

  it('kill -9 before and after each write leaves all of it or nothing', async () => {
    const { refresh_token: first } = await signIn(config, browser, redirectUri)
    await killed('token', refresh(first), 'before', 'appSession')
    // The token still counts.
    const [second] = different(await here({ what: 'token', fields: refresh(first), times: 5 }), 'refresh_token')
    expect(second).toMatch(/^rt\./)
    await killed('token', refresh(second), 'after', 'appSession')
    // No client saw the successor: a client that asks again in time gets it, and later it is a theft.
    const again = await here({ what: 'token', fields: refresh(second), times: 5 })
    expect([different(again, 'refresh_token').length, different(again, 'error')]).toEqual([1, [undefined]])
    expect(different(await here({ what: 'token', fields: refresh(second), times: 2, ahead: afterGrace }), 'error')).toEqual([
      'invalid_grant',
    ])

    const [before, after, count] = [await code(), await code(), await sessions()]
    await killed('token', before, 'before', 'appCode')
    expect([withTokens(await here({ what: 'token', fields: before, times: 1 })), await sessions()]).toEqual([1, count + 1])
    await killed('token', after, 'after', 'appCode')
    expect(await sessions()).toBe(count + 2)
    expect([await here({ what: 'token', fields: after, times: 1 }), await sessions()]).toEqual([[{ error: 'invalid_grant' }], count + 1])

    const device = await approved()
    await killed('token', device, 'before', 'deviceCode')
    expect(withTokens(await here({ what: 'token', fields: device, times: 3 }))).toBe(1)
    const [lost, had] = [await approved(), await sessions()]
    await killed('token', lost, 'after', 'deviceCode')
    // The session is there, and its tokens reached no client: it is listed, and can be ended.
    expect([await here({ what: 'token', fields: lost, times: 1 }), await sessions()]).toEqual([[{ error: 'invalid_grant' }], had + 1])

    const [one, two] = [
      await auth.apiKeys.create({ service: 'one' }, { name: 'k' }),
      await auth.apiKeys.create({ service: 'two' }, { name: 'k' }),
    ]
    await killed('rotate', { id: one.id, service: 'one' }, 'before', 'apiKey')
    expect([(await auth.apiKeys.list({ service: 'one' })).length, await works(one.key)]).toEqual([1, true])
    await killed('rotate', { id: two.id, service: 'two' }, 'after', 'apiKey')
    // Both are there. No client got the text of the next one: it is listed, and can be revoked.
    expect([(await auth.apiKeys.list({ service: 'two' })).length, await works(two.key)]).toEqual([2, true])
  }, 60_000)
})
