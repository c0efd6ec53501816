/** Plugins of provider types: names, defaults, options that are unknown. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { createKernel } from 'authkernel/kernel'
import { didYouMean, type Plugin, providerPlugin } from 'authkernel/kernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { emailPlugin } from 'authkernel/plugins/email'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import apple from 'authkernel/providers/apple'
import google from 'authkernel/providers/google'
import passkey from 'authkernel/providers/passkey'
import resend from 'authkernel/providers/resend'
import { baseConfig, Client } from '../_setup.ts'

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    wave: { id: string; name: string; type: 'wave'; hand?: string }
  }
}

const client = { clientId: 'c', clientSecret: 's' }
const authorize = () => ({ id: '1' })
const server = 'smtp://127.0.0.1:2525'
const host = (...plugins: Plugin[]) => {
  const auth = createAuth(baseConfig({ providers: [], adapter: memoryAdapter() }))
  for (const plugin of plugins) auth.use(plugin)
  return auth
}
const mistake = async (plugin: Plugin): Promise<string> =>
  host(plugin)
    .ready()
    .then(
      () => 'ready',
      (error: Error) => error.message,
    )
const ids = (auth: ReturnType<typeof host>): string[] => auth.inspect().providers.map(({ id }) => id)

describe('names', () => {
  it('options.id of a preset names its plugin, so that one preset is used twice', async () => {
    const auth = host(
      oidcPlugin(google({ id: 'a', ...client })),
      oidcPlugin(google({ id: 'b', ...client })),
      credentialsPlugin({ id: 'one', authorize }),
      credentialsPlugin({ type: 'credentials', id: 'credentials', options: { id: 'two', authorize } }),
    )
    await auth.ready()
    expect(ids(auth)).toEqual(['a', 'b', 'one', 'two'])
    expect(auth.inspect().plugins.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['oidc:a', 'oidc:b', 'credentials:one', 'credentials:two']),
    )
  })

  it('a preset may be given uncalled, and a function that throws is a configuration mistake', async () => {
    expect(oidcPlugin(google).name).toBe('oidc:google')
    const broken = oidcPlugin(() => {
      throw new Error('no vault')
    })
    expect(broken.name).toBe('oidc')
    expect(await mistake(broken)).toContain('no vault')
  })
})

describe('defaults', () => {
  it('without an id a provider has the id of its type', async () => {
    const auth = host(
      emailPlugin({ server, from: 'a@app.example' }),
      credentialsPlugin({ authorize }),
      oidcPlugin({ issuer: 'https://op.example', clientId: 'c' }),
      oauthPlugin({ ...client, authorization: 'https://op.example/a', token: 'https://op.example/t', userinfo: 'https://op.example/u' }),
    )
    await auth.ready()
    expect(auth.inspect().providers.map(({ id, name }) => [id, name])).toEqual([
      ['email', 'Email'],
      ['credentials', 'Credentials'],
      ['oidc', 'OpenID Connect'],
      ['oauth', 'OAuth'],
    ])
  })

  it('the name defaults to a given id, and undefined counts as absent', async () => {
    const auth = host(emailPlugin({ id: 'letters', name: undefined, server }))
    await auth.ready()
    expect(auth.inspect().providers).toEqual([{ id: 'letters', name: 'letters', type: 'email' }])
  })

  it('a bare webauthnPlugin() adds the passkey provider, which demands verification of the person', async () => {
    const auth = host(webauthnPlugin())
    await auth.ready()
    expect(ids(auth)).toEqual(['passkey'])
    const answer = await new Client(auth).get('/webauthn-options/passkey?action=register&email=a@b.example')
    expect(await answer.json()).toMatchObject({
      options: { authenticatorSelection: { residentKey: 'required', userVerification: 'required' } },
    })
  })

  it('and steps back for a provider that the host lists, before or after it', async () => {
    const providers = [passkey({ name: 'Key' })]
    const auth = createAuth(baseConfig({ providers, adapter: memoryAdapter() })).use(webauthnPlugin())
    await auth.ready()
    expect(auth.inspect().providers).toEqual([{ id: 'passkey', name: 'Key', type: 'webauthn' }])
    expect(ids(host(webauthnPlugin(), webauthnPlugin(passkey({ id: 'mine' }))))).toEqual(['mine'])
  })

  it('the switch alone adds nothing', async () => {
    const auth = createAuth(baseConfig({ providers: [], experimental: { enableWebAuthn: true }, logger: { warn() {} } }))
    await auth.ready()
    expect(ids(auth)).toEqual([])
  })

  it('a bare webauthnPlugin() without a store is refused', async () => {
    await expect(
      createAuth(baseConfig({ providers: [] }))
        .use(webauthnPlugin())
        .ready(),
    ).rejects.toThrow(/"passkey" \(webauthn\) needs an adapter/)
  })
})

describe('unknown options', () => {
  it.each<[string, Plugin, RegExp]>([
    ['email', emailPlugin({ server, form: 'a@b.example' } as never), /"email" \(email\) has no option "form"\. Did you mean "from"\?/],
    ['oidc', oidcPlugin({ issuer: 'https://op.example', clientID: 'c' } as never), /no option "clientID"\. Did you mean "clientId"\?/],
    ['oauth', oauthPlugin({ client_secret: 's' } as never), /no option "client_secret"\. Did you mean "clientSecret"\?/],
    ['credentials', credentialsPlugin({ autorize: authorize } as never), /no option "autorize"\. Did you mean "authorize"\?/],
    ['webauthn', webauthnPlugin({ relyingParty: {} } as never), /no option "relyingParty"\. Did you mean "relayingParty"\?/],
    ['far from all', credentialsPlugin({ authorize, zebra: 1 } as never), /no option "zebra"\. Its options: authorize, .*credentials/],
    [
      'in a preset',
      oidcPlugin(google({ ...client, isuer: 'x' } as never)),
      /"google" \(oidc\) has no option "isuer"\. Did you mean "issuer"\?/,
    ],
  ])('%s', async (_, plugin, message) => {
    expect(await mistake(plugin)).toMatch(message)
  })

  it('are named in `providers` too', async () => {
    const auth = createAuth(baseConfig({ providers: [{ id: 'p', name: 'P', type: 'credentials', authorise: authorize } as never] }))
    await expect(auth.ready()).rejects.toThrow(/"p" \(credentials\) has no option "authorise"\. Did you mean "authorize"\?/)
  })

  it('options of presets, of templates and of other types are no mistake', async () => {
    expect(await mistake(oidcPlugin(apple({ teamId: 't', keyId: 'k', privateKey: 'p', clientId: 'c' })))).toBe('ready')
    expect(await mistake(emailPlugin(resend({ apiKey: 'k' })))).toBe('ready')
    const api = { url: 'https://{region}.example', body: {} }
    expect(await mistake(emailPlugin({ api, region: 'eu' } as never))).toBe('ready')
  })

  it.each([
    [{ provders: [] }, /createAuth has no option `provders`\. Did you mean "providers"\?/],
    [{ session: { maxage: 1 } }, /no option `session\.maxage`\. Did you mean "maxAge"\?/],
    [{ allowedHost: [] }, /Did you mean "allowedHosts"\?/],
  ])('of createAuth: %j', (options, message) => {
    expect(() => createAuth(options as never)).toThrow(message)
  })

  it.each([
    [{ plugins: [] }, /createAuth has no option `plugins`\. Call `\.use\(plugin\)`/],
    [{ emailAndPassword: { enabled: true } }, /no option `emailAndPassword`\. Passwords are `\.use\(passwordsPlugin\(\)\)`/],
    [{ database: {} }, /no option `database`\. Give an `adapter`/],
    [{ socialProviders: {} }, /List them in `providers`/],
    [{ appRegion: 'eu' }, /no option `appRegion`\. Its options: .*adapter.*trustProxy/],
    [{ deadlines: { foo: 1 } }, /no option `deadlines\.foo`/],
  ])('a name that is no option is refused by createAuth and createKernel: %j', (options, message) => {
    expect(() => createAuth(baseConfig(options as never))).toThrow(message)
    expect(() => createKernel(baseConfig(options as never))).toThrow(new RegExp(message.source.replace('createAuth', 'createKernel')))
  })

  it('undefined under an unknown name is nothing', () => {
    expect(() => createAuth(baseConfig({ plugins: undefined } as never))).not.toThrow()
  })

  it('didYouMean finds swaps, case and separators, and nothing far away', () => {
    const known = ['clientId', 'issuer', 'from']
    expect(['CLIENT_ID', 'isseur', 'fromm', 'form', 'x', 'constructor'].map((name) => didYouMean(name, known))).toEqual([
      ' Did you mean "clientId"?',
      ' Did you mean "issuer"?',
      ' Did you mean "from"?',
      ' Did you mean "from"?',
      '',
      '',
    ])
  })
})

it('a stranger makes a type with providerPlugin: names, defaults, options and routes', async () => {
  const wavePlugin = providerPlugin({
    type: 'wave',
    flow: {
      options: { hand: true },
      finish: async (_, provider) => new Response(`waved by ${provider.hand}`),
    },
    defaults: { id: 'wave', name: 'Wave', hand: 'left' },
    routes: [{ method: 'GET', path: '/wave', handler: () => new Response('hello') }],
  })
  const auth = host(wavePlugin({}), wavePlugin({ id: 'right', hand: 'right' }))
  await auth.ready()
  const person = new Client(auth)
  expect(await (await person.get('/wave')).text()).toBe('hello')
  expect(auth.inspect().plugins.map(({ name }) => name)).toEqual(expect.arrayContaining(['wave:wave', 'wave:right']))
  expect(await (await person.get('/callback/wave')).text()).toBe('waved by left')
  expect(await mistake(wavePlugin({ hnd: 'x' } as never))).toMatch(/Did you mean "hand"\?/)
  expect(() => host(wavePlugin(null as never))).toThrow(/wavePlugin\(\) was given null/)
})
