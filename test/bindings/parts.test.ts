/** What the ready-made parts ask the server, the texts that they have, and what a page loads of them. */
import { createAuth } from 'authkernel'
import { createAuthClient, createClient } from 'authkernel/client'
import { createKernel } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { emailPlugin } from 'authkernel/plugins/email'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { createSignIn, loadTexts } from 'authkernel/parts'
import google from 'authkernel/providers/google'
import github from 'authkernel/providers/github'
import * as react from 'authkernel/react'
import * as vue from 'authkernel/vue'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { type Component, createSSRApp, h } from 'vue'
import { renderToString as renderVue } from 'vue/server-renderer'
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

const origin = 'https://app.example'
const options = { secret: 'a secret of more than thirty-two characters', trustHost: true, env: false } as const

interface PagesMethods {
  getFeatures(): Promise<{ methods: object; homeRealm: boolean }>
  beginSignIn(input: { identifier: string; callbackUrl?: string }): Promise<{ url?: string; providers?: object[] }>
}

/** A browser without pages: it keeps cookies. */
function clientFor(auth: { handler(request: Request): Promise<Response> }) {
  const cookies = new Map<string, string>()
  // Of the plugins of the preset the type of `auth` says nothing.
  return createAuthClient({
    baseURL: origin,
    async fetch(url, init) {
      const headers = new Headers(init.headers)
      headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
      if (init.method === 'POST') headers.set('origin', origin)
      const response = await auth.handler(new Request(url, { ...init, headers }))
      for (const cookie of response.headers.getSetCookie()) {
        const [name = '', value = ''] = cookie.slice(0, cookie.indexOf(';')).split('=')
        cookies.set(name, value)
      }
      return response
    },
  }) as ReturnType<typeof createAuthClient> & { pages: PagesMethods }
}

describe('what a server offers', () => {
  const withPasswords = createAuth(options)
    .use(adapterPlugin(memoryAdapter()))
    .use(emailPlugin({ server: 'smtp://127.0.0.1:1', from: 'a@b.example', signIn: false }))
    .use(passwordsPlugin({ signUp: false, breached: false, minLength: 20 }))

  it('the server names the methods of the plugins in use, for visitors too, and no others', async () => {
    const pages = ['getFeatures', 'beginSignIn']
    expect(await clientFor(createAuth(options)).pages.getFeatures()).toEqual({ methods: { pages }, homeRealm: false })
    const { methods, homeRealm } = await clientFor(withPasswords).pages.getFeatures()
    expect(methods).toEqual({ pages, passwords: ['requestReset', 'getRule', 'hasPassword', 'change'] })
    expect(homeRealm).toBe(false)
  })

  it('a server without pages has no such route: the client says so', async () => {
    await expect(clientFor(createKernel(options)).pages.getFeatures()).rejects.toMatchObject({ status: 400 })
  })

  it('the rule for a new password is told before it is typed', async () => {
    const response = await withPasswords.handler(new Request(`${origin}/auth/passwords/get-rule`))
    expect(await response.json()).toEqual({ minLength: 20, maxLength: 256 })
  })

  it('an address leads to the provider of its company, to a choice, or nowhere', async () => {
    const keys = { clientId: 'a', clientSecret: 'b' }
    const auth = createAuth({
      ...options,
      providers: [google(keys), github(keys)],
      runtime: { fetch: () => Promise.reject(new Error('offline')) },
    })
    auth.hook('homeRealm', ({ identifier }) => {
      if (identifier.endsWith('@one.example')) return { provider: 'github' }
      return identifier.endsWith('@two.example') ? [{ provider: 'google' }, { provider: 'github' }] : undefined
    })
    const client = clientFor(auth)
    expect((await client.pages.getFeatures()).homeRealm).toBe(true)
    expect((await client.pages.beginSignIn({ identifier: 'a@one.example', callbackUrl: '/after' })).url).toMatch(
      /^https:\/\/github\.com\/login\/oauth\/authorize\?/,
    )
    expect((await client.pages.beginSignIn({ identifier: 'a@two.example' })).providers).toEqual([
      { id: 'google', name: 'Google', type: 'oidc' },
      { id: 'github', name: 'GitHub', type: 'oauth' },
    ])
    for (const identifier of ['a@other.example', '', 'x'.repeat(300)])
      expect(await client.pages.beginSignIn({ identifier })).toEqual({ providers: [] })
    await expect(client.pages.beginSignIn(['a@one.example'] as never)).resolves.toEqual({ providers: [] })
  })
})

