/** The Content-Security-Policy of the pages at work in Chromium: what it stops, and the redirect chains it must let through. */
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import type { AuthConfig } from 'authkernel'
import type { Provider } from 'authkernel/kernel'
import type { PagesPluginOptions } from 'authkernel/plugins/pages'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startOP } from '../../playground/_shared/op.ts'
import { launch } from './_chromium.ts'
import { listen, oauth, openWindow, password, type Site, startSite, type Window } from './_pages.ts'

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

describe('form-action', () => {
  it('a provider on plain http is let through by name, and its redirect back too', async () => {
    const provider = await redirector(
      ({ searchParams }) => `${searchParams.get('redirect_uri')}?error=access_denied&state=${searchParams.get('state')}`,
    )
    const { url } = await site({ providers: [oauth('acme', 'Acme', `${provider.url}/authorize`)] })
    await window.page.goto(`${url}/auth/signin`)
    await window.page.click('#submitButton')
    await window.page.waitForURL(/error=OAuthCallbackError/)
    expect(provider.seen).toEqual(['/authorize'])
    expect(window.complaints).toEqual([])
  })

  it('a provider on https is let through wherever it hands on to', async () => {
    const tls = await tlsListener()
    const { url } = await site({ providers: [oauth('acme', 'Acme', `https://127.0.0.1:${tls.port}/authorize`)] })
    await window.page.goto(`${url}/auth/signin`)
    await window.page.click('#submitButton', { noWaitAfter: true })
    // A TLS handshake record: the browser followed the redirect.
    expect(await tls.firstByte).toBe(0x16)
    expect(window.complaints.filter((text) => /Content Security Policy/.test(text))).toEqual([])
  })

  it('Chromium holds the policy against every hop: with a list, what is not on it is stopped', async () => {
    const second = await redirector(() => undefined)
    const first = await redirector(() => `${second.url}/enterprise`)
    const providers = [oauth('acme', 'Acme', `${first.url}/authorize`)]

    const closed = await site({ providers }, { formAction: [] })
    await window.page.goto(`${closed.url}/auth/signin`)
    await window.page.click('#submitButton')
    await expect.poll(() => window.complaints.join()).toMatch(/form-action/)
    expect(second.seen).toEqual([])

    const listed = await site({ providers }, { formAction: [second.url] })
    await window.page.goto(`${listed.url}/auth/signin`)
    await window.page.click('#submitButton')
    await window.page.waitForURL(`${second.url}/enterprise`)
    expect(second.seen).toEqual(['/enterprise'])
  })

  it('a real OpenID Provider: out, through its pages, back, to the callbackUrl', async () => {
    // Each needs the other's address: the provider's options are read at the first request.
    let issuer = ''
    const { url } = await site({
      providers: [() => ({ id: 'acme', name: 'Acme', type: 'oidc', issuer, clientId: 'app', clientSecret: 'app-secret' })],
    })
    const op = await startOP(0, () => [{ id: 'app', secret: 'app-secret', name: 'App', redirectUris: [`${url}/auth/callback/acme`] }])
    open.push(op)
    issuer = op.issuer
    await window.page.goto(`${url}/auth/signin?callbackUrl=/home`)
    await window.page.click('#submitButton')
    await window.page.locator('button[name=sub]').first().click()
    await window.page.click('button.primary')
    await window.page.waitForURL(`${url}/home`)
    expect(await window.page.textContent('#who')).not.toBe('nobody')
    // Signed in at the provider by now: the whole chain is redirects, from our form back to our page.
    await window.page.goto(`${url}/auth/signin?callbackUrl=/again`)
    await window.page.click('#submitButton')
    await window.page.waitForURL(`${url}/again`)
    expect(window.complaints.filter((text) => /Content Security Policy/.test(text))).toEqual([])
  })

  it('sign-out may lead to the provider when a handler answers `signOut`', async () => {
    const provider = await redirector(() => undefined)
    const providers: Provider[] = [
      password,
      { id: 'acme', name: 'Acme', type: 'oidc', issuer: provider.url, clientId: 'a', clientSecret: 'b' },
    ]
    const { url } = await site({ providers, callbacks: { signOut: () => `${provider.url}/logout` } })
    await signIn(url)
    await window.page.goto(`${url}/auth/signout`)
    await window.page.click('#submitButton')
    await window.page.waitForURL(`${provider.url}/logout`)
    expect(window.complaints).toEqual([])
  })

  it('the flow may end on another origin that the host allows', async () => {
    const other = await redirector(() => undefined)
    const { url } = await site({ providers: [password], allowedRedirects: [other.url] })
    await signIn(url, `${other.url}/dashboard`)
    expect(window.page.url()).toBe(`${other.url}/dashboard`)
    expect(window.complaints).toEqual([])
  })

  it('a form that an attacker got into the page sends its password nowhere', async () => {
    const thief = await redirector(() => undefined)
    const { url } = await site({ providers: [password] })
    await window.page.goto(`${url}/auth/signin`)
    await window.page.evaluate((action) => {
      const form = document.querySelector('form')!
      form.action = action
      form.noValidate = true
      form.requestSubmit()
    }, `${thief.url}/steal`)
    await expect.poll(() => window.complaints.join()).toMatch(/form-action/)
    expect(thief.seen).toEqual([])
  })
})

