/** The client of better-auth, unchanged, against authkernel with `betterAuthCompatPlugin({ routes: true })`, beside better-auth over the same database. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BetterAuthApi } from 'authkernel/plugins/better-auth-compat'
import type { SqlAdapter } from 'authkernel/plugins/sql'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { stores } from './_stores.ts'
import { dialectOf, dropStore, newDatabase, type SqlSpec } from '../adapters/_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'
import { root } from '../_sources.ts'
import { totpAt } from '../_totp.ts'

interface App {
  handler(request: Request): Promise<Response>
}
interface Moved extends App {
  adapter: SqlAdapter
  auth: BetterAuthApi & { ready(): Promise<void>; close(): Promise<void> }
}
type Answer<T = Record<string, unknown>> = Promise<{ data: T | null; error: { status: number; code?: string; message?: string } | null }>
type Call<I, T = Record<string, unknown>> = (input: I) => Answer<T>
/** As much of the client as is used here; its own types need the server's. */
interface AuthClient {
  getSession(): Answer<{ session: Record<string, unknown>; user: Record<string, unknown> }>
  signIn: { email: Call<object>; social: Call<object>; oauth2?: Call<object> }
  signUp: { email: Call<object> }
  signOut(): Answer
  changePassword: Call<object>
  requestPasswordReset: Call<object>
  twoFactor: { verifyTotp: Call<object>; verifyBackupCode: Call<object> }
  useSession: { subscribe(listener: (state: { data: unknown; isPending: boolean }) => void): () => void }
}

const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const passwords = { ann: 'seven purple otters sing', cleo: 'nine yellow llamas dance' }

