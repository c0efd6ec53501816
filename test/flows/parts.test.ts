/** The ready-made parts in production builds, in Chromium, against the real server: keyboard, axe, and what users type. */
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { compile } from 'svelte/compiler'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sampleCases } from '../_tier.ts'
import { totpAt } from '../_totp.ts'
import { launch } from './_chromium.ts'
import { type PartsSite, startPartsSite } from './_parts/site.ts'
import { bundle } from './_ui/site.ts'

/** Svelte's compiler as a plugin of Vite: its own plugin wants another Vite than vitest has. */
const svelte = {
  name: 'svelte',
  transform(code: string, id: string, options?: { ssr?: boolean }): { code: string } | undefined {
    if (!id.endsWith('.svelte')) return undefined
    return { code: compile(code, { filename: id, generate: options?.ssr ? 'server' : 'client' }).js.code }
  },
}
const apps: Record<string, { app: string; plugins?: object[] }> = {
  react: { app: '../_parts/react.ts' },
  vue: { app: '../_parts/vue.ts' },
  svelte: { app: '../_parts/svelte.ts', plugins: [svelte] },
  solid: { app: '../_parts/solid.ts' },
}
const password = 'a walk in the rain with ducks'

// In the gate React does all of it, and each of the others a third: parts of all four are made of the same code.
const names = Object.keys(apps)
let cases = 0

let browser: Browser
beforeAll(async () => void (browser = await launch()))
afterAll(() => browser.close())

