/** An app with passkeys on loopback, and Chromium with a virtual authenticator in front of it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createAuth, type AuthConfig } from 'authkernel'
import type { Auth, AuthError, Plugin } from 'authkernel/kernel'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import passkey from 'authkernel/providers/passkey'
import { build } from 'esbuild'
import { type Browser, type BrowserContext, type CDPSession, type Page } from 'playwright-core'
import { browserScript } from '../../plugins/sign-in/webauthn/browser.generated.ts'

/** The address is a name: an IP address cannot be a relying party. */
export interface Site {
  url: string
  auth: Auth
  data: MemoryData
  errors: AuthError[]
  close(): Promise<void>
}

export async function startSite(config: AuthConfig = {}, plugins: readonly Plugin<object | void>[] = []): Promise<Site> {
  const data = memoryData()
  const errors: AuthError[] = []
  const auth = createAuth({
    secret: 'a secret of more than thirty-two characters',
    trustHost: true,
    env: false,
    experimental: { enableWebAuthn: true },
    providers: [passkey()],
    adapter: memoryAdapter(data),
    logger: { error: (error) => void errors.push(error as AuthError), warn: () => {}, debug: () => {} },
    ...config,
  })
  for (const plugin of plugins) auth.use(plugin as Plugin)
  const scripts = await clientScripts()
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const url = `http://${request.headers.host}${request.url}`
      const answer = url.includes('/auth/')
        ? await auth.handler(
            new Request(url, {
              method: request.method ?? 'GET',
              headers: request.headers as Record<string, string>,
              ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
            }),
          )
        : await ownPage(new URL(url), scripts, async () =>
            JSON.stringify(await auth.session(new Request(url, { headers: request.headers as Record<string, string> }))),
          )
      for (const [name, value] of answer.headers) if (name !== 'set-cookie') response.setHeader(name, value)
      response.setHeader('set-cookie', answer.headers.getSetCookie())
      response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://localhost:${port}`, auth, data, errors, close: () => stop(server) }
}

async function ownPage(url: URL, scripts: Map<string, string>, session: () => Promise<string>): Promise<Response> {
  const script = scripts.get(url.pathname)
  if (script) return new Response(script, { headers: { 'content-type': 'text/javascript' } })
  const html = url.pathname === '/account' ? accountPage : `<pre id="session">${await session()}</pre>`
  return new Response(`<!doctype html><title>${url.pathname}</title>${html}`, { headers: { 'content-type': 'text/html' } })
}

/** A page of a host's own, with the markup that the script documents. */
const accountPage = `<form method="post" action="/auth/callback/passkey" data-options-url="/auth/webauthn-options/passkey" data-text-cancelled="Abgebrochen.">
<input type="hidden" name="csrfToken"><input type="hidden" name="callbackUrl" value="/done">
<input name="submit" value="a field may be called so">
<button name="action" value="register">Add a passkey</button>
</form>
<script type="module">
const { csrfToken } = await (await fetch('/auth/csrf')).json()
document.forms[0].elements.csrfToken.value = csrfToken
document.body.dataset.ready = ''
</script>
<script>${browserScript}</script>`

/** `authkernel/client` as a bundler delivers it, by path. */
async function clientScripts(): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    entryPoints: { client: fileURLToPath(new URL('../../src/client/index.ts', import.meta.url)) },
    bundle: true,
    splitting: true,
    format: 'esm',
    outdir: '/scripts',
    write: false,
  })
  return new Map(outputFiles.map(({ path, text }) => [path.slice(path.indexOf('/scripts')), text]))
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

/** A browser window with a platform authenticator of its own. */
export interface Window {
  context: BrowserContext
  page: Page
  cdp: CDPSession
  authenticatorId: string
}

export async function openWindow(browser: Browser): Promise<Window> {
  const context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable', { enableUI: false })
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { context, page, cdp, authenticatorId }
}

/** Whether the person puts a finger on the sensor. */
export async function verified(window: Window, yes: boolean): Promise<void> {
  await window.cdp.send('WebAuthn.setUserVerified', { authenticatorId: window.authenticatorId, isUserVerified: yes })
}
