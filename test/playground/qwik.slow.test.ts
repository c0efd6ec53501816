/** Qwik City itself: client and server built from the packed package, and driven in Chromium (issue 6 items 1 and 3 to 8). */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testBinding } from 'authkernel/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launch, person } from '../flows/_chromium.ts'
import { type App, build, type Running, start } from './_app.ts'
import { testJourney } from './_journey.ts'
import { demo } from './_person.ts'

const vite = ['node_modules/vite/bin/vite.js', 'build']
const app: App = { folder: 'qwik', build: vite, start: ['server/entry.node.js'] }

let running: Running
let browser: Browser
beforeAll(async () => {
  build(app)
  build({ ...app, build: [...vite, '-c', 'adapters/node.config.ts'] })
  running = await start(app)
  browser = await launch()
}, 600_000)
afterAll(async () => {
  await browser?.close()
  await running?.close()
})

testJourney('qwik', () => running)
testBinding({
  name: 'qwik, built',
  fixed: true,
  person: demo,
  paths: { session: '/page/', guarded: '/guarded/', login: '/login/', logout: '/logout/' },
  start: async () => ({ origin: running.origin, close: async () => {} }),
})

it('rows 309, 310: wrong input gets its own shape in the browser', async () => {
  const { page, context } = await person(browser)
  await page.goto(`${running.origin}/wrong/`)
  const result = async (name: string): Promise<unknown> => {
    await page.getByRole('button', { name }).click()
    await expect
      .poll(() => page.locator('#result').textContent())
      .toContain(name.includes('out') ? '"fieldErrors":{"redirectTo"' : 'providerId')
    return JSON.parse((await page.locator('#result').textContent()) ?? '')
  }
  const field = ['Expected string']
  expect(await result('Sign in wrongly')).toEqual({ failed: true, fieldErrors: { providerId: field, redirectTo: field }, formErrors: [] })
  expect(await result('Sign out wrongly')).toEqual({ failed: true, fieldErrors: { redirectTo: field }, formErrors: [] })
  await context.close()
})

it('browsers get neither the options nor the kernel', () => {
  const folder = fileURLToPath(new URL('../../playground/qwik/dist/build/', import.meta.url))
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'))
  const telling = files.filter((name) =>
    /wrong_password|Demo Person|session-token|UntrustedHost/.test(readFileSync(join(folder, name), 'utf8')),
  )
  expect([files.length > 5, telling]).toEqual([true, []])
})
