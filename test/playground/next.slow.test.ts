/** Next itself: built from the packed package, and driven in Chromium. */
import { testBinding } from 'authkernel/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { atProvider, launch, type Person, person } from '../flows/_chromium.ts'
import { type App, build, type Running, start } from './_app.ts'
import { testJourney, withAuthenticator } from './_journey.ts'
import { demo } from './_person.ts'

const app: App = {
  folder: 'next',
  build: ['node_modules/next/dist/bin/next', 'build'],
  start: ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1'],
  basePath: '/api/auth',
}

let running: Running
let browser: Browser
beforeAll(async () => {
  build(app)
  running = await start(app)
  browser = await launch()
}, 600_000)
afterAll(async () => {
  await browser?.close()
  await running?.close()
})

testJourney('next', () => running, { basePath: '/api/auth', scripts: 'needed' })
testBinding({
  name: 'next, built',
  fixed: true,
  person: demo,
  basePath: '/api/auth',
  start: async () => ({ origin: running.origin, close: async () => {} }),
})

describe('next-auth/react, unmodified (rows 324 to 327)', () => {
  async function opened(work: (page: Page, ada: Person) => Promise<void>): Promise<void> {
    const ada = await person(browser)
    try {
      await ada.page.goto(`${running.origin}/clients`)
      await expect.poll(() => ada.page.locator('#status').textContent()).toBe('unauthenticated')
      await work(ada.page, ada)
    } finally {
      await ada.context.close()
    }
  }
  async function press(page: Page, name: string): Promise<unknown> {
    await page.locator('#result').evaluate((element) => (element.textContent = ''))
    await page.getByRole('button', { name: `Auth.js: ${name}`, exact: true }).click()
    await expect.poll(() => page.locator('#result').textContent(), { timeout: 15_000 }).not.toBe('')
    return JSON.parse((await page.locator('#result').textContent()) ?? '')
  }
  const name = (page: Page): Promise<string | null> => page.locator('#name').textContent()

  it('rows 324, 327: signIn with redirect: false, useSession, update, getSession, signOut', () =>
    opened(async (page) => {
      expect(await press(page, 'providers')).toEqual(['acme', 'credentials', 'email', 'passkey'])
      expect(await press(page, 'csrf')).toBe(64)
      expect(await press(page, 'wrong password')).toMatchObject({
        error: 'CredentialsSignin',
        code: 'wrong_password',
        ok: true,
        status: 200,
        url: null,
      })
      expect(await name(page)).toBe('nobody')
      expect(await press(page, 'sign in')).toMatchObject({ ok: true, status: 200, url: expect.stringContaining('/clients') })
      await expect.poll(() => name(page)).toBe('Demo Person')
      expect(await press(page, 'update')).toMatchObject({ user: { name: 'Countess' } })
      await expect.poll(() => name(page)).toBe('Countess')
      expect(await press(page, 'session')).toMatchObject({ user: { name: 'Countess', email: 'demo@example.com' } })
      expect(await press(page, 'sign out')).toMatchObject({ url: expect.stringContaining('/clients') })
      await expect.poll(() => name(page)).toBe('nobody')
    }))

  it('row 324: signIn with a provider goes there and comes back', () =>
    opened(async (page) => {
      await page.getByRole('button', { name: 'Auth.js: Acme ID' }).click()
      await atProvider(page, 'Grace Hopper')
      await expect.poll(() => name(page)).toBe('Grace Hopper')
    }))

  it('row 326: useSession({ required }) leads to the sign-in page with SessionRequired', async () => {
    const { page, context } = await person(browser)
    await page.goto(`${running.origin}/clients/required`)
    await page.waitForURL((url) => url.pathname === '/api/auth/signin')
    const { searchParams } = new URL(page.url())
    expect([searchParams.get('error'), searchParams.get('callbackUrl')]).toEqual(['SessionRequired', `${running.origin}/clients/required`])
    await page.getByRole('button', { name: 'Sign in with Acme ID' }).click()
    await atProvider(page, 'Grace Hopper')
    await expect.poll(() => name(page)).toBe('Grace Hopper')
    await context.close()
  })

  it('row 325: next-auth/webauthn registers and signs in', () =>
    opened(async (page, ada) => {
      await withAuthenticator(ada.context, page)
      await press(page, 'sign in')
      await page.getByRole('button', { name: 'Auth.js: Acme ID' }).click()
      await atProvider(page, 'Ada Lovelace')
      await expect.poll(() => name(page)).toBe('Ada Lovelace')
      expect(await press(page, 'add passkey')).toMatchObject({ ok: true, status: 200 })
      await press(page, 'sign out')
      await expect.poll(() => name(page)).toBe('nobody')
      expect(await press(page, 'passkey')).toMatchObject({ ok: true, status: 200 })
      expect(await press(page, 'session')).toMatchObject({ user: { name: 'Ada Lovelace' } })
    }))
})

it('the proxy sends people without a session to the sign-in page and back', async () => {
  const answer = await fetch(`${running.origin}/protected?a=1`, { redirect: 'manual' })
  const to = new URL(answer.headers.get('location') ?? '', running.origin)
  expect([answer.status, to.pathname, to.searchParams.get('callbackUrl')]).toEqual([
    302,
    '/api/auth/signin',
    `${running.origin}/protected?a=1`,
  ])
})
