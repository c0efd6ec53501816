/** Relying parties that others wrote sign in at authorizationServerPlugin by HTTP: passport, Auth.js and better-auth. */
import { existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Auth } from '@auth/core'
import express from 'express'
import passport from 'passport'
import OAuth2Strategy from 'passport-oauth2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../_sources.ts'
import { Browser, type Listening, listen, type Provider, secret, startProvider } from './_provider.ts'

let provider: Provider
const parties: Record<'passport' | 'authjs' | 'better', Listening> = {} as never
beforeAll(async () => {
  for (const name of ['passport', 'authjs', 'better'] as const) parties[name] = await listen()
  provider = await startProvider([
    {
      client_id: 'passport',
      client_name: 'Passport',
      client_secret: secret,
      token_endpoint_auth_method: 'client_secret_post',
      redirect_uris: [`${parties.passport.origin}/cb`],
    },
    { client_id: 'authjs', client_name: 'Auth.js', client_secret: secret, redirect_uris: [`${parties.authjs.origin}/auth/callback/acme`] },
    {
      client_id: 'better',
      client_name: 'better-auth',
      client_secret: secret,
      token_endpoint_auth_method: 'client_secret_post',
      redirect_uris: [`${parties.better.origin}/api/auth/callback/acme`],
    },
  ])
})
afterAll(async () => {
  await Promise.all(Object.values(parties).map((party) => party.close()))
  await provider?.close()
})

/** Answers requests of Node with a handler of `fetch`. */
function serve(party: Listening, handler: (request: Request) => Promise<Response>): void {
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const headers = Object.entries(req.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one) => [name, one] as [string, string]),
    )
    const hasBody = req.method !== 'GET' && req.method !== 'HEAD'
    const body = hasBody ? { body: Readable.toWeb(req) as ReadableStream as never /* the same stream of the web */, duplex: 'half' } : {}
    const response = await handler(
      new Request(`${party.origin}${req.url}`, { method: req.method ?? 'GET', headers, ...body } as RequestInit),
    )
    for (const [name, value] of response.headers) if (name !== 'set-cookie') res.setHeader(name, value)
    res.setHeader('set-cookie', response.headers.getSetCookie())
    res.writeHead(response.status).end(Buffer.from(await response.arrayBuffer()))
  }
  party.answer((req, res) => void answer(req, res))
}

describe('relying parties', () => {
  it('passport (passport-oauth2, PKCE S256 and state) signs a user in, and its state is checked', async () => {
    const app = express()
    const sessions = new Map<string, object>()
    app.use((req, res, next) => {
      const id = /sid=(\w+)/.exec(req.headers.cookie ?? '')?.[1] ?? Math.random().toString(36).slice(2)
      sessions.set(id, sessions.get(id) ?? {})
      Object.assign(req, { session: sessions.get(id) })
      res.setHeader('set-cookie', `sid=${id}`)
      next()
    })
    const strategy = new OAuth2Strategy(
      {
        authorizationURL: `${provider.issuer}/oauth2/authorize`,
        tokenURL: `${provider.issuer}/oauth2/token`,
        clientID: 'passport',
        clientSecret: secret,
        callbackURL: `${parties.passport.origin}/cb`,
        scope: 'openid profile email',
        state: true,
        pkce: true,
      } as OAuth2Strategy.StrategyOptions,
      (accessToken: string, _refresh: string, _profile: unknown, done: (error: unknown, user?: object) => void) => {
        const readUser = async (): Promise<object> =>
          (await fetch(`${provider.issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } })).json()
        readUser().then((user) => setImmediate(done, null, user), done)
      },
    )
    app.use(passport.initialize())
    app.get('/login', passport.authenticate(strategy as never /* a strategy of its own, without a name */, { session: false }))
    app.get(
      '/cb',
      passport.authenticate(strategy as never /* a strategy of its own, without a name */, { session: false }),
      (req, res) => void res.json(req.user),
    )
    parties.passport.answer(app)
    const browser = new Browser(provider)
    const { text } = await browser.open(`${parties.passport.origin}/login`)
    expect(JSON.parse(text)).toEqual({ sub: 'ada', name: 'Ada', email: 'ada@example.com', email_verified: true })
    expect(browser.visited.some((url) => url.includes('code_challenge_method=S256'))).toBe(true)
    // The callback in another browser: its session knows no such state.
    const callback = browser.visited.find((url) => url.includes('/cb?code='))!
    expect((await new Browser(provider).send(callback)).status).toBe(403)
  })

  it('the generic OpenID Connect provider of Auth.js signs a user in', async () => {
    const config = {
      secret: 'x'.repeat(40),
      trustHost: true,
      basePath: '/auth',
      providers: [
        {
          id: 'acme',
          name: 'Acme',
          type: 'oidc' as const,
          issuer: provider.issuer,
          clientId: 'authjs',
          clientSecret: secret,
          checks: ['pkce' as const, 'state' as const, 'nonce' as const],
        },
      ],
    }
    serve(parties.authjs, (request) => Auth(request, config))
    const browser = new Browser(provider)
    const at = `${parties.authjs.origin}/auth`
    const { csrfToken } = (await (await browser.send(`${at}/csrf`)).json()) as { csrfToken: string }
    await browser.open(`${at}/signin/acme`, { method: 'POST', body: new URLSearchParams({ csrfToken, callbackUrl: `${at}/session` }) })
    expect(await (await browser.send(`${at}/session`)).json()).toMatchObject({ user: { name: 'Ada', email: 'ada@example.com' } })
  })

  it.skipIf(!existsSync(join(root, 'test/migration/passkeys-1.7/node_modules/better-auth')))(
    'the generic OAuth plugin of better-auth signs a user in',
    async () => {
      const from = async (path: string) =>
        (await import(pathToFileURL(join(root, 'test/migration/passkeys-1.7/node_modules/better-auth/dist', path)).href)) as Record<
          string,
          (options: object) => object
        >
      const { betterAuth } = await from('index.mjs')
      const { genericOAuth } = await from('plugins/index.mjs')
      const { memoryAdapter } = await from('adapters/memory-adapter/index.mjs')
      const rp = betterAuth!({
        secret: 'x'.repeat(40),
        baseURL: parties.better.origin,
        database: memoryAdapter!({ user: [], session: [], account: [], verification: [], rateLimit: [] }),
        plugins: [
          genericOAuth!({
            config: [
              {
                providerId: 'acme',
                discoveryUrl: `${provider.issuer}/.well-known/openid-configuration`,
                clientId: 'better',
                clientSecret: secret,
                scopes: ['openid', 'profile', 'email'],
                pkce: true,
              },
            ],
          }),
        ],
      }) as { handler(request: Request): Promise<Response> }
      serve(parties.better, rp.handler)
      const browser = new Browser(provider)
      const at = `${parties.better.origin}/api/auth`
      const begun = await browser.send(`${at}/sign-in/social`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: parties.better.origin },
        body: JSON.stringify({ provider: 'acme', callbackURL: `${at}/get-session` }),
      })
      await browser.open(((await begun.json()) as { url: string }).url)
      expect(await (await browser.send(`${at}/get-session`)).json()).toMatchObject({ user: { name: 'Ada', email: 'ada@example.com' } })
    },
  )

  it('none of them made the provider log a fault', () => expect(provider.errors).toEqual([]))
})
