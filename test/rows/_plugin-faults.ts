/** Journeys through plugins with routes, for a host whose store, records and network fail once, at a chosen call. */
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { captchaPlugin, turnstile } from 'authkernel/plugins/captcha'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { guestPlugin } from 'authkernel/plugins/guest'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import type { Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { byName, type Journey, json, person, settle, signedIn, tokenIn } from './_ground.ts'
import { appJourneys } from './_plugin-faults-apps.ts'
import { peopleJourneys } from './_plugin-faults-people.ts'

const password = 'seven purple otters sing'

export const journeys: readonly Journey[] = [
  {
    name: 'passwords: sign-up, proof, sign-in, change, reset',
    slow: true,
    plugins: () => [passwordsPlugin({ breached: false }) as never],
    async run(ground, who, mustNot) {
      const [client, email, before] = [ground.browser(), `${who}@example.com`, ground.mails.length]
      await client.post('/passwords/sign-up', { email, password })
      await settle(ground.mails, before)
      mustNot('signed in before the address was proved', await signedIn(client))
      await client.post('/passwords/confirm', { token: tokenIn(ground.mails.at(-1)) })
      const other = ground.browser()
      await other.post('/callback/passwords', { email, password: 'a wrong password of letters' })
      mustNot('signed in by a wrong password', await signedIn(other))
      await other.post('/callback/passwords', { email, password })
      const changed = await other.post('/passwords/change', { current: password, password: `${password} twice` })
      const sent = ground.mails.length
      await client.post('/passwords/reset', { email })
      await settle(ground.mails, sent)
      const used = tokenIn(ground.mails.at(-1))
      await client.post('/passwords/new', { token: used, password: `${password} thrice` })
      const last = ground.browser()
      await last.post('/callback/passwords', { email, password: `${password} thrice` })
      return changed.status < 400 && (await signedIn(last))
    },
  },
  {
    name: 'two-factor: enrolment, factor, backup code',
    slow: true,
    plugins: () => [twoFactorPlugin() as never],
    config: () => ({ providers: [byName as never] }),
    async run(ground, who, mustNot) {
      await person(ground, who)
      const client = ground.browser()
      await client.post('/callback/credentials', { user: who })
      const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
      const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)?.[1]?.replaceAll(' ', '') ?? ''
      const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
      const done = await (
        await client.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, ground.runtime.now()) })
      ).text()
      const backup = /<li><code>([A-Z2-9-]{11})<\/code>/.exec(done)?.[1]
      if (backup === undefined) return false
      ground.runtime.advance(30_000)
      const second = ground.browser()
      await second.post('/callback/credentials', { user: who })
      mustNot('signed in without the factor', await signedIn(second))
      await second.post('/two-factor', { code: '000000' })
      mustNot('signed in by a wrong code', await signedIn(second))
      await second.post('/two-factor', { code: totpAt(secret, ground.runtime.now()) })
      const third = ground.browser()
      await third.post('/callback/credentials', { user: who })
      await third.post('/two-factor', { code: backup })
      const fourth = ground.browser()
      await fourth.post('/callback/credentials', { user: who })
      const [both, again] = [await signedIn(third), await fourth.post('/two-factor', { code: backup })]
      mustNot('signed in by a backup code for the second time', both && again.status < 500 && (await signedIn(fourth)))
      return both && (await signedIn(second))
    },
  },
  {
    name: 'codes: asked for and typed',
    plugins: () => [codesPlugin({ via: email() }) as never],
    async run(ground, who, mustNot) {
      const client = ground.browser()
      const before = ground.mails.length
      await client.post('/signin/codes', { email: `${who}@example.com` })
      await settle(ground.mails, before)
      const mailed = /\b(\d{6})\b/.exec(ground.mails[before]?.text ?? '')?.[1] ?? 'none'
      const wrong = mailed === 'none' ? '111111' : String((Number(mailed) + 1) % 1_000_000).padStart(6, '0')
      await client.post('/callback/codes', { code: wrong })
      mustNot('signed in by a wrong code', await signedIn(client))
      await client.post('/callback/codes', { code: mailed })
      return signedIn(client)
    },
  },
  {
    name: 'api-keys: made, used, revoked',
    plugins: () => [apiKeysPlugin({ routes: true }) as never],
    config: () => ({ providers: [byName as never] }),
    async run(ground, who, mustNot) {
      await person(ground, who)
      const client = ground.browser()
      await client.post('/callback/credentials', { user: who })
      const send = (path: string, method: string, body?: object) =>
        client.send(path, { method, headers: json, ...(body && { body: JSON.stringify(body) }) })
      const made = (await (await send('/api-keys', 'POST', { name: 'deploy' })).json()) as { key?: string; id?: string }
      const { key, id } = made
      const asKey = async (text: string): Promise<boolean> => {
        const answer = await ground.browser().get('/session', { 'x-api-key': text })
        return answer.status === 200 && (await answer.json()) !== null
      }
      mustNot('a session by a key that was not made', await asKey(`ak_live_${'a'.repeat(12)}_${'b'.repeat(32)}000000`))
      if (!key || !id) return false
      const used = await asKey(key)
      const gone = await send(`/api-keys/${id}`, 'DELETE')
      if (gone.status !== 200) return false
      mustNot('a session by a revoked key', await asKey(key))
      return used
    },
  },
  {
    name: 'guest: begun, and becomes a person',
    plugins: () => [guestPlugin() as never],
    config: () => ({ providers: [byName as never] }),
    async run(ground, who) {
      await person(ground, who)
      const client = ground.browser()
      await client.post('/guest')
      const asGuest = await signedIn(client)
      await client.post('/callback/credentials', { user: who })
      return asGuest && (await client.session().catch(() => null))?.user?.name === who
    },
  },
  {
    name: 'jwt: a token and the keys',
    plugins: () => [jwtPlugin() as never],
    config: () => ({ providers: [byName as never] }),
    async run(ground, who, mustNot) {
      await person(ground, who)
      const client = ground.browser()
      const token = (by: Client): Promise<Response> =>
        by.send('/jwt/token', { method: 'POST', headers: json, body: JSON.stringify({ audience: 'https://api.example' }) })
      mustNot('a token without a user', (await token(ground.browser())).status === 200)
      await client.post('/callback/credentials', { user: who })
      const keys = await client.get('http://localhost:3000/.well-known/jwks.json')
      return [200, 404].includes(keys.status) && (await signedIn(client))
    },
  },
  {
    name: 'captcha: a widget that is verified elsewhere',
    plugins: () => [
      captchaPlugin(turnstile({ siteKey: 'site', secretKey: 'captcha-secret-canary' }), {
        when: 'always',
      } as never) as never,
    ],
    config: (op) => {
      op.answers['/turnstile/v0/siteverify'] = () => ({
        success: true,
        hostname: 'localhost',
        challenge_ts: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)).toISOString(),
      })
      return { providers: [byName as never] }
    },
    async run(ground, who, mustNot) {
      await person(ground, who)
      const without = ground.browser()
      await without.post('/callback/credentials', { user: who })
      mustNot('signed in without a captcha', await signedIn(without))
      const client = ground.browser()
      await client.post('/callback/credentials', { user: who, 'cf-turnstile-response': `solved-${who}-${Math.random()}` })
      return signedIn(client)
    },
  },
  {
    name: 'provider-tokens: kept at sign-in, refreshed',
    plugins: () => [providerTokensPlugin() as never],
    config: (op) => ({ providers: [{ ...op.provider('oidc'), trustEmail: true } as never] }),
    async run(ground, who) {
      ground.op.person = { ...ground.op.person, sub: who, email: `${who}@example.com` }
      const client = ground.browser()
      const start = await client.post('/signin/oidc')
      const location = start.headers.get('location') ?? ''
      if (!location.startsWith('https://op.example/authorize')) return false
      await client.get(ground.op.authorize(location))
      return signedIn(client)
    },
  },
  ...appJourneys,
  ...peopleJourneys,
]
