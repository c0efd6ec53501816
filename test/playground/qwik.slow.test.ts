/** Qwik City itself: client and server built from the packed package, and driven in Chromium. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testBinding } from 'authkernel/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

describe('authkernel/qwik', () => {
  const says = async (page: Page, text: string): Promise<void> => {
    for (const id of ['#one', '#two']) await expect.poll(() => page.textContent(id)).toBe(text)
  }
  /** A page that notes every text of the first component, the server's included, and what it asks of the server. */
  async function open(
    path = '/session/',
  ): Promise<{ page: Page; another(): Promise<Page>; reads: string[]; shown(): Promise<string[]>; close(): Promise<void> }> {
    const { page, context } = await person(browser)
    const reads: string[] = []
    context.on('request', (request) => request.url().endsWith('/auth/session') && reads.push(request.url()))
    await context.addInitScript(`
      const shown = (globalThis.shown = [])
      const note = () => { const text = document.querySelector('#one')?.textContent; if (text && shown.at(-1) !== text) shown.push(text) }
      new MutationObserver(note).observe(document, { childList: true, subtree: true, characterData: true })
    `)
    await page.goto(running.origin + path)
    const another = async (): Promise<Page> => {
      const other = await context.newPage()
      await other.goto(running.origin + path)
      return other
    }
    return { page, another, reads, shown: () => page.evaluate('shown'), close: () => context.close() }
  }

  it('what the server rendered is shown first, without a flash and without a request', async () => {
    const { page, reads, shown, close } = await open()
    await says(page, 'unauthenticated')
    await page.click('#in')
    await says(page, 'Hello Demo Person')
    const before = reads.length
    await page.reload()
    await says(page, 'Hello Demo Person')
    await page.waitForLoadState('networkidle')
    expect([await shown(), reads.length - before]).toEqual([['Hello Demo Person'], 0])
    await close()
  })

  it('sign-in and sign-out reach every component and the other tabs', async () => {
    const { page, another, close } = await open()
    const other = await another()
    await says(other, 'unauthenticated')
    await page.click('#in')
    await says(page, 'Hello Demo Person')
    await says(other, 'Hello Demo Person')
    await other.click('#out')
    await says(page, 'unauthenticated')
    await close()
  })

  it('a sign-out by an action of the server counts at once, and in the other tabs with the focus; a navigation reads again', async () => {
    const { page, another, close } = await open()
    await page.click('#in')
    await says(page, 'Hello Demo Person')
    const other = await another()
    await says(other, 'Hello Demo Person')
    await page.click('#action')
    await says(page, 'unauthenticated')
    // The action led to a page that was loaded: no script of this tab was there to tell the other one.
    await other.evaluate(`dispatchEvent(new Event('focus'))`)
    await says(other, 'unauthenticated')
    // Its reads would renew the cookie that is taken away below.
    await other.close()
    await page.click('#in')
    await says(page, 'Hello Demo Person')
    await page.context().clearCookies()
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await says(page, 'unauthenticated')
    await page.click('#in')
    await says(page, 'Hello Demo Person')
    await page.context().clearCookies()
    await page.click('#go')
    await says(page, 'unauthenticated')
    await close()
  })

  it('without a provider components share one request', async () => {
    const { page, reads, close } = await open('/alone/')
    await says(page, 'unauthenticated')
    expect(reads.length).toBe(1)
    await close()
  })
})
