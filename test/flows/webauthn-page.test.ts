/** Passkeys on the built-in sign-in page and on a page of the host's own, in Chromium with a virtual authenticator. */
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launch } from './_chromium.ts'
import { openWindow, type Site, startSite, verified, type Window } from './_webauthn.ts'

let browser: Browser
let site: Site
let window: Window
let complaints: string[]

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())
beforeEach(async () => {
  site = await startSite()
  window = await openWindow(browser)
  complaints = []
  window.page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  window.page.on('pageerror', (error) => complaints.push(String(error)))
})
afterEach(async () => {
  await window.context.close()
  await site.close()
})

async function submit(email: string): Promise<void> {
  const { page } = window
  await page.goto(`${site.url}/auth/signin?callbackUrl=/home`)
  await page.fill('input[name=email]', email)
  await page.click('button[type=submit]')
}

async function session(): Promise<unknown> {
  return JSON.parse((await window.page.textContent('#session')) ?? '')
}

async function register(email: string): Promise<void> {
  await submit(email)
  await window.page.waitForURL(`${site.url}/home`)
}

/** The virtual authenticator answers autofill at once; this leaves the button alone on the page. */
async function withoutAutofill(): Promise<void> {
  await window.page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
}

describe('sign-in page', () => {
  it('rows 245, 247 and 256: a new address registers a passkey and is signed in; no complaint from the policy', async () => {
    await register('ada@example.com')
    expect(await session()).toMatchObject({ user: { email: 'ada@example.com' } })
    expect([...site.data.authenticators.values()]).toMatchObject([
      { transports: 'internal', credentialDeviceType: 'singleDevice', counter: 1 },
    ])
    const { credentials } = await window.cdp.send('WebAuthn.getCredentials', { authenticatorId: window.authenticatorId })
    expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }])
    expect(complaints).toEqual([])
    expect(site.errors).toEqual([])
  })

  it('rows 250 and 253: the same address signs in again', async () => {
    await register('ada@example.com')
    await window.context.clearCookies()
    await withoutAutofill()
    await register('ada@example.com')
    expect(await session()).toMatchObject({ user: { email: 'ada@example.com' } })
    expect(site.data.users.size).toBe(1)
    expect([...site.data.authenticators.values()]).toMatchObject([{ counter: 2 }])
    expect(complaints).toEqual([])
  })

  it('row 257: conditional UI: the passkey comes from the autofill, no address typed', async () => {
    await register('ada@example.com')
    await window.context.clearCookies()
    await window.page.goto(`${site.url}/auth/signin?callbackUrl=/home`)
    await window.page.waitForURL(`${site.url}/home`)
    expect(await session()).toMatchObject({ user: { email: 'ada@example.com' } })
    expect(complaints).toEqual([])
  })

  it('the button alone: a user with a passkey types no address', async () => {
    await register('ada@example.com')
    await window.context.clearCookies()
    await withoutAutofill()
    await window.page.goto(`${site.url}/auth/signin?callbackUrl=/home`)
    await window.page.click('button[type=submit]')
    await window.page.waitForURL(`${site.url}/home`)
    expect(await session()).toMatchObject({ user: { email: 'ada@example.com' } })
    expect(complaints).toEqual([])
  })

  it('a cancelled ceremony says so, gives the button back, and a second attempt works', async () => {
    await verified(window, false)
    await submit('ada@example.com')
    const alert = window.page.locator('form[data-options-url] [role=alert]')
    await expect.poll(() => alert.textContent()).toContain('cancelled')
    expect(await alert.isVisible()).toBe(true)
    expect(await window.page.isEnabled('button[type=submit]')).toBe(true)
    await verified(window, true)
    await window.page.click('button[type=submit]')
    await window.page.waitForURL(`${site.url}/home`)
    expect(await session()).toMatchObject({ user: { email: 'ada@example.com' } })
  })

  it('an answer of the server that is no ceremony is shown', async () => {
    await submit('not an address')
    await expect.poll(() => window.page.textContent('form[data-options-url] [role=alert]')).toMatch(/try again/)
    expect(await window.page.isEnabled('button[type=submit]')).toBe(true)
  })

  it('row 251: a counter that went backwards ends on the error page', async () => {
    await register('ada@example.com')
    for (const row of site.data.authenticators.values()) row.counter = 1000
    await window.context.clearCookies()
    await window.page.goto(`${site.url}/auth/signin?callbackUrl=/home`)
    await window.page.waitForURL(`${site.url}/auth/error?error=WebAuthnVerificationError`)
    expect(site.errors.map(({ type }) => type)).toEqual(['WebAuthnVerificationError'])
    expect(site.data.sessions.size).toBe(1)
  })

  it('row 252: a passkey that the server never saw is refused', async () => {
    await register('ada@example.com')
    site.data.authenticators.clear()
    await window.context.clearCookies()
    await window.page.goto(`${site.url}/auth/signin?callbackUrl=/home`)
    await window.page.waitForURL((url) => url.pathname === '/auth/signin' && url.searchParams.get('error') === 'UnknownPasskey')
    expect(site.data.sessions.size).toBe(1)
  })

  it('works in a browser without the native JSON helpers', async () => {
    await window.page.addInitScript(`
      delete PublicKeyCredential.parseCreationOptionsFromJSON
      delete PublicKeyCredential.parseRequestOptionsFromJSON
      delete PublicKeyCredential.prototype.toJSON`)
    await register('ada@example.com')
    expect([...site.data.authenticators.values()]).toMatchObject([{ transports: 'internal' }])
    await window.context.clearCookies()
    await withoutAutofill()
    await register('ada@example.com')
    expect(await session()).toMatchObject({ user: { email: 'ada@example.com' } })
    expect(complaints).toEqual([])
  })

  it('says so in a browser without passkeys', async () => {
    await window.page.addInitScript('delete window.PublicKeyCredential')
    await submit('ada@example.com')
    await expect.poll(() => window.page.textContent('form[data-options-url] [role=alert]')).toContain('does not support passkeys')
  })

  it('back from the next page: the form can be used again', async () => {
    await withoutAutofill()
    await register('ada@example.com')
    await window.page.goBack()
    await window.page.waitForSelector('input[name=email]')
    expect(await window.page.isEnabled('button[type=submit]')).toBe(true)
    expect(await window.page.locator('input[name=data]').count()).toBe(0)
  })
})

