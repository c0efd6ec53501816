/** What a provider's options mean, and what is wrong with them. */
import { readFileSync } from 'node:fs'
import { createAuth, type AuthConfig } from 'authkernel'
import type { Adapter, ProviderOf } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import passkey from 'authkernel/providers/passkey'
import webauthn from 'authkernel/providers/webauthn'
import { describe, expect, it } from 'vitest'
import { Authenticator } from './_authenticator.ts'
import { type Ceremony, createApp, origin, target } from './_webauthn.ts'

const config: AuthConfig = {
  secret: 'a secret of more than thirty-two characters',
  origin,
  env: false,
  logger: { warn: () => {}, error: () => {} },
}
const enabled: AuthConfig = { ...config, experimental: { enableWebAuthn: true }, adapter: memoryAdapter() }
const fault = (given: AuthConfig): Promise<unknown> =>
  createAuth(given)
    .ready()
    .then(
      () => 'ready',
      (error: Error) => error,
    )

describe('configuration', () => {
  it('row 243: no switch is needed since 0.3; one that is set warns that it is of no use; a provider of another plugin needs webauthnPlugin', async () => {
    expect(await fault({ ...config, adapter: memoryAdapter(), providers: [passkey()] })).toBe('ready')
    expect(await fault({ ...config, adapter: memoryAdapter(), providers: [passkey] })).toBe('ready')
    expect(createApp().warnings).toEqual(['experimental-webauthn'])
    const elsewhere = createAuth({ ...config, adapter: memoryAdapter() }).use({
      name: 'extra',
      setup: (kernel) => kernel.provider(passkey()),
    })
    await expect(elsewhere.ready()).rejects.toMatchObject({
      type: 'ExperimentalFeatureNotEnabled',
      message: expect.stringContaining('webauthnPlugin'),
    })
    expect(
      await createAuth({ ...config, adapter: memoryAdapter() })
        .use(webauthnPlugin(passkey()))
        .ready(),
    ).toBeUndefined()
  })

  it('row 244: no adapter: MissingAdapter', async () => {
    expect(await fault({ ...config, experimental: { enableWebAuthn: true }, providers: [passkey()] })).toMatchObject({
      type: 'MissingAdapter',
    })
  })

  it.each([
    'createUser',
    'getUser',
    'linkAccount',
    'getAccount',
    'getAuthenticator',
    'createAuthenticator',
    'listAuthenticatorsByUserId',
    'updateAuthenticatorCounter',
  ] as const)('row 160: an adapter without %s: MissingAdapterMethods that names it', async (method) => {
    const { [method]: _, ...adapter }: Adapter = memoryAdapter()
    const error = await fault({
      ...config,
      experimental: { enableWebAuthn: true },
      session: { strategy: 'jwt' },
      adapter,
      providers: [passkey()],
    })
    expect(error).toMatchObject({ type: 'MissingAdapterMethods', message: expect.stringContaining(method) })
  })

  it('row 257: two providers with conditional UI: DuplicateConditionalUI; one of them without it is fine', async () => {
    expect(await fault({ ...enabled, providers: [passkey(), webauthn()] })).toMatchObject({
      type: 'DuplicateConditionalUI',
      message: expect.stringContaining('passkey and webauthn'),
    })
    expect(await fault({ ...enabled, providers: [passkey(), webauthn({ enableConditionalUI: false })] })).toBe('ready')
  })

  it('row 257: no field offers passkeys: MissingWebAuthnAutocomplete, unless conditional UI is off', async () => {
    const formFields = { email: { label: 'Email', autocomplete: 'username' }, other: {} }
    expect(await fault({ ...enabled, providers: [passkey({ formFields })] })).toMatchObject({ type: 'MissingWebAuthnAutocomplete' })
    expect(await fault({ ...enabled, providers: [passkey({ formFields, enableConditionalUI: false })] })).toBe('ready')
  })

  it.each(['v1', 'v1.2', 'v1.2.3', 'v9.0.1', 'v14.0.0', false] as const)(
    'row 258: simpleWebAuthnBrowserVersion %j is accepted',
    async (version) => {
      expect(await fault({ ...enabled, providers: [passkey({ simpleWebAuthnBrowserVersion: version })] })).toBe('ready')
    },
  )

  it.each(['', '1', 'v', 'v1.', 'v1.2.3.4', 'v1\n', 'latest', 'v1"></script>'])(
    'row 258: simpleWebAuthnBrowserVersion %j is refused',
    async (version) => {
      const error = await fault({ ...enabled, providers: [passkey({ simpleWebAuthnBrowserVersion: version })] })
      expect(error).toMatchObject({
        type: 'AuthError',
        message: expect.stringContaining('simpleWebAuthnBrowserVersion of provider "passkey"'),
      })
    },
  )

  it.each(['https://app.example/', 'https://app.example/path', 'http://', 'https://APP.example'])(
    'relayingParty.origin %s is refused',
    async (bad) => {
      const error = await fault({ ...enabled, providers: [passkey({ relayingParty: { origin: [origin, bad] } })] })
      expect(error).toMatchObject({ message: expect.stringContaining(`relayingParty.origin of provider "passkey" is "${bad}"`) })
    },
  )

  it('row 260: ids webauthn and passkey, both of type webauthn, and any other id', async () => {
    const app = createApp({
      providers: [passkey(), webauthn({ enableConditionalUI: false }), webauthn({ id: 'key', name: 'Key', enableConditionalUI: false })],
    })
    const listed = (await (await app.browser().get('/providers')).json()) as Record<string, { form?: unknown }>
    expect(listed).toMatchObject({
      passkey: {
        id: 'passkey',
        name: 'Passkey',
        type: 'webauthn',
        signinUrl: `${origin}/auth/signin/passkey`,
        callbackUrl: `${origin}/auth/callback/passkey`,
      },
      webauthn: {
        id: 'webauthn',
        name: 'WebAuthn',
        type: 'webauthn',
        signinUrl: `${origin}/auth/signin/webauthn`,
        callbackUrl: `${origin}/auth/callback/webauthn`,
      },
      key: { id: 'key', name: 'Key', type: 'webauthn', signinUrl: `${origin}/auth/signin/key`, callbackUrl: `${origin}/auth/callback/key` },
    })
  })

  it('the plugin is named by its providers, and several of them get along', async () => {
    const key = (): ProviderOf<'webauthn'> => webauthn({ id: 'key', enableConditionalUI: false })
    expect(webauthnPlugin().name).toBe('webauthn')
    expect(webauthnPlugin(passkey(), key).name).toBe('webauthn:passkey,key')
    const auth = createAuth({ ...config, adapter: memoryAdapter() })
      .use(webauthnPlugin(passkey()))
      .use(webauthnPlugin(key))
    await auth.ready()
    for (const id of ['passkey', 'key']) {
      expect((await auth.handler(new Request(`${origin}/auth/webauthn-options/${id}`))).status).toBe(200)
    }
  })
})