describe('everything else', () => {
  it('row 284: injected scripts, styles, images, frames, plugins, base and connections are stopped', async () => {
    const elsewhere = await redirector(() => undefined)
    const { url } = await site({})
    await window.page.addInitScript(() => {
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        const seen = ((globalThis as unknown as { seen?: string[] }).seen ??= [])
        seen.push(effectiveDirective)
      })
    })
    await window.page.goto(`${url}/auth/signin`)
    await window.page.evaluate(async (origin) => {
      const add = (html: string): void => document.body.insertAdjacentHTML('beforeend', html)
      const script = document.createElement('script')
      script.textContent = 'document.title = "stolen"'
      document.body.append(script)
      add(`<p style="color:red" onclick="document.title = 'stolen'">x</p><img src="${origin}/i.png"><iframe src="${origin}/f"></iframe>`)
      add(`<style>body{display:none}</style><link rel="stylesheet" href="${origin}/s.css"><object data="${origin}/o"></object>`)
      document.head.insertAdjacentHTML('afterbegin', `<base href="${origin}/">`)
      ;[...document.querySelectorAll('p')].at(-1)?.click()
      await fetch(`${origin}/c`).catch(() => undefined)
    }, elsewhere.url)
    const seen = (): Promise<string[]> => window.page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen)
    const directives = [
      'base-uri',
      'connect-src',
      'frame-src',
      'img-src',
      'object-src',
      'script-src-attr',
      'script-src-elem',
      'style-src-attr',
      'style-src-elem',
    ]
    await expect.poll(async () => [...new Set(await seen())].sort()).toEqual(directives)
    expect(await window.page.title()).toBe('Sign In')
    expect(elsewhere.seen).toEqual([])
  })

  it('no site frames the pages', async () => {
    const { url } = await site({})
    const framer = await listen((_req, res) => {
      res.setHeader('content-type', 'text/html').end(`<!doctype html><iframe src="${url}/auth/signin"></iframe>`)
    })
    open.push(framer)
    await window.page.goto(framer.url)
    await expect.poll(() => window.complaints.join()).toMatch(/frame-ancestors|X-Frame-Options/)
  })

  it('logos as data and from the own origin are shown, and nothing else is asked for', async () => {
    const asked: string[] = []
    const logo = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path fill="red" d="M0 0h9v9z"/><path fill="blue" d="M0 0h9v9z"/></svg>')}`
    const providers = [
      oauth('a', 'A', 'https://a.example/', { style: { logo } }),
      oauth('b', 'B', 'https://b.example/', { style: { logo: 'https://cdn.example/b.svg' } }),
    ]
    const { url } = await site({ providers, theme: { logo } })
    window.page.on('request', (request) => asked.push(new URL(request.url()).origin))
    await window.page.goto(`${url}/auth/signin`)
    const drawn = await window.page.evaluate(() => [...document.images].map(({ naturalWidth }) => naturalWidth))
    expect(drawn).toEqual([9, 9])
    expect(new Set(asked.filter((origin) => origin !== 'null'))).toEqual(new Set([url]))
    expect(window.complaints).toEqual([])
  })
})

async function site(config: AuthConfig, pages?: PagesPluginOptions): Promise<Site> {
  const started = await startSite(config, pages)
  open.push(started)
  return started
}

async function signIn(url: string, callbackUrl = '/'): Promise<void> {
  const { page } = window
  await page.goto(`${url}/auth/signin?callbackUrl=${encodeURIComponent(callbackUrl)}`)
  await page.fill('input[name=username]', 'Jane')
  await page.fill('input[name=password]', 'right')
  await page.click('#submitButton')
  await page.waitForURL(new URL(callbackUrl, url).href)
}

/** A site of its own origin that redirects where `target` says, or stays; `seen` are the paths asked for. */
async function redirector(target: (url: URL) => string | undefined): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const server = await listen((req, res) => {
    const url = new URL(req.url ?? '', 'http://x')
    if (url.pathname !== '/favicon.ico') seen.push(url.pathname)
    const location = target(url)
    if (location === undefined) res.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>')
    else res.writeHead(302, { location }).end()
  })
  open.push(server)
  return { url: server.url, seen }
}

/** A port that tells the first byte it gets. */
async function tlsListener(): Promise<{ port: number; firstByte: Promise<number | undefined> }> {
  const { promise, resolve } = withResolvers<number | undefined>()
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (data) => {
      resolve(data[0])
      socket.destroy()
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  open.push({ close: () => new Promise((closed) => server.close(() => closed())) })
  return { port: (server.address() as AddressInfo).port, firstByte: promise }
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}