describe("a host's own page", () => {
  it('row 248: a signed-in user adds a passkey of another device', async () => {
    await register('ada@example.com')
    await window.cdp.send('WebAuthn.clearCredentials', { authenticatorId: window.authenticatorId })
    await window.page.goto(`${site.url}/account`)
    await window.page.waitForSelector('body[data-ready]')
    await window.page.click('button')
    await window.page.waitForURL(`${site.url}/done`)
    expect(await session()).toMatchObject({ user: { email: 'ada@example.com' } })
    expect(site.data.users.size).toBe(1)
    expect(site.data.authenticators.size).toBe(2)
  })

  it('row 253: the same device is not registered twice, and the page says so', async () => {
    await register('ada@example.com')
    await window.page.goto(`${site.url}/account`)
    await window.page.waitForSelector('body[data-ready]')
    await window.page.click('button')
    await expect.poll(() => window.page.textContent('[role=alert]')).toContain('already has a passkey')
    expect(site.data.authenticators.size).toBe(1)
  })

  it('texts come from the form', async () => {
    await register('ada@example.com')
    await window.cdp.send('WebAuthn.clearCredentials', { authenticatorId: window.authenticatorId })
    await verified(window, false)
    await window.page.goto(`${site.url}/account`)
    await window.page.waitForSelector('body[data-ready]')
    await window.page.click('button')
    await expect.poll(() => window.page.textContent('[role=alert]')).toBe('Abgebrochen.')
  })
})
