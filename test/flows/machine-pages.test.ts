/** The pages of keys, apps and devices in Chromium: nothing is wider than the window, and no item of a list is empty. */
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch } from './_chromium.ts'
import { listen, openWindow, password, secret } from './_pages.ts'

const redirectUri = 'com.example.app:/signed-in'
const long = 'reports_of_the_department_with_a_name_that_has_no_end:read'
const scopes = ['project:read', long]
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

async function start() {
  const store = memoryAdapter()
  await store.createUser!({ id: 'u1', email: `${'ada'.repeat(20)}@example.com`, name: 'Jane', emailVerified: new Date(0) })
  const auth = createAuth({ secret, trustHost: true, env: false, providers: [password], session: { strategy: 'database' } })
    .use(adapterPlugin(store))
    .use(apiKeysPlugin({ accountSection: true, scopes, prefix: 'averylongprefix' }))
    .use(
      bearerPlugin({
        apps: [{ id: 'third', name: 'The App of Another Company', redirectUris: [redirectUri], scopes }],
      }),
    )
    .use(deviceFlowPlugin({ apps: ['third'], scopes }))
    .use(nodeBinding())
  await auth.ready()
  const { url, close } = await listen((req, res) => {
    void auth.node.handler(req, res).then((answered) => answered || res.end('<!doctype html><title>app</title>'))
  })
  return { auth, url, close }
}

let browser: Browser
let site: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  ;[browser, site] = await Promise.all([launch(), start()])
}, 60_000)
afterAll(() => Promise.all([browser?.close(), site?.close()]))

/** What is wider than the window, and what says nothing. */
async function faults(page: Page) {
  return page.evaluate(() => ({
    over: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
    empty: [...document.querySelectorAll('li, option, button, h1, h2, label')].filter((each) => !each.textContent?.trim()).length,
  }))
}
const none = { over: 0, empty: 0 }

async function signedIn(width: number): Promise<Page> {
  const { page } = await openWindow(browser, { viewport: { width, height: 844 } })
  await page.goto(`${site.url}/auth/signin?callbackUrl=/auth/account`)
  await page.fill('input[name=username]', 'u1')
  await page.fill('input[name=password]', 'right')
  await page.click('#submitButton')
  await page.waitForURL(`${site.url}/auth/account`)
  return page
}

describe.each([320, 390, 1280])('%i pixels', (width) => {
  it('a new API key is shown whole', async () => {
    const page = await signedIn(width)
    await page.fill('input[name=name]', 'n'.repeat(100))
    await page.locator('form:has(input[name=name]) button').click()
    await page.waitForSelector('code.key')
    expect(await faults(page)).toEqual(none)
    await page.goto(`${site.url}/auth/account`)
    expect(await faults(page)).toEqual(none)
    await page.context().close()
  })

  it('the question of an app names each scope, by its name where there is no text', async () => {
    const page = await signedIn(width)
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'third',
      redirect_uri: redirectUri,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      scope: scopes.join(' '),
      state: 's',
    })
    await page.goto(`${site.url}/auth/oauth/authorize?${query.toString()}`)
    expect(await page.locator('li').allTextContents()).toEqual(scopes)
    expect(await faults(page)).toEqual(none)
    await page.context().close()
  })

  it('the question about a device does so too', async () => {
    const answer = await fetch(`${site.url}/auth/oauth/device`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'third', scope: scopes.join(' ') }),
    })
    const { user_code: code } = (await answer.json()) as { user_code: string }
    const page = await signedIn(width)
    await page.goto(`${site.url}/auth/device`)
    await page.fill('input[name=user_code]', code)
    await page.click('#submitButton')
    await page.waitForSelector('li')
    expect((await page.locator('li').allTextContents()).map((text) => text.trim())).toEqual(scopes)
    expect(await faults(page)).toEqual(none)
    await page.context().close()
  })
})
