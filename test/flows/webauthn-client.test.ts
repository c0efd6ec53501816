/** Passkeys and sessions by `authkernel/client`, in Chromium with a virtual authenticator. */
import type * as Client from 'authkernel/client'
import passkey from 'authkernel/providers/passkey'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launch } from './_chromium.ts'
import { openWindow, type Site, startSite, verified, type Window } from './_webauthn.ts'

type Result = Partial<Client.FlowResult> & { thrown?: string }

let browser: Browser
let site: Site
let window: Window

beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())
beforeEach(async () => {
  site = await startSite()
  window = await openWindow(browser)
  await load(window.page)
})
afterEach(async () => {
  await window.context.close()
  await site.close()
})

/** The client as `client` in a page without any other script. */
async function load(page: Page, url: string = site.url): Promise<void> {
  await page.goto(`${url}/plain`)
  await page.addScriptTag({
    type: 'module',
    content: `globalThis.client = await import('/scripts/client.js'); document.body.dataset.client = ''`,
  })
  await page.waitForSelector('body[data-client]')
}

/** Runs `client.<call>` in the page. */
function run<T = Result>(call: string, page: Page = window.page): Promise<T> {
  return page.evaluate(`client.${call}.catch((error) => ({ thrown: error.name }))`)
}

const register = (email: string): Promise<Result> => run(`registerPasskey({ email: '${email}' })`)
const signIn = (options = ''): Promise<Result> => run(`signInWithPasskey({ redirect: false, ${options} })`)
const signOut = (): Promise<Result> => run('signOut({ redirect: false })')
const user = async (page: Page = window.page): Promise<string | null | undefined> => {
  return (await run<{ user?: { email?: string | null } } | null>('getSession()', page))?.user?.email
}

describe('ceremonies', () => {
  it('registers, signs out, signs in without a name', async () => {
    expect(await register('ada@example.com')).toMatchObject({ ok: true })
    expect(await user()).toBe('ada@example.com')
    await signOut()
    expect(await user()).toBeUndefined()
    expect(await signIn()).toMatchObject({ ok: true, url: `${site.url}/plain` })
    expect(await user()).toBe('ada@example.com')
    expect([...site.data.authenticators.values()]).toMatchObject([{ counter: 2 }])
  })

  it('signIn with the id of the provider lets the server decide: register, then authenticate', async () => {
    expect(await run(`signIn('passkey', { email: 'ada@example.com', redirect: false })`)).toMatchObject({ ok: true })
    await signOut()
    expect(await run(`signIn('passkey', { email: 'ada@example.com', redirect: false })`)).toMatchObject({ ok: true })
    expect(site.data.users.size).toBe(1)
  })

  it('row 322: at the base path of a site below a path', async () => {
    const shop = await startSite({ basePath: '/shop/auth' })
    try {
      await load(window.page, shop.url)
      const client = `createClient({ basePath: '/shop/auth' })`
      expect(await run(`${client}.registerPasskey({ email: 'ada@example.com' })`)).toMatchObject({ ok: true })
      expect(await run(`${client}.signOut({ redirect: false })`)).toMatchObject({ ok: true })
      expect(await run(`${client}.signInWithPasskey({ redirect: false })`)).toMatchObject({ ok: true, url: `${shop.url}/plain` })
      expect(await run(`${client}.getSession()`)).toMatchObject({ user: { email: 'ada@example.com' } })
    } finally {
      await shop.close()
    }
  })

  it('goes to redirectTo', async () => {
    await register('ada@example.com')
    await signOut()
    void window.page.evaluate(`client.signInWithPasskey({ redirectTo: '/home' })`).catch(() => {})
    await window.page.waitForURL(`${site.url}/home`)
    expect(await window.page.textContent('#session')).toContain('ada@example.com')
  })

  it('row 248: adds a passkey of another device to the signed-in user; the same device is refused by the browser', async () => {
    await register('ada@example.com')
    expect(await run('registerPasskey()')).toEqual({ thrown: 'InvalidStateError' })
    await window.cdp.send('WebAuthn.clearCredentials', { authenticatorId: window.authenticatorId })
    expect(await run('registerPasskey()')).toMatchObject({ ok: true })
    expect(site.data.authenticators.size).toBe(2)
    expect(site.data.users.size).toBe(1)
  })

  it('row 257: autofill waits for a choice', async () => {
    await register('ada@example.com')
    await signOut()
    await window.page.setContent('<input autocomplete="username webauthn">')
    expect(await run('supportsPasskeys(true)')).toBe(true)
    expect(await signIn('autofill: true')).toMatchObject({ ok: true })
    expect(await user()).toBe('ada@example.com')
  })

  it('a cancelled ceremony rejects with NotAllowedError, an aborted one with AbortError, and the next one works', async () => {
    await register('ada@example.com')
    await signOut()
    await verified(window, false)
    expect(await signIn()).toEqual({ thrown: 'NotAllowedError' })
    expect(await signIn('signal: AbortSignal.abort()')).toEqual({ thrown: 'AbortError' })
    expect(site.errors).toEqual([])
    await verified(window, true)
    expect(await signIn()).toMatchObject({ ok: true })
  })

  it('a request that fits no ceremony is an AuthClientError', async () => {
    expect(await run('registerPasskey()')).toEqual({ thrown: 'AuthClientError' })
    await register('ada@example.com')
    await signOut()
    expect(await register('ada@example.com')).toEqual({ thrown: 'AuthClientError' })
  })
})

