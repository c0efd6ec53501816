/** Pages beside the sign-in page whose forms lead to a provider, in Chromium: it holds `form-action` against every redirect of a submission. */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { AuthConfig } from 'authkernel'
import { type Kernel, type Plugin, type Provider, proveAgain } from 'authkernel/kernel'
import { pagesPlugin } from 'authkernel/plugins/pages'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startOP } from '../../playground/_shared/op.ts'
import { launch } from './_chromium.ts'
import { listen, mail, oauth, openWindow, password, startSite, type Window } from './_pages.ts'

const hour = 3_600_000
let browser: Browser
let window: Window
const open: { close(): Promise<void> }[] = []

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())
beforeEach(async () => {
  window = await openWindow(browser)
})
afterEach(async () => {
  await window.context.close()
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const complaints = () => window.complaints.filter((text) => /Content Security Policy/.test(text))

describe('the account page', () => {
  it('connects a provider on loopback', async () => {
    const second = await stop()
    const { url } = await app([oauth('second', 'Second', `${second.url}/authorize`)])
    await signIn(url, '/auth/account')
    await window.page.getByRole('button', { name: 'Connect Second' }).click()
    await window.page.waitForURL((to) => to.origin === second.url)
    expect([second.seen, complaints()]).toEqual([['/authorize'], []])
  })

  it('connects a provider on https, wherever it hands on to', async () => {
    const { promise: first, resolve } = withResolvers<number | undefined>()
    const tls = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (data) => {
        resolve(data[0])
        socket.destroy()
      })
    })
    await new Promise<void>((listening) => tls.listen(0, '127.0.0.1', listening))
    open.push({ close: () => new Promise((closed) => tls.close(() => closed())) })
    const { url } = await app([oauth('second', 'Second', `https://127.0.0.1:${(tls.address() as AddressInfo).port}/authorize`)])
    await signIn(url, '/auth/account')
    await window.page.getByRole('button', { name: 'Connect Second' }).click({ noWaitAfter: true })
    // A TLS handshake record: the browser followed the redirect.
    expect([await first, complaints()]).toEqual([0x16, []])
  })

  it('leads through a provider that hands on to another site, where the host lists it', async () => {
    const last = await stop()
    const second = await stop(`${last.url}/enterprise`)
    const { url } = await app([oauth('second', 'Second', `${second.url}/authorize`)], {}, [pagesPlugin({ formAction: [last.url] })])
    await signIn(url, '/auth/account')
    await window.page.getByRole('button', { name: 'Connect Second' }).click()
    await window.page.waitForURL(`${last.url}/enterprise`)
    expect(complaints()).toEqual([])
  })

  it('names no other origin for a person who can go to none', async () => {
    const { url } = await startApp({ providers: [password, mail] }, [holder])
    const { page } = window
    await page.goto(`${url}/auth/signin?callbackUrl=/auth/account`)
    await page.fill('#input-identifier-for-signin', 'Jane')
    await page.click('#submitButton')
    await page.fill('input[name=password]', 'right')
    await page.click('#submitButton')
    await page.waitForURL(`${url}/auth/account`)
    const answer = await page.goto(`${url}/auth/holds-a-form`)
    expect(answer?.headers()['content-security-policy']).toMatch(new RegExp(`form-action 'self' ${url}(;|$)`))
  })
})

describe('a form that ends where a fresh proof is asked for', () => {
  it('leads from the page of the deletion to the provider of the session', async () => {
    const clock = { ahead: 0 }
    const runtime = { now: () => Date.now() + clock.ahead }
    const { url, issuer } = await app([], { runtime })
    await signIn(url, '/auth/account')
    clock.ahead = hour
    await window.page.goto(`${url}/auth/account/delete`)
    await Promise.all([arrives(issuer), window.page.click('#submitButton')])
    expect(complaints()).toEqual([])
  })

  it('leads from the page of a plugin that holds the login to a page of the app that asks the provider again', async () => {
    const { url, issuer } = await app([], {}, [terms])
    const { page } = window
    await signIn(url, '/auth/terms', '/auth/fresh')
    await Promise.all([arrives(issuer), page.click('#submitButton')])
    expect(complaints()).toEqual([])
  })
})

