/** The provider on real databases, two instances on one: a code and a refresh token give tokens once, and an ending on one holds on the other. */
import { sampleStores } from '../_tier.ts'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import {
  begin,
  clients,
  discover,
  issuer,
  refusal,
  secret,
  redirect,
  signedApi,
  signIn,
  ticketOf,
  visit,
  world,
} from '../plugins/_authorization-server.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore } from './_stores.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const gateway = {
  client_id: 'gateway',
  client_name: 'Gateway',
  client_secret: secret,
  grant_types: ['urn:ietf:params:oauth:grant-type:token-exchange' as const],
}
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code' as const
const television = { client_id: 'tv', client_name: 'TV', grant_types: [deviceGrant] }
const resources = [
  { resource: 'https://api.example/', scopes: ['read', 'write'], introspectedBy: ['partner', 'gateway'] },
  { resource: signedApi, scopes: ['sign'], format: 'jwt' as const },
]
const basic = { authorization: `Basic ${btoa(`partner:${secret}`)}` }

describe.each(sampleStores(['postgres', 'mysql', 'redis', 'libsql'] as const))('%s', (kind) => {
  it.skipIf(!there[kind])('two instances', { timeout: 60_000 }, async () => {
    const store = kind === 'redis' ? newStore(kind) : await newDatabase(kind)
    const adapters = [openStore(store), openStore(store)]
    try {
      const first = await world({ clients: [...clients!, gateway, television], device: {}, resources }, {}, [], adapters[0])
      const second = await world({ clients: [...clients!, gateway, television], device: {}, resources }, {}, [], adapters[1])
      const config = await discover(first.auth)
      const other = await discover(second.auth)
      const browser = await first.browser()
      const tokens = await signIn(config, browser)
      expect((await openid.tokenIntrospection(other, tokens.access_token)).sub).toBe('ada')

      // One code at both instances at once.
      const begun = await begin(config)
      const code = new URL(await visit(browser, begun.url)).searchParams.get('code')!
      const fields = { grant_type: 'authorization_code', code, code_verifier: begun.verifier, redirect_uri: redirect }
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, at) => (at % 2 ? first : second).post('/oauth2/token', fields, basic)),
      )
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
      expect(answers.filter(({ status }) => status >= 500)).toEqual([])

      // One device code, approved at one instance, and polled for at both at once.
      const asked = (await (await first.post('/oauth2/device_authorization', { client_id: 'tv', scope: 'openid read' })).json()) as Record<
        string,
        string
      >
      const question = await (await browser.post('/oauth2/device', { user_code: asked['user_code']! })).text()
      const decisions = await Promise.all(
        Array.from({ length: 3 }, () => browser.post('/oauth2/device/decide', { ticket: ticketOf(question), decision: 'allow' })),
      )
      expect(decisions.filter(({ headers }) => headers.get('location')?.includes('done=allowed'))).toHaveLength(1)
      const poll = { grant_type: deviceGrant, device_code: asked['device_code']!, client_id: 'tv' }
      const polls = await Promise.all(Array.from({ length: 6 }, (_, at) => (at % 2 ? first : second).post('/oauth2/token', poll)))
      expect(polls.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400])

      // One refresh token at both at once: all get the same successor, which counts once.
      const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token! }
      const refreshed = await Promise.all([first, second, first, second].map((host) => host.post('/oauth2/token', refresh, basic)))
      const nexts = new Set(
        await Promise.all(refreshed.map(async (answer) => ((await answer.json()) as { refresh_token?: string }).refresh_token)),
      )
      expect([refreshed.map(({ status }) => status), nexts.size]).toEqual([[200, 200, 200, 200], 1])

      // A proof of a key counts once at both.
      const pair = await generateKeyPair('ES256', { extractable: true })
      const claims = { jti: 'one', iat: Math.floor(first.runtime.now() / 1000), htm: 'POST', htu: `${issuer}/oauth2/token` }
      const dpop = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(pair.publicKey) })
        .sign(pair.privateKey)
      const own = { grant_type: 'client_credentials', resource: 'https://api.example/' }
      const proved = await Promise.all([first, second, first, second].map((host) => host.post('/oauth2/token', own, { ...basic, dpop })))
      expect(proved.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])

      // What was made from a token ends with it, at both, and services that verify JWTs learn of it.
      first.auth.hook('tokenExchange', () => 'delegation')
      const partner = await discover(first.auth, 'gateway', openid.ClientSecretBasic(secret))
      const exchange = (subject_token: string) =>
        openid.genericGrantRequest(partner, 'urn:ietf:params:oauth:grant-type:token-exchange', {
          subject_token,
          subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          resource: 'https://api.example/',
        })
      const chained = await exchange(tokens.access_token)
      const signed = await signIn(config, browser, { scope: 'openid sign', resource: signedApi })
      const elsewhere = await discover(second.auth, 'gateway', openid.ClientSecretBasic(secret))
      expect((await openid.tokenIntrospection(elsewhere, chained.access_token)).sub).toBe('ada')
      const racing = [exchange(tokens.access_token), second.end('ada', 'ban'), exchange(tokens.access_token)]
      const made = (await Promise.allSettled(racing)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      const gid = JSON.parse(atob(signed.access_token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))).gid as string
      for (const host of [first, second]) {
        const list = await host.auth.handler(new Request(`${issuer}/oauth2/ended-grants`))
        expect(((await list.json()) as { grants: string[] }).grants).toContain(gid)
      }
      for (const one of [chained, ...made])
        if (typeof one === 'object' && one !== null && 'access_token' in one)
          expect(await openid.tokenIntrospection(elsewhere, String(one.access_token))).toEqual({ active: false })
      const [next] = [...nexts]
      expect(await refusal(openid.refreshTokenGrant(config, next!))).toBe('invalid_grant')
      expect(await openid.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false })
      expect(await first.auth.authorizationServer.connectedApps('ada')).toEqual([])
    } finally {
      await Promise.all(adapters.map((adapter) => adapter.close?.()))
      await dropStore(store)
    }
  })
})