describe('refused', () => {
  it('row 246: a replayed assertion', async () => {
    await register('ada@example.com')
    await signOut()
    const posted = window.page.waitForRequest((request) => request.method() === 'POST' && request.url().includes('/callback/passkey'))
    const challenge = async (): Promise<Parameters<typeof window.context.addCookies>[0]> =>
      (await window.context.cookies()).filter(({ name }) => name === 'authkernel.challenge')
    let kept: Awaited<ReturnType<typeof challenge>> = []
    await window.page.route('**/callback/passkey', async (route) => {
      kept = await challenge()
      await route.continue()
    })
    await signIn()
    const form = (await posted).postData() ?? ''
    await signOut()
    await window.context.addCookies(kept)
    const answer = await window.page.evaluate(async (body) => {
      const { csrfToken } = (await (await fetch('/auth/csrf')).json()) as { csrfToken: string }
      const fields = new URLSearchParams(body)
      fields.set('csrfToken', csrfToken)
      const response = await fetch('/auth/callback/passkey', { method: 'POST', body: fields, headers: { 'X-Auth-Return-Redirect': '1' } })
      return (await response.json()) as { url: string }
    }, form)
    expect(kept).toHaveLength(1)
    expect(answer.url).toBe(`${site.url}/auth/error?error=Configuration`)
    expect(site.errors.map(({ type }) => type)).toEqual(['InvalidCheck'])
    expect(await user()).toBeUndefined()
  })

  it('row 251: a lower counter', async () => {
    await register('ada@example.com')
    await signOut()
    for (const row of site.data.authenticators.values()) row.counter = 500
    expect(await signIn()).toMatchObject({ ok: false, error: 'WebAuthnVerificationError' })
    expect(site.errors[0]?.cause).toMatchObject({ stored: 500, received: 2 })
    expect(await user()).toBeUndefined()
  })

  it('row 252: an origin that is not the relying party’s', async () => {
    const elsewhere = await startSite({ providers: [passkey({ relayingParty: { origin: 'https://app.example' } })] })
    try {
      await load(window.page, elsewhere.url)
      expect(await register('ada@example.com')).toMatchObject({ ok: false, error: 'WebAuthnVerificationError' })
      expect(elsewhere.data.users.size).toBe(0)
    } finally {
      await elsewhere.close()
    }
  })

  it('row 252: a relying party that the browser does not believe', async () => {
    const elsewhere = await startSite({ providers: [passkey({ relayingParty: { id: 'app.example' } })] })
    try {
      await load(window.page, elsewhere.url)
      expect(await register('ada@example.com')).toEqual({ thrown: 'SecurityError' })
    } finally {
      await elsewhere.close()
    }
  })

  it("another user's passkey while signed in", async () => {
    await register('ada@example.com')
    await signOut()
    const { credentials } = await window.cdp.send('WebAuthn.getCredentials', { authenticatorId: window.authenticatorId })
    await window.cdp.send('WebAuthn.clearCredentials', { authenticatorId: window.authenticatorId })
    await register('bob@example.com')
    await window.cdp.send('WebAuthn.clearCredentials', { authenticatorId: window.authenticatorId })
    const credential = credentials[0]
    if (!credential) throw new Error('no credential')
    await window.cdp.send('WebAuthn.addCredential', { authenticatorId: window.authenticatorId, credential })
    // The server asked for bob's passkeys; this browser answers with whatever it has.
    await window.page.route('**/webauthn-options/**', async (route) => {
      const response = await route.fetch()
      const { action, options } = (await response.json()) as { action: string; options: object }
      await route.fulfill({ response, json: { action, options: { ...options, allowCredentials: [] } } })
    })
    expect(await signIn()).toMatchObject({ ok: false, error: 'AccountNotLinked' })
    expect(await user()).toBe('bob@example.com')
  })
})

describe('session', () => {
  it('two tabs are in step', async () => {
    const other = await window.context.newPage()
    await load(other)
    await other.evaluate(`globalThis.session = client.createSession(); session.subscribe(() => {}); undefined`)
    const status = (): Promise<string> => other.evaluate('session.get().status')
    await expect.poll(status).toBe('unauthenticated')
    // Ceremonies take the focus.
    await window.page.bringToFront()
    expect(await register('ada@example.com')).toMatchObject({ ok: true })
    await expect.poll(status).toBe('authenticated')
    await signOut()
    await expect.poll(status).toBe('unauthenticated')
  })
})
