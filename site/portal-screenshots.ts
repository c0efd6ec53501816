/** Screenshots of the portal for the guides: a real Chromium opens a link and chooses a product. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { portalPlugin } from 'authkernel/plugins/portal'
import { samlPlugin } from 'authkernel/plugins/saml'
import { ssoPlugin } from 'authkernel/plugins/sso'

/** Products of the guides, by the marker `<!-- portal entra -->` in docs/tasks. */
export const portalProducts: Readonly<Record<string, string>> = { entra: 'Microsoft Entra ID', okta: 'Okta', google: 'Google Workspace' }

/** Writes `portal-<product>.png` to a folder and answers the names of the files. Rejects where Chromium is not installed. */
export async function takePortalScreenshots(folder: string, executablePath: string): Promise<string[]> {
  const auth = createAuth({
    secret: 'a secret for screenshots of the documentation',
    env: false,
    trustHost: true,
    session: { strategy: 'database' },
  })
    .use(adapterPlugin(memoryAdapter()))
    .use({ name: 'mails', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
    .use(organizationsPlugin({ domains: { isPublicSuffix: () => false, resolveTxt: () => Promise.resolve([]) } }))
    .use(samlPlugin())
    .use(ssoPlugin())
    .use({
      name: 'owner',
      setup(kernel) {
        return {
          addOwner: () =>
            kernel.job({ job: 'screenshots' }, (ctx) => ctx.users.create({ email: 'ada@acme.example', name: 'Ada', emailVerified: null })),
        }
      },
    })
    .use(portalPlugin())
    .use(nodeBinding())
  await auth.ready()
  const server = createServer((req, res) => void auth.node.handler(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://localhost:${(server.address() as AddressInfo).port}/auth`
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] })
  mkdirSync(folder, { recursive: true })
  try {
    const { id } = await auth.organizations.create({ userId: (await auth.addOwner()).id }, { name: 'Acme' })
    const { url } = await auth.portal.createLink({ system: true, base }, id, { email: 'it@acme.example' })
    const page = await browser.newPage({ locale: 'en-US', viewport: { width: 1280, height: 1000 }, reducedMotion: 'reduce' })
    await page.goto(url)
    await page.getByRole('button', { name: 'Open the portal' }).click()
    for (const [product, name] of Object.entries(portalProducts)) {
      await page.goto(`${base}/portal/connections?product=${product}`)
      await page.getByRole('button', { name: 'Use SAML 2.0' }).click()
      await page.getByText(`${name} · SAML 2.0`).waitFor()
      await page.screenshot({ path: join(folder, `portal-${product}.png`) })
    }
    return Object.keys(portalProducts).map((product) => `portal-${product}.png`)
  } finally {
    await browser.close()
    server.close()
    server.closeAllConnections()
    await auth.close()
  }
}