describe('texts', () => {
  it('all five languages have every text, with the same names in braces', async () => {
    const en = await loadTexts('en')
    const names = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).toSorted()
    for (const lang of ['de', 'es', 'fr', 'ja']) {
      const texts = await loadTexts(`${lang}-XX`)
      expect(texts.lang).toBe(lang)
      expect(Object.keys(texts)).toEqual(Object.keys(en))
      for (const [key, text] of Object.entries(en))
        expect([lang, key, names(texts[key as keyof typeof texts])]).toEqual([lang, key, names(text)])
      const same = Object.entries(texts).filter(
        ([key, text]) => text === en[key as keyof typeof en] && text.length > 12 && key !== 'role.admin',
      )
      expect([lang, same]).toEqual([lang, []])
    }
    expect(await loadTexts('it')).toBe(en)
  })
})

it('a client that knows no methods of plugins is refused with what to do', () => {
  const client = createClient()
  expect(() => createSignIn({ client, store: client.createSession() }, 'a', () => ({}))).toThrow(/createAuthClient\(\)/)
})

it('on a server a part is a placeholder: it asks for nothing', () => {
  const client = clientFor({ handler: () => Promise.reject(new Error('asked')) })
  const part = createSignIn({ client, store: client.createSession() }, 'a', () => ({}))
  part.subscribe(() => {})()
  expect(part.view(part.getInitial(), {})).toMatchObject({ tag: 'div', attributes: { 'data-part': 'sign-in', 'aria-busy': true } })
})

it('React and Vue render the placeholder on a server', async () => {
  for (const markup of [
    renderToString(createElement(react.SignIn, { redirectTo: '/' })),
    await renderVue(createSSRApp({ render: () => h(vue.SignIn as Component, { redirectTo: '/' }) })),
  ]) {
    expect(markup).toMatch(/data-part="sign-in"/)
    expect(markup).toMatch(/aria-busy="true"/)
    expect(markup).not.toContain('<form')
  }
})

describe('what a page loads', () => {
  async function load(source: string): Promise<{ first: string; late: string; kilobytes: number }> {
    const { outputFiles, metafile } = await build({
      stdin: { contents: source, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
      bundle: true,
      minify: true,
      splitting: true,
      format: 'esm',
      outdir: 'out',
      write: false,
      metafile: true,
      external: ['react'],
    })
    const seen = new Set<string>()
    const visit = (path: string): void => {
      if (seen.has(path)) return
      seen.add(path)
      for (const { path: next, kind, external } of metafile.outputs[path]?.imports ?? [])
        if (!external && kind === 'import-statement') visit(next)
    }
    visit('out/stdin.js')
    const isFirst = (path: string): boolean => [...seen].some((one) => path.endsWith(one))
    const first = outputFiles.filter(({ path }) => isFirst(path))
    return {
      first: first.map(({ text }) => text).join('\n'),
      late: outputFiles
        .filter(({ path }) => !isFirst(path))
        .map(({ text }) => text)
        .join('\n'),
      kilobytes: first.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0) / 1024,
    }
  }

  it('SignIn has less than 16 KB: the later steps, passkeys and languages are loaded when they are reached', async () => {
    const { first, late, kilobytes } = await load(`export { SignIn } from 'authkernel/react'`)
    expect(kilobytes).toBeLessThan(16)
    for (const word of ['getPasskeyOptions', 'Passwort vergessen', 'navigator.credentials']) {
      expect([word, first.includes(word)]).toEqual([word, false])
      expect([word, late.includes(word)]).toEqual([word, true])
    }
    expect(/listInvitations|apiKeys|createAuth\(|node:/.exec(first)?.[0]).toBe(undefined)
  })

  it('AccountPage loads its sections one by one', async () => {
    const { first, late } = await load(`export { AccountPage } from 'authkernel/react'`)
    for (const word of ['renewCodes', 'revokeOthers', 'my-data.json']) {
      expect([word, first.includes(word)]).toEqual([word, false])
      expect([word, late.includes(word)]).toEqual([word, true])
    }
  })

  it('a page with useSession alone loads nothing of the parts', async () => {
    const { first, kilobytes } = await load(`export { useSession } from 'authkernel/react'`)
    expect(kilobytes).toBeLessThan(4)
    expect(first.includes('data-part')).toBe(false)
  })
})
