/** A passkey and a code by text message under a policy, in Chromium: both lead to the company's sign-in, and neither gives a session. */
import type { Auth } from 'authkernel/kernel'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import { phonePlugin } from 'authkernel/plugins/phone'
import { type SsoApi, ssoPlugin } from 'authkernel/plugins/sso'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launch } from './_chromium.ts'
import { openWindow, type Site, startSite, type Window } from './_webauthn.ts'

const system = { system: true } as const
const number = '+4915123456789'
let browser: Browser
let site: Site
let window: Window
let auth: Auth & SsoApi & OrganizationsApi
let texts: string[]

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())
beforeEach(async () => {
  texts = []
  const mails = {
    name: 'mails',
    setup: (kernel: { provide(name: 'mailTransport', service: object): void }) =>
      kernel.provide('mailTransport', { send: () => undefined }),
  }
  site = await startSite({ session: { strategy: 'database' } }, [
    mails as never, // A plugin of one line.
    organizationsPlugin(),
    phonePlugin({ send: ({ code }) => void texts.push(code ?? '') }),
    ssoPlugin(),
  ])
  auth = site.auth as typeof auth
  window = await openWindow(browser)
})
afterEach(async () => {
  await window.context.close()
  await site.close()
})

/** An organization of the user with a connection, and what `demand` sets. */
async function company(userId: string): Promise<{ demand(): Promise<void> }> {
  const { id } = await auth.organizations.create({ userId }, { name: 'Acme' })
  await auth.sso.create(system, id, { name: 'Acme ID', issuer: 'https://idp.example', clientId: 'app', clientSecret: 'secret' })
  return { demand: async () => void (await auth.sso.setPolicy(system, id, { domains: false, members: true })) }
}
const session = async (): Promise<unknown> => {
  await window.page.goto(`${site.url}/`)
  return JSON.parse((await window.page.textContent('#session')) ?? '')
}
/** The first page asks who signs in; the methods follow. */
async function identify(text: string): Promise<void> {
  await window.page.goto(`${site.url}/auth/signin?callbackUrl=/`)
  await window.page.fill('input[name=identifier]', text)
  await window.page.click('#identifier-form button[type=submit]')
}
const isAtCompany = async (): Promise<void> => {
  await window.page.waitForURL(({ pathname }) => pathname === '/auth/sso/start')
  expect(await window.page.textContent('main')).toContain('Your organization requires its own sign-in')
  expect(await window.page.getByRole('button', { name: 'Acme ID' }).count()).toBe(1)
}

describe('a passkey', () => {
  /** Registers one, and forgets the session. */
  async function register(): Promise<string> {
    await identify('ada@acme.example')
    await window.page.click('form[data-options-url] button[type=submit]')
    await window.page.waitForURL(`${site.url}/`)
    return [...site.data.users.values()][0]!.id
  }

  it('that was registered before the policy signs in until then, and afterwards leads to the connection', async () => {
    const { demand } = await company(await register())
    await window.context.clearCookies()
    await window.page.goto(`${site.url}/auth/signin?callbackUrl=/`)
    // The virtual authenticator answers the autofill.
    await window.page.waitForURL(`${site.url}/`)
    expect(await session()).toMatchObject({ user: { email: 'ada@acme.example' } })
    await demand()
    expect(await session()).toBeNull()
    await window.page.goto(`${site.url}/auth/signin?callbackUrl=/`)
    await isAtCompany()
    expect(await session()).toBeNull()
    expect(site.data.sessions.size).toBe(0)
  })

  it('by the button is led there too', async () => {
    const { demand } = await company(await register())
    await demand()
    await window.context.clearCookies()
    await window.page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
    await identify('ada@acme.example')
    await window.page.click('form[data-options-url] button[type=submit]')
    await isAtCompany()
    expect(await session()).toBeNull()
  })
})

describe('a code by text message', () => {
  async function enter(): Promise<void> {
    await identify(number)
    await window.page.click('form[action$="/signin/phone"] button[type=submit]')
    await window.page.waitForURL(({ pathname }) => pathname === '/auth/phone')
    await expect.poll(() => texts.length).toBeGreaterThan(0)
    await window.page.fill('input[name=code]', texts.at(-1)!)
    await window.page
      .locator('form', { has: window.page.locator('input[name=code]') })
      .locator('button[type=submit]')
      .first()
      .click()
    texts = []
  }

  it('signs in until the policy holds, and afterwards leads to the connection', async () => {
    await enter()
    await window.page.waitForURL(`${site.url}/`)
    const { demand } = await company([...site.data.users.values()][0]!.id)
    await demand()
    expect(await session()).toBeNull()
    await enter()
    await isAtCompany()
    expect(await session()).toBeNull()
    expect(site.data.sessions.size).toBe(0)
  })
})
