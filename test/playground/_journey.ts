/** The journey that every playground shows, in Chromium: OIDC, password with an error code, mail, passkey, protected page, account, sign-out. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest'
import { atProvider, launch, type Person, person } from '../flows/_chromium.ts'
import type { Running } from './_app.ts'

/** What differs between playgrounds. */
export interface JourneyOptions {
  basePath?: string
  /** The framework streams its pages, and browsers without scripts do not show them. */
  scripts?: 'needed'
}

/** Walks through a running playground. */
export function testJourney(name: string, running: () => Running, { basePath = '/auth', scripts }: JourneyOptions = {}): void {
  describe(`journey: ${name}`, () => {
    let browser: Browser
    let ada: Person
    let page: Page
    beforeAll(async () => {
      browser = await launch()
    })
    afterAll(() => browser?.close())
    beforeEach(async () => {
      ada = await person(browser)
      page = ada.page
    })
    afterEach(async () => {
      await ada.context.close()
    })
    const to = (path: string): string => running().origin + path
    const who = async (): Promise<string | null> => page.locator('#who').textContent()
    const out = async (): Promise<void> => {
      // From a page for everybody: a guarded one asks for its data again and leads to the sign-in page by itself.
      await page.goto(to('/'))
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    }
    async function signInByPassword(password = 'playground'): Promise<void> {
      await page.goto(to('/'))
      await page.getByLabel('Username').fill('demo')
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Sign in with password' }).click()
    }

    it('rows 340, 371: from a protected page through the provider and back, then out', async () => {
      await page.goto(to('/protected'))
      await page.waitForURL((url) => url.pathname === `${basePath}/signin`)
      await page.getByRole('button', { name: 'Sign in with Acme ID' }).click()
      await atProvider(page, 'Ada Lovelace')
      await page.waitForURL(({ pathname }) => /^\/protected\/?$/.test(pathname))
      await page.getByRole('heading', { name: 'Only you can see this.' }).waitFor()
      expect(await who()).toBe('Ada Lovelace')
      await out()
      await page.goto(to('/protected'))
      await page.waitForURL((url) => url.pathname === `${basePath}/signin`)
      expect(complaints(ada)).toEqual([])
    })

    it("the app's own button starts OIDC", async () => {
      await page.goto(to('/'))
      await page.getByRole('button', { name: 'Continue with Acme ID' }).click()
      await atProvider(page, 'Grace Hopper')
      await page.getByRole('heading', { name: 'Hello, Grace Hopper.' }).waitFor()
      expect(new URL(page.url()).origin).toBe(running().origin)
      expect(complaints(ada)).toEqual([])
    })

    it("a wrong password shows its code in the app's own form, and the right one works", async () => {
      await signInByPassword('wrong')
      await page.getByText('wrong_password').waitFor()
      expect(await page.locator('#who').count()).toBe(0)
      await signInByPassword()
      await page.getByRole('heading', { name: 'Hello, Demo Person.' }).waitFor()
      await out()
    })

    it('a link by mail', async () => {
      await page.goto(to('/'))
      const address = `${name.replace(/\W/g, '')}@example.com`
      const mail = new Promise<string>((resolve) =>
        running().mailbox.onMail(({ to: recipient, link }) => recipient === address && resolve(link ?? '')),
      )
      await page.getByLabel('Email address').fill(address)
      await page.getByRole('button', { name: 'Email me a link' }).click()
      await page.waitForURL((url) => url.pathname === `${basePath}/verify-request`)
      await page.goto(await mail)
      await page.goto(to('/protected'))
      await page.getByRole('heading', { name: 'Only you can see this.' }).waitFor()
      expect(await who()).toBe(address)
      expect(complaints(ada)).toEqual([])
    })

    it('a passkey: added on the account page, then the only thing one needs', async () => {
      await withAuthenticator(ada.context, page)
      await page.goto(to('/account'))
      await page.getByRole('button', { name: 'Sign in with Acme ID' }).click()
      await atProvider(page, 'Ada Lovelace')
      await page.getByRole('heading', { name: 'Your account' }).waitFor()
      await hydrated(page)
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByText('Passkey added.').waitFor()
      await out()
      await hydrated(page)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.getByRole('heading', { name: /^Hello, / }).waitFor()
      expect(await who()).toBe('Ada Lovelace')
      expect(complaints(ada)).toEqual([])
    })

    // Not skipped but absent where it cannot be: a gate takes a skipped test for one that should have run.
    it.each(scripts === 'needed' ? [] : ['the same forms'])('without scripts: %s', async () => {
      const plain = await person(browser, { javaScriptEnabled: false })
      try {
        await plain.page.goto(to('/'))
        await plain.page.getByLabel('Username').fill('demo')
        await plain.page.getByLabel('Password', { exact: true }).fill('playground')
        await plain.page.getByRole('button', { name: 'Sign in with password' }).click()
        await plain.page.getByRole('heading', { name: 'Hello, Demo Person.' }).waitFor()
        await plain.page.getByRole('button', { name: 'Sign out' }).click()
        await plain.page.getByRole('heading', { name: 'Sign in' }).waitFor()
      } finally {
        await plain.context.close()
      }
    })
  })
}

/** A device that keeps passkeys and verifies its owner without asking. */
export async function withAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable', { enableUI: false })
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

/** Built-in pages name no icon, and the app's own have none to give. */
function complaints({ complaints: all }: Person): string[] {
  return all.filter((complaint) => !complaint.includes('/favicon.ico'))
}

/** A button of a page that was drawn by the server does nothing before its script has run. */
async function hydrated(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
}
