/** The sign-in page with one field, codes, passwords and passkeys, in Chromium: axe-core, 320 pixels, no JavaScript, autofill of passkeys. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MailMessage } from 'authkernel/kernel'
import { localSite, look } from './_local-site.ts'
import { launch } from './_chromium.ts'
import { openWindow } from './_pages.ts'

const mails: MailMessage[] = []
let browser: Browser
let site: { url: string; close(): Promise<void> }

beforeAll(async () => {
  browser = await launch()
  site = await localSite(mails)
})
afterAll(async () => {
  await browser.close()
  await site.close()
})

describe.each([
  [1280, true],
  [320, true],
  [320, false],
] as const)('%i pixels, JavaScript: %s', (width, javaScriptEnabled) => {
  it('asks for one thing, offers the ways, and signs in by the code', async () => {
    const { context, page, complaints } = await openWindow(browser, { javaScriptEnabled, viewport: { width, height: 900 } })
    await page.goto(`${site.url}/auth/signin?callbackUrl=/home`)
    const typing = () => page.locator('input:visible')
    expect(await typing().evaluateAll((all) => all.map((one) => [one.getAttribute('name'), one.getAttribute('autocomplete')]))).toEqual([
      ['identifier', 'username webauthn'],
    ])
    await look(page, `ask-${width}`, javaScriptEnabled)
    const person = `p${width}${javaScriptEnabled}@example.com`
    await page.fill('input[name=identifier]', person)
    await page.press('input[name=identifier]', 'Enter')
    await page.locator('.who').waitFor()
    expect(await typing().evaluateAll((all) => all.map((one) => one.getAttribute('name')))).toEqual(['password'])
    if (javaScriptEnabled) {
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      expect(await page.getAttribute('input[name=password]', 'type')).toBe('text')
      await page.getByRole('button', { name: 'Hide', exact: true }).click()
      expect(await page.getAttribute('input[name=password]', 'type')).toBe('password')
    }
    await look(page, `ways-${width}`, javaScriptEnabled)
    await page.getByRole('button', { name: 'Email me a code' }).click()
    await page.waitForURL('**/auth/codes')
    await look(page, `code-${width}`, javaScriptEnabled)
    await page.fill('input[name=code]', '000000')
    await page.press('input[name=code]', 'Enter')
    await page.getByRole('alert').waitFor()
    await look(page, `wrong-${width}`, javaScriptEnabled)
    await expect.poll(() => mails.filter(({ to }) => to === person).length).toBe(1)
    const code = /^\s*(\d{6})\s*$/m.exec(mails.findLast(({ to }) => to === person)!.text)![1]!
    await page.fill('input[name=code]', code)
    await page.press('input[name=code]', 'Enter')
    await page.waitForURL(`${site.url}/home`)
    expect(await page.textContent('#who')).toBe(person)
    if (javaScriptEnabled) {
      await page.goto(`${site.url}/auth/passwords/sign-up`)
      // The rule before it is broken, the way back, and a button inside of the field that it belongs to.
      expect(await page.textContent('#password-rule')).toContain('At least 15 characters')
      expect(await page.getAttribute('input[name=password]', 'aria-describedby')).toBe('password-rule')
      expect(await page.getByRole('link', { name: 'Sign in', exact: true }).getAttribute('href')).toContain('/auth/signin')
      const [field, show] = await Promise.all([
        page.locator('input[name=password]').boundingBox(),
        page.getByRole('button', { name: 'Show', exact: true }).boundingBox(),
      ])
      expect(show!.width).toBeLessThan(field!.width / 2)
      expect(show!.y).toBeGreaterThanOrEqual(field!.y)
      expect(show!.y + show!.height).toBeLessThanOrEqual(field!.y + field!.height)
      if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/sign-up-${width}.png` })
      const says = async (typed: string, text: string) => {
        await page.fill('input[name=password]', typed)
        await page.getByRole('status').getByText(text).waitFor()
      }
      await says('short', '5 of 15 characters')
      await says('aaaaaaaaaaaaaaaaaaaaa', 'Very easy to guess')
      // A list of common passwords knows these, which are long and varied.
      await says('iloveyouiloveyou1', 'Easy to guess. Add')
      await says('seven purple otters sing loudly', 'Very good')
      if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/meter-${width}.png` })
    }
    await page.goto(`${site.url}/auth/passwords/reset`)
    await page.fill('input[name=email]', 'reset@example.com')
    await page.press('input[name=email]', 'Enter')
    await page.getByRole('button', { name: 'Send it again' }).click()
    await page.waitForURL('**/auth/passwords/mailed')
    expect(await page.textContent('.card')).toContain('reset@example.com')
    for (const path of [
      'account',
      'two-factor/setup',
      'passwords/change',
      'passwords/sign-up',
      'passwords/reset',
      'passwords/mailed',
      'account/delete',
      'account/address',
      'account/address/mailed',
      'account/address/undo',
    ]) {
      await page.goto(`${site.url}/auth/${path}`)
      await look(page, `${path.replace('/', '-')}-${width}`, javaScriptEnabled)
    }
    expect(complaints.filter((text) => !/status of 4/.test(text))).toEqual([])
    await context.close()
  })
})

it('a passkey is offered in the one field at once, and signs in', async () => {
  const { context, page } = await openWindow(browser)
  const devtools = await context.newCDPSession(page)
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
  const presence = (enabled: boolean) => devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
  const url = site.url.replace('127.0.0.1', 'localhost')
  await page.goto(`${url}/auth/signin?callbackUrl=/home`)
  await page.fill('input[name=identifier]', 'key@example.com')
  await page.press('input[name=identifier]', 'Enter')
  await page.locator('.who').waitFor()
  await presence(true)
  // The autofill of the page may be faster, and take the button away.
  const signedIn = page.waitForURL(`${url}/home`)
  await Promise.any([page.getByRole('button', { name: 'Sign in with passkey' }).click(), signedIn])
  await signedIn
  await context.clearCookies()
  // Conditional mediation: nothing is pressed, and the virtual authenticator answers at once.
  await page.goto(`${url}/auth/signin?callbackUrl=/home`)
  await page.waitForURL(`${url}/home`)
  expect(await page.textContent('#who')).toBe('key@example.com')
  await context.close()
})
