/** `authkernel/react`, `/vue`, `/solid`, `/svelte`: production builds by Vite in Chromium, rendered on the server where the build has a renderer. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { compile } from 'svelte/compiler'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startUi, type UiSite } from './_ui/site.ts'
import { launch } from './_chromium.ts'

/** Svelte's compiler as a plugin of Vite: its own plugin wants another Vite than vitest has. */
const svelte = {
  name: 'svelte',
  transform(code: string, id: string, options?: { ssr?: boolean }): { code: string } | undefined {
    if (!id.endsWith('.svelte')) return undefined
    return { code: compile(code, { filename: id, generate: options?.ssr ? 'server' : 'client' }).js.code }
  },
}
const apps: Record<string, { app: string; render?: string; plugins?: object[] }> = {
  react: { app: 'react.ts', render: 'react-server.ts' },
  vue: { app: 'vue.ts', render: 'vue-server.ts' },
  solid: { app: 'solid.ts' },
  svelte: { app: 'svelte.ts', render: 'svelte-server.ts', plugins: [svelte] },
}

let browser: Browser
beforeAll(async () => void (browser = await launch()))
afterAll(() => browser.close())

describe.each(Object.entries(apps))('authkernel/%s', (_, { app, ...more }) => {
  let site: UiSite
  let context: BrowserContext
  let complaints: string[]
  beforeAll(async () => void (site = await startUi(app, more)))
  afterAll(() => site.close())
  beforeEach(async () => {
    context = await browser.newContext()
    complaints = []
  })
  afterEach(async () => {
    await context.close()
    expect(complaints).toEqual([])
  })

  async function open(path: string): Promise<Page> {
    const page = await context.newPage()
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(site.url + path)
    return page
  }
  const says = async (page: Page, text: string): Promise<void> => {
    for (const id of ['#one', '#two']) await expect.poll(() => page.textContent(id)).toBe(text)
  }

  it('components share one request; sign-in and sign-out reach all of them and the other tabs', async () => {
    const before = site.reads()
    const page = await open('/')
    await says(page, 'unauthenticated')
    expect(site.reads() - before).toBe(1)
    const other = await open('/')
    await says(other, 'unauthenticated')
    await page.click('#in')
    await says(page, 'Hello Ann')
    await says(other, 'Hello Ann')
    await other.click('#out')
    await says(page, 'unauthenticated')
  })

  it('what the server rendered is shown first, without a flash and without a request', async () => {
    const first = await open('/')
    await says(first, 'unauthenticated')
    await first.click('#in')
    await says(first, 'Hello Ann')
    await first.close()
    const before = site.reads()
    const page = await open('/?ssr')
    await says(page, 'Hello Ann')
    expect(await page.evaluate('[...new Set(shown)]')).toEqual(['Hello Ann'])
    expect(site.reads() - before).toBe(0)
  })

  it('a sign-out on the server: what was rendered again counts, and a navigation reads again', async () => {
    const page = await open('/')
    await says(page, 'unauthenticated')
    await page.click('#in')
    await says(page, 'Hello Ann')
    const other = await open('/')
    await says(other, 'Hello Ann')
    await page.click('#action')
    await says(page, 'unauthenticated')
    // The other tab is told.
    await says(other, 'unauthenticated')
    await page.click('#in')
    await says(page, 'Hello Ann')
    await context.clearCookies()
    await page.click('#go')
    await says(page, 'unauthenticated')
  })

  it('the tab that gets the focus reads again', async () => {
    const page = await open('/')
    await says(page, 'unauthenticated')
    await page.click('#in')
    await says(page, 'Hello Ann')
    await context.clearCookies()
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await says(page, 'unauthenticated')
  })
})
