/** The development panel in Chromium: the printed link, sign-in as a test user, a caught mail, a trace, the clock; axe-core, 390 pixels, no JavaScript. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { devPlugin } from 'authkernel/plugins/dev'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { launch } from './_chromium.ts'
import { look } from './_local-site.ts'
import { listen, openWindow, secret } from './_pages.ts'

let browser: Browser
const ends: (() => Promise<void>)[] = []
beforeAll(async () => {
  browser = await launch()
})
afterAll(async () => {
  await browser.close()
  for (const end of ends) await end()
})

async function start(): Promise<{ url: string; printed: string[] }> {
  const printed: string[] = []
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    adapter: memoryAdapter(),
    session: { strategy: 'database' },
    logger: { error: () => undefined, warn: () => undefined, debug: () => undefined },
  })
    .use(passwordsPlugin({ breached: false }))
    .use(devPlugin({ development: true, print: (text) => void printed.push(text) }))
    .use(nodeBinding())
  const { url, close } = await listen((req, res) => {
    void auth.node.handler(req, res).then(async (answered) => {
      if (answered) return
      const session = await auth.node.session(req, res)
      res
        .setHeader('content-type', 'text/html')
        .end(`<!doctype html><title>app</title><p id="who">${session?.user?.email ?? 'signed out'}</p>`)
    })
  })
  ends.push(close)
  return { url, printed }
}

describe.each([
  [1280, true],
  [390, true],
  [390, false],
] as const)('%i pixels, JavaScript: %s', (width, javaScriptEnabled) => {
  it('every tab is drawn, and each act works', async () => {
    const { url, printed } = await start()
    const { context, page, complaints } = await openWindow(browser, { javaScriptEnabled, viewport: { width, height: 900 } })
    await page.goto(`${url}/auth/passwords/sign-up`)
    await page.fill('input[name=email]', 'eve@example.test')
    await page.fill('input[name=password]', 'a long enough pass phrase')
    await page.press('input[name=password]', 'Enter')
    await expect.poll(() => printed.some((text) => text.startsWith('authkernel: mail to eve@example.test'))).toBe(true)
    const link = printed.join('\n').match(/development panel (\S+)/)?.[1] ?? ''
    expect((await page.goto(`${url}/auth/dev`))?.status()).toBe(403)
    complaints.length = 0
    await page.goto(link)
    expect(page.url()).toBe(`${url}/auth/dev`)
    for (const tab of ['users', 'mails', 'requests', 'hooks', 'routes', 'clock']) {
      await page.goto(`${url}/auth/dev?tab=${tab}`)
      await look(page, `dev-${tab}-${width}`, javaScriptEnabled)
    }
    await page.goto(`${url}/auth/dev?tab=mails`)
    await page.getByRole('link', { name: 'Open the link' }).click()
    await page.waitForURL(`${url}/auth/passwords/confirm**`)
    await page.goto(`${url}/auth/dev`)
    await page.getByRole('button', { name: 'Sign in as ann@example.test' }).click()
    await page.waitForURL(`${url}/`)
    expect(await page.textContent('#who')).toBe('ann@example.test')
    await page.goto(`${url}/auth/dev?tab=requests`)
    await page.getByText('POST /auth/dev').first().click()
    expect(await page.getByText('hook login, passwords').first().isVisible()).toBe(true)
    await page.goto(`${url}/auth/dev`)
    await page.getByRole('link', { name: 'Details' }).first().click()
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    await look(page, `dev-user-${width}`, javaScriptEnabled)
    await page.goto(`${url}/auth/dev?tab=clock`)
    await page.getByRole('button', { name: 'Forward 31 days' }).click()
    await page.getByText('31 days', { exact: true }).waitFor()
    await page.goto(`${url}/`)
    expect(await page.textContent('#who')).toBe('signed out')
    expect(complaints).toEqual([])
    await context.close()
  })
})

it('a page of another origin can neither read the panel, nor frame it, nor post to it', async () => {
  const { url, printed } = await start()
  const { context, page } = await openWindow(browser)
  await page.goto(`${url}/auth/signin`)
  await page.goto(printed.join('\n').match(/development panel (\S+)/)?.[1] ?? '')
  const evil = await listen((_, res) => {
    res.setHeader('content-type', 'text/html')
    res.end(
      `<!doctype html><title>evil</title><iframe src="${url}/auth/dev"></iframe><form method="post" action="${url}/auth/dev"><input name="act" value="signIn"><input name="user" value="ann@example.test"><button>Go</button></form>`,
    )
  })
  ends.push(evil.close)
  await page.goto(evil.url)
  expect(
    await page.evaluate(
      (to) =>
        fetch(to, { credentials: 'include' }).then(
          (response) => response.text(),
          () => 'blocked',
        ),
      `${url}/auth/dev`,
    ),
  ).toBe('blocked')
  expect(
    await page
      .frames()[1]
      ?.evaluate(() => document.body.textContent)
      .catch(() => ''),
  ).not.toContain('Development panel')
  await page.getByRole('button', { name: 'Go' }).click()
  await page.goto(`${url}/`)
  expect(await page.textContent('#who')).toBe('signed out')
  await context.close()
})
