/**
 * Passkeys of `@better-auth/passkey` itself: made there, used here, and the way back. The key is one in software with real signatures. Versions 1.6.33 and 1.7.6 of the
 * package are the last that npm has for better-auth 1.6.34 and 1.7.25.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Auth, createAuth } from 'authkernel'
import { betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { sqlAdapter } from 'authkernel/plugins/sql'
import passkey from 'authkernel/providers/passkey'
import { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stores } from './_stores.ts'
import { dialectOf, dropStore, newDatabase, type SqlSpec } from '../adapters/_stores.ts'
import { Client } from '../_client.ts'
import { Authenticator, type Bend, type CreationOptions, type RequestOptions } from '../plugins/_authenticator.ts'
import { root } from '../_sources.ts'

interface App {
  handler(request: Request): Promise<Response>
}
const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const versions = [
  ['1.6', '1.6.34', '1.6.33'],
  ['1.7', '1.7.25', '1.7.6'],
] as const

describe.each(versions.flatMap((version) => stores.map((store) => [...version, store] as const)))(
  'passkeys of better-auth %s (%s, %s) on %s',
  (line, version, ofPasskeys, store) => {
    const home = join(root, `test/migration/passkeys-${line}`)
    const work = mkdtempSync(join(home, '.app-'))
    const phone = new Authenticator(origin)
    const laptop = new Authenticator(origin)
    const pools: { end(): Promise<void> }[] = []
    let spec: SqlSpec
    let before: App
    let after: Auth
    let annId: string | undefined

    beforeAll(async () => {
      for (const [name, wanted] of [
        ['better-auth', version],
        ['@better-auth/passkey', ofPasskeys],
      ] as const)
        expect((JSON.parse(readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }).version).toBe(
          wanted,
        )
      spec = await newDatabase(store)
      cpSync(join(root, 'test/migration/apps/better-auth-passkeys'), work, { recursive: true })
      const database = () => {
        const { dialect, pool } = dialectOf(spec)
        if (pool) pools.push(pool.on('error', () => {}))
        return dialect as never
      }
      const app = (await import(/* @vite-ignore */ join(work, 'before.ts'))) as { start(setting: object): Promise<App> }
      before = await app.start({ database: { dialect: database(), type: store === 'libsql' ? 'sqlite' : store }, origin, secret })
      const db = new Kysely<object>({ dialect: database() })
      const adapter = sqlAdapter(db, { names: betterAuthNames({ passkeys: true }) })
      after = createAuth({
        adapter,
        secret,
        origin,
        basePath: '/api/auth',
        env: false,
        experimental: { enableWebAuthn: true },
        providers: [passkey()],
        logger: quiet,
      }).use(betterAuthCompatPlugin({ db }))

      const ann = browser(before)
      expect(
        (await json(ann, '/sign-up/email', { name: 'ann', email: 'ann@example.com', password: 'seven purple otters sing' })).status,
      ).toBe(200)
      annId = (await whoBefore(ann))?.id
      const options = (await (await ann.get('/passkey/generate-register-options')).json()) as CreationOptions
      expect(
        (await json(ann, '/passkey/verify-registration', { response: JSON.parse(phone.create(options)) as object, name: 'Phone' })).status,
      ).toBe(200)
      await signInBefore(phone)
      await after.ready().catch(() => {})
      const { statements } = await adapter.migrate()
      expect(statements.filter((statement) => /^(drop|alter)/i.test(statement))).toEqual([])
      await adapter.migrate({ apply: true })
      await after.ready()
    }, 120_000)
    afterAll(async () => {
      await after?.close()
      await Promise.allSettled(pools.map((pool) => pool.end()))
      if (spec) await dropStore(spec)
      rmSync(work, { recursive: true, force: true })
    })

    const quiet = { error: () => {}, warn: () => {}, debug: () => {} }
    const browser = (app: App, other?: Client): Client => {
      const fresh = new Client({ handler: (request) => app.handler(request) }, { origin, basePath: '/api/auth' })
      for (const [name, value] of other?.cookies ?? []) fresh.cookies.set(name, value)
      return fresh
    }
    const json = (who: Client, path: string, fields: object): Promise<Response> =>
      who.request('POST', path, { body: JSON.stringify(fields), headers: { 'content-type': 'application/json', origin } })
    const whoBefore = async (who: Client): Promise<{ id?: string } | undefined> =>
      ((await (await who.get('/get-session')).json()) as { user?: { id?: string } } | null)?.user
    const whoAfter = async (who: Client): Promise<string | undefined> => ((await who.session())?.user as { id?: string } | undefined)?.id

    async function signInBefore(key: Authenticator): Promise<Client> {
      const fresh = browser(before)
      const options = (await (await fresh.get('/passkey/generate-authenticate-options')).json()) as RequestOptions
      const response = await json(fresh, '/passkey/verify-authentication', { response: JSON.parse(key.get(options)) as object })
      expect([response.status, (await whoBefore(fresh))?.id]).toEqual([200, annId])
      return fresh
    }
    async function signInAfter(key: Authenticator, bend: Bend = {}): Promise<Client> {
      const fresh = browser(after)
      const { options } = (await (await fresh.get('/webauthn-options/passkey?action=authenticate')).json()) as { options: RequestOptions }
      await fresh.post('/callback/passkey', { csrfToken: await fresh.csrfToken(), action: 'authenticate', data: key.get(options, bend) })
      return fresh
    }

    it('a passkey that was made there signs in here, and the session counts there', async () => {
      const fresh = await signInAfter(phone)
      expect(await whoAfter(fresh)).toBe(annId)
      expect((await whoBefore(browser(before, fresh)))?.id).toBe(annId)
    })

    it('a copy whose counter did not grow, another origin, and an unknown key are refused', async () => {
      const { counter } = phone
      expect(await whoAfter(await signInAfter(phone, { counter }))).toBeUndefined()
      expect(await whoAfter(await signInAfter(phone, { origin: 'http://localhost:4000' }))).toBeUndefined()
      expect(await whoAfter(await signInAfter(new Authenticator(origin, phone.id)))).toBeUndefined()
      expect(await whoAfter(await signInAfter(new Authenticator(origin)))).toBeUndefined()
      expect(await whoAfter(await signInAfter(phone))).toBe(annId)
    })

    it('switched back: the same passkey, and one that was made here, sign in there', async () => {
      const ann = await signInAfter(phone)
      const { options } = (await (await ann.get('/webauthn-options/passkey?action=register')).json()) as { options: CreationOptions }
      expect(options.excludeCredentials.map(({ id }) => id)).toEqual([phone.id.toString('base64url')])
      await ann.post('/callback/passkey', { csrfToken: await ann.csrfToken(), action: 'register', data: laptop.create(options) })
      expect(await whoAfter(await signInAfter(laptop))).toBe(annId)
      await signInBefore(laptop)
      const back = await signInBefore(phone)
      const list = (await (await back.get('/passkey/list-user-passkeys')).json()) as { credentialID: string }[]
      expect(list.map(({ credentialID }) => credentialID).sort()).toEqual([phone, laptop].map(({ id }) => id.toString('base64url')).sort())
      expect(await whoAfter(browser(after, back))).toBe(annId)
    })
  },
)