describe('the field of an address', () => {
  it('leads to the provider of its domain, also to one that only the hook knows, and back to the callback URL', async () => {
    const sites = { home: '' }
    const realm: Plugin = {
      name: 'realm',
      setup(kernel) {
        kernel.provide('homeRealm', { find: (_ctx, address) => (address.endsWith('@acme.example') ? { provider: 'hooked' } : null) })
        kernel.hook('provider', ({ id }) => (id === 'hooked' ? oauth('hooked', 'Hooked', `${sites.home}/authorize`) : undefined))
      },
    }
    const { url } = await startApp({ providers: [password] }, [realm])
    const home = await stop(`${url}/auth/callback/hooked?error=access_denied`)
    sites.home = home.url
    const { page } = window
    await page.goto(`${url}/auth/signin?callbackUrl=/after`)
    await page.fill('#input-identifier-for-signin', 'ada@acme.example')
    await page.click('#submitButton')
    await page.waitForURL((to) => to.pathname === '/auth/signin' || to.pathname === '/auth/error')
    expect([home.seen, complaints()]).toEqual([['/authorize'], []])
    const kept = (await window.context.cookies()).find(({ name }) => name.includes('callback-url'))
    expect(decodeURIComponent(kept?.value ?? '')).toBe(`${url}/after`)
  })
})

const holder: Plugin = {
  name: 'holder',
  setup: (kernel) =>
    kernel.page('holder', async (_ctx, { form, submit }) => ({ title: 'Form', body: await form('/holds-a-form', submit('Go')) }), {
      path: '/holds-a-form',
    }),
}

/** Holds each login once, as a second factor or terms of use do; and a page of the app that wants a proof of this very moment. */
const terms: Plugin = {
  name: 'terms',
  setup(kernel: Kernel) {
    kernel.hook('login', ({ ctx, login }) => (login.purpose === 'signIn' ? ctx.park(login, { to: '/terms', data: {} }) : undefined))
    kernel.page('terms', async (_ctx, { form, submit }) => ({ title: 'Terms', body: await form('/terms', submit('Accept')) }), {
      path: '/terms',
    })
    kernel.route({
      method: 'POST',
      path: '/terms',
      async handler(ctx) {
        const parked = await ctx.parked()
        return parked ? ctx.resume(parked) : ctx.page('signIn')
      },
    })
    kernel.route({
      method: 'GET',
      path: '/fresh',
      handler: async (ctx) => (await proveAgain(ctx, -61, ctx.origin)) ?? new Response('fresh'),
    })
  },
}

/** An app with a real OpenID Provider in front of it. */
async function app(more: Provider[], config: AuthConfig = {}, plugins: readonly Plugin[] = []) {
  // Each needs the other's address: the provider's options are read at the first request.
  const at = { issuer: '' }
  const acme = (): Provider => ({ id: 'acme', name: 'Acme', type: 'oidc', issuer: at.issuer, clientId: 'app', clientSecret: 'app-secret' })
  const { url } = await startApp({ providers: [acme, ...more], ...config }, plugins)
  const op = await startOP(0, () => [{ id: 'app', secret: 'app-secret', name: 'App', redirectUris: [`${url}/auth/callback/acme`] }])
  open.push(op)
  at.issuer = op.issuer
  return { url, issuer: op.issuer }
}

async function startApp(config: AuthConfig, plugins: readonly Plugin[] = []) {
  const started = await startSite({ session: { strategy: 'jwt' }, ...config }, undefined, plugins)
  open.push(started)
  return started
}

/** The browser follows the redirect to a site, whatever the site answers. */
async function arrives(origin: string): Promise<void> {
  await window.page.waitForResponse((response) => new URL(response.url()).origin === origin)
}

async function signIn(url: string, ends: string, callbackUrl = ends): Promise<void> {
  const { page } = window
  await page.goto(`${url}/auth/signin?callbackUrl=${encodeURIComponent(callbackUrl)}`)
  await page.getByRole('button', { name: 'Sign in with Acme' }).click()
  await page.locator('button[name=sub]').first().click()
  await page.click('button.primary')
  await page.waitForURL((to) => to.origin === url && to.pathname === ends)
}

/** A site of its own origin that redirects, or stays. */
async function stop(location?: string): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const server = await listen((req, res) => {
    const { pathname } = new URL(req.url ?? '', 'http://x')
    if (pathname !== '/favicon.ico') seen.push(pathname)
    if (location === undefined) res.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>')
    else res.writeHead(302, { location }).end()
  })
  open.push(server)
  return { url: server.url, seen }
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}
