/** better-auth itself, and the same app with authkernel over its tables: no user is signed out, no password of a verified user is lost, and there is a way back. */
import { createHmac } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SqlAdapter } from 'authkernel/plugins/sql'
import type { BetterAuthApi } from 'authkernel/plugins/better-auth-compat'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { stores } from './_stores.ts'
import { dialectOf, dropStore, newDatabase, type SqlSpec } from '../adapters/_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'
import { totpAt } from '../_totp.ts'
import { root } from '../_sources.ts'

interface App {
  handler(request: Request): Promise<Response>
}
interface Moved extends App {
  adapter: SqlAdapter
  auth: BetterAuthApi & {
    ready(): Promise<void>
    close(): Promise<void>
    session(request: Request): Promise<{ user?: { id?: string; email?: string | null } } | null>
  }
}

const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const passwords = { ann: 'seven purple otters sing', cleo: 'nine yellow llamas dance' }
const known = ['1.6.34', '1.7.25'] as const

describe.each(known.flatMap((version) => stores.map((store) => [version, store] as const)))('better-auth %s on %s', (version, store) => {
  const work = mkdtempSync(join(root, 'test/migration/.better-auth-'))
  const client = {
    client_id: 'app',
    client_secret: 'app-secret',
    redirect_uris: ['callback/acme', 'oauth2/callback/acme'].map((path) => `${origin}/api/auth/${path}`),
  }
  const mails: { to: string; text: string }[] = []
  const pools: { end(): Promise<void> }[] = []
  let op: RealOp
  let spec: SqlSpec
  let before: App
  let after: Moved
  let ann: Client
  let alice: Client
  let cleo: Client
  let ids: Record<'ann' | 'alice' | 'cleo', string | undefined>
  let totpSecret = ''
  let backup: string[] = []

  beforeAll(async () => {
    op = await realOp([client])
    spec = await newDatabase(store)
    writeApps(work, version)
    const provider = { issuer: op.issuer, clientId: client.client_id, clientSecret: client.client_secret }
    const setting = () => {
      const { dialect, pool } = dialectOf(spec)
      if (pool) pools.push(pool.on('error', () => {}))
      return { database: { dialect, type: store === 'libsql' ? 'sqlite' : store }, origin, secret, provider, mails }
    }
    before = await ((await import(/* @vite-ignore */ join(work, 'before.ts'))) as Starts<App>).start(setting())
    after = await ((await import(/* @vite-ignore */ join(work, 'after.ts'))) as Starts<Moved>).start(setting())
    ann = await signUp('ann')
    cleo = await signUp('cleo')
    alice = browser(before)
    await byProvider(alice)
    await enrol()
    ids = { ann: (await whoBefore(ann))?.id, alice: (await whoBefore(alice))?.id, cleo: (await whoBefore(cleo))?.id }
  }, 120_000)
  afterAll(async () => {
    await after?.auth.close()
    await Promise.allSettled(pools.map((pool) => pool.end()))
    await op.stop()
    await dropStore(spec)
    rmSync(work, { recursive: true, force: true })
  })

  const browser = (app: App, other?: Client): Client => {
    const fresh = new Client({ handler: (request) => app.handler(request) }, { origin, basePath: '/api/auth' })
    for (const [name, value] of other?.cookies ?? []) fresh.cookies.set(name, value)
    return fresh
  }
  const json = (who: Client, path: string, fields: object): Promise<Response> =>
    who.request('POST', path, { body: JSON.stringify(fields), headers: { 'content-type': 'application/json', origin } })
  const whoBefore = async (who: Client): Promise<{ id?: string; email?: string } | undefined> =>
    ((await (await who.get('/get-session')).json()) as { user?: { id?: string; email?: string } } | null)?.user
  const whoAfter = async (who: Client): Promise<{ id?: string; email?: string } | undefined> =>
    (await who.session())?.user as { id?: string; email?: string } | undefined

  async function signUp(name: 'ann' | 'cleo'): Promise<Client> {
    const who = browser(before)
    const response = await json(who, '/sign-up/email', { name, email: `${name}@example.com`, password: passwords[name] })
    expect(response.status).toBe(200)
    // Hashes of unverified users are parked: these two have opened the link that better-auth mailed.
    await vi.waitFor(() => expect(mails.at(-1)?.to).toBe(`${name}@example.com`))
    expect((await browser(before).get(mails.pop()!.text)).status).toBeLessThan(400)
    return who
  }
  async function byProvider(who: Client): Promise<void> {
    const [path, name] = version.startsWith('1.6') ? ['/sign-in/oauth2', 'providerId'] : ['/sign-in/social', 'provider']
    const { url } = (await (await json(who, path, { [name]: 'acme', callbackURL: '/' })).json()) as { url: string }
    const back = await who.get(await op.visit(url, { login: 'alice' }))
    expect(locationOf(back)).not.toContain('error')
  }
  async function enrol(): Promise<void> {
    const { totpURI, backupCodes } = (await (await json(cleo, '/two-factor/enable', { password: passwords.cleo })).json()) as {
      totpURI: string
      backupCodes: string[]
    }
    totpSecret = new URL(totpURI).searchParams.get('secret') ?? ''
    backup = backupCodes
    expect((await json(cleo, '/two-factor/verify-totp', { code: totpAt(totpSecret, Date.now()) })).status).toBe(200)
  }
  const signIn = async (who: Client, name: 'ann' | 'cleo', password: string = passwords[name]): Promise<string> => {
    const fields = { csrfToken: await who.csrfToken(), email: `${name}@example.com`, password, callbackUrl: '/' }
    return locationOf(await who.post('/callback/passwords', fields))
  }

  it('a dry run counts and changes nothing', async () => {
    // Compiles, so that the adapter knows the records of plugins; it names the tables that are missing.
    await expect(after.auth.ready()).rejects.toThrow('migrate --apply')
    const planned = await after.adapter.migrate()
    expect(planned.notes).toEqual([])
    // Nothing that better-auth would miss or stumble over.
    expect(planned.statements.filter((statement) => /^(drop|alter)/i.test(statement))).toEqual([])
    const counts = { passwords: { found: 2, taken: 2 }, factors: { found: 1, taken: 1 } }
    expect(await after.auth.betterAuth.takeOver()).toMatchObject({ users: 3, ...counts, applied: false })
    expect((await after.adapter.migrate()).statements).toEqual(planned.statements)
    const onTheirs = planned.statements.find((statement) => /^create (unique )?index .* on "(user|account|session)"/.test(statement))
    expect(after.adapter.lockOf(onTheirs!)).toMatch(
      store === 'postgres' ? /^blocks writes to the table, not reads/ : /^blocks writes to the database/,
    )
    const quiet = await after.adapter.migrate({ concurrently: true })
    const loud = quiet.statements.filter((statement) => /^create (unique )?index (?!concurrently)/.test(statement))
    if (store === 'postgres') {
      expect(loud).toEqual([])
      expect(quiet.statements.map((statement) => after.adapter.lockOf(statement))).toContain('blocks neither reads nor writes')
    } else expect(quiet).toEqual(planned)
    await after.adapter.migrate({ apply: true, concurrently: true })
    expect((await after.adapter.migrate()).statements).toEqual([])
    const dry = await after.auth.betterAuth.takeOver()
    expect(dry).toMatchObject({ users: 3, passwords: { found: 2, taken: 2 }, factors: { found: 1, taken: 1 }, notes: [], applied: false })
    expect(await signIn(browser(after), 'ann')).toContain('error=CredentialsSignin')
    expect(await after.auth.betterAuth.takeOver({ apply: true })).toMatchObject({
      passwords: { taken: 2 },
      factors: { taken: 1 },
      applied: true,
    })
    expect(await after.auth.betterAuth.takeOver({ apply: true })).toMatchObject({
      passwords: { found: 2, taken: 0 },
      factors: { taken: 0 },
    })
  })

  it('a user who was signed in still is', async () => {
    const seen = await Promise.all([ann, alice, cleo].map(async (who) => (await whoAfter(browser(after, who)))?.id))
    expect(seen).toEqual([ids.ann, ids.alice, ids.cleo])
  })

  it('a cookie that was altered, or signed with another secret, is signed out', async () => {
    const [name, value = ''] = [...ann.cookies].find(([key]) => key.endsWith('session_token')) ?? []
    const token = decodeURIComponent(value).split('.')[0]!
    const foreign = `${token}.${createHmac('sha256', 'another secret').update(token).digest('base64')}`
    for (const wrong of [token, `${token}.`, `${token}x.${decodeURIComponent(value).split('.')[1]}`, foreign]) {
      const thief = browser(after)
      thief.cookies.set(String(name), encodeURIComponent(wrong))
      expect(await whoAfter(thief), wrong).toBeUndefined()
    }
  })

  it('signs out a session of better-auth, which is gone there too', async () => {
    const old = browser(before, ann)
    const fresh = browser(after, ann)
    await fresh.post('/signout', { csrfToken: await fresh.csrfToken() })
    expect(await whoAfter(fresh)).toBeUndefined()
    expect(await whoBefore(old)).toBeUndefined()
  })

  it('passwords go on, wrong ones are refused, and better-auth reads the session that begins', async () => {
    const fresh = browser(after)
    expect(await signIn(fresh, 'ann', 'something else entirely')).toContain('error=CredentialsSignin')
    expect(await signIn(fresh, 'ann')).not.toContain('error')
    expect((await whoAfter(fresh))?.id).toBe(ids.ann)
    expect(await whoBefore(browser(before, fresh))).toMatchObject({ id: ids.ann, email: 'ann@example.com' })
    const again = await json(browser(before), '/sign-in/email', { email: 'ann@example.com', password: passwords.ann })
    expect(again.status).toBe(200)
  })

  it('the second factor is asked for: a code of the app, and a backup code once', async () => {
    const finish = async (fields: Record<string, string>): Promise<[string, Client]> => {
      const fresh = browser(after)
      expect(await signIn(fresh, 'cleo')).toContain('/two-factor')
      expect(await whoAfter(fresh)).toBeUndefined()
      await fresh.post('/two-factor', { csrfToken: await fresh.csrfToken(), ...fields })
      return [(await whoAfter(fresh))?.id ?? 'nobody', fresh]
    }
    const [who, fresh] = await finish({ code: totpAt(totpSecret, Date.now()) })
    expect(who).toBe(ids.cleo)
    expect((await whoBefore(browser(before, fresh)))?.id).toBe(ids.cleo)
    expect((await finish({ code: backup[0]! }))[0]).toBe(ids.cleo)
    expect((await finish({ code: backup[0]! }))[0]).toBe('nobody')
    // The used code was removed there by this app: the next run has nothing to take.
    expect((await after.auth.betterAuth.takeOver()).kinds['factors']).toMatchObject({ unchanged: 1, refreshed: 0, conflict: 0 })
  })

  it('an account of a provider is the same person; a new person is one in better-auth too', async () => {
    const fresh = browser(after)
    const back = await op.visit(locationOf(await fresh.signIn('acme', { callbackUrl: '/' })), { login: 'alice' })
    expect(locationOf(await fresh.get(back))).not.toContain('error')
    expect((await whoAfter(fresh))?.id).toBe(ids.alice)
    const bob = browser(after)
    const landed = await bob.get(await op.visit(locationOf(await bob.signIn('acme', { callbackUrl: '/' })), { login: 'bob' }))
    expect(locationOf(landed)).not.toContain('error')
    expect(await whoBefore(browser(before, bob))).toMatchObject({ email: 'bob@example.com', emailVerified: false })
    const there = browser(before)
    await byProvider(there)
    expect((await whoBefore(there))?.id).toBe(ids.alice)
  })

  it('a password that is reset here no longer opens better-auth', async () => {
    const fresh = browser(after)
    await fresh.post('/passwords/reset', { csrfToken: await fresh.csrfToken(), email: 'ann@example.com' })
    await expect.poll(() => mails.at(-1)?.text).toMatch(/token=[0-9a-f]{64}/)
    const link = /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]!
    const password = 'eleven orange badgers hum'
    await fresh.post('/passwords/new', { csrfToken: await fresh.csrfToken(), token: link, password })
    expect(await signIn(browser(after), 'ann')).toContain('error=CredentialsSignin')
    expect(await signIn(browser(after), 'ann', password)).not.toContain('error')
    const old = await json(browser(before), '/sign-in/email', { email: 'ann@example.com', password: passwords.ann })
    expect(old.status).toBe(401)
  })
})

interface Starts<T> {
  start(setting: object): Promise<T>
}

/** Both apps in a folder that sees the packages of test/migration, with the imports of that version. */
function writeApps(work: string, version: string): void {
  mkdirSync(work, { recursive: true })
  cpSync(join(root, 'test/migration/apps/better-auth'), work, { recursive: true })
  const file = join(work, 'before.ts')
  const name = `better-auth-${version.split('.').slice(0, 2).join('.')}`
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/'better-auth(?=['/])/g, `'${name}`))
  const { version: installed } = JSON.parse(readFileSync(join(root, 'test/migration/node_modules', name, 'package.json'), 'utf8')) as {
    version: string
  }
  expect(installed).toBe(version)
}
