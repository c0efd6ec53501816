/** `authkernel/react`, `/vue`, `/solid`, `/svelte`: production builds by Vite in Chromium, rendered on the server where the build has a renderer. */
import { fileURLToPath } from 'node:url'
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

describe.each(Object.entries(apps))('authkernel/%s', (name, { app, ...more }) => {
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

  // Solid has the session alone.
  if (name === 'solid') return
  it('the parts draw what the server offers, sign in with any type, and pass axe', async () => {
    const page = await open('/parts')
    const form = (id: string): string => `[data-part=sign-in-form] >> nth=0 >> form[data-provider=${id}]`
    await page.waitForSelector(form('door'))
    expect(
      await page.$$eval('[data-part=sign-in-form] >> nth=0 >> form', (forms) => forms.map((each) => each.dataset['provider'])),
    ).toEqual(['door', 'credentials', 'acme'])
    await page.addScriptTag({ path: fileURLToPath(import.meta.resolve('axe-core/axe.min.js')) })
    const rules = { rules: { 'document-title': { enabled: true } }, runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }
    const found = (await page.evaluate(`axe.run('#app', ${JSON.stringify(rules)})`)) as { violations: { id: string; help: string }[] }
    expect(found.violations.map(({ id, help }) => `${id}: ${help}`)).toEqual([])
    // A wrong password is told, and the name stays.
    await page.fill(`${form('credentials')} >> input[name=username]`, 'Ann')
    await page.fill(`${form('credentials')} >> input[name=password]`, 'wrong')
    await page.click(`${form('credentials')} >> button`)
    await expect.poll(() => page.textContent(`${form('credentials')} >> [role=alert]`)).toContain('Check what you typed')
    expect(await page.inputValue(`${form('credentials')} >> input[name=username]`)).toBe('Ann')
    // A type that these components have never heard of.
    await page.fill(`${form('door')} >> input[name=pin]`, '4711')
    await Promise.all([page.waitForURL('**/after'), page.click(`${form('door')} >> button`)])
    await page.goto(`${site.url}/parts`)
    await expect.poll(() => page.textContent('[data-part=user-button] summary')).toBe('Pia')
    expect(await page.textContent('[data-part=account-page] h2')).toBe('Pia')
    expect(await page.textContent('[data-part=account-page] [data-provider=acme]')).toBe('Connect Acme')
    expect(await page.isVisible('[data-part=user-button] a')).toBe(false)
    await page.click('[data-part=user-button] summary')
    expect(await page.getAttribute('[data-part=user-button] a', 'href')).toBe('/me')
    await page.click('[data-part=user-button] button')
    await expect.poll(() => page.textContent('button[data-part=user-button]')).toBe('Sign in')
  })
})
