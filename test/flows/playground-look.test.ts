/** The playground and its provider for everybody: no violation found by axe, nothing wider than a phone, nothing loaded from elsewhere. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Playground, startPlayground } from '../../playground/express/start.ts'
import { launch, person } from './_chromium.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let browser: Browser
let playground: Playground
beforeAll(async () => {
  browser = await launch()
  playground = await startPlayground({ port: 0, opPort: 0, strategy: 'database', store: 'memory', quiet: true })
})
afterAll(async () => {
  await browser.close()
  await playground.close()
})

describe.each([
  ['light', 1280],
  ['dark', 320],
] as const)('%s, %i pixels', (colorScheme, width) => {
  it('every page is accessible, fits, and stays on this machine', async () => {
    const { context, page, complaints } = await person(browser, { colorScheme, viewport: { width, height: 800 } })
    const hosts = new Set<string>()
    context.on('request', (request) => hosts.add(new URL(request.url()).hostname))
    const look = async (path?: string): Promise<void> => {
      if (path !== undefined) await page.goto(playground.url + path)
      expect({ at: new URL(page.url()).pathname, faults: await faults(page) }).toEqual({ at: expect.any(String) as string, faults: [] })
    }
    for (const path of ['/', '/mailbox', '/mails?lang=de', '/audit', '/plugins', '/nowhere', '/auth/signin']) await look(path)

    await page.fill('#input-identifier-for-signin', 'grace@example.com')
    await page.click('#submitButton')
    await page.locator('.who').waitFor()
    await look()
    await page.getByRole('button', { name: 'Email me a link to sign in' }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await look()
    await page.goto(`${playground.url}/mailbox`)
    await page.getByRole('link', { name: 'Open the link' }).first().waitFor()
    await look()

    await page.goto(playground.url)
    await page.getByRole('button', { name: 'Continue with Acme ID' }).click()
    await page.getByRole('button', { name: 'Grace Hopper' }).waitFor()
    await look()
    await page.getByRole('button', { name: 'Grace Hopper' }).click()
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    await look()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${playground.url}/`)
    for (const path of ['/', '/protected', '/account', '/account?last', '/audit']) await look(path)
    expect([...hosts].filter((host) => host !== 'localhost' && host !== '127.0.0.1' && host !== '')).toEqual([])
    expect(complaints.filter((text) => !text.includes('/nowhere'))).toEqual([])
    await context.close()
  })
})

it('the header of the other playgrounds is one line on a phone', async () => {
  const { context, page } = await person(browser, { viewport: { width: 390, height: 800 } })
  const style = readFileSync(new URL('../../playground/_shared/style.css', import.meta.url), 'utf8')
  await page.setContent(`<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width, initial-scale=1"><style>${style}</style></head>
    <body><header><a href="/">Playground</a><nav class="row"><a href="/protected">Protected page</a><a href="/account">Your account</a>
    <span>Signed in as <b id="who">Augusta Ada King, Countess of Lovelace</b></span><form><button>Sign out</button></form></nav></header></body></html>`)
  const tops = await page.locator('header a, header button').evaluateAll((items) =>
    items.map((item) => {
      const { top, height, right } = item.getBoundingClientRect()
      return { middle: Math.round(top + height / 2), inside: right <= innerWidth }
    }),
  )
  expect(new Set(tops.map(({ middle }) => middle)).size).toBe(1)
  expect(tops.every(({ inside }) => inside)).toBe(true)
  await context.close()
})

async function faults(page: Page): Promise<string[]> {
  // By the debugger, so that the policy of the page stays in force.
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }
    const { violations } = await axe.run()
    const wide = document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : []
    return [...wide, ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)]
  })
}
