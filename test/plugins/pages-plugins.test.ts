/** Pages of plugins, slots on pages of others, their texts, and what is refused. */
import { createAuth } from 'authkernel'
import { AuthError, type AuthConfig, definePlugin, json, type Kernel, type PageDraw, type Provider } from 'authkernel/kernel'
import { pageTools } from 'authkernel/plugins/pages'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

class TooManyCodes extends AuthError {
  static override type = 'TooManyCodes'
  static override row = { page: 'signIn' as const, status: 429, visible: true }
}
const texts = {
  en: { 'two-factor.title': 'Enter the code', 'twoFactor.code': 'Six digits', 'error.TooManyCodes': 'Wait for <{duration}>.' },
  de: { 'two-factor.title': 'Code eingeben' },
}
const codePage: PageDraw = async (_ctx, { html, say, form, field, submit, alert, lang, duration }, params) => ({
  title: say('two-factor.title'),
  lead: html`<em>${params['who']}</em> ${lang} ${duration(600)}`,
  body: [
    alert(params['error']),
    await form('/code', [field('code', { label: 'twoFactor.code', inputmode: 'numeric' }), submit('Go')], { step: '1' }),
  ],
  sources: { img: ['https://img.example'] },
  forms: ['https://next.example'],
})
const twoFactor = (more: (kernel: Kernel) => void = () => {}): ReturnType<typeof definePlugin> =>
  definePlugin({
    name: 'two-factor',
    setup(kernel) {
      kernel.messages(texts)
      kernel.page('twoFactor', codePage, { path: '/code' })
      kernel.route({ method: 'POST', path: '/code', handler: async (ctx) => json(await ctx.body()) })
      more(kernel)
    },
  })
const password: Provider = { id: 'pw', name: 'Password', type: 'credentials', credentials: { name: {} }, authorize: () => null }
const client = (plugin: ReturnType<typeof definePlugin>, config: AuthConfig = {}): Client =>
  new Client(createAuth(baseConfig({ providers: [password], ...config })).use(plugin))
const policyOf = ({ headers }: Response): string => headers.get('content-security-policy') ?? ''

