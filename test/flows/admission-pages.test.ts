/** The pages of invitations and the waitlist in Chromium: axe-core, a phone and a desktop, light and dark, and all of it without JavaScript. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { run } from 'axe-core'
import type { Plugin } from 'authkernel/kernel'
import { admissionPlugin } from 'authkernel/plugins/admission'
import { memoryAdapter } from 'authkernel/plugins/memory'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch } from './_chromium.ts'
import { openWindow, password, type Site, startSite } from './_pages.ts'

type Axe = { run: typeof run }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send() {} }) }

let browser: Browser
let site: Site
beforeAll(async () => {
  const adapter = memoryAdapter()
  await adapter.createUser!({ id: 'u1', email: 'root@example.com', name: 'Root', emailVerified: new Date(0) })
  browser = await launch()
  site = await startSite({ adapter, providers: [password], session: { strategy: 'database' } }, undefined, [
    postbox,
    admissionPlugin({ mode: 'waitlist', can: () => true, pages: true }),
  ])
}, 60_000)
afterAll(() => Promise.all([browser?.close(), site?.close()]))

/** Rules that a page breaks, and how much wider than the window it is. */
async function faults(page: Page): Promise<unknown> {
  // Past the nonce of the page, as an extension would.
  await page.evaluate(axe)
  return page.evaluate(async () => ({
    rules: (await (globalThis as unknown as { axe: Axe }).axe.run()).violations.map(({ id }) => id),
    over: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
  }))
}

describe.each([
  { width: 320, colorScheme: 'light', locale: 'de' },
  { width: 1280, colorScheme: 'dark', locale: 'ja' },
] as const)('$width pixels, $colorScheme, $locale', ({ width, colorScheme, locale }) => {
  it('no page has a fault, from the waitlist to a code that lets a visitor in', async () => {
    const viewport = { width, height: 844 }
    const plain = await openWindow(browser, { colorScheme, locale, viewport, javaScriptEnabled: false })
    const { context, page } = await openWindow(browser, { colorScheme, locale, viewport })
    const look = async (path: string) => {
      await page.goto(`${site.url}/auth${path}`)
      expect([path, await faults(page)]).toEqual([path, { rules: [], over: 0 }])
    }
    for (const path of ['/signin', '/admission', '/admission?error=InvitationCodeInvalid', '/admission/waiting']) await look(path)

    await plain.page.goto(`${site.url}/auth/admission`)
    await plain.page.fill('input[name=email]', `${'a-long-name'.repeat(4)}-${width}@example.com`)
    await plain.page.click('form[action$="/waitlist"] button')
    await plain.page.waitForURL(/\/admission\/waiting/)

    await plain.page.goto(`${site.url}/auth/signin?callbackUrl=/auth/admission/manage`)
    await plain.page.fill('input[name=username]', 'u1')
    await plain.page.fill('input[name=password]', 'right')
    await plain.page.click('#submitButton')
    await plain.page.waitForURL(/\/admission\/manage/)
    expect(await plain.page.textContent('body')).toContain(`-${width}@example.com`)
    await plain.page.fill('input[name=note]', 'x'.repeat(200))
    await plain.page.click('form:has(input[name=note]) button')
    const code = /[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}/.exec((await plain.page.textContent('.key')) ?? '')?.[0]
    expect(code).toBeDefined()
    await context.addCookies(await plain.context.cookies())
    await look('/admission/manage')
    await page.fill('input[name=note]', 'another')
    await page.click('form:has(input[name=note]) button')
    await page.waitForSelector('.key')
    expect(await faults(page)).toEqual({ rules: [], over: 0 })

    await context.clearCookies()
    await page.goto(`${site.url}/auth/admission/invitation?code=${code}`)
    expect(page.url()).toBe(`${site.url}/auth/admission`)
    expect(await faults(page)).toEqual({ rules: [], over: 0 })
    await Promise.all([context.close(), plain.context.close()])
  })
})
