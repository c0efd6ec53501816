/** A store that throws, hangs or lies at each call of both ceremonies (SECURITY 5.2, F8 and F9): no session, no half user, and a retry works. */
import type { Adapter, AdapterMethod } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { Authenticator } from './_authenticator.ts'
import { type App, createApp, origin, sessionCookie, target } from './_webauthn.ts'

type Fault = (method: AdapterMethod, real: () => unknown) => unknown

const faults: Record<string, Fault> = {
  throws: (method) => {
    throw new Error(`planted: ${method}`)
  },
  rejects: (method) => Promise.reject(new Error(`planted: ${method}`)),
  'throws after the write': async (method, real) => {
    await real()
    throw new Error(`planted: ${method}`)
  },
  hangs: () => new Promise(() => {}),
}
const lies: Record<string, Fault> = { 'answers {}': () => ({}), 'answers a string': () => 'x', 'answers 0': () => 0 }

/** An app whose store misbehaves in one method while `active`. */
function faulty(method: AdapterMethod, fault: Fault, plain: boolean): { app: App; set(active: boolean): void } {
  let active = false
  const app = createApp({ deadlines: { store: 25 } }, ({ createUserWithAccount, ...adapter }) => {
    const whole: Adapter = plain ? adapter : { ...adapter, createUserWithAccount: createUserWithAccount! }
    const operation = whole[method] as (...args: unknown[]) => unknown
    return { ...whole, [method]: (...args: unknown[]) => (active ? fault(method, () => operation(...args)) : operation(...args)) }
  })
  return { app, set: (on) => void (active = on) }
}

function refused(app: App, response: Response): void {
  expect(response.status).toBe(302)
  expect(target(response).searchParams.get('error')).toBeTruthy()
  expect(response.headers.getSetCookie().join()).not.toContain(sessionCookie)
  expect([...response.headers].join()).not.toContain('planted')
  expect(app.failures).toHaveLength(1)
  expect(app.log).not.toContain('ev.signIn')
}

const registering: AdapterMethod[] = [
  'getUserByAccount',
  'getUserByEmail',
  'createUser',
  'linkAccount',
  'createAuthenticator',
  'createSession',
]
const signingIn: AdapterMethod[] = [
  'getAuthenticator',
  'updateAuthenticatorCounter',
  'getAccount',
  'getUser',
  'getUserByAccount',
  'createSession',
]

describe.each(Object.entries(faults))('a store that %s', (name, fault) => {
  const cases = [...registering.map((method) => [method, true] as const), ['createUserWithAccount', false] as const]

  it.each(cases)('F8: in %s', async (method, plain) => {
    const { app, set } = faulty(method, fault, plain)
    const browser = app.browser()
    const options = await browser.options<'register'>('action=register&email=ada@example.com')
    set(true)
    const response = await browser.post('/callback/passkey', { action: 'register', data: new Authenticator(origin).create(options) })
    set(false)
    const recovered =
      name === 'throws after the write' && ['createUser', 'linkAccount', 'createUserWithAccount', 'createAuthenticator'].includes(method)
    if (recovered && target(response).pathname === '/') {
      // The lost answer was found again: one whole user, signed in.
      expect(await browser.session()).not.toBeNull()
      expect([app.data.users.size, app.data.accounts.size, app.data.authenticators.size]).toEqual([1, 1, 1])
      return
    }
    refused(app, response)
    expect(await browser.session()).toBeNull()
    // Either nothing is left, or (when only the session failed) a whole user who can sign in.
    expect(app.data.accounts.size).toBe(app.data.users.size)
    if (app.data.users.size === 0) {
      expect(target(await browser.register(new Authenticator(origin), 'email=ada@example.com')).search).toBe('')
      expect(await browser.session()).toMatchObject({ user: { email: 'ada@example.com' } })
    } else {
      expect(method).toBe('createSession')
      expect(app.data.authenticators.size).toBe(1)
    }
  })

  it.each(signingIn)('F9: in %s', async (method) => {
    const { app, set } = faulty(method, fault, false)
    const key = new Authenticator(origin)
    await app.browser().register(key, 'email=ada@example.com')
    app.log.length = 0
    const browser = app.browser()
    const options = await browser.options<'authenticate'>('')
    set(true)
    const response = await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(options) })
    set(false)
    refused(app, response)
    expect(await browser.session()).toBeNull()
    await browser.authenticate(key)
    expect(await browser.session()).toMatchObject({ user: { email: 'ada@example.com' } })
  })
})

describe.each(Object.entries(lies))('a store that %s', (_, fault) => {
  it.each(['getAuthenticator', 'getAccount', 'getUser', 'getUserByAccount'] as const)('F9: in %s', async (method) => {
    const { app, set } = faulty(method, fault, false)
    const key = new Authenticator(origin)
    await app.browser().register(key, 'email=ada@example.com')
    app.log.length = 0
    const browser = app.browser()
    const options = await browser.options<'authenticate'>('')
    set(true)
    refused(app, await browser.post('/callback/passkey', { action: 'authenticate', data: key.get(options) }))
    set(false)
    expect(await browser.session()).toBeNull()
  })

  it('options: JSON and no 200 with nonsense', async () => {
    for (const method of ['getUserByEmail', 'listAuthenticatorsByUserId'] as const) {
      const { app, set } = faulty(method, fault, false)
      await app.browser().register(new Authenticator(origin), 'email=ada@example.com')
      set(true)
      const response = await app.browser().get('/webauthn-options/passkey?action=authenticate&email=ada@example.com')
      expect(response.status).toBeGreaterThanOrEqual(500)
      expect(await response.json()).toEqual({ error: 'Server error' })
    }
  })
})