describe('a page of a plugin', () => {
  it('has the frame, its text in five languages or English, its form with token and flow', async () => {
    const answer = await client(twoFactor()).get('/code?flow=0123456789ab&who=%3Cb%3E', { 'accept-language': 'de' })
    const page = await answer.text()
    expect(answer.status).toBe(200)
    expect(page).toContain('<title>Code eingeben</title>')
    expect(page).toContain('<h1>Code eingeben</h1>')
    expect(page).toContain('<em>&lt;b&gt;</em> de 10 Minuten')
    expect(page).toMatch(
      /<form class="stack" action="http:\/\/localhost:3000\/auth\/code" method="post"><input type="hidden" name="csrfToken" value="[0-9a-f]{64}">/,
    )
    expect(page).toContain('<input type="hidden" name="flow" value="0123456789ab">')
    expect(page).toContain('<input type="hidden" name="step" value="1">')
    // No German text for it: English.
    expect(page).toContain('<label class="section-header" for="input-code-for-twoFactor">Six digits</label>')
    expect(page.match(/<h1>/g)).toHaveLength(1)
    expect(policyOf(answer)).toContain("img-src 'self' data: https://img.example;")
    expect(policyOf(answer)).toMatch(/form-action 'self' http:\/\/localhost:3000 [^;]*https:\/\/next\.example;/)
  })

  it('keeps what was typed into its form that was refused: neither secrets and codes, nor for another form, nor by a link', async () => {
    const names = ['email', 'note', 'password', 'code', 'apiKey', 'resetToken', 'toString']
    const plugin = definePlugin({
      name: 'form',
      setup(kernel) {
        const draw: PageDraw = async (_ctx, { html, typed }) => ({
          title: 'Form',
          body: html`<pre>${JSON.stringify([names.map((name) => typed(name)), typed('note', 'save'), typed('note', 'other')])}</pre>`,
        })
        kernel.page('form', draw, { path: '/form' })
        kernel.route({
          method: 'POST',
          path: '/form',
          handler: async (ctx) => ctx.render('form' as 'error', { error: (await ctx.body())['fails'] === '1' ? 'FormInput' : undefined }),
        })
      },
    })
    const browser = client(plugin)
    const shown = async (answer: Promise<Response>): Promise<unknown> =>
      JSON.parse((/<pre>(.*?)<\/pre>/.exec(await (await answer).text())?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&lt;', '<'))
    const fields = { ...Object.fromEntries(names.map((name) => [name, `<${name}`])), action: 'save' }
    const nothing = names.map(() => null)
    delete (fields as Record<string, string>)['toString']
    expect(await shown(browser.post('/form', { ...fields, fails: '1' }))).toEqual([
      ['<email', '<note', null, null, null, null, null],
      '<note',
      null,
    ])
    expect(await shown(browser.post('/form', fields))).toEqual([nothing, null, null])
    expect(await shown(browser.get('/form?error=FormInput&email=planted&note=planted&action=save'))).toEqual([nothing, null, null])
    expect(await shown(browser.post('/form', { note: 'x'.repeat(20_001), fails: '1' }))).toEqual([nothing, null, null])
  })

  it('its form is accepted, and without the token refused', async () => {
    const browser = client(twoFactor())
    const page = await (await browser.get('/code')).text()
    const csrfToken = /name="csrfToken" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const post = (body: Record<string, string>): Promise<Response> =>
      browser.send('/code', { method: 'POST', body: new URLSearchParams(body) })
    expect(await (await post({ csrfToken, code: '123' })).json()).toMatchObject({ code: '123' })
    expect((await post({ code: '123' })).headers.get('location')).toContain('error=MissingCSRF')
  })

  it('shows an error type of the plugin, here and on the sign-in page', async () => {
    const browser = client(twoFactor(), { callbacks: { signIn: () => true } })
    expect(await (await browser.get('/code?error=TooManyCodes')).text()).toContain('<p>Wait for &lt;1 minute&gt;.</p>')
    expect(await (await browser.get('/signin?error=TooManyCodes')).text()).toContain('Wait for &lt;')
    expect(new TooManyCodes('x').status).toBe(429)
  })

  it("is replaced by the host's own URL", async () => {
    const answer = await client(twoFactor(), { pages: { twoFactor: '/my-code' } }).get('/code?flow=0123456789ab')
    expect(answer.headers.get('location')).toBe('/my-code?flow=0123456789ab')
  })

  it('ctx.page leads to it; a name that no plugin draws and a page without a path are errors that say so', async () => {
    const said: string[] = []
    const browser = client(
      twoFactor((kernel) => {
        kernel.page('hidden', () => ({ title: 'x', body: 'y' }))
        kernel.route({ method: 'GET', path: '/go', handler: (ctx) => ctx.page('twoFactor', { flow: 'a' }) })
        kernel.route({ method: 'GET', path: '/here', handler: (ctx) => ctx.render('hidden') })
        for (const [path, name] of [
          ['/a', 'hidden'],
          ['/b', 'nowhere'],
        ] as const)
          kernel.route({
            method: 'GET',
            path,
            handler: (ctx) => ctx.page(name),
            failure: (_ctx, { message }) => json(void said.push(message)),
          })
        kernel.route({
          method: 'GET',
          path: '/c',
          handler: (ctx) => ctx.render('nowhere'),
          failure: (_ctx, { message }) => json(void said.push(message)),
        })
      }),
    )
    expect((await browser.get('/go')).headers.get('location')).toBe('http://localhost:3000/auth/code?flow=a')
    expect(await (await browser.get('/here')).text()).toContain('<title>x</title>')
    for (const path of ['/a', '/b', '/c']) await browser.get(path)
    expect(said).toEqual([
      expect.stringMatching(/page "hidden" has no address.*`path`.*`pages.hidden`/),
      expect.stringMatching(/page "nowhere" has no address/),
      expect.stringMatching(/No plugin draws the page "nowhere"/),
    ])
  })

  it("a host's own pages service draws the same view with the same tools", async () => {
    const own = definePlugin({
      name: 'pages',
      setup(kernel) {
        kernel.provide('pages', {
          async render(name, ctx, params) {
            const view = await ctx.app.parts.pages.get(name)?.draw(ctx, pageTools(ctx, name), params)
            if (!view || view instanceof Response) return new Response('')
            const { html } = pageTools(ctx, name)
            return new Response(html`<main>${view.title}: ${view.body}</main>`.text)
          },
        })
      },
    })
    const browser = new Client(
      createAuth(baseConfig({ providers: [password] }))
        .use(own)
        .use(twoFactor()),
    )
    expect(await (await browser.get('/code')).text()).toMatch(/^<main>Enter the code: <form .*name="csrfToken"/)
  })
})

describe('a slot', () => {
  const captcha = definePlugin({
    name: 'captcha',
    setup(kernel) {
      kernel.slot('signIn', 'head', (_ctx, { html }) => ({ html: html`<p id="second">${'<2>'}</p>` }), 2)
      kernel.slot('signIn', 'head', (_ctx, { html }) => ({ html: html`<p id="first"></p>` }), 1)
      kernel.slot('signIn', 'form', (_ctx, { html }, form) => ({
        html: html`<div class="widget" id="w-${form}"></div>`,
        sources: { script: ['https://challenges.example'], frame: ['https://challenges.example'], worker: ['https://w.example:8443'] },
        scripts: ['start()'],
      }))
      kernel.slot('signIn', 'foot', (ctx, { html }) => (ctx.url.searchParams.has('foot') ? { html: html`<p id="foot"></p>` } : undefined))
    },
  })
  const two: Provider[] = [password, { ...password, id: 'pin' }]

  it('is drawn in its place, in its order, in each form that begins a sign-in', async () => {
    const page = await (await client(captcha, { providers: two }).get('/signin?foot')).text()
    const at = (text: string): number => page.indexOf(text)
    expect(at('id="first"')).toBeGreaterThan(at('</h1>'))
    expect(at('id="second">&lt;2&gt;')).toBeGreaterThan(at('id="first"'))
    expect(at('class="providers"')).toBeGreaterThan(at('id="second"'))
    expect([...page.matchAll(/id="w-([^"]+)"/g)].map(([, form]) => form)).toEqual(['pw', 'pin'])
    expect(page.match(/<form[\s\S]*?<\/form>/g)?.every((form) => /class="widget"[\s\S]*type="submit"/.test(form))).toBe(true)
    expect(at('id="foot"')).toBeGreaterThan(at('type="submit"'))
    expect(page.match(/start\(\)/g)).toHaveLength(1)
  })

  it('opens the policy of the page that shows it, and of no other', async () => {
    const browser = client(captcha)
    const policy = policyOf(await browser.get('/signin'))
    expect(policy).toMatch(
      /script-src 'nonce-[^']+' https:\/\/challenges\.example; connect-src 'self'; frame-src https:\/\/challenges\.example; worker-src https:\/\/w\.example:8443;/,
    )
    expect(policyOf(await browser.get('/signout'))).not.toContain('example')
    expect(policyOf(await browser.get('/error'))).not.toMatch(/example|script-src/)
  })

  it.each([
    'https:',
    '*',
    "'unsafe-inline'",
    'data:',
    'http://a.example',
    'https://*.a.example',
    'https://a.example/x',
    'https://a.example; script-src *',
    'https://A.example',
    'a.example',
  ])('the source %s is refused', async (source) => {
    const config = baseConfig({ providers: [password] })
    const open = definePlugin({
      name: 'open',
      setup: (kernel) => kernel.slot('signIn', 'foot', (_ctx, { html }) => ({ html: html``, sources: { script: [source] } })),
    })
    const answer = await new Client(createAuth(config).use(open)).get('/signin')
    expect(policyOf(answer)).toBe('')
    expect(answer.headers.get('location')).toContain('error=Configuration')
    expect(config.logger.errors[0]?.message).toMatch(
      /slot of plugin "open" on the page "signIn" names the script source .*write an https origin/,
    )
  })
})

describe('what is refused when it compiles', () => {
  const fault = async (setup: (kernel: Kernel) => void, name = 'my-plugin'): Promise<string> =>
    createAuth(baseConfig())
      .use(definePlugin({ name, setup }))
      .ready()
      .then(
        () => 'fine',
        ({ message }: Error) => message,
      )
  const page: PageDraw = () => ({ title: '', body: '' })

  it.each<[string, (kernel: Kernel) => void, RegExp]>([
    ['a built-in page', (kernel) => kernel.page('signIn', page), /page "signIn" of plugin "my-plugin" is a built-in one/],
    [
      'a page twice',
      (kernel) => [1, 2].forEach(() => kernel.page('x', page)),
      /page "x" of plugin "my-plugin" is also one of plugin "my-plugin"/,
    ],
    [
      'a foreign key',
      (kernel) => kernel.messages({ en: { 'other.x': '' } }),
      /"other.x" of plugin "my-plugin" must begin with its name \("my-plugin\."\)/,
    ],
    ['a text without English', (kernel) => kernel.messages({ en: {}, de: { 'my-plugin.x': 'x' } }), /"my-plugin.x" .*none for "en"/],
    [
      'another text',
      (kernel) => [1, 2].forEach((n) => kernel.messages({ en: { 'error.X': String(n) } })),
      /"error.X" .*also one of another plugin/,
    ],
    ['a section twice', (kernel) => [1, 2].forEach(() => kernel.accountSection({ id: 'x', draw: () => undefined })), /account section "x"/],
    ['a section without id', (kernel) => kernel.accountSection({ id: 'a b', draw: () => undefined }), /letters, digits and dashes/],
    [
      'a foreign mail',
      (kernel) => kernel.mailTemplate('other.x', { subject: 'my-plugin.x', lines: [] }),
      /mail "other.x" .*"my-plugin.other.x"/,
    ],
    [
      'a mail without text',
      (kernel) => kernel.mailTemplate('my-plugin.m', { subject: 'my-plugin.x', lines: [] }),
      /mail "my-plugin.m" .* names the message "my-plugin.x"/,
    ],
  ])('%s', async (_what, setup, message) => expect(await fault(setup)).toMatch(message))

  it('a plugin with an id in its name, and one used twice, share their texts', async () => {
    const texts = { en: { 'pin.title': 'PIN', 'text:Code': 'Code' }, fr: { 'pin.title': 'PIN', 'text:Code': 'Code' } }
    const pin = (id: string): ReturnType<typeof definePlugin> =>
      definePlugin({ name: `pin:${id}`, setup: (kernel) => kernel.messages(texts) })
    await createAuth(baseConfig()).use(pin('a')).use(pin('b')).ready()
  })

  it('inspect lists pages and the languages in which texts are missing; the host can fill them', () => {
    const gaps = (config: AuthConfig): unknown =>
      createAuth(baseConfig(config))
        .use(twoFactor())
        .inspect()
        .gaps.filter(({ lang }) => lang === 'de')
    expect(gaps({})).toEqual([{ plugin: 'two-factor', lang: 'de', keys: ['twoFactor.code', 'error.TooManyCodes'] }])
    expect(gaps({ messages: { de: { 'twoFactor.code': 'x', 'error.TooManyCodes': 'y' } } })).toEqual([])
    expect(createAuth(baseConfig()).use(twoFactor()).inspect().pages).toEqual([
      { name: 'account', plugin: 'pages' },
      { name: 'accountDelete', plugin: 'pages' },
      { name: 'twoFactor', plugin: 'two-factor' },
    ])
  })

  it('removing the plugin takes page, route, slot and texts away', async () => {
    const auth = createAuth(baseConfig({ providers: [password] })).use(
      twoFactor((kernel) => kernel.slot('signIn', 'foot', (_ctx, { html }) => ({ html: html`<p id="slot"></p>` }))),
    )
    const browser = new Client(auth)
    expect(await (await browser.get('/signin?error=TooManyCodes')).text()).toMatch(/Wait for[\s\S]*id="slot"/)
    auth.remove('two-factor')
    expect((await browser.get('/code')).status).not.toBe(200)
    expect(await (await browser.get('/signin?error=TooManyCodes')).text()).not.toMatch(/Wait for|id="slot"/)
  })
})
