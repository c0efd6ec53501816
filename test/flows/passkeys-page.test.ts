/** Passkeys on the account page, in Chromium with a virtual authenticator: added, renamed and removed, and what the password manager is told. */
import type { Provider } from 'authkernel/kernel'
import passkey from 'authkernel/providers/passkey'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launch } from './_chromium.ts'
import { openWindow, type Site, startSite, type Window } from './_webauthn.ts'

const login: Provider = {
  id: 'pw',
  name: 'Password',
  type: 'credentials',
  credentials: { name: { label: 'Name' } },
  authorize: ({ name }) => ({ id: String(name) }),
}
let browser: Browser
let site: Site
let window: Window
let complaints: string[]

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())
beforeEach(async () => {
  site = await startSite({
    providers: [passkey({ enableConditionalUI: false, formFields: { email: {} } }), login],
    session: { strategy: 'jwt' },
  })
  site.data.users.set('ada', { id: 'ada', name: 'Ada', email: 'ada@example.com', emailVerified: new Date(0) })
  site.data.accounts.set('x', { userId: 'ada', type: 'email', provider: 'gone', providerAccountId: '1' })
  window = await openWindow(browser)
  complaints = []
  window.page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  window.page.on('pageerror', (error) => complaints.push(String(error)))
})
afterEach(async () => {
  await window.context.close()
  await site.close()
})

async function signIn(): Promise<void> {
  const { page } = window
  await page.goto(`${site.url}/auth/signin?callbackUrl=${encodeURIComponent(`${site.url}/auth/account`)}`)
  await page.fill('form[action$="/callback/pw"] input[name=name]', 'ada')
  await page.click('form[action$="/callback/pw"] button')
  await page.waitForURL(`${site.url}/auth/account`)
}

async function storedInDevice(): Promise<number> {
  const { credentials } = await window.cdp.send('WebAuthn.getCredentials', { authenticatorId: window.authenticatorId })
  return credentials.length
}

/** The browser makes no passkey by itself, so that the button is what is tested. */
async function withoutConditionalCreation(): Promise<void> {
  await window.page.addInitScript('PublicKeyCredential.getClientCapabilities = async () => ({})')
}

describe('the section of passkeys', () => {
  it('adds a passkey, renames it in a dialog, and removes it; the policy has no complaint', async () => {
    const { page } = window
    await withoutConditionalCreation()
    await signIn()
    await expect.poll(() => page.locator('#passkeys').textContent()).toContain('No passkeys yet')
    await page.click('#passkey-add-form button')
    await page.waitForURL(/account\?done=/)
    expect(site.data.authenticators.size).toBe(1)
    await page.click('#passkeys [data-ui-open^=rename]')
    await page.fill('dialog[open] input[name=name]', 'My laptop')
    await page.click('dialog[open] button[type=submit]')
    await expect.poll(() => page.locator('#passkeys bdi').first().textContent()).toBe('My laptop')
    expect(await storedInDevice()).toBe(1)

    // A password keeps the way in open: the account of a provider that is gone does not.
    await page.click('#passkeys [data-ui-open^=remove]')
    await page.click('dialog[open] button[type=submit]')
    await expect.poll(() => page.url()).toContain('passkeys=LastAccount')
    expect(await page.locator('#passkeys .error[role=alert]').textContent()).toContain('last sign-in method')
    site.data.accounts.set('y', { userId: 'ada', type: 'oauth', provider: 'pw', providerAccountId: 'ada' })
    await page.click('#passkeys [data-ui-open^=remove]')
    await page.click('dialog[open] button[type=submit]')
    await expect.poll(() => page.locator('#passkeys').textContent()).toContain('No passkeys yet')
    expect(site.data.authenticators.size).toBe(0)
    expect(complaints).toEqual([])
  })

  it('tells the password manager to forget a passkey that the server does not know', async () => {
    const { page } = window
    await withoutConditionalCreation()
    await signIn()
    await page.click('#passkey-add-form button')
    await page.waitForURL(/account\?done=/)
    expect(await storedInDevice()).toBe(1)
    site.data.authenticators.clear()
    await window.context.clearCookies()
    await page.goto(`${site.url}/auth/signin`)
    await page.click('form[data-options-url] button[type=submit]')
    await page.waitForURL(/error=UnknownPasskey/)
    expect(await page.textContent('[role=alert]')).toContain('was removed from your account')
    await expect.poll(storedInDevice).toBe(0)
    expect(complaints).toEqual([])
  })

  it('tells it which passkeys are left', async () => {
    const { page } = window
    await withoutConditionalCreation()
    await signIn()
    await page.click('#passkey-add-form button')
    await page.waitForURL(/account\?done=/)
    const [row] = [...site.data.authenticators.values()]
    // Another passkey of the same user is left, and this one was removed elsewhere.
    site.data.authenticators.clear()
    const other = { ...row!, credentialID: Buffer.from('another key').toString('base64'), providerAccountId: 'other' }
    site.data.authenticators.set('other', other)
    const records = site.data.records!.get('passkeyHandle')!
    const [id, kept] = [...records.entries()][0]!
    const { createHash } = await import('node:crypto')
    const next = createHash('sha256').update(other.credentialID).digest('hex')
    records.set([...records.keys()][0]!.replace(String(id).slice(-64), next), { ...kept, id: next } as never)
    await page.goto(`${site.url}/auth/account`)
    await expect.poll(storedInDevice).toBe(0)
  })

  it('is made without a question right after a password, where the browser can', async () => {
    const { page } = window
    await page.addInitScript(`
      PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: true });
      const create = navigator.credentials.create.bind(navigator.credentials);
      // The password manager that would decide is missing here: the authenticator makes the passkey.
      navigator.credentials.create = ({ mediation, ...options }) => { sessionStorage.mediation = mediation; return create(options) };`)
    await signIn()
    await page.waitForURL(/account\?done=/)
    expect(await page.evaluate(() => sessionStorage['mediation'] as string)).toBe('conditional')
    expect(site.data.authenticators.size).toBe(1)
    // Not once more: there is one.
    await page.evaluate(() => sessionStorage.removeItem('mediation'))
    await page.goto(`${site.url}/auth/account`)
    await page.waitForLoadState('networkidle')
    expect(await page.evaluate(() => sessionStorage['mediation'] as string | undefined)).toBeUndefined()
  })
})
