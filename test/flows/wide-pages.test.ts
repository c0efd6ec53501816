/** Wide pages and their parts in Chromium: 320 to 1280 pixels, both schemes, right-to-left, the keyboard, and all of it without JavaScript. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { run } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launch } from './_chromium.ts'
import { startGallery } from './_gallery.ts'
import { openWindow } from './_pages.ts'

type Axe = { run: typeof run }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let browser: Browser
let site: Awaited<ReturnType<typeof startGallery>>
let arabic: typeof site
beforeAll(async () => {
  ;[browser, site, arabic] = await Promise.all([launch(), startGallery(), startGallery({ locale: 'ar' })])
})
afterAll(async () => {
  await browser.close()
  await site.close()
  await arabic.close()
})

async function signIn(url: string, options: BrowserContextOptions) {
  const window = await openWindow(browser, options)
  await window.page.goto(`${url}/auth/signin`)
  await window.page.fill('input[name=user]', 'ada')
  await window.page.click('form[action*=credentials] button[type=submit]')
  return window
}

/** Reflow and axe; a screenshot where SHOTS names a folder. */
async function check(page: Page, name: string, javaScriptEnabled = true): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${name} overflows`).toBeLessThanOrEqual(0)
  // axe-core waits for timers, which do not run without JavaScript.
  if (!javaScriptEnabled) return
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run())
  expect(violations.map(({ id, nodes }) => `${name}: ${id} ${nodes[0]?.html}`)).toEqual([])
}

it.each([
  [1280, 'light', true],
  [1280, 'dark', true],
  [768, 'light', true],
  [390, 'light', true],
  [390, 'dark', false],
  [320, 'light', false],
] as const)(
  'at %i pixels, %s, JavaScript %s: no overflow, axe clean, navigation in reach',
  async (width, colorScheme, javaScriptEnabled) => {
    const { page, context, complaints } = await signIn(site.url, { viewport: { width, height: 900 }, colorScheme, javaScriptEnabled })
    for (const path of ['account', 'gallery', 'gallery/remove']) {
      await page.goto(`${site.url}/auth/${path}`)
      await check(page, `${path.replace('/', '-')}-${width}-${colorScheme}`, javaScriptEnabled)
    }
    await page.goto(`${site.url}/auth/gallery`)
    const navigation = page.getByRole('navigation', { name: 'Organization' })
    if (width <= 768) {
      expect(await navigation.isVisible()).toBe(false)
      await page.getByRole('button', { name: 'Organization' }).click()
    }
    expect(await navigation.getByRole('link', { name: 'Members' }).getAttribute('aria-current')).toBe('page')
    await navigation.getByRole('link', { name: 'Settings' }).click()
    await page.waitForURL('**/gallery?settings')
    await page.getByRole('button', { name: 'Ada Lovelace' }).click()
    await page.getByRole('link', { name: 'Sign out' }).click()
    await page.waitForURL('**/signout')
    expect(complaints).toEqual([])
    await context.close()
  },
)

it('mirrors itself for right-to-left languages', async () => {
  const { page, context } = await signIn(arabic.url, { viewport: { width: 1280, height: 900 } })
  await page.goto(`${arabic.url}/auth/gallery`)
  await check(page, 'gallery-rtl')
  const [navigation, main] = await Promise.all([page.locator('.ui-nav').boundingBox(), page.locator('main').boundingBox()])
  expect(navigation!.x).toBeGreaterThan(main!.x + main!.width - 1)
  await context.close()
})

it('copies, asks in a dialog, and filters at once; without JavaScript the same by pages and a button', async () => {
  const { page, context } = await signIn(site.url, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${site.url}/auth/gallery`)
  const copy = page.locator('[data-ui-copy]')
  await copy.click()
  await expect.poll(() => copy.textContent()).toBe('Copied')
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^ak_0123/)
  await page.getByRole('link', { name: 'Remove', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove Grace Hopper?' })
  await dialog.waitFor()
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/dialog.png` })
  await page.keyboard.press('Escape')
  expect(await dialog.isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Remove', exact: true }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await dialog.isVisible()).toBe(false)
  await page.getByRole('link', { name: 'Remove', exact: true }).click()
  await dialog.getByRole('button', { name: 'Remove Grace' }).click()
  expect(await page.textContent('body')).toBe('posted')

  await page.goto(`${site.url}/auth/gallery`)
  await page.getByLabel('Role').selectOption('')
  await page.waitForURL(
    (url) => url.searchParams.get('q') === 'a' && url.searchParams.get('role') === '' && url.searchParams.get('sort') === '-seen',
  )
  expect(await page.getByRole('link', { name: 'User' }).getAttribute('href')).toMatch(/\?role=owner&sort=name$/)
  expect(await page.locator('th[aria-sort]').textContent()).toContain('Last seen')
  await context.close()

  const still = await signIn(site.url, { javaScriptEnabled: false })
  await still.page.goto(`${site.url}/auth/gallery`)
  expect(await still.page.locator('[data-ui-copy]').isVisible()).toBe(false)
  await still.page.getByRole('link', { name: 'Remove', exact: true }).click()
  await still.page.getByRole('button', { name: 'Remove Grace' }).click()
  expect(await still.page.textContent('body')).toBe('posted')
  await still.page.goto(`${site.url}/auth/gallery`)
  await still.page.fill('input[name=q]', 'grace')
  await still.page.getByRole('button', { name: 'Search' }).click()
  expect(new URL(still.page.url()).searchParams.get('q')).toBe('grace')
  await still.context.close()
})
