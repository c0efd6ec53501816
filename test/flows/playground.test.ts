/** The playground as people use it: Chromium, a real OpenID Provider, a real SMTP server. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Playground, startPlayground } from '../../playground/express/start.ts'
import { sampleCases } from '../_tier.ts'
import { atProvider, launch, type Person, person } from './_chromium.ts'

let browser: Browser
let playground: Playground
let ada: Person

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())

for (const [row, strategy] of (['jwt', 'database'] as const).entries()) {
  describe(`strategy ${strategy}`, () => {
    // The gate takes each flow with one of the strategies.
    let at = row
    const testFlow = (name: string, test: () => Promise<void>): void => {
      for (const each of sampleCases([name], 2, at++)) it(each, test)
    }

    beforeEach(async () => {
      playground = await startPlayground({ port: 0, opPort: 0, strategy, store: 'memory', quiet: true })
      ada = await person(browser)
    })
    afterEach(async () => {
      await ada.context.close()
      await playground.close()
      expect(ada.complaints).toEqual([])
    })

    testFlow('rows 340, 371: from a protected page through the provider and back, then out', async () => {
      const { page } = ada
      await page.goto(`${playground.url}/protected`)
      expect(page.url()).toContain('/auth/signin?callbackUrl=')
      await page.getByRole('button', { name: 'Sign in with Acme ID' }).click()
      await atProvider(page, 'Ada Lovelace')
      await page.waitForURL(`${playground.url}/protected`)
      await heading(page, 'Only you can see this.')

      await page.goto(playground.url)
      expect(await session(page)).toMatchObject({
        user: { name: 'Ada Lovelace', email: 'ada@example.com', image: `${playground.issuer}/people/ada.svg` },
      })
      await page.getByRole('button', { name: 'Sign out' }).first().click()
      await heading(page, 'Sign in, look around, break things.')
      await page.goto(`${playground.url}/protected`)
      expect(page.url()).toContain('/auth/signin?callbackUrl=')
    })

    testFlow('the built-in sign-out page works, too', async () => {
      const { page } = ada
      await signInByButton(page)
      await page.goto(`${playground.url}/auth/signout`)
      await page.getByRole('button', { name: /sign out/i }).click()
      await page.waitForURL(`${playground.url}/**`)
      await page.goto(playground.url)
      await heading(page, 'Sign in, look around, break things.')
    })

    testFlow('D47: two tabs at once, and both finish', async () => {
      const [first, second] = [ada.page, await ada.context.newPage()]
      for (const [page, path] of [
        [first, '/protected'],
        [second, '/account'],
      ] as const) {
        await page.goto(playground.url + path)
        await page.getByRole('button', { name: 'Sign in with Acme ID' }).click()
        await page.getByRole('button', { name: 'Ada Lovelace' }).waitFor()
      }
      await atProvider(first, 'Ada Lovelace')
      await first.waitForURL(`${playground.url}/protected`)
      // The provider has learnt in the first tab what it may tell the app.
      await second.getByRole('button', { name: 'Ada Lovelace' }).click()
      await second.waitForURL(`${playground.url}/account`)
      await heading(first, 'Only you can see this.')
      await heading(second, 'Your account')
    })

    testFlow('a wrong password shows a text, its code is logged, and the right one works', async () => {
      const { page } = ada
      const password = async (value: string): Promise<void> => {
        // After a wrong password the name is there already.
        if (await page.locator('#input-identifier-for-signin').isVisible()) await identify(page, 'demo')
        await page.locator('input[name=password]').fill(value)
        await page.getByRole('button', { name: 'Sign in with password' }).click()
      }
      await page.goto(`${playground.url}/auth/signin`)
      await password('wrong')
      await page.getByRole('alert').first().waitFor()
      expect(new URL(page.url()).searchParams.get('code')).toBe('wrong_password')
      expect(await page.getByRole('alert').first().textContent()).toContain('Username and password do not fit.')
      await password('playground')
      await page.waitForURL(`${playground.url}/`)
      await heading(page, 'Hello, Demo Person.')
      await page.goto(`${playground.url}/audit`)
      expect(await page.locator('#log').textContent()).toMatch(
        /signIn\s+demo@example\.com by credentials.*signInFailed\s+credentials · CredentialsSignin \(wrong_password\)/s,
      )
    })

    testFlow('a link by mail arrives in the mailbox and signs in, once', async () => {
      const { page } = ada
      const mailbox = await ada.context.newPage()
      await mailbox.goto(`${playground.url}/mailbox`)
      await page.goto(`${playground.url}/auth/signin`)
      await identify(page, 'New.Person@Example.com')
      await page.getByRole('button', { name: 'Email me a link to sign in' }).click()
      await page.waitForURL('**/auth/verify-request**')
      // The page is told of the mail: it is not reloaded.
      const link = mailbox.getByRole('link', { name: 'Open the link' })
      const href = String(await link.getAttribute('href'))
      await link.click()
      await heading(mailbox, 'Hello, new.person@example.com.')

      const thief = await person(browser)
      await thief.page.goto(href)
      expect(thief.page.url()).toContain('error=Verification')
      await thief.context.close()
    })

    testFlow('D25: cancelling, and being refused, end on a page and in the log', async () => {
      const { page } = ada
      await page.goto(playground.url)
      await page.getByRole('button', { name: 'Continue with Acme ID' }).click()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('alert').first().waitFor()
      expect(page.url()).toContain('error=OAuthCallbackError')

      await page.getByRole('button', { name: 'Sign in with Acme ID' }).click()
      await atProvider(page, 'Mallory')
      await page.waitForURL('**/auth/error?error=AccessDenied')
      await page.goto(`${playground.url}/audit`)
      expect(await page.locator('#log').textContent()).toMatch(/AccessDenied.*OAuthCallbackError/s)
      // The refusals are 403 pages, which Chromium notes in its console.
      ada.complaints.splice(0, ada.complaints.length, ...ada.complaints.filter((text) => !text.includes('403')))
    })

    testFlow('row 370: an account is linked on the account page, and signs in the same person', async () => {
      const { page } = ada
      await signInByButton(page)
      await page.goto(`${playground.url}/account`)
      await page.getByRole('button', { name: 'Link Globex' }).click()
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.waitForURL(`${playground.url}/account`)
      expect(await page.locator('#accounts li').count()).toBe(2)

      await page.getByRole('button', { name: 'Sign out' }).first().click()
      await page.goto(`${playground.url}/auth/signin?callbackUrl=/account`)
      await page.getByRole('button', { name: 'Sign in with Globex' }).click()
      await page.waitForURL(`${playground.url}/account`)
      expect(await page.locator('#accounts li').count()).toBe(2)

      await page.locator('#accounts li', { hasText: 'globex' }).getByRole('button', { name: 'Unlink' }).click()
      await page.getByRole('button', { name: 'Link Globex' }).waitFor()
      expect(await page.locator('#accounts li').count()).toBe(1)
      // The last one may go too: a link in a mail signs the user in.
      await page.getByRole('button', { name: 'Unlink' }).click()
      await page.getByText('None: you came in by a link in a mail').waitFor()
      await page.getByRole('button', { name: 'Link Acme ID' }).click()
      await page.locator('#accounts li', { hasText: 'acme' }).waitFor()
      expect(await page.locator('#accounts li').count()).toBe(1)
    })

    testFlow('the access token shows its age, and a button refreshes it', async () => {
      const { page } = ada
      await signInByButton(page)
      await page.goto(`${playground.url}/account`)
      expect(await page.locator('#token-age').textContent()).toMatch(/^\d+ seconds old, good for (59|60) minutes\.$/)
      await page.getByRole('button', { name: 'Refresh it' }).click()
      await page.waitForURL('**/account#token')
      await page.locator('#token-age').waitFor()
      await page.goto(`${playground.url}/audit`)
      await page.locator('#log li', { hasText: 'tokensRefreshed' }).waitFor()
    })

    testFlow('sign-out at the provider: it asks for the account anew, and comes back', async () => {
      const { page } = ada
      await signInByButton(page)
      await page.goto(`${playground.url}/account`)
      await page.getByRole('button', { name: 'Sign out at Acme ID, too' }).click()
      await heading(page, 'Sign out of Acme ID too?')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL(`${playground.url}/?goodbye`)
      await page.getByRole('button', { name: 'Continue with Acme ID' }).click()
      await page.getByRole('button', { name: 'Ada Lovelace' }).waitFor()
    })

    testFlow('two browsers of one person: both are listed, and the one that signs out at the provider is signed out here', async () => {
      const phone = await person(browser)
      for (const { page } of [ada, phone]) await signInByButton(page)
      await ada.page.goto(`${playground.url}/account`)
      expect(await ada.page.locator('#sessions li').count()).toBe(2)
      expect(await ada.page.locator('#sessions li').first().textContent()).toMatch(/by Acme ID from .*Chrome/s)
      await phone.page.goto(`${playground.issuer}/session/end`)
      await phone.page.getByRole('button', { name: 'Sign out' }).click()
      await heading(phone.page, 'Signed out')
      await expect.poll(async () => (await phone.page.request.get(`${playground.url}/api/me`, { maxRedirects: 0 })).status()).not.toBe(200)
      await ada.page.goto(`${playground.url}/account`)
      expect(await ada.page.locator('#sessions li').count()).toBe(1)
      await phone.context.close()
    })

    testFlow('the audit log is live', async () => {
      const { page } = ada
      const stream = page.waitForResponse('**/audit/stream')
      await page.goto(`${playground.url}/audit`)
      await stream
      const grace = await person(browser)
      await signInByButton(grace.page, 'Grace Hopper')
      await page.locator('#log li', { hasText: 'grace@example.com by acme, new' }).waitFor()
      await page.locator('#log li', { hasText: 'createUser' }).waitFor()
      await grace.context.close()
    })

    testFlow("a stranger's provider type: the PIN pad", async () => {
      const { page } = ada
      const enter = async (pin: string): Promise<void> => {
        await page.goto(`${playground.url}/auth/signin`)
        await page.getByLabel('PIN').fill(pin)
        await page.getByRole('button', { name: 'Sign in with Kiosk PIN' }).click()
      }
      await enter('0000')
      await page.waitForURL('**code=wrong_pin')
      playground.auth.pin.open = false
      await enter('4711')
      await page.waitForURL('**code=pin_closed')
      expect(await (await page.request.get(`${playground.url}/auth/pin-status/kiosk`)).json()).toEqual({ open: false })
      playground.auth.pin.open = true
      await enter('4711')
      await heading(page, 'Hello, Kim at the kiosk.')
    })

    testFlow('a passkey is added on the account page and signs in', async () => {
      const { page } = ada
      const devtools = await ada.context.newCDPSession(page)
      await devtools.send('WebAuthn.enable', { enableUI: false })
      const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: false,
        },
      })
      const presence = (enabled: boolean): Promise<unknown> =>
        devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
      await signInByButton(page)
      await page.goto(`${playground.url}/account`)
      await presence(true)
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.locator('#passkeys li', { hasText: 'Passkey' }).waitFor()

      await presence(false)
      await page.getByRole('button', { name: 'Sign out' }).first().click()
      await page.goto(`${playground.url}/auth/signin`)
      await identify(page, 'ada@example.com')
      await presence(true)
      // The autofill of the page may be faster, and take the button away.
      const signedIn = page.waitForURL(`${playground.url}/`)
      await Promise.any([page.getByRole('button', { name: 'Sign in with passkey' }).click(), signedIn])
      await signedIn
      await heading(page, 'Hello, Ada Lovelace.')
    })

    testFlow('without JavaScript: provider, password and sign-out', async () => {
      const grace = await person(browser, { javaScriptEnabled: false })
      const { page } = grace
      await signInByButton(page, 'Grace Hopper')
      await page.getByRole('button', { name: 'Sign out' }).first().click()
      await page.goto(`${playground.url}/auth/signin`)
      await identify(page, 'demo')
      await page.locator('input[name=password]').fill('playground')
      await page.getByRole('button', { name: 'Sign in with password' }).click()
      await heading(page, 'Hello, Demo Person.')
      expect(grace.complaints).toEqual([])
      await grace.context.close()
    })
  })
}