describe('relying party', () => {
  async function ask(
    provider: ProviderOf<'webauthn'>,
    at = origin,
    host: AuthConfig = {},
  ): Promise<Extract<Ceremony, { action: 'register' }>['options']> {
    return createApp({ providers: [provider], ...host })
      .browser(at)
      .options<'register'>('action=register&email=new@example.com')
  }

  it('row 254: host name, host and origin of the own URL', async () => {
    expect((await ask(passkey(), 'https://id.app.example:8443', { origin: undefined })).rp).toEqual({
      id: 'id.app.example',
      name: 'id.app.example:8443',
    })
  })

  it('row 255: several ids and origins: the options name the one that fits, every one is accepted', async () => {
    const relayingParty = {
      id: ['shop.example', 'app.example'],
      name: ['Shop'],
      origin: ['https://shop.example', 'https://www.shop.example', origin],
    }
    const everywhere = { origin: undefined }
    expect((await ask(passkey({ relayingParty }), 'https://www.shop.example', everywhere)).rp).toEqual({ id: 'shop.example', name: 'Shop' })
    expect((await ask(passkey({ relayingParty }), origin, everywhere)).rp.id).toBe('app.example')
    expect((await ask(passkey({ relayingParty }), 'https://else.example', everywhere)).rp.id).toBe('shop.example')
    expect((await ask(passkey({ relayingParty }), 'https://notshop.example', everywhere)).rp.id).toBe('shop.example')
    const app = createApp({ providers: [passkey({ relayingParty })], ...everywhere })
    for (const at of relayingParty.origin) {
      const browser = app.browser(at)
      await browser.register(new Authenticator(at), `email=${at.length}@example.com`)
      expect(await browser.session(), at).not.toBeNull()
    }
    const other = app.browser('https://else.example')
    expect(target(await other.register(new Authenticator('https://else.example'), 'email=x@example.com')).search).toBe(
      '?error=WebAuthnVerificationError',
    )
  })

  it('getRelayingParty decides per request', async () => {
    const provider = passkey({
      getRelayingParty: async (_, request) => ({ id: 'corp.example', name: new URL(request.url).host, origin: ['https://a.example'] }),
    })
    expect((await ask(provider)).rp).toEqual({ id: 'corp.example', name: 'app.example' })
    const app = createApp({ providers: [provider] })
    const key = new Authenticator('https://a.example')
    await app.browser().register(key, 'email=a@example.com')
    expect(app.data.authenticators.size).toBe(1)
  })
})

