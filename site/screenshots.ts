/** Screenshots of the playground for the site: a real Chromium walks through it, once on a desktop and once on a phone. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { startPlayground } from '../playground/express/start.ts'

/** One page of the playground: name of its files, text for people who do not see it, and how to get there from the page before. */
interface Shot {
  name: string
  alt: string
  reach(page: Page, url: string): Promise<unknown>
}

export const sizes: Readonly<Record<string, { width: number; height: number }>> = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 800 },
}

export const shots: readonly Shot[] = [
  { name: 'start', alt: 'The start page of the playground, signed out', reach: (page, url) => page.goto(url) },
  {
    name: 'signin',
    alt: 'The sign-in page with social login, a passkey, a magic link and a password',
    reach: (page, url) => page.goto(`${url}/auth/signin`),
  },
  {
    name: 'provider',
    alt: 'The consent page of the OpenID Provider on your machine',
    async reach(page, url) {
      await page.goto(url)
      await page.getByRole('button', { name: 'Continue with Acme ID' }).click()
      await page.getByRole('button', { name: 'Grace Hopper' }).click()
      await page.getByRole('button', { name: 'Allow' }).waitFor()
    },
  },
  {
    name: 'signed-in',
    alt: 'The start page after sign-in, with the name and the session of the user',
    async reach(page, url) {
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.waitForURL(`${url}/`)
    },
  },
  { name: 'account', alt: 'The account page with accounts, devices and passkeys', reach: (page, url) => page.goto(`${url}/account`) },
  { name: 'mails', alt: 'The page with a preview of each mail', reach: (page, url) => page.goto(`${url}/mails`) },
  { name: 'plugins', alt: 'The page where each plugin is switched on and off', reach: (page, url) => page.goto(`${url}/plugins`) },
]

/** Writes `<name>-<size>.png` to a folder and answers the names of the files. Rejects where Chromium is not installed. */
export async function takeScreenshots(folder: string, executablePath = '/usr/bin/chromium'): Promise<string[]> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] })
  const playground = await startPlayground({ port: 0, opPort: 0, strategy: 'database', store: 'memory', quiet: true })
  mkdirSync(folder, { recursive: true })
  const written: string[] = []
  try {
    for (const [size, viewport] of Object.entries(sizes)) {
      const context = await browser.newContext({ locale: 'en-US', viewport, reducedMotion: 'reduce' })
      context.setDefaultTimeout(30_000)
      const page = await context.newPage()
      for (const { name, reach } of shots) {
        await reach(page, playground.url)
        await page.screenshot({ path: join(folder, `${name}-${size}.png`) })
        written.push(`${name}-${size}.png`)
      }
      await context.close()
    }
  } finally {
    await browser.close()
    await playground.close()
  }
  return written
}
