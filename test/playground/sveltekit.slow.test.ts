/** SvelteKit itself: built with adapter-node from the packed package, and driven in Chromium. */
import { testBinding } from 'authkernel/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { atProvider, launch, person } from '../flows/_chromium.ts'
import { type App, build, type Running, start } from './_app.ts'
import { testJourney } from './_journey.ts'
import { demo } from './_person.ts'

const app: App = {
  folder: 'sveltekit',
  build: ['node_modules/vite/bin/vite.js', 'build'],
  start: ['build/index.js'],
  env: (port) => ({ ORIGIN: `http://localhost:${port}` }),
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

testJourney('sveltekit', () => running)
testBinding({ name: 'sveltekit, built', fixed: true, person: demo, start: async () => ({ origin: running.origin, close: async () => {} }) })

it('row 321: the client of @auth/sveltekit, unmodified', async () => {
  const { page, context, complaints } = await person(browser)
  await page.goto(`${running.origin}/clients`)
  await page.waitForLoadState('networkidle')
  await page.getByRole('button', { name: 'Auth.js: sign in' }).click()
  await expect.poll(() => page.locator('#name').textContent()).toBe('Demo Person')
  await page.waitForLoadState('networkidle')
  await page.getByRole('button', { name: 'Auth.js: sign out' }).click()
  await expect.poll(() => page.locator('#name').textContent()).toBe('nobody')
  await page.waitForLoadState('networkidle')
  await page.getByRole('button', { name: 'Auth.js: Acme ID' }).click()
  await atProvider(page, 'Grace Hopper')
  await expect.poll(() => page.locator('#name').textContent()).toBe('Grace Hopper')
  expect(complaints).toEqual([])
  await context.close()
})