describe('options for the library', () => {
  async function both(
    provider: ProviderOf<'webauthn'>,
  ): Promise<[register: Record<string, unknown>, authenticate: Record<string, unknown>]> {
    const browser = createApp({ providers: [provider] }).browser()
    const register = await browser.options<'register'>('email=new@example.com', provider.id)
    return [{ ...register }, { ...(await browser.options<'authenticate'>('', provider.id)) }]
  }

  it('row 256: passkey: resident key and user verification required', async () => {
    const [register, authenticate] = await both(passkey())
    expect(register).toMatchObject({ authenticatorSelection: { residentKey: 'required', userVerification: 'required' }, timeout: 300_000 })
    expect(authenticate).toMatchObject({ userVerification: 'required', timeout: 300_000 })
  })

  it('webauthn: a resident key is preferred; what is verified is also asked for', async () => {
    const [register, authenticate] = await both(webauthn())
    expect(register).toMatchObject({ authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' } })
    expect(authenticate).toMatchObject({ userVerification: 'required' })
  })

  it('user verification may be left out by saying so, in either place', async () => {
    const asked = webauthn({
      authenticationOptions: { userVerification: 'discouraged' },
      registrationOptions: { authenticatorSelection: { userVerification: 'preferred' } },
    })
    const verified = webauthn({
      verifyAuthenticationOptions: { requireUserVerification: false },
      verifyRegistrationOptions: { requireUserVerification: false },
    })
    for (const provider of [asked, verified]) {
      const app = createApp({ providers: [provider] })
      const key = new Authenticator(origin)
      await app.browser().register(key, 'email=ada@example.com', { verified: false }, 'webauthn')
      const browser = app.browser()
      await browser.authenticate(key, '', { verified: false }, 'webauthn')
      expect(await browser.session()).not.toBeNull()
    }
    expect((await both(verified))[1]).toMatchObject({ userVerification: 'preferred' })
  })

  it('other options pass; what the protocol needs cannot be replaced', async () => {
    const given = {
      timeout: 1000,
      attestationType: 'direct',
      extensions: { credProps: true },
      challenge: 'fixed',
      rpID: 'evil.example',
      excludeCredentials: [{ id: 'AAAA' }],
    }
    const [register] = await both(passkey({ registrationOptions: given }))
    expect(register).toMatchObject({ timeout: 1000, attestation: 'direct', rp: { id: 'app.example' }, excludeCredentials: [] })
    expect(register['challenge']).toHaveLength(43)
  })

  it('the options of the host are not written to', async () => {
    const registrationOptions = Object.freeze({ authenticatorSelection: Object.freeze({ residentKey: 'discouraged' }) })
    expect((await both(webauthn({ registrationOptions })))[0]).toMatchObject({ authenticatorSelection: { residentKey: 'discouraged' } })
  })
})

describe('library', () => {
  it('lib brings it, is asked for what it must verify, and its answer decides', async () => {
    const calls: [string, Record<string, unknown>][] = []
    const record =
      <T>(name: string, answer: T) =>
      async (options: Record<string, unknown>): Promise<T> => {
        calls.push([name, options])
        return answer
      }
    const lib = {
      generateRegistrationOptions: record('generateRegistrationOptions', { challenge: 'c1' }),
      generateAuthenticationOptions: record('generateAuthenticationOptions', { challenge: 'c2' }),
      verifyRegistrationResponse: record('verifyRegistrationResponse', {
        verified: true,
        registrationInfo: {
          credential: { id: '-_8', publicKey: new Uint8Array([1, 2]), counter: 3 },
          credentialDeviceType: 'singleDevice',
          credentialBackedUp: false,
        },
      }),
      verifyAuthenticationResponse: record('verifyAuthenticationResponse', { verified: false, authenticationInfo: { newCounter: 9 } }),
    }
    const app = createApp({ providers: [passkey({ lib: () => Promise.resolve(lib) })] })
    const browser = app.browser()
    await browser.options('email=ada@example.com')
    await browser.post('/callback/passkey', { action: 'register', data: '{"id":"-_8"}' })
    expect([...app.data.authenticators.values()]).toMatchObject([
      { credentialID: '+/8=', credentialPublicKey: 'AQI=', counter: 3, transports: null },
    ])
    await browser.options('action=authenticate')
    const response = await browser.post('/callback/passkey', { action: 'authenticate', data: '{"id":"-_8"}' })
    expect(target(response).search).toBe('?error=WebAuthnVerificationError')
    expect(calls.map(([name]) => name)).toEqual([
      'generateRegistrationOptions',
      'verifyRegistrationResponse',
      'generateAuthenticationOptions',
      'verifyAuthenticationResponse',
    ])
    const expected = { expectedOrigin: [origin], expectedRPID: ['app.example'], requireUserVerification: true }
    expect(calls[1]?.[1]).toMatchObject({ ...expected, expectedChallenge: 'c1', response: { id: '-_8' } })
    expect(calls[3]?.[1]).toMatchObject({
      ...expected,
      expectedChallenge: 'c2',
      credential: { id: '-_8', publicKey: new Uint8Array([1, 2]) },
    })
  })

  it('an older or other library is named in the log, and no user sees a crash', async () => {
    const app = createApp({ providers: [passkey({ lib: () => Promise.resolve({ generateRegistrationOptions: () => ({}) }) })] })
    const response = await app.browser().get('/webauthn-options/passkey')
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({ error: 'Server error' })
    expect(app.errors.at(-1)?.message).toContain('The lib of provider "passkey" lacks generateAuthenticationOptions')
  })

  it('a library that is not there is reported with what to do', async () => {
    const app = createApp({ providers: [passkey({ lib: () => Promise.reject(new Error('Cannot find package')) })] })
    expect((await app.browser().get('/webauthn-options/passkey')).status).toBe(500)
    expect(app.errors.at(-1)?.message).toContain('@simplewebauthn/server 14')
  })
})

describe('form', () => {
  async function page(provider: ProviderOf<'webauthn'>): Promise<string> {
    return (
      await createApp({ providers: [provider] })
        .browser()
        .get('/signin')
    ).text()
  }

  it('row 257: the field offers passkeys in its autofill, and one script does the rest', async () => {
    const html = await page(passkey())
    expect(html).toMatch(/<form[^>]*data-options-url="https:\/\/app\.example\/auth\/webauthn-options\/passkey"/)
    expect(html).toContain('autocomplete="username webauthn"')
    expect(html.match(/<script/g)).toHaveLength(1)
    expect(html).not.toMatch(/<script[^>]*src=/)
  })

  it('without conditional UI it does not', async () => {
    const html = await page(passkey({ enableConditionalUI: false }))
    expect(html).toContain('autocomplete="username"')
    expect(html).not.toContain('autocomplete="username webauthn"')
  })

  it('fields of the host replace the default ones', async () => {
    const html = await page(passkey({ formFields: { login: { label: 'Staff number', autocomplete: 'username webauthn' } } }))
    expect(html).toContain('Staff number')
    expect(html).not.toContain('name="email"')
  })

  it('the generated script is what its source makes: node scripts/build-browser.mjs', async () => {
    const { files, generate } = (await import(new URL('../../scripts/build-browser.mjs', import.meta.url).href)) as {
      files: string[]
      generate(): Promise<string>
    }
    for (const file of files) expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')).toBe(await generate())
  })
})
