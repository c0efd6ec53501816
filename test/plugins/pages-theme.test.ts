/** Tokens of the theme, and pages and parts that the host draws itself. */
import { createAuth } from 'authkernel'
import { type Provider, type Theme } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { pagesPlugin, type PagesPluginOptions } from 'authkernel/plugins/pages'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const login: Provider = {
  id: 'pw',
  name: 'Password',
  type: 'credentials',
  credentials: { name: {} },
  authorize: ({ name }) => ({ id: String(name), name: String(name) }),
}

async function host(options: PagesPluginOptions) {
  const base = baseConfig({ adapter: memoryAdapter(), providers: [login], session: { strategy: 'jwt' } })
  const auth = createAuth(base).use(pagesPlugin(options))
  await auth.ready()
  const client = new Client(auth)
  const signIn = async (): Promise<void> => void (await client.post('/callback/pw', { name: 'ada' }))
  return { auth, client, signIn, logger: base.logger }
}
const styleOf = async (theme: Theme): Promise<{ style: string; warnings: readonly string[] }> => {
  const { client, logger } = await host({ theme })
  const text = await (await client.get('/signin')).text()
  return { style: /<style[^>]*>([\s\S]*?)<\/style>/.exec(text)![1]!, warnings: logger.warnings }
}

describe('tokens of the theme', () => {
  it('set corners, font and room, and colours of the dark scheme', async () => {
    const { style, warnings } = await styleOf({
      radius: 4,
      font: "Georgia, 'Noto Serif', serif",
      spacing: 0.8,
      brandColor: '#0f766e',
      dark: { brandColor: '#5eead4' },
    })
    expect(style).toContain("body{--round:0.25rem;--font:Georgia, 'Noto Serif', serif;--space:0.8;}")
    expect(style).toMatch(/^:root\{color-scheme:light dark\}body\{[^}]*--brand-color:#0f766e/)
    expect(style).toMatch(/prefers-color-scheme:dark\)\{body\{[^}]*--brand-color:#5eead4/)
    expect(warnings).toEqual([])
  })

  it.each([
    { radius: 25 },
    { radius: -1 },
    { radius: Number.NaN },
    { radius: '4px' as never },
    { spacing: 2 },
    { font: 'x;}body{display:none' },
    { font: 'url(https://evil.example)' },
    { font: `Georgia", serif` },
    { font: '' },
    { dark: { brandColor: 'red' } },
  ] satisfies Theme[])('%j is ignored, with one warning', async (theme) => {
    const { style, warnings } = await styleOf(theme)
    expect(style).not.toMatch(/display:none\}body|evil|--round:(?!\.625)|--font:/)
    expect(warnings).toEqual(['theme-token-not-usable'])
  })

  it('a misspelt one is refused', () => {
    expect(() => pagesPlugin({ theme: { radios: 4 } as never })).toThrow(/theme.*radios.*radius/)
    expect(() => pagesPlugin({ theme: { dark: { colour: '#000' } as never } })).toThrow(/dark.*colour/)
    expect(() => createAuth(baseConfig({ theme: { spacin: 1 } as never }))).toThrow(/spacin.*spacing/)
  })
})

describe('pages and parts of the host', () => {
  it('change what a plugin drew; the frame, the policy and the sign-in before the page stay', async () => {
    const { client, signIn } = await host({
      pages: {
        async account(_ctx, { html }, _params, draw) {
          const page = await draw()
          return page instanceof Response ? page : { ...page, title: 'My <b>', body: [html`<p id="mine">${'<i>'}</p>`, page.body] }
        },
      },
      parts: {
        card:
          (draw, { html }) =>
          (options) =>
            html`<div data-mine>${draw({ ...options, tags: 'mine' })}</div>`,
      },
    })
    expect((await client.get('/account')).headers.get('location')).toContain('/auth/signin')
    await signIn()
    const response = await client.get('/account')
    const text = await response.text()
    expect(text).toContain('<title>My &lt;b&gt;</title>')
    expect(text).toContain('<p id="mine">&lt;i&gt;</p>')
    expect(text).toMatch(/<div data-mine><section class="ui-card"[\s\S]*mine/)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  it('draw a page alone', async () => {
    const { client } = await host({ pages: { account: () => ({ title: 'Elsewhere', body: 'Gone', status: 410 }) } })
    const response = await client.get('/account')
    expect([response.status, await response.text()]).toEqual([410, expect.stringContaining('Gone')])
  })

  it('that are no functions are refused', () => {
    expect(() => pagesPlugin({ pages: { account: 'page' as never } })).toThrow('`pages.account` must be a function')
    expect(() => pagesPlugin({ parts: { card: {} as never } })).toThrow('`parts.card` must be a function')
  })
})