describe.each((['1.6', '1.7'] as const).flatMap((version) => stores.map((store) => [version, store] as const)))(
  'the client of better-auth %s on %s',
  (version, store) => {
    const work = mkdtempSync(join(root, 'test/migration/.better-auth-'))
    const mails: { to: string; text: string }[] = []
    const pools: { end(): Promise<void> }[] = []
    let op: RealOp
    let spec: SqlSpec
    let before: App
    let after: Moved
    let totpSecret = ''
    let backup: string[] = []

    beforeAll(async () => {
      const registered = ['callback/acme', 'oauth2/callback/acme'].map((path) => `${origin}/api/auth/${path}`)
      op = await realOp([{ client_id: 'app', client_secret: 'app-secret', redirect_uris: registered }])
      spec = await newDatabase(store)
      cpSync(join(root, 'test/migration/apps/better-auth'), work, { recursive: true })
      const file = join(work, 'before.ts')
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/'better-auth(?=['/])/g, `'better-auth-${version}`))
      const moved = join(work, 'after.ts')
      writeFileSync(moved, readFileSync(moved, 'utf8').replace('betterAuthCompatPlugin({ db', 'betterAuthCompatPlugin({ routes: true, db'))
      const provider = { issuer: op.issuer, clientId: 'app', clientSecret: 'app-secret' }
      const setting = () => {
        const { dialect, pool } = dialectOf(spec)
        if (pool) pools.push(pool.on('error', () => {}))
        return { database: { dialect, type: store === 'libsql' ? 'sqlite' : store }, origin, secret, provider, mails }
      }
      before = await ((await import(/* @vite-ignore */ file)) as Starts<App>).start(setting())
      after = await ((await import(/* @vite-ignore */ moved)) as Starts<Moved>).start(setting())
      for (const name of ['ann', 'cleo'] as const) await signUp(name)
      await enrol()
      await expect(after.auth.ready()).rejects.toThrow('migrate --apply')
      await after.adapter.migrate({ apply: true })
      await after.auth.betterAuth.takeOver({ apply: true })
    }, 120_000)
    afterAll(async () => {
      await after?.auth.close()
      await Promise.allSettled(pools.map((pool) => pool.end()))
      await op?.stop()
      if (spec) await dropStore(spec)
      rmSync(work, { recursive: true, force: true })
    })

    /** A browser, or an app on a phone, which keeps cookies itself and sends no Origin. */
    async function open(
      app: App,
      { phone = false, from }: { phone?: boolean; from?: Client } = {},
    ): Promise<{ client: AuthClient; jar: Client }> {
      const jar = new Client({ handler: (request) => app.handler(request) }, { origin, basePath: '/api/auth' })
      for (const [name, value] of from?.cookies ?? []) jar.cookies.set(name, value)
      const name = `better-auth-${version}`
      const { createAuthClient } = (await import(/* @vite-ignore */ `${name}/client`)) as { createAuthClient(options: object): AuthClient }
      const { genericOAuthClient, twoFactorClient } = (await import(/* @vite-ignore */ `${name}/client/plugins`)) as Record<
        string,
        () => object
      >
      const customFetchImpl = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
        const request = new Request(input, init)
        const headers = Object.fromEntries(request.headers)
        const body = request.method === 'GET' ? undefined : await request.text()
        return jar.request(request.method, request.url, {
          headers: { ...headers, ...(phone ? { 'expo-origin': 'acme://' } : { origin, 'sec-fetch-site': 'same-origin' }) },
          ...(body !== undefined && { body }),
        })
      }
      const client = createAuthClient({
        baseURL: `${origin}/api/auth`,
        plugins: [twoFactorClient!(), ...(genericOAuthClient ? [genericOAuthClient()] : [])],
        fetchOptions: { customFetchImpl },
      })
      return { client, jar }
    }
    const signUp = (name: 'ann' | 'cleo'): Promise<void> => register(name, { email: `${name}@example.com`, password: passwords[name] })
    async function register(name: string, fields: { email: string; password: string }): Promise<void> {
      const { client } = await open(before)
      expect((await client.signUp.email({ name, ...fields })).error).toBeNull()
      await vi.waitFor(() => expect(mails.at(-1)?.to).toBe(fields.email))
      expect((await new Client(before, { origin, basePath: '/api/auth' }).get(mails.pop()!.text)).status).toBeLessThan(400)
    }
    async function enrol(): Promise<void> {
      const { client, jar } = await open(before)
      await client.signIn.email({ email: 'cleo@example.com', password: passwords.cleo })
      const json = (path: string, fields: object): Promise<Response> =>
        jar.request('POST', path, { body: JSON.stringify(fields), headers: { 'content-type': 'application/json', origin } })
      const enabled = (await (await json('/two-factor/enable', { password: passwords.cleo })).json()) as {
        totpURI: string
        backupCodes: string[]
      }
      totpSecret = new URL(enabled.totpURI).searchParams.get('secret') ?? ''
      backup = enabled.backupCodes
      expect((await json('/two-factor/verify-totp', { code: totpAt(totpSecret, Date.now()) })).status).toBe(200)
    }
    const ann = { email: 'ann@example.com', password: passwords.ann }
    const cleo = { email: 'cleo@example.com', password: passwords.cleo }
    /** Names and kinds of what was answered: values differ from one sign-in to the next. */
    const shapeOf = (value: unknown): unknown =>
      value instanceof Date
        ? 'date'
        : Array.isArray(value)
          ? value.map(shapeOf)
          : typeof value === 'object' && value !== null
            ? Object.fromEntries(
                Object.entries(value)
                  .sort(([a], [b]) => (a < b ? -1 : 1))
                  .map(([key, item]) => [key, shapeOf(item)]),
              )
            : typeof value

    it.each([false, true])('signs in, reads the session and signs out as with better-auth (on a phone: %s)', async (phone) => {
      const walk = async (app: App): Promise<unknown[]> => {
        const { client, jar } = await open(app, { phone })
        const seen: unknown[] = [(await client.getSession()).data]
        const signedIn = await client.signIn.email(ann)
        seen.push(shapeOf(signedIn))
        const session = await client.getSession()
        expect(session.data?.user).toMatchObject({ email: ann.email, name: 'ann', emailVerified: true })
        // Where the user was is in records of ours, and not in these columns.
        const { ipAddress: _address, userAgent: _agent, ...row } = session.data?.session ?? {}
        seen.push(shapeOf(row), shapeOf(session.data?.user))
        // The other product reads the same session.
        const other = await open(app === before ? after : before, { phone, from: jar })
        expect((await other.client.getSession()).data?.user).toEqual(session.data?.user)
        seen.push(await client.signOut(), (await client.getSession()).data, (await other.client.getSession()).data)
        return seen
      }
      const [theirs, ours] = [await walk(before), await walk(after)]
      expect(ours).toEqual(theirs)
    })

    it('a hook of the client is told of the session', async () => {
      const { client } = await open(after)
      await client.signIn.email(ann)
      expect((await client.getSession()).data?.session).toMatchObject({ userId: expect.any(String), token: expect.any(String) })
    })

    it('errors have the codes of better-auth', async () => {
      const walk = async (app: App): Promise<unknown[]> => {
        const { client } = await open(app)
        const errors = [
          await client.signIn.email({ ...ann, password: 'not the password at all' }),
          await client.signIn.email({ email: 'nobody@example.com', password: 'whatever it is' }),
          await client.signUp.email({ name: 'x', email: 'new@example.com', password: 'short' }),
          ...(version === '1.7' ? [await client.signUp.email({ name: 'x', email: 'no address', password: 'a long enough password' })] : []),
          await client.twoFactor.verifyTotp({ code: '000000' }),
          await client.signIn.social({ provider: 'github' }),
        ]
        return errors.map(({ data, error }) => [data, error?.status, error?.code, error?.message])
      }
      expect(await walk(after)).toEqual(await walk(before))
    })

    it('the second factor is asked for and checked; a backup code that is used here stays used in better-auth', async () => {
      const { client, jar } = await open(after)
      expect((await client.signIn.email(cleo)).data).toMatchObject({ twoFactorRedirect: true, twoFactorMethods: ['totp'] })
      expect((await client.getSession()).data).toBeNull()
      expect((await client.twoFactor.verifyTotp({ code: '000000' })).error).toMatchObject({ status: 401, code: 'INVALID_CODE' })
      const done = await client.twoFactor.verifyTotp({ code: totpAt(totpSecret, Date.now()) })
      expect(done.data).toMatchObject({ token: expect.any(String), user: { email: cleo.email } })
      expect((await (await open(before, { from: jar })).client.getSession()).data?.user).toMatchObject({ email: cleo.email })

      const second = await open(after)
      await second.client.signIn.email(cleo)
      expect((await second.client.twoFactor.verifyBackupCode({ code: backup[0] })).data).toMatchObject({ user: { email: cleo.email } })
      const third = await open(before)
      await third.client.signIn.email(cleo)
      const again = await third.client.twoFactor.verifyBackupCode({ code: backup[0] })
      expect(again.error?.status).toBe(401)
      // The others still count there, and those that are used there count here no longer.
      expect((await third.client.twoFactor.verifyBackupCode({ code: backup[1] })).data).toMatchObject({ user: { email: cleo.email } })
      const fourth = await open(after)
      await fourth.client.signIn.email(cleo)
      for (const code of [backup[0], backup[1]])
        expect((await fourth.client.twoFactor.verifyBackupCode({ code })).error?.code).toBe('INVALID_BACKUP_CODE')
      expect((await fourth.client.twoFactor.verifyBackupCode({ code: backup[2] })).data).toMatchObject({ user: { email: cleo.email } })
    })

    it('a provider signs in and leads back', async () => {
      const { client, jar } = await open(after)
      const { data } = await client.signIn.social({ provider: 'acme', callbackURL: '/welcome', disableRedirect: true })
      expect(data).toMatchObject({ url: expect.stringContaining(op.issuer), redirect: false })
      expect(locationOf(await jar.get(await op.visit(String(data?.['url']), { login: 'alice' })))).toBe(`${origin}/welcome`)
      expect((await client.getSession()).data?.user).toMatchObject({ email: 'alice@example.com' })
      expect((await (await open(before, { from: jar })).client.getSession()).data?.user).toMatchObject({ email: 'alice@example.com' })
    })

    it('the switch of the guide: each route at either product, forwards and backwards', async () => {
      const page = readFileSync(join(root, 'docs/migrating-from-better-auth.md'), 'utf8')
      const [code = ''] = /^import type \{ Auth \}[\s\S]*?(?=^```)/m.exec(page) ?? []
      const connected = code.replaceAll('declare const', 'let')
      const file = join(work, 'switch.ts')
      writeFileSync(file, `${connected}\nexport { moved }\nexport const connect = (one, other) => { auth = one; betterAuth = other }\n`)
      const guide = (await import(/* @vite-ignore */ file)) as App & { moved: string[]; connect(one: App, other: App): void }
      expect(guide.moved).toEqual(['/get-session', '/sign-in/email', '/two-factor/', '/sign-out'])
      const answered = { before: new Set<string>(), after: new Set<string>() }
      const watch = (app: App, paths: Set<string>): App => ({
        handler: (request) => app.handler((paths.add(new URL(request.url).pathname.slice('/api/auth'.length)), request)),
      })
      guide.connect(watch(after, answered.after), watch(before, answered.before))
      const all = ['/get-session', '/sign-in/email', '/sign-out']
      const lists = [[], ['/get-session'], ['/sign-in/email', '/two-factor/'], ['/sign-out'], guide.moved.slice(), ['/sign-out'], []]
      for (const list of lists) {
        guide.moved.splice(0, Infinity, ...list)
        for (const paths of Object.values(answered)) paths.clear()
        const { client } = await open(guide)
        expect((await client.signIn.email({ ...ann, password: 'something else entirely' })).error?.code).toBe('INVALID_EMAIL_OR_PASSWORD')
        expect((await client.signIn.email(ann)).error).toBeNull()
        expect((await client.getSession()).data?.user).toMatchObject({ email: ann.email })
        expect((await client.signOut()).error).toBeNull()
        expect((await client.getSession()).data).toBeNull()
        expect([...answered.after].sort()).toEqual(all.filter((path) => list.includes(path)))
        expect([...answered.before].sort()).toEqual(all.filter((path) => !list.includes(path)))
      }
      // The second factor goes with the sign-in that asks for it.
      for (const list of [['/sign-in/email', '/two-factor/'], []]) {
        guide.moved.splice(0, Infinity, ...list)
        const { client } = await open(guide)
        expect((await client.signIn.email(cleo)).data).toMatchObject({ twoFactorRedirect: true })
        const code = backup.pop()
        expect((await client.twoFactor.verifyBackupCode({ code })).data).toMatchObject({ user: { email: cleo.email } })
        expect((await client.getSession()).data?.user).toMatchObject({ email: cleo.email })
      }
    })

    it('a registration is answered as by better-auth with verified addresses: the same for every address', async () => {
      const { client, jar } = await open(after)
      const fields = { name: 'New', image: 'https://img.example/new.png', password: 'twelve silver foxes run' }
      const fresh = await client.signUp.email({ ...fields, email: 'fresh@example.com' })
      const taken = await client.signUp.email({ ...fields, email: 'ann@example.com' })
      expect(shapeOf(fresh)).toEqual(shapeOf(taken))
      expect(fresh.data).toMatchObject({ token: null, user: { email: 'fresh@example.com', emailVerified: false } })
      expect((await client.getSession()).data).toBeNull()
      // What was typed is that of the user, once the mail is opened in the same browser.
      await client.signUp.email({ ...fields, email: 'new@example.com' })
      await vi.waitFor(() => expect(mails.at(-1)).toMatchObject({ to: 'new@example.com', text: expect.stringMatching(/token=/) }))
      const token = /token=([0-9a-f]{64})/.exec(mails.at(-1)!.text)![1]!
      await jar.post('/passwords/confirm', { csrfToken: await jar.csrfToken(), token })
      const { name, image } = fields
      expect((await client.getSession()).data?.user).toMatchObject({ email: 'new@example.com', name, image })
    })

    it('a user who signs up at better-auth after the move signs in here at once', async () => {
      const { client } = await open(before)
      const dora = { email: 'dora@example.com', password: 'eleven orange badgers hum' }
      await client.signUp.email({ name: 'dora', ...dora })
      await vi.waitFor(() => expect(mails.at(-1)?.to).toBe(dora.email))
      await new Client(before, { origin, basePath: '/api/auth' }).get(mails.pop()!.text)
      const here = await open(after)
      expect((await here.client.signIn.email(dora)).data).toMatchObject({ user: { email: dora.email } })
    })

    it('a password that is changed by the client of better-auth opens better-auth no longer, and ends the other sessions', async () => {
      const [here, elsewhere] = [await open(after), await open(after)]
      for (const { client } of [here, elsewhere]) await client.signIn.email(ann)
      const change = (currentPassword: string, newPassword: string): Answer => here.client.changePassword({ currentPassword, newPassword })
      expect((await change('not the current one', 'fourteen quiet moths glow')).error).toMatchObject({
        status: 400,
        code: 'INVALID_PASSWORD',
      })
      expect((await change(ann.password, 'short')).error).toMatchObject({ status: 400, code: 'PASSWORD_TOO_SHORT' })
      expect((await change(ann.password, 'fourteen quiet moths glow')).data).toMatchObject({ token: null, user: { email: ann.email } })
      expect((await here.client.getSession()).data).not.toBeNull()
      expect((await elsewhere.client.getSession()).data).toBeNull()
      expect((await (await open(before)).client.signIn.email(ann)).error?.status).toBe(401)
      const stranger = await open(after)
      expect((await stranger.client.changePassword({ currentPassword: 'x', newPassword: 'fourteen quiet moths glow' })).error?.status).toBe(
        401,
      )
    })

    it('a password that is changed there counts here at once, one that is changed here counts there, and the last one wins', async () => {
      const frida = { email: 'frida@example.com', password: 'eleven orange badgers hum' }
      await register('frida', frida)
      const opens = async (app: App, password: string): Promise<boolean> => {
        const { data } = await (await open(app)).client.signIn.email({ ...frida, password })
        return data !== null
      }
      const change = async (app: App, currentPassword: string, newPassword: string): Promise<void> => {
        const { client } = await open(app)
        await client.signIn.email({ ...frida, password: currentPassword })
        expect((await client.changePassword({ currentPassword, newPassword })).error).toBeNull()
      }
      const both = async (password: string): Promise<boolean[]> => [await opens(before, password), await opens(after, password)]
      let current = frida.password
      expect(await both(current)).toEqual([true, true])
      for (const [app, next] of [
        [before, 'set at better-auth first'],
        [after, 'then set at authkernel'],
        [before, 'and at better-auth at last'],
      ] as const) {
        await change(app, current, next)
        expect([...(await both(next)), ...(await both(current))], next).toEqual([true, true, false, false])
        current = next
      }
      expect(await after.auth.betterAuth.takeOver({ apply: true })).toMatchObject({ applied: true, refused: [] })
      expect(await both(current)).toEqual([true, true])
    })

    it('a factor that is switched off there is asked for here no longer', async () => {
      const { client, jar } = await open(before)
      await client.signIn.email(cleo)
      await client.twoFactor.verifyTotp({ code: totpAt(totpSecret, Date.now()) })
      const off = { body: JSON.stringify({ password: cleo.password }), headers: { 'content-type': 'application/json', origin } }
      expect((await jar.request('POST', '/two-factor/disable', off)).status).toBe(200)
      expect((await (await open(after)).client.signIn.email(cleo)).data).toMatchObject({ user: { email: cleo.email } })
    })

    it('after `--finish` nothing that better-auth writes is taken over, and a later run is refused', async () => {
      const grete = { email: 'grete@example.com', password: 'eleven orange badgers hum' }
      await register('grete', grete)
      const early = await after.auth.betterAuth.finish()
      expect(early).toMatchObject({ finished: false, refused: ['passwords-changed'] })
      await after.auth.betterAuth.takeOver({ apply: true })
      const end = await after.auth.betterAuth.finish()
      expect(end).toMatchObject({ finished: true, refused: [], at: expect.any(Date) })
      expect(end.statements.join()).toContain('update "account" set "password" = null')
      expect((await after.auth.betterAuth.finish()).at).toEqual(end.at)

      const { client } = await open(before)
      await client.signIn.email(grete)
      await client.changePassword({ currentPassword: grete.password, newPassword: 'changed after the end of it' })
      const here = (password: string) => open(after).then(({ client: fresh }) => fresh.signIn.email({ ...grete, password }))
      expect((await here('changed after the end of it')).error?.code).toBe('INVALID_EMAIL_OR_PASSWORD')
      expect((await here(grete.password)).error).toBeNull()
      await expect(after.auth.betterAuth.takeOver({ apply: true })).rejects.toThrow('was finished on')
      expect((await after.auth.betterAuth.takeOver()).problems).toContainEqual(expect.objectContaining({ name: 'finished', level: 'note' }))
      expect(await after.auth.betterAuth.compare()).toEqual([])
    })

    it('another site cannot sign a visitor in, and a wrong body is no failure of the server', async () => {
      const jar = new Client({ handler: (request) => after.handler(request) }, { origin, basePath: '/api/auth' })
      const post = async (headers: Record<string, string>, body = JSON.stringify(ann)): Promise<[number, unknown]> => {
        const response = await jar.request('POST', '/sign-in/email', { body, headers: { 'content-type': 'application/json', ...headers } })
        return [response.status, ((await response.json()) as { code?: string }).code]
      }
      expect(await post({ origin: 'https://evil.example' })).toEqual([403, 'INVALID_ORIGIN'])
      expect(await post({ 'sec-fetch-site': 'cross-site' })).toEqual([403, 'INVALID_ORIGIN'])
      expect((await post({ 'content-type': 'application/x-www-form-urlencoded' }, 'email=ann@example.com'))[0]).toBe(415)
      expect((await post({}, '{'))[0]).toBe(400)
      expect((await post({}, '[]'))[0]).toBe(400)
      expect((await post({}, JSON.stringify({ email: 1, password: {} })))[0]).toBe(400)
      expect(jar.cookies.size).toBe(0)
    })
  },
)

interface Starts<T> {
  start(setting: object): Promise<T>
}
