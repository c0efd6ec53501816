/** Configurations that are wrong or special, and what the environment says. */
import type { Browser } from './_browser.ts'
import type { Flow, Kit } from './_flow.ts'
import { acme, everything, form, hub, mail } from './_hosts.ts'

type Options = Record<string, unknown>

const pages = ['/signin', '/signout', '/error', '/verify-request', '/csrf', '/providers', '/session', '/callback/acme', '/nothing']
const around = async (b: Browser): Promise<void> => {
  for (const path of pages) await b.get(path)
  await b.send('POST', '/signin/acme', { form: {} })
  await b.send('POST', '/signout', { form: {} })
  await b.send('POST', '/session', { json: {} })
}

/** A mistake: every route says so. */
function wrong(name: string, config: (kit: Kit) => Options, run: Flow['run'] = around): Flow[] {
  return [
    { name: `wrong: ${name}`, config, run },
    {
      name: `wrong: ${name}, own error page`,
      config: (kit) => ({ ...config(kit), pages: { error: '/oops' } }),
      run: async (b) => {
        await b.get('/signin')
        await b.get('/signin?callbackUrl=/oops')
        await b.get('/error')
        await b.get('/session')
      },
    },
  ]
}

const without = (provider: Options, ...names: string[]): Options => {
  const copy = { ...provider }
  for (const name of names) delete copy[name]
  return copy
}
const key = (kit: Kit, over: Options = {}): Options => ({
  id: 'passkey',
  name: 'Passkey',
  type: 'webauthn',
  enableConditionalUI: true,
  formFields: { email: { label: 'Email', autocomplete: 'username webauthn' } },
  authenticationOptions: {},
  registrationOptions: {},
  ...(kit.library === 'theirs' && { simpleWebAuthn: {}, getUserInfo: () => null, getRelayingParty: () => ({}) }),
  ...over,
})

export const configFlows: Flow[] = [
  ...wrong('no secret', () => ({ secret: undefined })),
  ...wrong('an empty secret', () => ({ secret: '' })),
  ...wrong('an empty list of secrets', () => ({ secret: [] })),
  ...wrong('the host is not trusted', () => ({ trustHost: false })),
  ...wrong('no authorization endpoint', (kit) => ({ providers: [without(hub(kit), 'authorization')] })),
  ...wrong('no token endpoint', (kit) => ({ providers: [without(hub(kit), 'token')] })),
  ...wrong('no userinfo endpoint', (kit) => ({ providers: [without(hub(kit), 'userinfo')] })),
  ...wrong('no issuer', (kit) => ({ providers: [without(acme(kit), 'issuer')] })),
  ...wrong('no authorize', (kit) => ({ providers: [without(form(kit), 'authorize')] })),
  ...wrong('email without an adapter', (kit) => ({ providers: [mail(kit)] })),
  ...wrong('email without three methods', (kit) => ({
    providers: [mail(kit)],
    adapter: kit.adapter({ omit: ['createVerificationToken'] }),
  })),
  ...wrong('the strategy database without an adapter', (kit) => ({ providers: [acme(kit)], session: { strategy: 'database' } })),
  ...wrong('the strategy database without its methods', (kit) => ({
    providers: [acme(kit)],
    adapter: kit.adapter({ omit: ['deleteSession', 'getUser'] }),
  })),
  ...wrong('webauthn without an adapter', (kit) => ({ providers: [key(kit)], experimental: { enableWebAuthn: true } })),
  ...wrong('webauthn without its methods', (kit) => ({
    providers: [key(kit)],
    adapter: kit.adapter({ omit: ['getAuthenticator'] }),
    experimental: { enableWebAuthn: true },
  })),
  ...wrong('webauthn twice in the autofill', (kit) => ({
    providers: [key(kit), key(kit, { id: 'other' })],
    adapter: kit.adapter(),
    experimental: { enableWebAuthn: true },
  })),
  ...wrong('webauthn without a field for the autofill', (kit) => ({
    providers: [key(kit, { formFields: { email: { label: 'Email' } } })],
    adapter: kit.adapter(),
    experimental: { enableWebAuthn: true },
  })),
  ...wrong('a browser version that is none', (kit) => ({
    providers: [key(kit, { simpleWebAuthnBrowserVersion: 'latest' })],
    adapter: kit.adapter(),
    experimental: { enableWebAuthn: true },
  })),
  { name: 'no providers', run: around },
  {
    name: 'debug',
    config: (kit) => ({ debug: true, providers: [form(kit)] }),
    run: async (b) => {
      await b.get('/csrf')
      await b.get('/csrf')
    },
  },
  {
    name: 'webauthn warns',
    config: (kit) => ({ providers: [key(kit)], adapter: kit.adapter(), experimental: { enableWebAuthn: true } }),
    run: async (b) => {
      await b.get('/csrf')
      await b.get('/providers')
    },
  },
  ...(['invalid-in-query', 'javascript:alert(1)', 'ftp://x.example', 'data:text/html,x', 'app', 'https://'] as const).flatMap(
    (callbackUrl): Flow[] => [
      {
        name: `an unusable callbackUrl in the query: ${callbackUrl}`,
        config: everything,
        run: async (b) => {
          await b.get('/signin', { query: { callbackUrl } })
          await b.get('/csrf', { query: { callbackUrl } })
          await b.get('/session', { query: { callbackUrl } })
        },
      },
      {
        name: `an unusable callbackUrl in the cookie: ${callbackUrl}`,
        config: everything,
        run: async (b) => {
          b.cookies.set('authjs.callback-url', encodeURIComponent(callbackUrl))
          await b.get('/csrf')
        },
      },
    ],
  ),
  ...raws(),
  ...environments(),
]

