/** The built-in pages through the public door. What a browser makes of them is in test/flows/pages-*.test.ts. */
import { createAuth } from 'authkernel'
import { type AuthConfig, definePlugin, type Provider } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { pagesPlugin } from 'authkernel/plugins/pages'
import passkey from 'authkernel/providers/passkey'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { de } from '../../plugins/pages/pages/messages/de.ts'
import { en } from '../../plugins/pages/pages/messages/en.ts'

const secret = 'a secret for tests that is long enough'
const github: Provider = {
  id: 'github',
  name: 'GitHub',
  type: 'oauth',
  clientId: 'id',
  clientSecret: 'secret',
  authorization: 'https://github.example/authorize',
  token: 'https://github.example/token',
  userinfo: 'https://api.github.example/user',
}
const acme: Provider = { id: 'acme', name: 'Acme', type: 'oidc', issuer: 'https://acme.example', clientId: 'id', clientSecret: 'secret' }
const password: Provider = {
  id: 'credentials',
  name: 'Password',
  type: 'credentials',
  credentials: {
    username: { label: 'Username', placeholder: 'jane', required: true, autoComplete: 'section-x username' },
    password: { label: 'Password', type: 'password', minlength: 8 },
    remember: { label: 'Remember me', type: 'checkbox' },
    tenant: { type: 'hidden', value: 't1' },
  },
  authorize: () => null,
}

const mail = (id: string, name: string): Provider => ({ id, name, type: 'email', sendVerificationRequest: () => undefined })