describe.each(Object.entries(apps))('parts of authkernel/%s', (name, { app, plugins = [] }) => {
  const check = (title: string, work: () => Promise<void>): void => {
    for (const each of name === 'react' ? [title] : sampleCases([title], 6, cases++ + names.indexOf(name))) it(each, work)
  }
  let site: PartsSite
  let context: BrowserContext
  let page: Page
  let complaints: string[]
  beforeAll(async () => void (site = await startPartsSite(await bundle(app, false, plugins))))
  afterAll(() => site.close())
  beforeEach(async () => {
    context = await browser.newContext({ locale: 'en-US', permissions: ['clipboard-read', 'clipboard-write'] })
    context.setDefaultTimeout(8000)
    page = await context.newPage()
    complaints = []
    page.on('console', (message) => {
      // A refusal of the server is a message of the network, and no fault of the part.
      if (['error', 'warning'].includes(message.type()) && !/Failed to load resource: .* 4\d\d/.test(message.text()))
        complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
  })
  afterEach(async () => {
    await context.close()
    expect(complaints).toEqual([])
  })

  const open = (path: string): Promise<unknown> => page.goto(site.url + path)
  const typed = (name: string) => page.getByRole('textbox', { name, exact: true })
  const alert = (): Promise<string | null> => page.locator('[data-alert]:not(:empty)').first().textContent()
  async function findViolations(): Promise<void> {
    await page.addScriptTag({ path: fileURLToPath(import.meta.resolve('axe-core/axe.min.js')) })
    const rules = {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'],
      rules: { region: { enabled: false }, 'page-has-heading-one': { enabled: false }, 'heading-order': { enabled: false } },
    }
    const found = (await page.evaluate(`axe.run('#app', ${JSON.stringify(rules)})`)) as {
      violations: { id: string; help: string; nodes: { html: string }[] }[]
    }
    expect(found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`)).toEqual([])
  }

  /** After the last request of the page: its answer would bring the cookie back. */
  async function forgetSession(): Promise<void> {
    await page.goto('about:blank')
    await context.clearCookies()
  }

  /** A user with a password, who is signed in in this browser. */
  async function register(email: string): Promise<void> {
    await open('/sign-up')
    await page.getByLabel('Name').fill('Ada Lovelace')
    await page.getByLabel('Email', { exact: true }).fill(email)
    await typed('Password').fill(password)
    const before = site.mails.delivered.length
    await page.getByRole('button', { name: 'Create account', exact: true }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await expect.poll(() => site.mails.delivered.length, { timeout: 8000 }).toBeGreaterThan(before)
    await page.goto(site.mails.lastLink())
    await page.getByRole('button', { name: 'Activate my account' }).click()
    await page.waitForURL(`${site.url}/after`)
    await page.getByRole('button', { name: 'Account of' }).waitFor()
  }
  async function signIn(email: string): Promise<void> {
    await page.getByLabel('Email', { exact: true }).fill(email)
    await page.keyboard.press('Enter')
    await typed('Password').fill(password)
    await page.keyboard.press('Enter')
  }

  check('one field, then the methods that fit; a wrong password is said beside its field, and is not kept', async () => {
    await register('ada@example.com')
    await forgetSession()
    await open('/sign-in')
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
    expect(await page.locator('input:visible').count()).toBe(2)
    await findViolations()
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await expect.poll(() => page.locator('[data-error]').textContent()).toBe('Fill in this field.')
    await page.getByLabel('Email', { exact: true }).fill('ada@example.com')
    await page.keyboard.press('Enter')
    await typed('Password').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('password')
    await findViolations()
    await page.keyboard.type('wrong wrong wrong')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('[data-error]').textContent()).toContain('Wrong email or password')
    expect(await typed('Password').inputValue()).toBe('')
    expect(await page.evaluate('document.activeElement.name')).toBe('password')
    expect(await typed('Password').getAttribute('aria-invalid')).toBe('true')
    await findViolations()
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${site.url}/after`)
    await expect.poll(() => page.locator('#secret').textContent()).toBe('allowed')
  })

  check('a code by email, a provider of a type of its own, and a method of another site', async () => {
    await open('/sign-in')
    await page.getByLabel('Email', { exact: true }).fill('code@example.com')
    await page.keyboard.press('Enter')
    const before = site.mails.delivered.length
    await page.getByRole('button', { name: 'Email me a code' }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await expect.poll(() => site.mails.delivered.length, { timeout: 8000 }).toBeGreaterThan(before)
    await findViolations()
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('[data-error]').textContent()).toContain('wrong')
    const code = /\b\d{6}\b/.exec(site.mails.delivered.at(-1)?.mail.text ?? '')?.[0] ?? ''
    await page.getByLabel('Code', { exact: true }).fill(code)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${site.url}/after`)
    await forgetSession()
    await open('/sign-in')
    await page.locator('form[data-provider=door] input[name=pin]').fill('1')
    await page.locator('form[data-provider=door] button[type=submit]').click()
    await expect.poll(alert).toContain('Check what you typed')
    await page.locator('form[data-provider=door] input[name=pin]').fill('4711')
    await page.locator('form[data-provider=door] button[type=submit]').click()
    await page.waitForURL(`${site.url}/after`)
    await forgetSession()
    await open('/sign-in')
    await page.route('https://acme.example/**', (route) => route.fulfill({ body: 'acme' }))
    await page.getByRole('button', { name: 'Continue with Acme' }).click()
    await page.waitForURL('https://acme.example/**')
  })

  check('a passkey is added on the account page, and signs in', async () => {
    const cdp = await context.newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await register('key@example.com')
    await open('/account')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await expect.poll(() => page.locator('[data-note]').textContent()).toBe('The passkey was added.')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('My laptop')
    await page.keyboard.press('Enter')
    await page.locator('[data-section=passkeys] bdi', { hasText: 'My laptop' }).waitFor()
    await findViolations()
    // The authenticator answers the autofill of the first field at once.
    await forgetSession()
    await open('/sign-in')
    await page.waitForURL(`${site.url}/after`)
    await expect.poll(() => page.locator('#secret').textContent()).toBe('allowed')
    await open('/account')
    await page.locator('[data-section=passkeys]').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await forgetSession()
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
    await open('/sign-in')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(`${site.url}/after`)
    await expect.poll(() => page.locator('#secret').textContent()).toBe('allowed')
    await open('/account')
    await page.locator('[data-section=passkeys]').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No passkeys.').waitFor()
  })

  check('a forgotten password: the answer is the same for every address', async () => {
    await open('/sign-in')
    await page.getByLabel('Email', { exact: true }).fill('unknown@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Forgot your password?' }).click()
    expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe('unknown@example.com')
    await findViolations()
    await page.getByRole('button', { name: 'Send link' }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await page.getByRole('button', { name: 'Send it again' }).click()
    await expect.poll(() => page.locator('[data-note]').textContent()).toBe('Sent.')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('button', { name: 'Continue', exact: true }).waitFor()
  })

  check('a second factor is set up, asked for at the sign-in, and proves a change that needs it', async () => {
    await register('factor@example.com')
    await open('/account')
    await page.getByRole('button', { name: 'Add an authenticator app' }).click()
    await page.getByLabel('Code', { exact: true }).waitFor()
    await findViolations()
    const key = (await page.locator('[data-opened=confirm-app] code').textContent()) ?? ''
    const codeAt = (): string => totpAt(key.replaceAll(' ', ''), site.now())
    await page.getByLabel('Code', { exact: true }).fill('12')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('[data-error]').textContent()).toContain('The code is wrong')
    await page.getByLabel('Code', { exact: true }).fill(codeAt())
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('[data-codes] li').count()).toBe(10)
    await findViolations()
    await page.getByRole('button', { name: 'I have kept them' }).click()

    await forgetSession()
    site.wait(60)
    await open('/sign-in')
    await signIn('factor@example.com')
    await page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor()
    await findViolations()
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('[data-error]').textContent()).toContain('The code is wrong')
    expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe('')
    await page.getByLabel('Code', { exact: true }).fill(codeAt())
    await page.keyboard.press('Enter')
    await page.waitForURL(`${site.url}/after`)

    // The proof is old: the part asks for it in place, and goes on with what was asked for.
    site.wait(1000)
    await open('/account')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    await findViolations()
    await page.getByLabel('Code', { exact: true }).fill(codeAt())
    await page.keyboard.press('Enter')
    expect((await download).suggestedFilename()).toBe('my-data.json')
  })

  check('a passkey as the second factor', async () => {
    const cdp = await context.newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'usb',
        hasResidentKey: false,
        hasUserVerification: false,
        automaticPresenceSimulation: true,
      },
    })
    await register('second@example.com')
    await open('/auth/two-factor/setup')
    await page.locator('#passkey-factor-form button').click()
    await page.locator('ol.codes').waitFor()
    await forgetSession()
    await open('/sign-in')
    await signIn('second@example.com')
    await page.getByRole('heading', { name: 'Two-factor authentication' }).waitFor()
    await findViolations()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(`${site.url}/after`)
    await expect.poll(() => page.locator('#secret').textContent()).toBe('allowed')
  })

  check('other languages, narrow windows and dark pages', async () => {
    await register('narrow@example.com')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 320, height: 700 })
    for (const [path, heading] of [
      ['/account?lang=de', 'Sitzungen'],
      ['/organization?lang=fr', 'Aucune organisation'],
      ['/keys?lang=es', 'Claves de API'],
      ['/sign-in?lang=ja', 'ログイン済みです'],
    ] as const) {
      await open(path)
      await page.getByRole('heading', { name: heading }).waitFor()
      expect([path, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([path, true])
      await findViolations()
    }
    await forgetSession()
    await open('/sign-in?lang=de')
    await page.getByRole('button', { name: 'Konto erstellen' }).click()
    await page.getByText('Mindestens 15 Zeichen').waitFor()
    await findViolations()
  })

  check('a change that needs a fresh sign-in asks for the password in place', async () => {
    await register('old@example.com')
    site.wait(1000)
    await open('/account')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    await typed('Password').fill('wrong wrong wrong')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('[data-error]').textContent()).toContain('Wrong email or password')
    await typed('Password').fill(password)
    await page.keyboard.press('Enter')
    expect((await download).suggestedFilename()).toBe('my-data.json')
  })

  check('the account: name, password, sessions, deletion', async () => {
    await register('acc@example.com')
    await open('/account')
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor()
    await findViolations()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Countess')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Countess' }).waitFor()
    await page.getByRole('button', { name: 'Change password' }).click()
    await typed('Current password').fill(password)
    await typed('New password').fill('short')
    await page.locator('form').getByRole('button', { name: 'Change password' }).click()
    await expect.poll(() => page.locator('[data-error]').textContent()).toBe('The password is too short.')
    expect(await typed('Current password').inputValue()).toBe('')
    await findViolations()
    await typed('Current password').fill(password)
    await typed('New password').fill('another walk in the rain, ducks')
    await page.locator('form').getByRole('button', { name: 'Change password' }).click()
    await expect.poll(() => page.locator('[data-note]').textContent()).toContain('The password was saved')
    await page.getByText('this device').waitFor()
    await page.getByRole('button', { name: 'Delete account' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Delete account')
    await page.getByRole('button', { name: 'Delete account' }).click()
    await page.getByRole('button', { name: 'Delete my account' }).click()
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  })

  check('organizations: create, switch, invite with one wrong address, rename, and what a role may', async () => {
    await register('owner@example.com')
    await open('/organization')
    await page.getByText('Choose an organization').waitFor()
    await page.getByRole('button', { name: /^Organization/ }).click()
    await page.getByRole('button', { name: 'Create organization' }).click()
    await page.getByLabel('Name of the organization').fill('Engines')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Engines' }).waitFor()
    await findViolations()
    await page.getByRole('button', { name: 'Invite members' }).click()
    await page.getByLabel('Email addresses').fill('bob@example.com\nnobody')
    await page.getByRole('button', { name: 'Send invitations' }).click()
    await expect.poll(() => page.locator('[data-error]').textContent()).toContain('nobody')
    expect(await page.getByLabel('Email addresses').inputValue()).toContain('bob@example.com')
    await page.locator('[data-section=invitations] [data-rows]').getByText('bob@example.com').waitFor()
    await findViolations()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel invitation' }).click()
    await page.getByText('No open invitations.').waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Name of the organization').fill('Difference Engines')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Difference Engines' }).waitFor()
    await open('/after')
    await expect.poll(() => page.locator('#removing').textContent()).toBe('allowed')
    await open('/organization')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Choose an organization').waitFor()
    await open('/after')
    await expect.poll(() => page.locator('#removing').textContent()).toBe('refused')
  })

  check('API keys: made with scopes, shown once, replaced and revoked', async () => {
    await register('keys@example.com')
    await open('/keys')
    await page.getByText('No API keys.').waitFor()
    await page.getByRole('button', { name: 'Create API key' }).click()
    await page.locator('form').getByRole('button', { name: 'Create API key' }).click()
    await expect.poll(() => page.locator('[data-error]').textContent()).toBe('Fill in this field.')
    await page.getByLabel('Name of the key').fill('deploy')
    await page.getByLabel('write').check()
    await findViolations()
    await page.locator('form').getByRole('button', { name: 'Create API key' }).click()
    const text = (await page.locator('[data-once] code').textContent()) ?? ''
    expect(text).toMatch(/^ak_live_/)
    await findViolations()
    expect(await page.locator('[data-rows] [data-tag]').allTextContents()).toEqual(['write'])
    await page.getByRole('button', { name: 'I have copied it' }).click()
    expect(await page.content()).not.toContain(text)
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No API keys.').waitFor()
  })

  check('the button of the user: keyboard, account, sign-out; signed-out visitors', async () => {
    await open('/after')
    await expect.poll(() => page.locator('#secret').textContent()).toBe('refused')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${site.url}/sign-in`)
    await register('menu@example.com')
    await page.getByRole('button', { name: 'Account of Ada' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Account' }).waitFor()
    await findViolations()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('link', { name: 'Account' }).isVisible()).toBe(false)
    await expect.poll(() => page.evaluate('document.activeElement.hasAttribute("data-opener")')).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await expect.poll(() => page.locator('#secret').textContent()).toBe('refused')
    await open('/keys')
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  })
})

describe('where the host has a sign-in page of its own, and components of shadcn/ui', () => {
  let site: PartsSite
  beforeAll(async () => void (site = await startPartsSite(await bundle('../_parts/shadcn.ts', false, []))))
  afterAll(() => site.close())

  it('the registry file draws with the components of the app, and signs in; what the server says in the address is shown', async () => {
    const page = await browser.newPage()
    await page.goto(`${site.url}/sign-in?error=OAuthAccountNotLinked`)
    await expect.poll(() => page.locator('[data-alert]:not(:empty)').textContent()).toContain('There is already an account')
    expect(await page.locator('[data-slot=card] [data-slot=input]').count()).toBe(2)
    expect(await page.locator('[data-slot=button][data-variant=default]').first().textContent()).toBe('Continue')
    await page.getByLabel('PIN').fill('1')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('[data-alert]:not(:empty)').textContent()).toContain('Check what you typed')
    expect(await page.getByLabel('PIN').inputValue()).toBe('')
    await page.getByLabel('PIN').fill('4711')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${site.url}/after`)
    await page.close()
  })
})