/** `raw`: errors are thrown to the caller. */
function raws(): Flow[] {
  const flow = (name: string, run: Flow['run']): Flow => ({
    name: `raw: ${name}`,
    config: (kit) => ({ ...everything(kit), raw: kit.symbols.raw }),
    run,
  })
  return [
    flow('unknown provider and missing token', async (b) => {
      await b.send('POST', '/signin/acme', { form: {} })
      await b.send('POST', '/callback/credentials', { form: {} })
      await b.send('POST', '/signin/acme', { form: {}, headers: { 'x-auth-return-redirect': '1' } })
    }),
    flow('an unknown path', async (b) => void (await b.get('/nothing'))),
  ]
}

/** Auth.js refuses the loopback host in production; here it is believed, and no other one, whatever NODE_ENV says. */
function loopback(...statuses: number[]): NonNullable<Flow['decided']> {
  return Object.fromEntries(statuses.map((status, step) => [step, { hook: 'D34', ours: { answer: { status } } }]))
}

/** setEnvDefaults, then requests. */
function environments(): Flow[] {
  const secret = 'a-secret-of-more-than-32-characters-from-env'
  const envs: Record<string, string>[] = [
    { AUTH_SECRET: secret },
    { AUTH_SECRET: secret, AUTH_SECRET_1: `${secret}1`, AUTH_SECRET_3: `${secret}3` },
    { AUTH_SECRET: secret, AUTH_TRUST_HOST: 'true' },
    { AUTH_SECRET: secret, AUTH_URL: 'http://localhost:3000/api/auth' },
    { AUTH_SECRET: secret, NODE_ENV: 'production' },
    { AUTH_SECRET: secret, NODE_ENV: 'production', VERCEL: '1' },
    // D81: without AUTH_URL no server would know whose codes the proxy hands on.
    { AUTH_SECRET: secret, AUTH_URL: 'http://localhost:3000/auth', AUTH_REDIRECT_PROXY_URL: 'https://proxy.example/auth' },
    { AUTH_SECRET: secret, AUTH_ACME_ID: 'client-env', AUTH_ACME_SECRET: 'secret-env' },
    { AUTH_SECRET: secret, AUTH_ACME_ISSUER: 'https://op.example' },
    {},
  ]
  const flows = envs.map((env): Flow => ({
    name: `environment ${Object.keys(env).join(' ') || 'empty'} ${env['NODE_ENV'] ?? ''}`,
    basePath: env['AUTH_URL']?.endsWith('/api/auth') ? '/api/auth' : '/auth',
    config: (kit) => {
      const provider = env['AUTH_ACME_ID']
        ? without(acme(kit), 'clientId', 'clientSecret')
        : env['AUTH_ACME_ISSUER']
          ? without(acme(kit), 'issuer')
          : acme(kit)
      const config: Options = {
        providers: [provider],
        secret: undefined,
        trustHost: undefined,
        basePath: undefined,
        logger: kit.recorder.logger,
      }
      kit.setEnvDefaults(env, config)
      return config
    },
    run: async (b) => {
      await b.get('/providers')
      await b.get('/csrf')
      await b.post('/signin/acme')
      await b.get('/session')
    },
    ...(env['NODE_ENV'] === 'production' && !env['VERCEL'] && { decided: loopback(200, 200, 200, 302, 200) }),
  }))
  // AUTH_URL is the origin, and a path only if it has one.
  const plain: Flow = {
    name: 'environment AUTH_URL without a path',
    config(kit) {
      const config: Options = { providers: [acme(kit)], secret: undefined, trustHost: undefined, basePath: undefined }
      kit.setEnvDefaults({ AUTH_SECRET: secret, AUTH_URL: 'http://localhost:3000' }, config)
      return config
    },
    run: async (b) => void (await b.get('/csrf')),
    decided: { 0: { hook: 'D34', ours: { answer: { status: 200 } } } },
  }
  return [...flows, plain]
}