describe('every page', () => {
  const pages: [path: string, kind: string, title: string][] = [
    ['/signin', 'signin', 'Sign In'],
    ['/signout', 'signout', 'Sign Out'],
    ['/error', 'error', 'Error'],
    ['/verify-request', 'verify-request', 'Verify Request'],
  ]

  it.each(pages)('GET %s is a %s page titled %s', async (path, kind, title) => {
    const { status, text } = await get(path)
    expect(status).toBe(200)
    expect(text).toContain(`<title>${title}</title>`)
    expect(text).toMatch(new RegExp(`<main class="page">\\s*<div class="${kind}">\\s*<div class="card">`))
    expect(text).toContain('<body class="__next-auth-theme-auto">')
    expect(text.match(/<h1>/g)).toHaveLength(1)
    const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it.each(pages)('D19, D40: GET %s has the headers of docs/plugins/pages.md', async (path) => {
    const { headers, text } = await get(path)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-language': 'en',
      'cache-control': 'private, no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      vary: 'Accept-Language, Cookie',
    })
    const policy = headers.get('content-security-policy') ?? ''
    const nonce = /style-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? ''
    expect(atob(nonce)).toHaveLength(18)
    expect(text).toContain(`<style nonce="${nonce}">`)
    expect(policy).toMatch(/^default-src 'none'; .*base-uri 'none'; frame-ancestors 'none'$/)
    expect(policy).not.toMatch(/unsafe|script-src|\*/)
    expect((await get(path)).headers.get('content-security-policy')).not.toContain(nonce)
  })

  it.each(pages)('row 286: GET %s needs no script and nothing from elsewhere', async (path) => {
    const { text } = await get(path)
    expect(text).not.toMatch(/<script|\son\w+=|style="|@import|<link[^>]+stylesheet/)
    for (const [, url] of text.matchAll(/\s(?:src|href|action)="([^"]*)"/g))
      expect(new URL(url ?? '', 'http://localhost').origin).toBe('http://localhost')
  })

  it('D43: only pages with a form make the CSRF cookie', async () => {
    const made = await Promise.all(
      pages.map(async ([path]) => (await get(path)).headers.get('set-cookie')?.includes('csrf-token') ?? false),
    )
    // No user is signed in: the sign-out page has nothing to ask.
    expect(made).toEqual([true, false, false, false])
  })
})

describe('sign-in', () => {
  it('row 278: providers appear in the order of the configuration, each with its form', async () => {
    const { text } = await get('/signin?callbackUrl=/after', { providers: [password, acme, github] })
    const forms = [...text.matchAll(/<form action="([^"]+)" method="post">/g)].map(([, action]) => action)
    expect(forms).toEqual(['callback/credentials', 'signin/acme', 'signin/github'].map((path) => `http://localhost/auth/${path}`))
    // The form one types into leaves it to the cookie.
    expect(text.match(/name="callbackUrl" value="http:\/\/localhost\/after"/g)).toHaveLength(2)
    expect(text.match(/name="csrfToken" value="[0-9a-f]{64}"/g)).toHaveLength(3)
    expect(text).toContain('Sign in with GitHub')
  })

  it('row 242: inputs have label, type, placeholder and the extra attributes', async () => {
    const { text } = await get('/signin', { providers: [password] })
    expect(text).toContain('<label class="section-header" for="input-username-for-credentials-provider">Username</label>')
    expect(text).toContain(
      '<input name="username" id="input-username-for-credentials-provider" type="text" placeholder="jane" required autocomplete="section-x username">',
    )
    expect(text).toContain(
      '<input name="password" id="input-password-for-credentials-provider" type="password" autocomplete="current-password" minlength="8">',
    )
    expect(text).toMatch(/type="checkbox"><label/)
    expect(text).toContain('<input type="hidden" name="tenant" value="t1">')
  })

  it('there is one main action: the first form one types into, else the only button', async () => {
    const primaries = async (...providers: Provider[]): Promise<(string | undefined)[]> => {
      const { text } = await get('/signin', { providers })
      return [...text.matchAll(/class="button primary" type="submit" id="([^"]+)"/g)].map(([, id]) => id)
    }
    expect(await primaries(github, password)).toEqual(['submitButton'])
    expect(await primaries(github)).toEqual(['submitButton'])
    expect(await primaries(github, acme)).toEqual([])
  })

  it('fields of the same name are told apart by their provider, in every language', async () => {
    const providers: Provider[] = [mail('email', 'Email'), { ...password, credentials: { email: {}, code: {} } }, passkey()]
    const labels = async (lang: string): Promise<(string | undefined)[]> => {
      const config = { providers, adapter: memoryAdapter(), logger: quiet, experimental: { enableWebAuthn: true } }
      const { text } = await get('/signin', config, { 'accept-language': lang })
      return [...text.matchAll(/<label[^>]*>([^<]*)<\/label>/g)].map(([, label]) => label)
    }
    // The first is the one field; the others wait in the document.
    expect(await labels('en')).toEqual(['Email', 'Email (Passkey)', 'Email', 'email', 'code'])
    expect(await labels('fr')).toEqual(['E-mail', 'E-mail (Clé d’accès)', 'E-mail', 'email', 'code'])
    expect(await labels('ja')).toEqual(['メールアドレス', 'メールアドレス（パスキー）', 'メールアドレス', 'email', 'code'])
  })

  it('a button says what happens: a mail, a passkey; two that would say the same name their providers', async () => {
    const buttons = async (providers: Provider[], config: Partial<AuthConfig> = {}, lang = 'en'): Promise<(string | undefined)[]> => {
      const all = {
        providers,
        logger: quiet,
        adapter: memoryAdapter(),
        experimental: { enableWebAuthn: true },
        session: { strategy: 'jwt' as const },
        ...config,
      }
      const { text } = await get('/signin', all, { 'accept-language': lang })
      return [...text.matchAll(/<span class="label">([^<]*)<\/span>/g)].map(([, label]) => label)
    }
    const login = { ...password, name: 'Credentials' }
    expect(await buttons([mail('resend', 'Resend'), login, passkey()])).toEqual([
      'Continue',
      'Sign in with passkey',
      'Email me a link to sign in',
      'Sign in',
    ])
    expect(await buttons([mail('resend', 'Resend'), password, passkey()], {}, 'de')).toEqual([
      'Weiter',
      'Mit Passkey anmelden',
      'Anmeldelink per E-Mail schicken',
      'Mit Passwort anmelden',
    ])
    expect(await buttons([mail('a', 'Work mail'), mail('b', 'Home mail')])).toEqual([
      'Continue',
      'Sign in with Work mail',
      'Sign in with Home mail',
    ])
    const messages = { en: { 'signIn.submit': 'Continue with {name}', 'signIn.submit.resend': 'Send' } }
    expect(await buttons([mail('resend', 'Resend'), login, passkey(), github], { messages })).toEqual([
      'Continue',
      'Continue with Passkey',
      'Continue with GitHub',
      'Send',
      'Continue with Credentials',
    ])
  })

  it('more than eight providers stand in two columns of a wide window', async () => {
    const many = Array.from({ length: 9 }, (_, i): Provider => ({ ...github, id: `p${i}`, name: `P${i}` }))
    expect((await get('/signin', { providers: many })).text).toContain('<div class="signin many">')
    expect((await get('/signin', { providers: many.slice(1) })).text).toContain('<div class="signin">')
  })

  it('the email query fills in the address', async () => {
    const providers: Provider[] = [{ ...password, credentials: { email: { type: 'email' }, note: {} } }]
    const { text } = await get('/signin?email=a%22%3E%40b.example', { providers })
    expect(text).toContain('autocomplete="email" value="a&quot;&gt;@b.example"')
    expect(text.match(/ value="a&/g)).toHaveLength(1)
  })

  it('without providers it says so', async () => expect((await get('/signin', { providers: [] })).text).toContain(en['signIn.empty']))

  it("a stranger's type appears without touching the pages, script and all", async () => {
    const auth = createAuth({ secret, trustHost: true }).use(
      definePlugin({
        name: 'carrier-pigeon',
        setup(kernel) {
          kernel.providerType('pigeon' as never, {
            form: () => ({ post: 'callback', fields: { ring: { label: 'Ring number' } }, submit: 'Release', script: 'a("</script>")' }),
            finish: () => Promise.reject(new Error('never home')),
          })
          kernel.provider({ id: 'loft', name: 'Loft', type: 'pigeon' } as never)
        },
      }),
    )
    const answer = await auth.handler(new Request('http://localhost/auth/signin'))
    const text = await answer.text()
    expect(text).toContain('<form action="http://localhost/auth/callback/loft" method="post" id="loft-form"')
    expect(text).toContain('data-options-url="http://localhost/auth/webauthn-options/loft"')
    expect(text).toMatch(/<button[^>]*id="submitButton-loft"><span class="label">Release<\/span>/)
    expect(text).toContain('for="input-ring-for-loft-provider">Ring number</label>')
    expect(text).toContain('<div class="script-message" role="alert"></div>')
    expect(text).toMatch(/<noscript><p class="hint">Signing in with Loft needs JavaScript/)
    const policy = answer.headers.get('content-security-policy') ?? ''
    const nonce = /script-src 'nonce-([^']+)'; connect-src 'self'/.exec(policy)?.[1]
    expect(text).toContain(`<script nonce="${nonce}">a("<\\/script>")</script>`)
  })

  it('the `providers` hook says what is shown', async () => {
    const callbacks: AuthConfig['callbacks'] = { providers: ({ providers }) => providers.filter(({ id }) => id !== 'github') }
    const { text } = await get('/signin', { providers: [github, acme], callbacks })
    expect(text).not.toContain('GitHub')
    expect(text).toContain('Acme')
  })

  it('row 208: brand colour and logo shape the button', async () => {
    const drawing = '<svg viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>'
    const providers: Provider[] = [
      { ...github, style: { brandColor: '#1db954', logo: drawing } },
      { ...acme, style: { logo: 'https://cdn.example/acme.svg', brandColor: '#e3156a' } },
    ]
    const { text } = await get('/signin', { providers })
    expect(text).toContain('--provider-brand-color:#1db954')
    expect(text).toContain('--shape:url("data:image/svg+xml,%3Csvg')
    expect(text).toContain('<span class="mark shape" aria-hidden="true"></span>')
    expect(text).toContain('<span class="mark letter" aria-hidden="true">A</span>')
    expect(text).not.toContain('cdn.example')
  })

  it('behind a proxy that ends TLS unannounced, forms stay on the https page', async () => {
    const secure = { 'sec-fetch-site': 'none' }
    expect((await get('/signin', {}, secure, 'http://app.example')).text).toContain('action="/auth/signin/github"')
    expect((await get('/signin', {}, {}, 'http://app.example')).text).toContain('action="http://app.example/auth/signin/github"')
    expect((await get('/signin', {}, secure)).text).toContain('action="http://localhost/auth/signin/github"')
  })
})

describe('sign-out', () => {
  it('asks a signed-in user, and tells each other visitor that there is nothing to end', async () => {
    const browser = await signIn()
    expect(await (await browser.get('/signout')).text()).toContain('<form action="http://localhost:3000/auth/signout" method="post">')
    await browser.post('/signout')
    const answer = await browser.get('/signout', { 'accept-language': 'de' })
    const text = await answer.text()
    expect(answer.status).toBe(200)
    expect(text).not.toContain('<form')
    expect(text).toContain(de['signOut.signedOut.heading'])
    expect(text).toContain('href="http://localhost:3000/auth/signin"')
  })

  it('asks when the store cannot say who is here', async () => {
    const adapter = { ...memoryAdapter(), getSessionAndUser: () => Promise.reject(new Error('down')) }
    const browser = new Client(createAuth(baseConfig({ adapter, providers: [github] })))
    browser.cookies.set('authkernel.session-token', 'x')
    expect(await (await browser.get('/signout')).text()).toContain('<form')
  })
})

describe('the name of the application', () => {
  const name = async (config: Partial<AuthConfig>, origin = 'http://localhost:3000'): Promise<(string | undefined)[]> => {
    const text = await (await new Client(createAuth(baseConfig({ providers: [github], ...config })), origin).get('/signin')).text()
    return [/<bdi>([^<]*)<\/bdi>/.exec(text)?.[1], /class="tile monogram" aria-hidden="true">([^<]*)/.exec(text)?.[1]]
  }

  it('is appName, else the host, else on loopback that of the package', async () => {
    const env = { npm_package_name: '@acme/web-shop' }
    expect(await name({ appName: 'Élan & Co', env })).toEqual(['Élan &amp; Co', 'É'])
    expect(await name({ env })).toEqual(['Web shop', 'W'])
    expect(await name({ env: () => undefined })).toEqual(['localhost:3000', 'L'])
    expect(await name({})).toEqual(['localhost:3000', 'L'])
    expect(await name({ env }, 'https://www.shop.example')).toEqual(['www.shop.example', 'S'])
    expect(await name({}, 'http://10.0.0.7:3000')).toEqual(['10.0.0.7:3000', ''])
    expect(await name({ appName: 'x\u202ey' })).toEqual(['xy', 'X'])
  })
})

describe('after a wrong password', () => {
  const html = { accept: 'text/html' }
  const fields = { username: 'Jane "J" <Doe>', password: 'wrong-password', tenant: 't2' }
  const fail = async (config: Partial<AuthConfig> = {}, headers: Record<string, string> = html): Promise<Client> => {
    const browser = new Client(createAuth(baseConfig({ providers: [password, { ...password, id: 'other' }], ...config })))
    await browser.post('/callback/credentials', fields, headers)
    return browser
  }

  it('the name is there again, and the password is not', async () => {
    const browser = await fail()
    const [, cookie = ''] = [...browser.cookies].find(([name]) => name.endsWith('.typed')) ?? []
    expect(cookie).not.toMatch(/Jane|wrong/)
    const text = await (await browser.get('/signin?error=CredentialsSignin&code=credentials')).text()
    expect(text).toMatch(/id="input-username-for-credentials-provider"[^>]* value="Jane &quot;J&quot; &lt;Doe&gt;"/)
    // Both forms ask for a name: it is shown once, and carried by both.
    expect(text.match(/Jane/g)).toHaveLength(3)
    expect(text).not.toMatch(/wrong-password|value="t2"/)
    // Once.
    expect(await (await browser.get('/signin?error=CredentialsSignin')).text()).not.toContain('Jane')
  })

  it('nothing is kept for programs, for pages of a host, or longer than five minutes', async () => {
    const kept = ({ cookies }: Client): boolean => [...cookies.keys()].some((name) => name.endsWith('.typed'))
    expect(kept(await fail({}, {}))).toBe(false)
    expect(kept(await fail({}, { ...html, 'x-auth-return-redirect': '1' }))).toBe(false)
    expect(kept(await fail({ pages: { signIn: '/in' } }))).toBe(false)
    const runtime = baseConfig().runtime
    const browser = await fail({ runtime })
    runtime.advance(301_000)
    expect(await (await browser.get('/signin?error=CredentialsSignin')).text()).not.toContain('Jane')
  })
})

describe('the sign-in page is drawn once and filled in', () => {
  const plain = (text: string): string => text.replaceAll(/nonce="[^"]+"/g, '')
  const hostile = encodeURIComponent('/x?a="><b>&c=\'d`')

  it.each(['en', 'ja'])('the same bytes as a page that is drawn for one request, %s', async (lang) => {
    const browser = new Client(createAuth(baseConfig({ providers: [password, acme, github] })))
    const page = async (query: string): Promise<string> => (await browser.get(`/signin?${query}`, { 'accept-language': lang })).text()
    for (const query of [`callbackUrl=${hostile}`, 'error=CredentialsSignin&code=x', 'error=%3Cb%3E', 'callbackUrl=/y']) {
      // An address that was not typed is drawn in full, and changes nothing where no field asks for one.
      const full = await page(`${query}&email=`)
      expect(plain(await page(query))).toBe(plain(full))
      expect(plain(await page(query))).toBe(plain(full))
    }
  })

  it('each request has its own nonce, token, address and error', async () => {
    const auth = createAuth(baseConfig({ providers: [github, password] }))
    const texts = await Promise.all(['/a', '/b'].map(async (path) => (await new Client(auth).get(`/signin?callbackUrl=${path}`)).text()))
    const found = texts.map((text) =>
      ['nonce="([^"]+)"', 'csrfToken" value="([^"]+)"', 'callbackUrl" value="([^"]+)"'].map((part) => new RegExp(part).exec(text)?.[1]),
    )
    for (const at of [0, 1, 2]) expect(found[0]?.[at]).not.toBe(found[1]?.[at])
    expect(texts.join()).not.toMatch(/[\uE000-\uF8FF]/)
    expect(await (await new Client(auth).get('/signin?error=AccessDenied')).text()).toContain('role="alert"')
    expect(await (await new Client(auth).get('/signin')).text()).not.toContain('role="alert"')
  })

  it('other providers, another host and another configuration are drawn anew', async () => {
    let shown: Provider[] = [github]
    const auth = createAuth(baseConfig({ providers: [github, acme], callbacks: { providers: () => shown } }))
    const page = async (origin?: string): Promise<string> => (await new Client(auth, origin).get('/signin')).text()
    expect(await page()).not.toContain('Acme')
    shown = [acme]
    expect(await page()).toContain('Acme')
    expect(await page()).not.toContain('GitHub')
    expect(await page('https://other.example')).toContain('action="https://other.example/auth/signin/acme"')
    auth.use(
      definePlugin({
        name: 'foot',
        setup: (kernel) => kernel.slot('signIn', 'foot', (_ctx, { html }) => ({ html: html`<p id="foot"></p>` })),
      }),
    )
    expect(await page()).toContain('id="foot"')
    auth.remove('foot')
    expect(await page()).not.toContain('id="foot"')
  })
})

describe('a logo in one colour', () => {
  const svg = (attributes: string): string => `<svg viewBox="0 0 9 9" ${attributes}><path d="M0 0h9v9z"/></svg>`
  const sources = async (logo: string, colorScheme: 'auto' | 'dark' | 'light' = 'auto'): Promise<string[]> => {
    const { text } = await get('/signin', { theme: { logo, colorScheme } })
    return [/srcset="([^"]*)"/.exec(text)?.[1], /class="logo" src="([^"]*)"/.exec(text)?.[1]].map((url = '') => decodeURIComponent(url))
  }

  it('can be seen on a dark ground and on a light one', async () => {
    const [dark = '', light = ''] = await sources(svg('fill="#9a3412"'))
    expect(light).toContain('fill="#9a3412"')
    expect(dark).toMatch(/fill="#[a-f0-9]{6}"/)
    expect(dark).not.toContain('#9a3412')
    expect((await sources(svg('fill="#9a3412"'), 'dark'))[1]).toBe(dark)
    expect((await sources(svg('fill="#9a3412"'), 'light'))[1]).toBe(light)
    // Nothing said is black; the colour of the text is black in an image.
    expect((await sources(svg('')))[0]).toMatch(/<svg [^>]*fill="#[a-f0-9]{6}"/)
    expect((await sources(svg('fill="none" stroke="currentColor"')))[0]).toMatch(/<svg color="#[a-f0-9]{6}"/)
    expect((await sources(svg('fill="#fff"')))[1]).not.toContain('#fff"')
  })

  it('is left alone where it can be seen, and so is one of several colours', async () => {
    expect((await sources(svg('fill="#888"')))[0]).toBe('')
    expect((await sources('<svg viewBox="0 0 9 9"><path fill="#200" d="M0 0"/><path fill="#002" d="M0 0"/></svg>'))[0]).toBe('')
  })
})

describe('a passkey button', () => {
  it('asks to sign in when a user is signed in already, and lets the server decide otherwise', async () => {
    const adapter = memoryAdapter()
    await adapter.createUser?.({ id: '1', email: 'jane@mail.example', emailVerified: null })
    const config = {
      providers: [passkey(), open],
      adapter,
      session: { strategy: 'jwt' as const },
      experimental: { enableWebAuthn: true },
    }
    const browser = new Client(createAuth(baseConfig(config)))
    const button = async (): Promise<string | undefined> =>
      /<button[^>]*submitButton-passkey[^>]*>/.exec(await (await browser.get('/signin')).text())?.[0]
    expect(await button()).not.toContain('action')
    await browser.post('/callback/open')
    expect(await button()).toContain(' name="action" value="authenticate"')
    expect((await browser.get('/webauthn-options/passkey?action=authenticate')).status).toBe(200)
  })
})

const open: Provider = { id: 'open', name: 'Open', type: 'credentials', authorize: () => ({ id: '1', name: 'Jane' }) }
async function signIn(config: Partial<AuthConfig> = {}): Promise<Client> {
  const browser = new Client(createAuth(baseConfig({ providers: [open, github], ...config })))
  await browser.post('/callback/open')
  return browser
}

describe('an address that does not exist', () => {
  const html = { accept: 'text/html,*/*;q=0.8' }

  it.each(['/nope', '/signin/a/b', '/.env'])('GET %s shows people a page with status 404', async (path) => {
    const { status, text, headers } = await get(path, {}, html)
    expect(status).toBe(404)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(text).toContain(en['error.InvalidLink.heading'])
    expect(text).toContain('href="http://localhost/auth/signin"')
    expect(text).not.toContain('nope')
  })

  it('programs get what they got before; so does everybody without pages', async () => {
    for (const headers of [{}, { accept: 'application/json' }, { ...html, 'x-auth-return-redirect': '1' }]) {
      const { status, text } = await get('/nope', {}, headers)
      expect([status, text]).toEqual([400, '"Bad request."'])
    }
    const auth = createAuth({ secret, trustHost: true, logger: quiet })
    auth.remove('pages')
    const bare = await auth.handler(new Request('http://localhost/auth/nope', { headers: html }))
    expect(bare.status).toBe(400)
    const posted = await createAuth({ secret, trustHost: true, logger: quiet }).handler(
      new Request('http://localhost/auth/nope', { method: 'POST', headers: html }),
    )
    expect(posted.status).toBe(400)
  })
})

describe("a host's own pages keep the callbackUrl", () => {
  it.each(['signout', 'error', 'verify-request'])('%s', async (path) => {
    const asked: string[] = []
    const config = baseConfig({
      pages: { signOut: '/bye', error: '/oops', verifyRequest: '/look' },
      callbacks: { redirect: ({ url, baseUrl }) => (asked.push(url), new URL(url, baseUrl).href) },
    })
    const browser = new Client(createAuth(config))
    const shown = await browser.get(`/${path}?callbackUrl=%2Finside`)
    expect(shown.headers.get('location')).toMatch(/^\/(?:bye|oops|look)/)
    expect(asked).toEqual(['/inside'])
    // No user is signed in, and still it ends where it began.
    expect((await browser.post('/signout')).headers.get('location')).toBe('http://localhost:3000/inside')
  })

  it('a redirect callback that fails does not lead from the error page to the error page', async () => {
    const config = baseConfig({ callbacks: { redirect: () => Promise.reject(new Error('down')) } })
    const answer = await new Client(createAuth(config)).get('/error?error=AccessDenied&callbackUrl=/x')
    expect(answer.status).toBe(403)
    expect(config.logger.errors).toHaveLength(1)
  })
})

describe('form-action', () => {
  const sources = async (config: Partial<AuthConfig>, path = '/signin'): Promise<string | undefined> =>
    /form-action ([^;]+)/.exec((await get(path, config)).headers.get('content-security-policy') ?? '')?.[1]

  it('is the own origin alone when no form leads away', async () => {
    expect(await sources({ providers: [password] })).toBe("'self' http://localhost")
  })

  it('lets https through for providers, and http by name', async () => {
    const local: Provider = { ...acme, issuer: 'http://127.0.0.1:9' }
    expect(await sources({ providers: [password, github, local] })).toBe("'self' http://localhost https: http://127.0.0.1:9")
  })

  it('is exactly the list of the host, when there is one', async () => {
    const auth = createAuth({ secret, trustHost: true, providers: [github] }).use(
      pagesPlugin({ formAction: ['https://github.example/x', 'nonsense'] }),
    )
    const { headers } = await auth.handler(new Request('http://localhost/auth/signin'))
    expect(headers.get('content-security-policy')).toContain("form-action 'self' http://localhost https://github.example;")
  })

  it('names where the flow ends', async () => {
    const config = { providers: [password], allowedRedirects: ['https://admin.example'], pages: { error: 'https://help.example/oops' } }
    expect(await sources(config, '/signin?callbackUrl=https://admin.example/x')).toBe(
      "'self' http://localhost https://admin.example https://help.example",
    )
  })

  it('sign-out goes to a provider only when a handler answers `signOut`', async () => {
    const signedIn = async (callbacks: AuthConfig['callbacks'] = {}): Promise<string | undefined> => {
      const browser = await signIn({ callbacks })
      return /form-action ([^;]+)/.exec((await browser.get('/signout')).headers.get('content-security-policy') ?? '')?.[1]
    }
    expect(await signedIn()).toBe("'self' http://localhost:3000")
    expect(await signedIn({ signOut: () => 'https://acme.example/logout' })).toBe("'self' http://localhost:3000 https:")
  })

  it('pages without a form have none', async () => {
    expect(await sources({}, '/error')).toBe("'none'")
    expect(await sources({}, '/verify-request')).toBe("'none'")
  })
})

describe('errors', () => {
  it.each([
    ['Configuration', 500],
    ['AccessDenied', 403],
    ['Verification', 403],
    ['OAuthCallbackError', 200],
    ['constructor', 200],
    ['', 200],
  ])('row 272: error page of "%s" answers %i', async (error, status) => {
    expect((await get(`/error?error=${error}`)).status).toBe(status)
  })

  const codes = ['Signin', 'OAuthSignin', 'OAuthCallbackError', 'OAuthCreateAccount', 'EmailCreateAccount', 'Callback']
  it.each([...codes, 'OAuthAccountNotLinked', 'EmailSignin', 'CredentialsSignin', 'SessionRequired', 'MissingCSRF'])(
    'row 273: %s has a text of its own on the sign-in page',
    async (code) => {
      const [own, other] = await Promise.all([alertOf(code), alertOf('Whatever')])
      expect(own).not.toBe(other)
      expect(other).toBe(en['error.default'])
    },
  )

  it('a host may word a code of CredentialsSignin, and its own error types', async () => {
    const messages = {
      en: { 'error.CredentialsSignin.locked': 'Locked until noon.', 'error.Quota': 'No seats left.', 'error.Quota.heading': 'Full' },
    }
    expect((await get('/signin?error=CredentialsSignin&code=locked', { messages })).text).toContain('<p>Locked until noon.</p>')
    expect((await get('/signin?error=CredentialsSignin&code=other', { messages })).text).toContain(en['error.CredentialsSignin'])
    const { text } = await get('/error?error=Quota', { messages })
    expect(text).toContain('<h1>Full</h1>')
    expect(text).toContain('Code: Quota')
  })

  it('rows 285 and 288: the way back is the sign-in page, and the site', async () => {
    for (const error of ['AccessDenied', 'Verification']) {
      const { text } = await get(`/error?error=${error}`)
      expect(text).toContain('href="http://localhost/auth/signin"')
      expect(text).toContain('<a class="site" href="http://localhost" rel="noreferrer">localhost</a>')
    }
    expect((await get('/verify-request')).text).toContain('<a class="site" href="http://localhost"')
  })

  it('the error page draws itself when the configuration is wrong', async () => {
    const auth = createAuth({ secret: 'short', trustHost: true, logger: quiet, env: false })
    const answer = await auth.handler(new Request('http://localhost/auth/signin'))
    expect(answer.status).toBe(500)
    expect(await answer.text()).toContain(`<h1>${en['error.Configuration.heading']}</h1>`)
  })

  it('and when the host is not trusted', async () => {
    const auth = createAuth({ secret, trustHost: false, logger: quiet, env: false })
    const answer = await auth.handler(new Request('http://evil.example/auth/signin'))
    expect(answer.status).toBe(500)
    expect(await answer.text()).toContain(en['error.Configuration'])
  })

  it('D54: too many attempts are a page for people and JSON for programs', async () => {
    const auth = createAuth({ secret, trustHost: true, logger: quiet, providers: [password], throttle: { credentials: { max: 0 } } })
    const page = await auth.handler(new Request('http://localhost/auth/signin'))
    const csrfToken = /name="csrfToken" value="(\w+)"/.exec(await page.text())?.[1] ?? ''
    const post = (headers: Record<string, string>): Promise<Response> =>
      auth.handler(
        new Request('http://localhost/auth/callback/credentials', {
          method: 'POST',
          body: new URLSearchParams({ csrfToken, username: 'a', password: 'b' }),
          headers: {
            cookie: page.headers
              .getSetCookie()
              .map((line) => line.split(';')[0])
              .join('; '),
            ...headers,
          },
        }),
      )
    const answer = await post({ accept: 'text/html,*/*', 'accept-language': 'de' })
    expect([answer.status, answer.headers.get('location')]).toEqual([429, null])
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await answer.text()).toMatch(/Zu viele Versuche.*Bitte warten Sie \d+ Minuten/s)
    expect((await post({ accept: 'application/json' })).headers.get('content-type')).toContain('json')
    expect((await post({ accept: 'text/html', 'x-auth-return-redirect': '1' })).headers.get('content-type')).toContain('json')
  })

  it('D30: a form of another site is refused with a page', async () => {
    const auth = createAuth({ secret, trustHost: true, logger: quiet, providers: [github] })
    const answer = await auth.handler(
      new Request('http://localhost/auth/signin/github', {
        method: 'POST',
        headers: { accept: 'text/html', origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' },
      }),
    )
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain(en['error.CrossSite.heading'])
  })
})

describe('pages of the host', () => {
  const pages = { signIn: '/login?from=auth', signOut: '/bye', error: '/oops', verifyRequest: '/mail' }
  it.each([
    ['row 279', '/signin?error=AccessDenied&callbackUrl=/x', '/login?from=auth&callbackUrl=http%3A%2F%2Flocalhost%2Fx&error=AccessDenied'],
    ['row 280', '/signout?callbackUrl=/x', '/bye'],
    ['row 279', '/error?error=AccessDenied', '/oops?error=AccessDenied'],
    ['row 281', '/verify-request?provider=email&type=email&x=1', '/mail?provider=email&type=email&x=1'],
  ])('%s: GET %s leads to %s', async (_row, path, target) => {
    const { status, headers } = await get(path, { pages })
    expect(status).toBe(302)
    expect(headers.get('location')).toBe(target)
  })

  it('a plugin named pages takes the place of this one', async () => {
    const own = definePlugin({ name: 'pages', setup: (kernel) => kernel.provide('pages', { render: (name) => new Response(name) }) })
    const auth = createAuth({ secret, trustHost: true, providers: [github] }).use(own)
    expect(await (await auth.handler(new Request('http://localhost/auth/verify-request'))).text()).toBe('verifyRequest')
  })
})

describe('verify-confirm', () => {
  it('row 228: everything but the action travels back in hidden inputs, escaped', async () => {
    const email: Provider = { id: 'email', name: 'Email', type: 'email', confirm: true, sendVerificationRequest: () => undefined }
    const query = new URLSearchParams({ token: 't"><b>', email: 'a<b>@c.example', callbackUrl: '/x' })
    const { text } = await get(`/callback/email?${query}`, { providers: [email], adapter: memoryAdapter() })
    expect(text).toContain('<form action="http://localhost/auth/callback/email" method="post">')
    expect(text).toContain('<input type="hidden" name="token" value="t&quot;&gt;&lt;b&gt;">')
    expect(text).toContain('<input type="hidden" name="callbackUrl" value="http://localhost/x">')
    expect(text).toMatch(/name="csrfToken" value="[0-9a-f]{64}"/)
    expect(text).toContain('<p class="who"><bdi>a&lt;b&gt;@c.example</bdi></p>')
    expect(text).not.toContain('name="action"')
  })
})

describe('languages', () => {
  it.each([
    ['de-AT,de;q=0.9,en;q=0.5', 'de', 'Mit GitHub anmelden'],
    ['fr', 'fr', 'Se connecter avec GitHub'],
    ['es-MX', 'es', 'Iniciar sesión con GitHub'],
    ['ja', 'ja', 'GitHub でログイン'],
    ['it', 'en', 'Sign in with GitHub'],
  ])('row 287: Accept-Language %s speaks %s', async (accept, lang, expected) => {
    const { text, headers } = await get('/signin', {}, { 'accept-language': accept })
    expect(text).toContain(`<html lang="${lang}" dir="ltr">`)
    expect(headers.get('content-language')).toBe(lang)
    expect(text).toContain(expected)
  })

  it('labels written in English are translated too', async () => {
    const { text } = await get(
      '/signin',
      { providers: [password], messages: { de: { 'text:Remember me': 'Angemeldet bleiben' } } },
      { 'accept-language': 'de' },
    )
    expect(text).toContain('>Benutzername</label>')
    expect(text).toContain('>Passwort</label>')
    expect(text).toContain('>Angemeldet bleiben</label>')
  })

  it('`locale` chooses, `messages` words, a language may be added', async () => {
    const config = { locale: () => 'it', messages: { it: { 'signIn.heading': 'Accedi', 'signIn.submit': 'Accedi con {name}' } } }
    const { text } = await get('/signin', config, { 'accept-language': 'de' })
    expect(text).toContain('<html lang="it"')
    expect(text).toContain('Accedi con GitHub')
    expect(text).toContain('<p>to continue to')
  })

  it("the plugin's own options go over the configuration's", async () => {
    const auth = createAuth({
      secret,
      trustHost: true,
      providers: [github],
      theme: { brandColor: '#ff0000' },
      messages: { en: { 'signIn.heading': 'A' } },
    }).use(pagesPlugin({ theme: { brandColor: '#00aa00' }, messages: { en: { 'signIn.heading': 'B' } }, locale: () => 'en' }))
    const text = await (await auth.handler(new Request('http://localhost/auth/signin', { headers: { 'accept-language': 'de' } }))).text()
    expect(text).toContain('--brand-color:#00aa00')
    expect(text).toContain('<h1>B</h1>')
  })
})

describe('theme', () => {
  it.each(['auto', 'dark', 'light'] as const)('row 283: colorScheme %s is a class of the body', async (colorScheme) => {
    expect((await get('/error', { theme: { colorScheme } })).text).toContain(`<body class="__next-auth-theme-${colorScheme}">`)
  })

  it('row 283: brandColor, buttonText and logo', async () => {
    const { text } = await get('/signin', { theme: { brandColor: '#346df1', buttonText: '#fff', logo: '/logo.svg' } })
    expect(text).toContain('--brand-color:#346df1')
    expect(text).toContain('--button-text-color:#ffffff')
    expect(text).toContain('<img class="logo" src="/logo.svg" alt="localhost">')
  })

  it('what is ignored is said once', async () => {
    const warned: string[] = []
    const theme = { brandColor: 'red', buttonText: 'blue', logo: 'https://cdn.example/logo.png' }
    const auth = createAuth({ secret, trustHost: true, theme, logger: { warn: (code) => warned.push(code) } })
    for (let i = 0; i < 2; i++)
      expect(await (await auth.handler(new Request('http://localhost/auth/error'))).text()).not.toContain('cdn.example')
    expect(warned).toEqual(['theme-logo-not-shown', 'theme-brandColor-not-hex', 'theme-buttonText-not-hex'])
  })
})

describe('hostile input', () => {
  const attack = `"><script>alert(1)</script><img src=x onerror=alert(1)>'{{7*7}}`
  const clean = (text: string): void => {
    expect(text).not.toMatch(/<script|<img|onerror=alert\(1\)>/)
  }

  it.each(['signin', 'signout', 'error', 'verify-request'])(
    'row 284, GHSA-9x4v-xfq5-m8x5: nothing of the query of /%s is markup',
    async (page) => {
      const query = new URLSearchParams({
        error: attack,
        code: attack,
        email: attack,
        callbackUrl: `/${attack}`,
        provider: attack,
        type: attack,
        error_description: attack,
      })
      clean((await get(`/${page}?${query}`, { providers: [github, password] })).text)
    },
  )

  it('an error code of the query is not echoed, not even escaped', async () => {
    const { text } = await get('/error?error=EvilCorpCallUsNow')
    expect(text).not.toContain('EvilCorp')
  })

  it('an off-origin callbackUrl is not in the page', async () => {
    for (const url of ['https://evil.example', '//evil.example', 'javascript:alert(1)', '/\\evil.example']) {
      const { text, headers } = await get(`/signin?callbackUrl=${encodeURIComponent(url)}`, { logger: quiet })
      const field = /name="callbackUrl" value="([^"]*)"/.exec(text)?.[1] ?? ''
      expect(new URL(field).origin).toBe('http://localhost')
      expect(headers.get('content-security-policy')).not.toContain('evil')
    }
  })

  it('names, fields and labels of providers are escaped', async () => {
    const credentials = { [attack]: { label: attack, placeholder: attack, type: attack, title: attack, [attack]: attack, onclick: attack } }
    const providers = [
      { ...github, name: attack },
      { ...password, name: attack, credentials },
    ]
    clean((await get('/signin', { providers })).text)
  })

  it('a style of a provider cannot break out of the sheet', async () => {
    const style = {
      brandColor: '#fff}</style><script>alert(1)</script>',
      logo: '<svg onload=alert(1)></style><script>alert(1)</script></svg>',
    }
    const { text } = await get('/signin', { providers: [{ ...github, style }] })
    clean(text)
    expect(text.match(/<\/style>/g)).toHaveLength(1)
  })

  it('a theme cannot either', async () => {
    const theme = { brandColor: attack, buttonText: 'red;background:url(//evil.example)', colorScheme: attack as never, logo: attack }
    const { text } = await get('/signin', { theme, logger: quiet })
    clean(text)
    expect(text).not.toContain('evil.example')
  })

  it('messages are text', async () => {
    const { text } = await get('/signin', {
      messages: { en: { 'signIn.heading': attack, 'signIn.submit': `${attack}{name}`, 'signIn.subtitle': '{constructor}' } },
    })
    clean(text)
  })

  it('a name cannot turn the sentence around', async () => {
    expect((await get('/signin', { providers: [{ ...github, name: 'evil\u202Etxt' }] })).text).toContain('Sign in with eviltxt')
  })

  it('GHSA-9h6g-pr28-7cqp: a logo of a megabyte is not shown', async () => {
    const { text } = await get('/signin', { theme: { logo: `data:image/png;base64,${'A'.repeat(1_000_000)}` }, logger: quiet })
    expect(text.length).toBeLessThan(30_000)
  })
})

const quiet = { error: (): void => undefined, warn: (): void => undefined, debug: (): void => undefined }

async function get(
  path: string,
  config: Partial<AuthConfig> = {},
  headers: Record<string, string> = {},
  origin = 'http://localhost',
): Promise<{ status: number; headers: Headers; text: string }> {
  const auth = createAuth({ secret, trustHost: true, env: false, providers: [github], ...config })
  const answer = await auth.handler(new Request(`${origin}/auth${path}`, { headers }))
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

async function alertOf(code: string): Promise<string | undefined> {
  const { text } = await get(`/signin?error=${code}`)
  return /role="(?:alert|status)">.*?<p>(.*?)<\/p>/s.exec(text)?.[1]
}
