/** Every page in Chromium: axe-core, light and dark, phone and desktop, five languages, keyboard only, JavaScript off. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { run } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryAdapter } from 'authkernel/plugins/memory'
import passkey from 'authkernel/providers/passkey'
import { errorTable } from '../../src/errors/table.ts'
import { sampleCases } from '../_tier.ts'
import { launch } from './_chromium.ts'
import { listen, mail, oauth, openWindow, password, type Site, startSite, type Window } from './_pages.ts'

type Axe = { run: typeof run }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const pages: [name: string, path: string, status: number][] = [
  ['sign-in', '/signin', 200],
  ['sign-in after a mistake', '/signin?error=CredentialsSignin', 200],
  ['sign-in on demand', '/signin?error=SessionRequired', 200],
  ['sign-out', '/signout', 200],
  ['error', '/error?error=AccessDenied', 403],
  ['verify-request', '/verify-request?provider=email&type=email', 200],
  ['verify-confirm', '/callback/email?token=t&email=jane.doe%40example.com', 200],
]
// A text for every code: the longest heading, the longest text and every shape of the page are among them.
const codes = [...Object.keys(errorTable), 'SessionRequired', 'Configuration', 'OAuthSignin', 'SomethingElse']
const themes = [{}, { brandColor: '#f7e018', buttonText: '#ffffff' }, { brandColor: '#635bff', buttonText: '#fff' }]

let browser: Browser
let site: Site
beforeAll(async () => {
  browser = await launch()
  site = await startSite()
})
afterAll(async () => {
  await browser.close()
  await site.close()
})

describe('D19: accessible', () => {
  const looks = (['light', 'dark'] as const).flatMap((colorScheme) => [390, 1280].map((width) => ({ colorScheme, width })))
  // The small light one and the wide dark one.
  it.each(sampleCases(looks, 3))('no violation on any page, $colorScheme, $width pixels', async ({ colorScheme, width }) => {
    const { context, page, complaints } = await openWindow(browser, { colorScheme, viewport: { width, height: 844 } })
    for (const [name, path, status] of pages) {
      const answer = await page.goto(`${site.url}/auth${path}`)
      expect(answer?.status(), name).toBe(status)
      expect(await violations(page), name).toEqual([])
      expect(await overflow(page), name).toEqual([])
    }
    // Chromium reports the status of the error page itself.
    expect(complaints.filter((text) => !/status of 403/.test(text))).toEqual([])
    await context.close()
  })

  it.each(sampleCases(['de', 'en', 'fr', 'ja', 'es'], 3))('no violation with any error code on a small phone, %s', async (locale) => {
    const { context, page } = await openWindow(browser, { locale, viewport: { width: 320, height: 640 } })
    const texts = new Set<string>()
    for (const code of codes) {
      for (const path of [`/error?error=${code}`, `/signin?error=${code}`]) {
        // Many codes share a text: look at each text once.
        const html = await (await fetch(`${site.url}/auth${path}`, { headers: { 'accept-language': locale } })).text()
        const said = /<div class="(?:message|error[^"]*)"[\s\S]*?<p>([^<]*)/.exec(html)?.[1] ?? ''
        if (texts.has(`${path[1]} ${said}`)) continue
        texts.add(`${path[1]} ${said}`)
        await page.goto(`${site.url}/auth${path}`)
        expect(await page.textContent('main'), path).toContain(said)
        expect(await overflow(page), path).toEqual([])
        // One of each look: axe-core takes a second.
        if (['CredentialsSignin', 'Configuration', 'AccessDenied', 'SessionRequired'].includes(code))
          expect(await violations(page), path).toEqual([])
      }
    }
    expect(texts.size).toBeGreaterThan(20)
    await context.close()
  })

  it('no violation where a form is refused: 403 of another site, 429 after too many attempts', async () => {
    const own = await startSite({ providers: [password], throttle: { credentials: { max: 1 } } })
    const { context, page } = await openWindow(browser)
    await page.goto(`${own.url}/auth/signin`)
    for (const status of [302, 429]) {
      await page.goto(`${own.url}/auth/signin`)
      await page.fill('input[name=username]', 'Jane')
      await page.fill('input[name=password]', 'wrong')
      const answer = page.waitForResponse((response) => response.url().includes('/callback/'))
      await page.click('#submitButton')
      expect((await answer).status()).toBe(status)
    }
    expect(await page.textContent('h1')).toBe('Too many attempts')
    expect(await violations(page)).toEqual([])
    const foreign = await listen((_req, res) => {
      res
        .setHeader('content-type', 'text/html')
        .end(`<!doctype html><form method="post" action="${own.url}/auth/signout"><button>x</button></form>`)
    })
    await page.goto(foreign.url)
    await page.click('button')
    await page.waitForURL(`${own.url}/auth/signout`)
    expect(await page.textContent('h1')).toBe('This did not come from our page')
    expect(await violations(page)).toEqual([])
    await context.close()
    await foreign.close()
    await own.close()
  })

  it.each(sampleCases(['light', 'dark'] as const, 2))(
    'no violation on the account page, from a small phone up, and all of it without JavaScript, %s',
    async (colorScheme) => {
      const adapter = memoryAdapter()
      await adapter.createUser?.({
        id: 'u1',
        name: 'Jane Doe',
        email: 'a-rather-long-address-of-somebody@mail.example',
        emailVerified: null,
      })
      await adapter.linkAccount?.({ userId: 'u1', type: 'oauth', provider: 'orbit', providerAccountId: '1' })
      const providers = [
        password,
        oauth('orbit', 'Orbit', 'https://orbit.example/a'),
        oauth('acme', 'Acme Workforce', 'https://acme.example/a'),
      ]
      const own = await startSite({ adapter, providers, session: { strategy: 'database' } })
      const windows: Window[] = []
      for (const locale of ['en', 'de']) {
        const window = await openWindow(browser, { locale, colorScheme, javaScriptEnabled: false, viewport: { width: 320, height: 640 } })
        windows.push(window)
        const { page } = window
        await page.goto(`${own.url}/auth/account`)
        await page.fill('input[name=username]', 'Jane')
        await page.fill('input[name=password]', 'right')
        await page.click('#submitButton')
        await page.waitForURL(`${own.url}/auth/account`)
      }
      const [first, second] = windows as [Window, Window]
      for (const { context, page } of windows) {
        // axe-core itself is a script.
        const other = await openWindow(browser, {
          colorScheme,
          locale: page === first.page ? 'en' : 'de',
          viewport: { width: 320, height: 640 },
        })
        await other.context.addCookies(await context.cookies())
        for (const width of [320, 1280]) {
          await other.page.setViewportSize({ width, height: 800 })
          await other.page.goto(`${own.url}/auth/account`)
          expect(await violations(other.page)).toEqual([])
          expect(await overflow(other.page)).toEqual([])
          expect(await overlaps(other.page)).toEqual([])
        }
        expect(other.complaints).toEqual([])
        await other.context.close()
      }
      await first.page.reload()
      expect(await first.page.locator('#sessions li').count()).toBe(2)
      await first.page.click('#sessions li form button')
      await first.page.waitForURL(/done=/)
      expect(await first.page.locator('#sessions li').count()).toBe(1)
      await second.page.reload()
      expect(second.page.url()).toContain('/auth/signin')
      await first.page.click('#sessions header form button')
      await first.page.waitForURL(/signin/)
      for (const { context } of windows) await context.close()
      await own.close()
    },
  )

  it('no violation, and room for everybody, with thirty providers, long names, and none at all', async () => {
    const long = 'Donaudampfschifffahrtsgesellschaftskapitänsverband International Identity Services GmbH & Co. KG'
    const many = Array.from({ length: 30 }, (_, i) => oauth(`p${i}`, i === 3 ? long : `Provider ${i}`, 'https://p.example/authorize'))
    const crowded = await startSite({ providers: [...many, mail, password, passkey()] })
    const empty = await startSite({ providers: [] })
    for (const width of sampleCases([320, 390, 800, 1280], 3)) {
      const { context, page } = await openWindow(browser, { viewport: { width, height: 800 }, locale: 'de' })
      for (const { url } of [crowded, empty]) {
        await page.goto(`${url}/auth/signin`)
        expect(await violations(page), `${width}`).toEqual([])
        expect(await overflow(page), `${width}`).toEqual([])
        expect(await overlaps(page), `${width}`).toEqual([])
      }
      await context.close()
    }
    await crowded.close()
    await empty.close()
  })

  it('what the passkey script has to say is announced and readable', async () => {
    const { context, page } = await openWindow(browser)
    await page.addInitScript('delete globalThis.PublicKeyCredential')
    await page.goto(`${site.url}/auth/signin`)
    await page.click('#submitButton-passkey')
    await page.getByRole('alert').getByText('does not support passkeys').waitFor()
    expect(await violations(page)).toEqual([])
    await context.close()
  })

  it('any brand colour keeps its contrast, in a theme with a fixed scheme too', async () => {
    const cases = themes.flatMap((theme) => (['light', 'dark'] as const).map((colorScheme) => ({ theme, colorScheme })))
    for (const { theme, colorScheme } of sampleCases(cases, 3)) {
      const themed = await startSite({ theme: { ...theme, colorScheme } })
      const { context, page } = await openWindow(browser, { colorScheme: colorScheme === 'dark' ? 'light' : 'dark' })
      for (const [name, path] of pages.slice(0, 4)) {
        await page.goto(`${themed.url}/auth${path}`)
        expect(await violations(page), `${name} ${JSON.stringify(theme)}`).toEqual([])
      }
      await context.close()
      await themed.close()
    }
  })

  it.each(sampleCases(['de', 'fr', 'es', 'ja'], 3))('%s fits on a small phone', async (locale) => {
    const { context, page } = await openWindow(browser, { locale, viewport: { width: 320, height: 640 } })
    for (const [name, path] of pages) {
      await page.goto(`${site.url}/auth${path}`)
      expect(await page.getAttribute('html', 'lang')).toBe(locale)
      expect(await overflow(page), name).toEqual([])
      expect(await violations(page), name).toEqual([])
    }
    await context.close()
  })

  it('nothing moves for who asked for that, and everything is there in forced colours', async () => {
    const { context, page } = await openWindow(browser, { reducedMotion: 'reduce', forcedColors: 'active' })
    for (const [name, path] of pages) {
      await page.goto(`${site.url}/auth${path}`)
      const moving = await page.evaluate(() =>
        [...document.querySelectorAll('*')]
          .filter((element) => getComputedStyle(element).transitionDuration !== '0s')
          .map((element) => element.outerHTML),
      )
      expect(moving, name).toEqual([])
      expect(await violations(page), name).toEqual([])
    }
    await context.close()
  })

  it('text at twice its size still fits', async () => {
    const { context, page } = await openWindow(browser, { viewport: { width: 640, height: 800 }, deviceScaleFactor: 2 })
    for (const [name, path] of pages) {
      await page.goto(`${site.url}/auth${path}`)
      await page.evaluate(() => document.documentElement.attributeStyleMap?.set('font-size', '200%'))
      expect(await overflow(page), name).toEqual([])
    }
    await context.close()
  })
})

describe('keyboard only', () => {
  it('every control is reached in the order of the page and shows where the focus is', async () => {
    const { context, page } = await openWindow(browser)
    await page.goto(`${site.url}/auth/signin`)
    const expected = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('button, a[href], input:not([type=hidden])')]
        .filter((control) => !control.closest('[hidden]'))
        .map(({ id, outerHTML }) => id || outerHTML),
    )
    const reached: string[] = []
    for (const _ of expected) {
      await page.keyboard.press('Tab')
      const focus = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement!)
        return { id: document.activeElement!.id || document.activeElement!.outerHTML, outlineStyle, outlineWidth }
      })
      expect(focus).toMatchObject({ outlineStyle: 'solid', outlineWidth: '2px' })
      reached.push(focus.id)
    }
    expect(reached).toEqual(expected)
    await context.close()
  })

  it('signs in and out', async () => {
    const { window, own } = await passwordSite()
    const { page, context, complaints } = window
    await page.goto(`${own.url}/auth/signin?callbackUrl=/home`)
    await page.keyboard.press('Tab')
    await page.keyboard.type('Jane')
    await page.keyboard.press('Tab')
    await page.keyboard.type('right')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${own.url}/home`)
    expect(await page.textContent('#who')).toBe('Jane')
    await page.goto(`${own.url}/auth/signout`)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${own.url}/home`)
    expect(await page.textContent('#who')).toBe('nobody')
    expect(complaints).toEqual([])
    await context.close()
    await own.close()
  })
})

describe('row 286: JavaScript off', () => {
  it('a wrong password is said, the right one signs in', async () => {
    const { window, own } = await passwordSite(false)
    const { page, context } = window
    await page.goto(`${own.url}/auth/signin?callbackUrl=/home`)
    await page.fill('input[name=username]', 'Jane')
    await page.fill('input[name=password]', 'wrong')
    await page.click('#submitButton')
    await page.waitForURL(/error=CredentialsSignin/)
    expect(await page.textContent('[role=alert]')).toMatch(/Wrong email or password/)
    await page.fill('input[name=username]', 'Jane')
    await page.fill('input[name=password]', 'right')
    await page.click('#submitButton')
    await page.waitForURL(`${own.url}/home`)
    expect(await page.textContent('#who')).toBe('Jane')
    await page.goto(`${own.url}/auth/signout`)
    await page.click('#submitButton')
    expect(await page.textContent('#who')).toBe('nobody')
    await context.close()
    await own.close()
  })

  it('D17: the mailed link is confirmed by a button', async () => {
    let link = ''
    const own = await startSite({
      providers: [{ id: 'email', name: 'Email', type: 'email', confirm: true, sendVerificationRequest: ({ url }) => void (link = url) }],
    })
    const { page, context } = await openWindow(browser, { javaScriptEnabled: false })
    await page.goto(`${own.url}/auth/signin?callbackUrl=/home`)
    await page.fill('input[name=email]', 'jane@example.com')
    await page.click('#submitButton')
    await page.waitForURL(/verify-request/)
    expect(await page.textContent('main')).toContain('10 minutes')
    await page.goto(link)
    expect(await page.textContent('.who')).toBe('jane@example.com')
    await page.click('#submitButton')
    await page.waitForURL(`${own.url}/home`)
    await context.close()
    await own.close()
  })

  it('passkeys, which need it, are not offered but explained', async () => {
    const { page, context } = await openWindow(browser, { javaScriptEnabled: false })
    await page.goto(`${site.url}/auth/signin`)
    expect(await page.isVisible('#passkey-form')).toBe(false)
    expect(await page.isVisible('noscript p')).toBe(true)
    await context.close()
    const other = await openWindow(browser)
    await other.page.goto(`${site.url}/auth/signin`)
    expect(await other.page.isVisible('#passkey-form')).toBe(true)
    expect(await other.page.isVisible('noscript p')).toBe(false)
    await other.context.close()
  })
})

async function passwordSite(javaScriptEnabled = true): Promise<{ window: Window; own: Site }> {
  return { own: await startSite({ providers: [password] }), window: await openWindow(browser, { javaScriptEnabled }) }
}

/** What axe-core finds, best practices included. Evaluated by the debugger, so the page's policy stays as it is. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run({ resultTypes: ['violations'] }))
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`))
}

/** Controls that lie over each other. */
function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const boxes = [...document.querySelectorAll('button, a, input:not([type=hidden]), label')].map((element) => ({
      name: element.id || element.outerHTML.slice(0, 80),
      box: element.getBoundingClientRect(),
    }))
    return boxes.flatMap(({ name, box }, i) =>
      boxes
        .slice(i + 1)
        .filter(
          (other) => box.left < other.box.right && other.box.left < box.right && box.top < other.box.bottom && other.box.top < box.bottom,
        )
        .map((other) => `${name} and ${other.name}`),
    )
  })
}

/** Elements wider than the window. */
function overflow(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5 || element.scrollWidth > element.clientWidth + 1)
      .filter((element) => getComputedStyle(element).display !== 'inline')
      .map((element) => element.outerHTML.slice(0, 200)),
  )
}