it.each(['jwt', 'database'] as const)('%s: sessions of other browsers are ended, one or all', async (strategy) => {
  playground = await startPlayground({ port: 0, opPort: 0, strategy, store: 'memory', quiet: true })
  const people = [await person(browser), await person(browser), await person(browser)]
  for (const { page } of people) await signInByButton(page)
  const [{ page }] = people as [Person]
  const count = (): Promise<number> => page.locator('#sessions li').count()
  await page.goto(`${playground.url}/account`)
  expect(await count()).toBe(3)
  await page.locator('#sessions').getByRole('button', { name: 'End' }).first().click()
  await expect.poll(count).toBe(2)
  await page.getByRole('button', { name: 'End all others' }).click()
  await expect.poll(count).toBe(1)
  await page.locator('#sessions li', { hasText: 'This browser' }).waitFor()
  for (const other of people.slice(1)) {
    await other.page.goto(`${playground.url}/protected`)
    expect(other.page.url()).toContain('/auth/signin')
  }
  for (const { context } of people) await context.close()
  await playground.close()
})

async function signInByButton(page: Page, name = 'Ada Lovelace'): Promise<void> {
  await page.goto(playground.url)
  await page.getByRole('button', { name: 'Continue with Acme ID' }).click()
  await atProvider(page, name)
  await page.waitForURL(`${playground.url}/`)
  await heading(page, `Hello, ${name}.`)
}

async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { name, exact: true }).waitFor()
}

async function session(page: Page): Promise<unknown> {
  return JSON.parse((await page.locator('#session').textContent()) ?? '')
}

/** The one field that the sign-in page asks for first. */
async function identify(page: Page, text: string): Promise<void> {
  await page.fill('#input-identifier-for-signin', text)
  await page.click('#submitButton')
  await page.locator('.who').waitFor()
}
