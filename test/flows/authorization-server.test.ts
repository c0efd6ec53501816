/** A partner in Chromium: sign-in, consent, remembered consent behind a sign-in form, sign-out and the account page, without overflow. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { bearerPlugin } from 'authkernel/plugins/bearer'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launch } from './_chromium.ts'
import { listen, openWindow, password, secret } from './_pages.ts'

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
/** An app of a phone has claimed it; no server answers there. */
const claimed = 'https://app.example/signed-in'
const api = 'https://api.example/'

async function start() {
  const partner = createServer((_request, response) => void response.end('<!doctype html><title>partner</title>'))
  await new Promise<void>((resolve) => partner.listen(0, '127.0.0.1', resolve))
  const home = `http://127.0.0.1:${(partner.address() as AddressInfo).port}`
  const store = memoryAdapter()
  await store.createUser!({ id: 'u1', email: `${'ada'.repeat(20)}@example.com`, name: 'Jane', emailVerified: new Date(0) })
  const scopes = ['read', 'reports_of_the_department_with_a_name_that_has_no_end:write']
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    providers: [password],
    session: { strategy: 'database' },
    messages: { en: { 'authorization-server.scope.read': 'Read your notes' } },
  })
    .use(adapterPlugin(store))
    .use(jwtPlugin())
    .use(
      authorizationServerPlugin({
        clients: [
          {
            client_id: 'partner',
            client_name: 'Partner of Another Company',
            client_secret: 's'.repeat(32),
            redirect_uris: [`${home}/cb`],
            post_logout_redirect_uris: [`${home}/bye`],
            policy_uri: 'https://partner.example/privacy',
            tos_uri: 'https://partner.example/terms',
          },
        ],
        resources: [{ resource: api, name: 'Notes', scopes }],
      }),
    )
    .use(bearerPlugin({ apps: [{ id: 'phone', name: 'Phone', redirectUris: [claimed] }] }))
    .use(nodeBinding())
  await auth.ready()
  const { url, close } = await listen((req, res) => {
    void auth.node.handler(req, res).then((answered) => answered || res.end('<!doctype html><title>app</title>'))
  })
  const stop = () => Promise.all([close(), new Promise((resolve) => (partner.closeAllConnections(), partner.close(resolve)))])
  const ask = (more: Record<string, string> = {}) =>
    `${url}/auth/oauth2/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: 'partner',
      redirect_uri: `${home}/cb`,
      scope: `openid profile email offline_access ${scopes.join(' ')}`,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      state: 's',
      ...more,
    }).toString()}`
  return { auth, url, home, stop, ask }
}

let browser: Browser
let site: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  ;[browser, site] = await Promise.all([launch(), start()])
}, 60_000)
afterAll(() => Promise.all([browser?.close(), site?.stop()]))

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

async function signIn(page: Page): Promise<void> {
  await page.fill('input[name=username]', 'u1')
  await page.fill('input[name=password]', 'right')
  await page.click('#submitButton')
}

it.each([
  [1280, 'light'],
  [390, 'dark'],
] as const)('%i pixels, %s: a partner signs a user in, is remembered, and loses what the user takes back', async (width, colorScheme) => {
  const { page } = await openWindow(browser, { viewport: { width, height: 844 }, colorScheme, javaScriptEnabled: width === 1280 })
  const look = async (name: string) => {
    expect(await overflow(page), name).toBeLessThanOrEqual(0)
    const folder = process.env['AUTHKERNEL_SCREENSHOTS']
    if (folder) await page.screenshot({ path: `${folder}/as-${name}-${width}.png`, fullPage: true })
  }
  await page.goto(site.ask())
  await signIn(page)
  await page.waitForSelector('button[value=allow]')
  expect(await page.textContent('main')).toContain('Read your notes')
  await look('consent')
  await page.click('button[value=allow]')
  await page.waitForURL(/\/cb\?code=/)
  expect(new URL(page.url()).searchParams.get('iss')).toBe(`${site.url}/auth`)
  // Nothing is asked again, and the answer to the sign-in form may lead to the partner.
  await page.goto(site.ask())
  expect(page.url()).toContain('/cb?code=')
  await page.goto(site.ask({ prompt: 'login' }))
  await signIn(page)
  await page.waitForURL(/\/cb\?code=/)
  await page.goto(`${site.url}/auth/account`)
  await look('account')
  await page.click('#connected-apps button')
  await page.waitForSelector('#connected-apps', { state: 'detached' })
  await page.goto(`${site.url}/auth/oauth2/logout?client_id=partner&post_logout_redirect_uri=${encodeURIComponent(`${site.home}/bye`)}`)
  await look('logout')
  await page.click('main form button')
  await page.waitForURL(`${site.home}/bye`)
  await page.goto(site.ask({ prompt: 'none' }))
  expect(new URL(page.url()).searchParams.get('error')).toBe('login_required')
  await page.context().close()
})

it('an app of bearerPlugin gets its code after a sign-in form at the https address that it claimed', async () => {
  const { page } = await openWindow(browser, { viewport: { width: 390, height: 844 } })
  await page.route(`${claimed}**`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>app</title>' }))
  const params = {
    response_type: 'code',
    client_id: 'phone',
    redirect_uri: claimed,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  await page.goto(`${site.url}/auth/oauth/authorize?${new URLSearchParams(params).toString()}`)
  await signIn(page)
  await page.waitForURL(/^https:\/\/app\.example\/signed-in\?code=/)
  await page.context().close()
})
