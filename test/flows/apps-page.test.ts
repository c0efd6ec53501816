/** Chromium as the browser of a device: the page that asks leads to a real loopback listener, and the page for codes lets a device in. */
import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { AddressInfo } from 'node:net'
import { createAuth } from 'authkernel'
import { createAppClient } from 'authkernel/client'
import { nodeBinding } from 'authkernel/bindings/node'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from 'playwright-core'
import { launch } from './_chromium.ts'

let browser: Browser
let site: Server
let url: string
const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
const stop = (server: Server): void => {
  server.closeAllConnections()
  server.close()
}

beforeAll(async () => {
  browser = await launch()
  const store = memoryAdapter()
  await store.createUser!({ id: 'ada', email: 'ada@example.com', name: 'Ada', emailVerified: null })
  const { node } = createAuth({
    secret: 'a secret of more than thirty-two characters',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {}, debug() {} },
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        credentials: { user: { label: 'Name' } },
        authorize: ({ user }) => (user === 'ada' ? { id: 'ada', name: 'Ada' } : null),
      },
    ],
  })
    .use(adapterPlugin(store))
    .use(
      bearerPlugin({
        apps: [{ id: 'app', name: 'Acme', redirectUris: ['http://127.0.0.1/cb', 'http://[::1]/cb'], scopes: ['read'] }],
        dpop: { nonces: true },
      }),
    )
    .use(deviceFlowPlugin({ apps: ['app'] }))
    .use(nodeBinding())
  site = createServer(node.handler)
  url = `http://localhost:${await listen(site)}`
})
afterAll(async () => {
  await browser.close()
  stop(site)
})

function app(redirectUri?: string) {
  const kept = new Map<string, string>()
  const storage = {
    get: (key: string) => kept.get(key),
    set: (key: string, value: string) => kept.set(key, value),
    remove: (key: string) => kept.delete(key),
  }
  return createAppClient({ server: url, clientId: 'app', redirectUri, storage })
}

describe('an app on this device', () => {
  it('opens the browser, is asked about, and gets its session on the loopback listener; then a device with a code', async () => {
    let arrived: (path: string) => void
    const landed = new Promise<string>((resolve) => (arrived = resolve))
    const listener = createServer((request, response) => {
      if (request.url?.startsWith('/cb')) arrived(request.url)
      response.setHeader('content-type', 'text/html').end('<h1>Back to the app</h1>')
    })
    const port = await listen(listener)
    const redirectUri = `http://127.0.0.1:${port}/cb`
    const client = app(redirectUri)
    const page = await (await browser.newContext()).newPage()
    await page.goto(await client.signIn())
    await page.fill('input[name=user]', 'ada')
    await page.click('button[type=submit]')
    await page.waitForSelector('button[value=allow]')
    expect(await page.textContent('h1')).toContain('Acme')
    // The policy of the page lets the form lead to the listener.
    await page.click('button[value=allow]')
    await page.waitForURL(`${redirectUri}?**`)
    await client.finish(new URL(await landed, redirectUri).href)
    expect(await client.getSession()).toMatchObject({ user: { name: 'Ada' }, bearer: { clientId: 'app', scopes: ['read'] } })
    stop(listener)

    const tv = app()
    const device = await tv.startDevice()
    await page.goto(device.verificationUriComplete)
    expect(await page.inputValue('input[name=user_code]')).toBe(device.userCode)
    await page.click('form[action$="/device"] button[type=submit]')
    await page.click('button[value=allow]')
    await page.waitForURL('**/device?done=allowed')
    await device.done()
    expect(await tv.getSession()).toMatchObject({ user: { name: 'Ada' } })
    await tv.signOut()
    expect([await tv.accessToken(), (await client.getSession())?.user?.name]).toEqual([null, 'Ada'])
  }, 60_000)
})

/** A page of another origin with the client, its tokens in `localStorage` and its key in IndexedDB. */
const spa = `
import { createAppClient } from 'authkernel/client'
const table = (mode) => new Promise((resolve, reject) => {
  const opening = indexedDB.open('app', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('keys')
  opening.onsuccess = () => resolve(opening.result.transaction('keys', mode).objectStore('keys'))
  opening.onerror = () => reject(opening.error)
})
const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})
window.keys = {
  get: async () => done((await table('readonly')).get('dpop')),
  set: async (pair) => done((await table('readwrite')).put(pair, 'dpop')),
}
const storage = { get: (key) => localStorage.getItem(key), set: (key, value) => localStorage.setItem(key, value), remove: (key) => localStorage.removeItem(key) }
window.app = (server) => createAppClient({ server, clientId: 'app', redirectUri: location.origin + '/cb', storage, dpop: window.keys })
`

describe('an app in a page of another origin', () => {
  it('binds its tokens to a key in IndexedDB: CORS without cookies, server nonces, a reload; a copy of its storage is worth nothing', async () => {
    const resolveDir = fileURLToPath(new URL('../..', import.meta.url))
    const { outputFiles } = await build({ stdin: { contents: spa, resolveDir, loader: 'ts' }, bundle: true, write: false, format: 'iife' })
    const other = createServer((request, response) => {
      const isCode = request.url === '/app.js'
      response.setHeader('content-type', isCode ? 'text/javascript' : 'text/html')
      response.end(isCode ? outputFiles[0]!.text : '<!doctype html><script src="/app.js"></script>')
    })
    const home = `http://127.0.0.1:${await listen(other)}`
    const context = await browser.newContext()
    const page = await context.newPage()
    const cookies: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.url().includes('/oauth/token') || request.url().includes('/oauth/session')) cookies.push(request.headers()['cookie'])
    })
    const run = <T>(code: string): Promise<T> =>
      page.evaluate(`(async () => { const app = window.app(${JSON.stringify(url)}); return ${code} })()`) as Promise<T>
    await page.goto(home)
    await page.goto(await run<string>('app.signIn()'))
    await page.fill('input[name=user]', 'ada')
    await page.click('button[type=submit]')
    await page.click('button[value=allow]')
    await page.waitForURL(`${home}/cb?**`)
    await run('app.finish(location.href)')
    const bound = { user: { name: 'Ada' }, bearer: { jkt: expect.stringMatching(/^[\w-]{43}$/) as string } }
    expect(await run('app.getSession()')).toMatchObject(bound)
    await page.goto(home)
    expect(await run('app.getSession()')).toMatchObject(bound)
    expect(
      await run("crypto.subtle.exportKey('jwk', (await window.keys.get()).privateKey).then(() => 'read', (error) => error.name)"),
    ).toBe('InvalidAccessError')
    expect([cookies.length > 3, cookies.filter((cookie) => cookie !== undefined)]).toEqual([true, []])

    const kept = await run<Record<string, string>>('({ ...localStorage })')
    await page.evaluate('indexedDB.deleteDatabase("app")')
    const thief = await (await browser.newContext()).newPage()
    await thief.goto(home)
    await thief.evaluate((entries) => Object.entries(entries).forEach(([key, value]) => localStorage.setItem(key, value)), kept)
    expect(await thief.evaluate(`window.app(${JSON.stringify(url)}).getSession()`)).toBeNull()
    stop(other)
  }, 60_000)
})
