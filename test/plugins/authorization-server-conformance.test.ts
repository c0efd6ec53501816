/** Modules of the OpenID Foundation's plans for providers that can be run here, by their names, and the table in docs/conformance.md. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createLocalJWKSet, jwtVerify } from 'jose'
import * as openid from 'openid-client'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../_sources.ts'
import {
  begin,
  discover,
  finish,
  issuer,
  redirect,
  refusal,
  secret,
  signIn,
  ticketOf,
  visit,
  world,
  type World,
} from './_authorization-server.ts'

let host: World
let config: openid.Configuration
beforeAll(async () => {
  host = await world({ registration: { perNetwork: { max: 1000, seconds: 60 } } })
  config = await discover(host.auth)
})
const errorOf = (location: string) => new URL(location).searchParams.get('error')
const userinfo = (init: RequestInit, token: string) =>
  host.auth.handler(new Request(`${issuer}/oauth2/userinfo`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } }))

describe('Basic OP', () => {
  it('oidcc-server', async () => {
    const tokens = await signIn(config, await host.browser())
    const keys = (await (await host.auth.handler(new Request('http://localhost:3000/.well-known/jwks.json'))).json()) as { keys: never[] }
    const { payload } = await jwtVerify(tokens.id_token!, createLocalJWKSet(keys), { issuer, audience: 'partner' })
    expect(payload).toMatchObject({ sub: 'ada', auth_time: expect.any(Number), nonce: expect.any(String), at_hash: expect.any(String) })
  })
  it('oidcc-response-type-missing', async () => {
    const { url } = await begin(config)
    url.searchParams.delete('response_type')
    expect(errorOf(await visit(await host.browser(), url))).toBe('invalid_request')
  })
  it('oidcc-userinfo-get, oidcc-userinfo-post-header', async () => {
    const { access_token: token } = await signIn(config, await host.browser(), { scope: 'openid' })
    for (const method of ['GET', 'POST']) expect(await (await userinfo({ method }, token)).json()).toEqual({ sub: 'ada' })
  })
  it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    const begun = await begin(config)
    begun.url.searchParams.delete('nonce')
    const location = await visit(await host.browser(), begun.url)
    const tokens = await openid.authorizationCodeGrant(config, new URL(location), {
      pkceCodeVerifier: begun.verifier,
      expectedState: begun.state,
    })
    expect(tokens.claims()?.nonce).toBeUndefined()
  })
  it('oidcc-scope-profile, oidcc-scope-email, oidcc-ensure-other-scope-order-succeeds', async () => {
    for (const [scope, claims] of [
      ['openid profile', { sub: 'ada', name: 'ada' }],
      ['openid email', { sub: 'ada', email: 'ada@example.com', email_verified: true }],
      ['email openid', { sub: 'ada', email: 'ada@example.com', email_verified: true }],
    ] as const) {
      const { access_token: token } = await signIn(config, await host.browser(), { scope })
      expect(await (await userinfo({}, token)).json()).toEqual(claims)
    }
  })
  it('oidcc-prompt-login', async () => {
    expect(await visit(await host.browser(), (await begin(config, { prompt: 'login' })).url)).toContain('/auth/signin')
  })
  it('oidcc-prompt-none-not-logged-in, oidcc-prompt-none-logged-in', async () => {
    const ask = async () => (await begin(config, { prompt: 'none' })).url
    const { Client } = await import('../_setup.ts')
    expect(errorOf(await visit(new Client(host.auth), await ask()))).toBe('login_required')
    const browser = await host.browser()
    const before = (await signIn(config, browser)).claims()
    const begun = await begin(config, { prompt: 'none' })
    expect((await finish(config, begun, await visit(browser, begun.url))).claims()).toMatchObject({
      sub: before?.sub,
      auth_time: before?.auth_time,
    })
  })
  it('oidcc-max-age-10000', async () => {
    const begun = await begin(config, { max_age: '10000' })
    expect((await finish(config, begun, await visit(await host.browser(), begun.url))).claims()).toHaveProperty('auth_time')
  })
  it('oidcc-ensure-request-with-unknown-parameter-succeeds, oidcc-display-page, oidcc-ui-locales, oidcc-claims-locales', async () => {
    const more = { extra: 'foobar', display: 'page', ui_locales: 'se', claims_locales: 'se' }
    expect(await signIn(config, await host.browser(), more)).toHaveProperty('id_token')
  })
  it('oidcc-ensure-request-with-acr-values-succeeds', async () => {
    expect((await signIn(config, await host.browser(), { acr_values: '1 2' })).claims()).toHaveProperty('acr')
  })
  it('oidcc-codereuse', async () => {
    const begun = await begin(config)
    const location = await visit(await host.browser(), begun.url)
    const first = await finish(config, begun, location)
    expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
    expect((await userinfo({}, first.access_token)).status).toBe(401)
  })
  it('oidcc-ensure-registered-redirect-uri', async () => {
    const { url } = await begin(config, { redirect_uri: `${redirect}/other` })
    const answer = await (await host.browser()).get(String(url))
    expect([answer.status, answer.headers.get('location'), ticketOf(await answer.text())]).toEqual([400, null, ''])
  })
  it('oidcc-ensure-post-request-succeeds', async () => {
    const { url } = await begin(config)
    const answer = await host.auth.handler(
      new Request(`${issuer}/oauth2/authorize`, { method: 'POST', body: url.searchParams, headers: { origin: 'https://partner.example' } }),
    )
    expect(answer.headers.get('location')).toBe(String(url))
  })
  it('oidcc-refresh-token', async () => {
    const first = await signIn(config, await host.browser())
    const second = await openid.refreshTokenGrant(config, first.refresh_token!)
    expect([second.claims()?.sub, second.refresh_token === first.refresh_token]).toEqual(['ada', false])
  })
})

describe('Config and Dynamic OP', () => {
  const metadata = async () =>
    (await (await host.auth.handler(new Request(`${issuer}/.well-known/openid-configuration`))).json()) as Record<string, unknown>
  it('oidcc-discovery-endpoint-verification', async () => {
    expect(await metadata()).toMatchObject({
      issuer,
      response_types_supported: ['code'],
      subject_types_supported: expect.arrayContaining(['public']),
      id_token_signing_alg_values_supported: expect.any(Array),
      registration_endpoint: `${issuer}/oauth2/register`,
    })
  })
  it('oidcc-registration-jwks-uri, oidcc-server-rotate-keys: keys of the server are published with their ids', async () => {
    const answer = await host.auth.handler(new Request(String((await metadata())['jwks_uri'])))
    for (const key of ((await answer.json()) as { keys: Record<string, unknown>[] }).keys) {
      expect(key).toMatchObject({ kid: expect.any(String), alg: expect.any(String) })
      expect(key).not.toHaveProperty('d')
    }
  })
  it('oidcc-registration-logo-uri, oidcc-registration-policy-uri, oidcc-registration-tos-uri', async () => {
    const uris = { logo_uri: 'https://app.example/logo', policy_uri: 'https://app.example/p', tos_uri: 'https://app.example/t' }
    const answer = await host.auth.handler(
      new Request(`${issuer}/oauth2/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'App', redirect_uris: ['https://app.example/cb'], ...uris }),
      }),
    )
    expect([answer.status, await answer.json()]).toEqual([201, expect.objectContaining({ ...uris, client_secret: expect.any(String) })])
  })
})

describe('FAPI 2.0 Security Profile', () => {
  it('fapi2-security-profile-final-par-attempt-reuse-request_uri', async () => {
    const pushed = await host.post('/oauth2/par', new URLSearchParams([...(await begin(config)).url.searchParams]), {
      authorization: `Basic ${btoa(`partner:${secret}`)}`,
    })
    const { request_uri: uri } = (await pushed.json()) as { request_uri: string }
    const url = `${issuer}/oauth2/authorize?${new URLSearchParams({ client_id: 'partner', request_uri: uri }).toString()}`
    const browser = await host.browser()
    expect(await visit(browser, url)).toContain('code=')
    expect(await visit(browser, url)).toBe('400')
  })
  it('fapi2-security-profile-final-ensure-response-mode-is-query, iss in the response (RFC 9207)', async () => {
    const location = new URL(await visit(await host.browser(), (await begin(config)).url))
    expect([location.searchParams.get('iss'), location.hash]).toEqual([issuer, ''])
  })
  it('fapi2-security-profile-final-plain-pkce-rejected, -par-without-pkce-rejected', async () => {
    for (const change of [
      (url: URL) => url.searchParams.set('code_challenge_method', 'plain'),
      (url: URL) => url.searchParams.delete('code_challenge'),
    ]) {
      const { url } = await begin(config)
      change(url)
      expect(errorOf(await visit(await host.browser(), url))).toBe('invalid_request')
    }
  })
})

describe('docs/conformance.md', () => {
  const files = ['test/plugins', 'test/relying-parties'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name}`),
  )
  const rows = readFileSync(join(root, 'docs/conformance.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  it('names a test that exists in each row that says "tested"', () => {
    expect(rows.length).toBeGreaterThan(40)
    const wrong = rows.filter(([, , state, test = '']) => {
      const [, file, title = ''] = /^`([^`]+)`: (.*)$/.exec(test) ?? []
      if (state !== 'tested') return false
      return file === undefined || !files.includes(file) || !readFileSync(join(root, file), 'utf8').includes(title)
    })
    expect(wrong).toEqual([])
  })
  it('says for each other row why it was not run', () => {
    expect(rows.filter(([, , state, why = '']) => state !== 'tested' && why.length < 10)).toEqual([])
    expect(new Set(rows.map(([, , state]) => state))).toEqual(new Set(['tested', 'not run', 'not met']))
  })
})
