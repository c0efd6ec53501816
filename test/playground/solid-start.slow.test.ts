/** SolidStart itself: built by vinxi from the packed package, and driven in Chromium. */
import { testBinding } from 'authkernel/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { atProvider, launch, person } from '../flows/_chromium.ts'
import { type App, build, type Running, start } from './_app.ts'
import { testJourney } from './_journey.ts'
import { demo } from './_person.ts'

const app: App = {
  folder: 'solid-start',
  build: ['node_modules/vinxi/bin/cli.mjs', 'build'],
  start: ['.output/server/index.mjs'],
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

testJourney('solid-start', () => running, { basePath: '/api/auth' })
testBinding({
  name: 'solid-start, built',
  fixed: true,
  person: demo,
  basePath: '/api/auth',
  start: async () => ({ origin: running.origin, close: async () => {} }),
})

it('the client of @auth/solid-start, unmodified', async () => {
  const { page, context } = await person(browser)
  const press = async (name: string): Promise<void> => {
    await page.waitForLoadState('networkidle')
    await page.getByRole('button', { name: `Auth.js: ${name}` }).click()
  }
  const name = (): Promise<string | null> => page.locator('#name').textContent()
  await page.goto(`${running.origin}/clients`)
  await press('sign in')
  await expect.poll(name).toBe('Demo Person')
  await press('sign out')
  await expect.poll(name).toBe('nobody')
  await press('Acme ID')
  await atProvider(page, 'Grace Hopper')
  await expect.poll(name).toBe('Grace Hopper')
  await context.close()
})
