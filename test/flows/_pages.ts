/** An app with every kind of provider on loopback, and Chromium in front of it, for the tests of the pages. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuthConfig, createAuth } from 'authkernel'
import type { Plugin, Provider } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { pagesPlugin, type PagesPluginOptions } from 'authkernel/plugins/pages'
import { nodeBinding } from 'authkernel/bindings/node'
import passkey from 'authkernel/providers/passkey'
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'

export const secret = 'the-secret-of-the-instance-has-40-letters'

/** A password form: `right` is right. */
export const password: Provider = {
  id: 'credentials',
  name: 'Password',
  type: 'credentials',
  credentials: {
    username: { label: 'Username', required: true },
    password: { label: 'Password', type: 'password', required: true },
    remember: { label: 'Keep me signed in', type: 'checkbox' },
  },
  authorize: ({ username, password }) => (password === 'right' ? { id: 'u1', name: String(username) } : null),
}
/** A mailed link that asks before it is used; no mail leaves. */
export const mail: Provider = { id: 'email', name: 'Email', type: 'email', confirm: true, sendVerificationRequest: () => undefined }

export function oauth(id: string, name: string, authorization: string, extra: Partial<Provider> = {}): Provider {
  return {
    id,
    name,
    type: 'oauth',
    clientId: 'id',
    clientSecret: 'secret',
    authorization,
    token: 'https://id.example/token',
    userinfo: 'https://id.example/user',
    ...extra,
  } as Provider
}

const mark = '<svg viewBox="0 0 24 24"><path d="M12 0a12 12 0 1 0 0 24 12 12 0 0 0 0-24Zm0 5a7 7 0 1 1 0 14 7 7 0 0 1 0-14Z"/></svg>'
const colours = '<svg viewBox="0 0 24 24"><path fill="#ea4335" d="M0 0h12v12H0z"/><path fill="#4285f4" d="M12 12h12v12H12z"/></svg>'

/** One provider of each kind of button, and every kind of form. */
export const everything: Provider[] = [
  oauth('orbit', 'Orbit', 'https://orbit.example/authorize', { style: { brandColor: '#1a73e8', logo: mark } }),
  oauth('ink', 'Ink', 'https://ink.example/authorize', { style: { brandColor: '#000000', logo: mark } }),
  oauth('lime', 'Lime', 'https://lime.example/authorize', { style: { brandColor: '#c6f135', logo: mark } }),
  oauth('acme', 'Acme Workforce', 'https://acme.example/authorize', { style: { brandColor: '#e3156a' } }),
  oauth('mosaic', 'Mosaic', 'https://mosaic.example/authorize', { style: { logo: colours } }),
  mail,
  password,
  passkey(),
]

/** A running app. */
export interface Site {
  url: string
  errors: Error[]
  close(): Promise<void>
}

export async function startSite(config: AuthConfig = {}, pages?: PagesPluginOptions, plugins: readonly Plugin[] = []): Promise<Site> {
  const errors: Error[] = []
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    providers: everything,
    adapter: memoryAdapter(),
    session: { strategy: 'jwt' },
    experimental: { enableWebAuthn: true },
    logger: { error: (error) => void errors.push(error), warn: () => undefined, debug: () => undefined },
    ...config,
  }).use(nodeBinding())
  if (pages) auth.use(pagesPlugin(pages))
  for (const plugin of plugins) auth.use(plugin)
  const { url, close } = await listen((req, res) => {
    void auth.node.handler(req, res).then(async (answered) => {
      if (answered) return
      const session = await auth.node.session(req, res)
      res.setHeader('content-type', 'text/html').end(`<!doctype html><title>app</title><p id="who">${session?.user?.name ?? 'nobody'}</p>`)
    })
  })
  return { url, errors, close }
}

/** A server on loopback. */
export async function listen(handler: RequestListener): Promise<{ url: string; server: Server; close(): Promise<void> }> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, close }
}

/** A window that writes down whatever the browser complains about. */
export interface Window {
  context: BrowserContext
  page: Page
  complaints: string[]
}

export async function openWindow(browser: Browser, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({ locale: 'en-US', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { context, page, complaints }
}
