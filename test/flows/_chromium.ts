/** Debian's Chromium, and people who walk through the playground with it. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/**
 * A browser: Chromium without the windows of the desktop, which starts in half the time. What needs those (keys of a device) opens
 * `profile` of `_tls.ts`. Everything runs as root in tests, where Chromium has no sandbox.
 */
export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  })
}

/** A person with a browser of their own; what its console complains about is collected. */
export interface Person {
  context: BrowserContext
  page: Page
  complaints: string[]
}

export async function person(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Person> {
  const context = await browser.newContext({ locale: 'en-US', ...options })
  context.setDefaultTimeout(30_000)
  const complaints: string[] = []
  context.on('console', (message) => message.type() === 'error' && complaints.push(`${message.location().url}: ${message.text()}`))
  context.on('weberror', (error) => complaints.push(String(error.error())))
  return { context, page: await context.newPage(), complaints }
}

/** Chooses an account at the provider and allows the app to see it. */
export async function atProvider(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
}
