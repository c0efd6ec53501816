/** The shop window: plugins are switched while the server runs, and the page says what they registered and what a request asked. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Playground, startPlayground } from '../../playground/express/start.ts'
import { pluginFiles } from '../../scripts/plugins.ts'
import { launch, person } from './_chromium.ts'

let browser: Browser
let playground: Playground
beforeAll(async () => {
  browser = await launch()
  playground = await startPlayground({ port: 0, opPort: 0, strategy: 'database', store: 'memory', quiet: true })
})
afterAll(async () => {
  await browser.close()
  await playground.close()
})

it('a plugin is switched on and off, with its routes, and requests go on', async () => {
  const { context, page } = await person(browser)
  const answer = (): Promise<string> =>
    fetch(`${playground.url}/auth/two-factor/setup`, { redirect: 'manual' }).then(
      ({ status, headers }) => `${status} ${headers.get('location') ?? ''}`,
    )
  const absent = await answer()
  await page.goto(`${playground.url}/plugins`)
  await page.getByRole('button', { name: 'Switch on two-factor', exact: true }).click()
  const line = page.locator('#plugin-two-factor')
  await line.getByText('Registered:').click()
  expect(await line.textContent()).toMatch(/GET \/two-factor[\s\S]*login[\s\S]*twoFactorBackupCode/)
  expect(await answer()).not.toBe(absent)
  await page.getByRole('button', { name: 'Switch off two-factor', exact: true }).click()
  await page.getByRole('button', { name: 'Switch on two-factor', exact: true }).waitFor()
  expect(await answer()).toBe(absent)
  await context.close()
})

it('what a configuration refuses stays as it was, and the page says why', async () => {
  const { context, page } = await person(browser)
  await page.goto(`${playground.url}/plugins`)
  await page.getByRole('button', { name: 'Switch on device-flow', exact: true }).click()
  expect(await page.getByRole('alert').textContent()).toContain('device-flow')
  await page.getByRole('button', { name: 'Switch on device-flow', exact: true }).waitFor()
  expect((await fetch(`${playground.url}/auth/session`)).status).toBe(200)
  await context.close()
})

it('every plugin of the page can be switched on, in its order, and all of them off again', async () => {
  const { context, page } = await person(browser)
  await page.goto(`${playground.url}/plugins`)
  const names = await page.locator('li[id^="plugin-"]').evaluateAll((lines) => lines.map(({ id }) => id.slice('plugin-'.length)))
  // Every plugin of the package; `adapter` is what the stores are put in by, and `redis` has stores for it.
  expect([...pluginFiles().keys()].filter((name) => !['adapter', 'redis'].includes(name) && !names.includes(name))).toEqual([])
  // These change the store, the names of cookies or whose people are seen; they are tried alone below.
  const alone = [
    'authjs-compat',
    'better-auth-compat',
    'tenants',
    'memory',
    'unstorage',
    'sql',
    'hash-session-tokens',
    'encrypt-tokens',
    'records',
  ]
  const post = async (id: string, on: boolean): Promise<string> => {
    const body = new URLSearchParams({ id, on: on ? 'yes' : '' })
    const response = await fetch(`${playground.url}/plugins`, {
      method: 'POST',
      body,
      redirect: 'manual',
      headers: { origin: playground.url },
    })
    return response.status === 303 ? '' : `${id}: ${/role="alert">([^<]*)/.exec(await response.text())?.[1] ?? response.status}`
  }
  const before = playground.auth.inspect().plugins.length
  const faults: string[] = []
  for (const id of names.filter((name) => !alone.includes(name))) faults.push(await post(id, true))
  expect(faults.filter(Boolean)).toEqual([])
  for (const id of alone) faults.push(await post(id, true), await post(id, false))
  expect(faults.filter(Boolean)).toEqual([])
  expect((await fetch(`${playground.url}/auth/signin`)).status).toBe(200)
  for (const id of names.toReversed()) faults.push(await post(id, false))
  expect(faults.filter(Boolean)).toEqual([])
  expect(playground.auth.inspect().plugins.length).toBeLessThan(before)
  for (const id of ['oidc', 'oauth', 'credentials', 'email', 'webauthn', 'pin', 'accounts', 'provider-tokens', 'single-logout'])
    faults.push(await post(id, true))
  expect(faults.filter(Boolean)).toEqual([])
  expect(playground.auth.inspect().plugins.length).toBe(before)
  await context.close()
})

it('a request is shown with its hooks, events and the plugins that answered, without its query', async () => {
  const { context, page } = await person(browser)
  await page.goto(`${playground.url}/auth/signin?callbackUrl=/secret-place`)
  await page.goto(playground.url)
  await page.getByRole('button', { name: 'Continue with Acme ID' }).click()
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForURL(`${playground.url}/`)
  await page.goto(`${playground.url}/plugins`)
  const log = (await page.locator('#requests').textContent()) ?? ''
  expect(log).toContain('GET /auth/callback/acme')
  expect(log).toMatch(/hook\s*signIn by host/)
  expect(log).toMatch(/event\s*signIn/)
  expect(log).not.toMatch(/code=|state=|secret-place/)
  await context.close()
})

it('a switch needs a form of this site', async () => {
  const body = new URLSearchParams({ id: 'oidc', on: '' })
  expect((await fetch(`${playground.url}/plugins`, { method: 'POST', body })).status).toBe(403)
  const own = { method: 'POST', body: new URLSearchParams({ id: 'nothing', on: 'yes' }), headers: { origin: playground.url } }
  expect((await fetch(`${playground.url}/plugins`, own)).status).toBe(404)
})
