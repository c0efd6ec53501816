/** Clients of oidcProvider() of better-auth 1.6 go on, in each of the forms in which it keeps secrets. The package is the real one. */
import { createAuth } from 'authkernel'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { betterAuthCompatPlugin, betterAuthNames } from 'authkernel/plugins/better-auth-compat'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { mailPlugin } from 'authkernel/plugins/mail'
import { betterAuthHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { sqlAdapter } from 'authkernel/plugins/sql'
import { Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { dialectOf, dropStore, newDatabase } from '../adapters/_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { root } from '../_sources.ts'

interface Packages {
  betterAuth(options: object): { handler(request: Request): Promise<Response> }
  getMigrations(options: object): Promise<{ runMigrations(): Promise<void> }>
  oidcProvider(options: object): object
}

const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const redirect = 'https://partner.example/back'
const quiet = { error: () => {}, warn: () => {}, debug: () => {} }
const load = async (): Promise<Packages> => {
  const folder = `${root}test/migration/node_modules/better-auth-1.6/dist`
  const parts = await Promise.all(
    ['index.mjs', 'db/get-migration.mjs', 'plugins/index.mjs'].map((file) => import(/* @vite-ignore */ `${folder}/${file}`)),
  )
  return Object.assign({}, ...parts) as Packages
}

describe('clients of oidcProvider()', () => {
  it.each(['plain', 'hashed', 'encrypted'])(
    'keep id and secret, which better-auth keeps %s; users are not asked again',
    async (form) => {
      const { betterAuth, getMigrations, oidcProvider } = await load()
      const spec = await newDatabase('libsql')
      const { dialect } = dialectOf(spec)
      const options = {
        baseURL: origin,
        secret,
        database: { dialect, type: 'sqlite' },
        emailAndPassword: { enabled: true },
        rateLimit: { enabled: false },
        telemetry: { enabled: false },
        plugins: [
          oidcProvider({ loginPage: '/login', consentPage: '/consent', allowDynamicClientRegistration: true, storeClientSecret: form }),
        ],
      }
      await (await getMigrations(options)).runMigrations()
      const before = betterAuth(options)
      const ann = new Client({ handler: (request) => before.handler(request) }, { origin, basePath: '/api/auth' })
      const post = async (path: string, fields: object): Promise<Record<string, string>> => {
        const headers = { 'content-type': 'application/json', origin }
        const response = await ann.request('POST', path, { body: JSON.stringify(fields), headers })
        expect(response.ok, `${path} ${response.status}`).toBe(true)
        return (await response.json()) as Record<string, string>
      }
      await post('/sign-up/email', { name: 'ann', email: 'ann@example.com', password: 'seven purple otters sing' })
      const db = new Kysely<object>({ dialect: dialect as never })
      await sql`update "user" set "emailVerified" = 1`.execute(db)
      const client = await post('/oauth2/register', { client_name: 'Partner', redirect_uris: [redirect] })
      const fields = { client_id: client['client_id']!, redirect_uri: redirect, response_type: 'code', scope: 'openid email', state: 's' }
      const query = new URLSearchParams({
        ...fields,
        code_challenge: 'a34xAUci3aKuxR6yvBbklBjNdSd6BHqVm1D8yx5GtN8',
        code_challenge_method: 'S256',
      })
      const asked = await ann.get(`/oauth2/authorize?${query}`)
      const target = asked.status === 302 ? locationOf(asked) : String(((await asked.json()) as { url?: string }).url)
      await post('/oauth2/consent', { accept: true, consent_code: new URL(target, origin).searchParams.get('consent_code') })

      const adapter = sqlAdapter(db, { names: betterAuthNames() })
      const auth = createAuth({ adapter, secret, origin, basePath: '/api/auth', env: false, logger: quiet })
        .use(betterAuthCompatPlugin({ db }))
        .use(passwordsPlugin({ verify: [betterAuthHash()], breached: false }))
        .use(jwtPlugin())
        .use(authorizationServerPlugin())
        .use(mailPlugin({ transport: { send: () => {} } }))
      await auth.ready().catch(() => {})
      await adapter.migrate({ apply: true })
      const report = await auth.betterAuth.takeOver({ apply: true })
      expect(report.refused).toEqual([])
      expect([report.kinds['oauth-clients']?.new, report.kinds['oauth-consents']?.new]).toEqual([1, 1])
      expect(report.problems.find(({ name }) => name === 'oauth-pkce')).toMatchObject({ level: 'note', count: 1 })

      const who = new Client(auth, { origin, basePath: '/api/auth' })
      for (const [name, value] of ann.cookies) who.cookies.set(name, value)
      const redeem = async (sent: string, byForm: boolean): Promise<number> => {
        const code = new URL(locationOf(await who.get(`/oauth2/authorize?${query}`))).searchParams.get('code') ?? 'none'
        const body = new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          redirect_uri: redirect,
          code_verifier: 'a-verifier-that-has-at-least-forty-three-letters',
          ...(byForm && { client_id: client['client_id']!, client_secret: sent }),
        })
        const headers = { ...(!byForm && { authorization: `Basic ${btoa(`${client['client_id']}:${sent}`)}` }) }
        return (await auth.handler(new Request(`${origin}/api/auth/oauth2/token`, { method: 'POST', headers, body }))).status
      }
      expect([await redeem(client['client_secret']!, false), await redeem(client['client_secret']!, true)]).toEqual([200, 200])
      // What is in the table is no secret.
      const { rows } = await sql<{ clientSecret: string }>`select "clientSecret" from "oauthApplication"`.execute(db)
      const wrong = form === 'plain' ? 'x'.repeat(32) : rows[0]!.clientSecret
      expect([await redeem(wrong, false), await redeem(wrong, true)]).toEqual([401, 401])
      await auth.close()
      await dropStore(spec)
    },
    60_000,
  )
})
