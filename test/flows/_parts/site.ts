/** An app with the ready-made parts, over the real server with passwords, codes, a second factor, passkeys, organizations and API keys. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { addressPlugin } from 'authkernel/plugins/address'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { emailPlugin } from 'authkernel/plugins/email'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { passkey as passkeyFactor, totp, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import passkey from 'authkernel/providers/passkey'
import { pinPlugin } from '../../../playground/express/pin-plugin.ts'
import { oauth } from '../_pages.ts'
import { type MailServer, startMailServer } from '../_mail-server.ts'

export interface PartsSite {
  readonly url: string
  readonly mails: MailServer
  readonly errors: unknown[]
  /** Moves the clock of the server, in seconds. */
  wait(seconds: number): void
  now(): number
  close(): Promise<void>
}

/** The server, and the built app at every path that is not one of its routes. */
export async function startPartsSite(script: string): Promise<PartsSite> {
  const mails = await startMailServer()
  const errors: unknown[] = []
  let offset = 0
  const now = (): number => Date.now() + offset
  const auth = createAuth({
    secret: 'a secret of more than thirty-two characters',
    trustHost: true,
    env: false,
    session: { strategy: 'database' },
    runtime: { now },
    logger: { error: (error) => void errors.push(error), warn: () => {}, debug: () => {} },
    providers: [passkey(), oauth('acme', 'Acme', 'https://acme.example/authorize')],
  })
    .use(adapterPlugin(memoryAdapter()))
    .use(emailPlugin({ server: `smtp://127.0.0.1:${mails.port}`, from: 'no-reply@app.example', signIn: false }))
    .use(passwordsPlugin({ breached: false }))
    .use(codesPlugin({ via: email() }))
    .use(pinPlugin({ id: 'door', name: 'Door', type: 'pin', people: [{ id: '2', name: 'Pia', pin: '4711' }] }))
    .use(twoFactorPlugin({ factors: [totp(), passkeyFactor()], issuer: 'Parts', trustedDevices: true }))
    .use(accountsPlugin({ routes: true }))
    .use(addressPlugin())
    .use(organizationsPlugin())
    .use(apiKeysPlugin({ routes: true, scopes: ['read', 'write'] }))
    .use(nodeBinding())
  await auth.ready()
  const css = readFileSync(new URL('../../../src/parts/parts.css', import.meta.url), 'utf8')
  const page = `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>app</title><style>:root{color-scheme:light dark}body{margin:2rem auto;max-width:52rem;padding:0 1rem;background:light-dark(#f6f6f7,#0a0a0b)}${css}</style></head><body><main id="app"></main><script>globalThis.shown=[]</script><script type="module" src="/app.js"></script></body></html>`
  const http = createServer((request, response) => {
    void (async () => {
      if (await auth.node.handler(request, response)) return
      const isScript = request.url === '/app.js'
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' }).end(isScript ? script : page)
    })()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(http.address() as AddressInfo).port}`,
    mails,
    errors,
    wait: (seconds) => void (offset += seconds * 1000),
    now,
    async close() {
      http.closeAllConnections()
      await new Promise<void>((resolve) => http.close(() => resolve()))
      await mails.close()
    },
  }
}
