/** Each page of each plugin in Chromium: reflow from 320 pixels, axe-core, the keyboard, five languages, light and dark, mirrored, and without JavaScript. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isFullTier } from '../_tier.ts'
import { launch } from './_chromium.ts'
import { findEmptyTexts, findKeyboardFaults, findOverflow, findScriptOnly, findViolations } from './_page-checks.ts'
import { openWindow, type Window } from './_pages.ts'
import { localeHeader, post, type Scene, scenes, type Site, startEverything, type Visitor } from './_page-scenes.ts'

const builtin = ['signIn', 'signOut', 'error', 'verifyRequest', 'verifyConfirm']
/** Pages that this app does not get to, and the test that does. */
const elsewhere: Readonly<Record<string, string>> = {
  singleLogout: 'needs a session at a provider; test/flows/single-logout.test.ts',
}
const locales = ['en', 'de', 'fr', 'es', 'ja']
const widths = isFullTier || process.env['SHOTS'] ? [320, 390, 768, 1280] : [320, 390, 768]

let browser: Browser
let site: Site
beforeAll(async () => {
  ;[browser, site] = await Promise.all([launch(), startEverything()])
})
afterAll(async () => {
  await browser?.close()
  await site?.close()
})

const all = Object.entries(scenes).filter(([name]) => !(name in elsewhere))
/** In the gate every page is seen once, in one of the languages; every third is looked at closely. */
const passes = isFullTier ? locales.map((_, at) => at) : [0]
const isClose = (at: number, start: number): boolean => isFullTier || (at + start) % 3 === 0

it('every page has a scene, and every scene a page', () => {
  const seen = new Set(Object.keys(scenes).map((name) => name.replace(/\..*/, '')))
  expect([...seen, ...Object.keys(elsewhere)].toSorted()).toEqual([...builtin, ...site.names].toSorted())
})

/** Windows by visitor: each signs in once. */
function createWindows(javaScriptEnabled: boolean) {
  const known = new Map<Visitor, Window>()
  return {
    async of(visitor: Visitor): Promise<Window> {
      const found = known.get(visitor)
      if (found) return found
      const window = await openWindow(browser, { javaScriptEnabled, reducedMotion: 'reduce' })
      // Pages on the way to other sites post at once: they stay where they are.
      await window.context.addInitScript('HTMLFormElement.prototype.submit = () => {}')
      if (visitor !== 'nobody') await post(window.page, site.url, '/callback/credentials', { user: visitor })
      known.set(visitor, window)
      return window
    },
    async forget(visitor: Visitor): Promise<void> {
      await known.get(visitor)?.context.close()
      known.delete(visitor)
    },
    close: () => Promise.all([...known.values()].map(({ context }) => context.close())),
  }
}

/** Leads there, by each way that the scene has. `look` gets the path, for messages. */
async function visit(page: Page, name: string, scene: Scene, then: (at: string) => Promise<void>): Promise<void> {
  const look = async (at: string): Promise<void> => {
    const base = name.replace(/\..*/, '')
    // Else it would be another page, such as the one that asks to sign in.
    if (!builtin.includes(base)) expect([at, [...site.drawn]]).toEqual([at, expect.arrayContaining([base])])
    site.drawn.clear()
    await then(at)
  }
  if (scene.open) {
    await scene.open(page, site)
    return look(name)
  }
  for (const path of scene.draw ? [`/scene/${name}`] : scene.paths!(site)) {
    const answer = await page.goto(`${site.url}/auth${path}`)
    expect(answer?.status(), path).toBe(scene.status ?? 200)
    await look(path)
  }
}

/** Visits all pages. `look` answers what is wrong. */
async function walk(javaScriptEnabled: boolean, pass: number, look: (page: Page, name: string, at: number) => Promise<string[]>) {
  const windows = createWindows(javaScriptEnabled)
  const faults = new Set<string>()
  for (const [at, [name, scene]] of all.entries()) {
    const visitor = scene.as ?? 'ada'
    const { page, context } = await windows.of(visitor)
    const locale = locales[(at + pass) % locales.length] as string
    await context.setExtraHTTPHeaders({ [localeHeader]: locale })
    await visit(page, name, scene, async (path) => {
      expect(await page.getAttribute('html', 'lang'), path).toBe(locale)
      for (const fault of await look(page, name, at)) faults.add(`${path}, ${locale}: ${fault}`)
    })
    if (scene.alone) await windows.forget(visitor)
  }
  await windows.close()
  expect([...faults]).toEqual([])
}

it.each(passes)(
  'no page is wider than the window, empty, or out of reach of axe-core and the keyboard, pass %i',
  (pass) =>
    walk(true, pass, async (page, name, at) => {
      const faults = await findEmptyTexts(page)
      const note = (where: string, list: readonly string[]) => void faults.push(...list.map((text) => `${where}: ${text}`))
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        note(`${width} px`, await findOverflow(page))
        await takePicture(page, name, width)
      }
      for (const colorScheme of ['light', 'dark'] as const)
        for (const [turn, width] of [320, 1280].entries()) {
          // Of the four looks of a page the gate takes one.
          if (!isFullTier && (!isClose(at, 0) || (at % 2 === 0) !== (colorScheme === 'light') || (at >> 1) % 2 !== turn)) continue
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 900 })
          note(`${width} px, ${colorScheme}`, await findViolations(page))
        }
      await page.setViewportSize({ width: 1280, height: 900 })
      if (isClose(at, 1)) note('keyboard', await findKeyboardFaults(page))
      return faults
    }),
  isFullTier ? 300_000 : 90_000,
)

it('every page works without JavaScript', () => walk(false, 0, findScriptOnly), 90_000)

it('no page asked for a text that a language lacks', () => {
  // Names that the host gives: their texts are the host's, and without one the page shows the name.
  const ofHost = /: (?:[\w-]+\.scope\.|signIn\.submit\.)/
  expect([...site.missing].filter((text) => !ofHost.test(text))).toEqual([])
})

/** Screenshots, where SHOTS names a folder. */
async function takePicture(page: Page, name: string, width: number): Promise<void> {
  const folder = process.env['SHOTS']
  if (!folder || (width !== 390 && width !== 1280)) return
  await page.emulateMedia({ colorScheme: width === 390 ? 'dark' : 'light' })
  await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true })
}
