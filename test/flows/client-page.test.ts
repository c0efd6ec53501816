/** `authkernel/client` in Chromium, without passkeys: signing in and out, several tabs, the focus, and what it weighs on the wire. */
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { password } from './_pages.ts'
import { launch } from './_chromium.ts'
import { type Site, startSite } from './_webauthn.ts'

let browser: Browser
let site: Site
let context: Awaited<ReturnType<Browser['newContext']>>

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())
beforeEach(async () => {
  site = await startSite({
    providers: [password],
    session: { strategy: 'jwt' },
    callbacks: {
      jwt: ({ token, trigger, session }) =>
        trigger === 'update' ? { ...token, name: String((session as { name: unknown }).name) } : token,
    },
  })
  context = await browser.newContext()
})
afterEach(async () => {
  await context.close()
  await site.close()
})

/** A tab with the client at `client` and a session that is watched; `states` are those it was told. */
async function tab(): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${site.url}/home`)
  await page.evaluate(`(async () => {
    globalThis.client = await import('/scripts/client.js')
    globalThis.states = []
    globalThis.session = client.createSession()
    session.subscribe(({ status, session }) => states.push(session?.user?.name ?? status))
  })()`)
  await expect.poll(() => status(page)).not.toBe('loading')
  return page
}
const status = (page: Page): Promise<string> => page.evaluate('session.get().status')
const name = (page: Page): Promise<string | undefined> => page.evaluate('session.get().session?.user?.name')
const signIn = (page: Page, password: string): Promise<{ ok: boolean; error?: string; code?: string }> =>
  page.evaluate(`client.signIn('credentials', { username: 'Ann', password: '${password}', redirect: false })`)

describe('authkernel/client', () => {
  it('signs in with a password; a wrong one is an error with its code', async () => {
    const page = await tab()
    expect(await signIn(page, 'wrong')).toMatchObject({ ok: false, error: 'CredentialsSignin', code: 'credentials' })
    expect(await status(page)).toBe('unauthenticated')
    expect(await signIn(page, 'right')).toMatchObject({ ok: true })
    await expect.poll(() => name(page)).toBe('Ann')
    expect(await page.evaluate('client.getSession()')).toMatchObject({ user: { name: 'Ann' } })
    expect(await page.evaluate('client.getProviders()')).toMatchObject({ credentials: { type: 'credentials' } })
    expect(await page.evaluate('client.getCsrfToken()')).toMatch(/^[0-9a-f]{64}$/)
  })

  it('two sign-ins at the same moment in a fresh browser both get in', async () => {
    const page = await context.newPage()
    await page.goto(`${site.url}/home`)
    const both = `(async () => {
      const client = await import('/scripts/client.js')
      const signIn = () => client.signIn('credentials', { username: 'Ann', password: 'right', redirect: false })
      return (await Promise.all([signIn(), signIn()])).map(({ ok, error }) => error ?? ok)
    })()`
    for (let i = 0; i < 5; i++) {
      await context.clearCookies()
      expect(await page.evaluate(both)).toEqual([true, true])
    }
  })

  it('every tab follows a sign-in, an update and a sign-out', async () => {
    const [here, there] = [await tab(), await tab()]
    await signIn(here, 'right')
    await expect.poll(() => name(there)).toBe('Ann')
    await there.evaluate(`client.update({ name: 'Ann Two' })`)
    await expect.poll(() => name(here)).toBe('Ann Two')
    await here.evaluate('client.signOut({ redirect: false })')
    await expect.poll(() => status(there)).toBe('unauthenticated')
    expect(await there.evaluate('states')).toEqual(['loading', 'unauthenticated', 'Ann', 'Ann Two', 'unauthenticated'])
  })

  it.each([
    ['by a channel', ''],
    ['by the storage where there is no channel', 'delete globalThis.BroadcastChannel'],
    [
      'by the channel where the browser forbids the storage',
      `Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })`,
    ],
  ])('four other tabs learn of a sign-out that leaves its page at once, %s', async (_how, before) => {
    if (before) await context.addInitScript(before)
    const [here, ...others] = [await tab(), await tab(), await tab(), await tab(), await tab()]
    await signIn(here!, 'right')
    for (const other of others) await expect.poll(() => name(other)).toBe('Ann')
    await Promise.all([here!.waitForURL(`${site.url}/after`), here!.evaluate(`void client.signOut({ redirectTo: '/after' })`)])
    for (const other of others) await expect.poll(() => status(other)).toBe('unauthenticated')
    for (const other of others) expect(await other.evaluate('states')).toEqual(['loading', 'unauthenticated', 'Ann', 'unauthenticated'])
  })

  it('four other tabs learn of a sign-in with a password that goes on to another page', async () => {
    const [here, ...others] = [await tab(), await tab(), await tab(), await tab(), await tab()]
    await Promise.all([
      here!.waitForURL(`${site.url}/after`),
      here!.evaluate(`void client.signIn('credentials', { username: 'Ann', password: 'right', redirectTo: '/after' })`),
    ])
    for (const other of others) await expect.poll(() => name(other)).toBe('Ann')
  })

  it('a page that comes back from the cache of the browser reads again, also with `refetchOnFocus: false`', async () => {
    const page = await tab()
    await signIn(page, 'right')
    await expect.poll(() => status(page)).toBe('authenticated')
    await page.evaluate(`(() => {
      globalThis.quiet = client.createSession({ refetchOnFocus: false, initial: session.get().session })
      quiet.subscribe(() => {})
    })()`)
    await context.clearCookies()
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
    await expect.poll(() => page.evaluate('quiet.get().status')).toBe('unauthenticated')
  })

  it('a tab that comes back to the front reads again: the session may have ended meanwhile', async () => {
    const page = await tab()
    await signIn(page, 'right')
    await expect.poll(() => status(page)).toBe('authenticated')
    await context.clearCookies()
    // Nothing told it.
    expect(await status(page)).toBe('authenticated')
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await expect.poll(() => status(page)).toBe('unauthenticated')
  })

  it('goes where it is told after signing in with a redirect', async () => {
    const page = await tab()
    await Promise.all([
      page.waitForURL(`${site.url}/after`),
      page.evaluate(`void client.signIn('credentials', { username: 'Ann', password: 'right', redirectTo: '/after' })`),
    ])
    expect(await page.textContent('#session')).toContain('Ann')
  })

  it('loads no passkey code before a passkey is used, and weighs under 5 KB gzipped, unminified', async () => {
    const loaded: Promise<Buffer>[] = []
    context.on('response', (response) => {
      if (response.url().includes('/scripts/')) loaded.push(response.body())
    })
    const page = await tab()
    await signIn(page, 'right')
    await expect.poll(() => status(page)).toBe('authenticated')
    const scripts = await Promise.all(loaded)
    expect(scripts.join()).not.toContain('navigator.credentials')
    expect(scripts.reduce((sum, script) => sum + gzipSync(script, { level: 9 }).length, 0)).toBeLessThan(5120)
  })
})
