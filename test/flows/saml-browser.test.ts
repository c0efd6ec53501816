/** A SAML identity provider on another site, by HTTP-POST in both directions, in a real Chromium: with scripts, without, and with a session that began before. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { samlPlugin } from 'authkernel/plugins/saml'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { idpEntity, idpKeys, sign, writeResponse } from '../saml/_idp.ts'
import { launch, person } from './_chromium.ts'
import { secret } from './_pages.ts'
import { listenSecure, type Secure } from './_tls.ts'

const servers: Secure[] = []
const errors: Error[] = []
const data = memoryData()
let browser: Browser
let app = ''
let provider = ''
let nameId = ''

/** Posts an answer to the request; at `/portal` an answer that nothing asked for. */
function providerPage(req: IncomingMessage, res: ServerResponse): void {
  let body = ''
  req.on('data', (part: Buffer) => void (body += part.toString()))
  req.on('end', () => {
    const xml = Buffer.from(new URLSearchParams(body).get('SAMLRequest') ?? '', 'base64').toString()
    const acs = `${app}/auth/saml/acme/acs`
    const request = /\bID="([^"]+)"/.exec(xml)?.[1]
    const parts = { now: Date.now(), request, nameId, destination: acs, recipient: acs, audience: `${app}/auth/saml/acme/metadata` }
    const answer = Buffer.from(sign(writeResponse({ ...parts, attributes: { email: [`${nameId}@acme.example`] } }))).toString('base64')
    res
      .setHeader('content-type', 'text/html')
      .end(
        `<!doctype html><title>provider</title><form method="post" action="${acs}"><input type="hidden" name="SAMLResponse" value="${answer}"><button>Answer</button></form>`,
      )
  })
}

beforeAll(async () => {
  const atProvider = await listenSecure(providerPage)
  servers.push(atProvider)
  // Another site than the app, and on the same machine.
  provider = atProvider.url.replace('localhost', '127.0.0.1')
  const idp = { entityId: idpEntity, signInUrl: `${provider}/sso`, binding: 'post' as const, certificates: [idpKeys.certificate] }
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    throttle: false,
    session: { strategy: 'database' },
    logger: { error: (error) => void errors.push(error), warn: () => undefined, debug: () => undefined },
    providers: [
      {
        id: 'credentials',
        name: 'Name',
        type: 'credentials',
        credentials: { user: { label: 'User' } },
        authorize: ({ user }) => ({ id: String(user) }),
      },
    ],
  })
    .use(adapterPlugin(memoryAdapter(data)))
    .use(samlPlugin({ id: 'acme', name: 'Acme', idp, idpInitiated: true }))
    .use(nodeBinding())
  await auth.ready()
  const own = await listenSecure((req, res) => {
    void auth.node.handler(req, res).then(async (answered) => {
      if (answered) return
      const session = await auth.node.session(req, res)
      res
        .setHeader('content-type', 'text/html')
        .end(`<!doctype html><title>app</title><p id="who">${session?.user?.id ?? 'signed out'}</p>`)
    })
  })
  servers.push(own)
  app = own.url
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await Promise.all(servers.map((server) => server.close()))
})
let count = 0
beforeEach(() => {
  errors.length = 0
  for (const map of [data.users, data.accounts, data.sessions]) map.clear()
  nameId = `ada-${++count}`
})

const who = async (page: Page): Promise<string | null> => {
  await page.goto(`${app}/`)
  return page.textContent('#who')
}
/** A screenshot of the page, where a folder is given. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SAML_PICTURES']
  if (folder === undefined) return
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ animations: 'disabled', path: `${folder}/${name}-${width}.png` })
  }
}

describe.each([true, false])('with scripts: %s', (javaScriptEnabled) => {
  it('signs in by HTTP-POST in both directions', async () => {
    const { page, context, complaints } = await person(browser, { ignoreHTTPSErrors: true, javaScriptEnabled })
    await page.goto(`${app}/auth/signin?callbackUrl=/`)
    await page.click('form[action*="/signin/acme"] button')
    if (!javaScriptEnabled) {
      await picture(page, 'post')
      await page.getByRole('button', { name: 'Continue' }).click()
    }
    await page.waitForURL(`${provider}/sso`)
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.waitForURL(`${app}/`)
    const [user] = [...data.users.keys()]
    expect([await who(page), errors, complaints]).toEqual([user, [], []])
    await context.close()
  })

  it('links the account to the user who was signed in, whose cookie the cross-site POST does not bring', async () => {
    const { page, context } = await person(browser, { ignoreHTTPSErrors: true, javaScriptEnabled })
    await page.goto(`${app}/auth/signin?callbackUrl=/`)
    await page.click('form[action*="/signin/acme"] button')
    if (!javaScriptEnabled) await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.waitForURL(`${app}/`)
    nameId = `${nameId}-second`
    await page.goto(`${app}/auth/signin?callbackUrl=/`)
    await page.click('form[action*="/signin/acme"] button')
    if (!javaScriptEnabled) await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Answer' }).click()
    if (!javaScriptEnabled) {
      await picture(page, 'return')
      await page.getByRole('button', { name: 'Continue' }).click()
    }
    await page.waitForURL(`${app}/`)
    expect([data.users.size, data.accounts.size, errors]).toEqual([1, 2, []])
    await context.close()
  })

  it('asks before a sign-in that began at the identity provider', async () => {
    const { page, context } = await person(browser, { ignoreHTTPSErrors: true, javaScriptEnabled })
    await page.goto(`${provider}/portal`)
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await picture(page, 'confirm')
    expect(data.users.size).toBe(0)
    await page.getByRole('button', { name: `Sign in as ${nameId}@acme.example` }).click()
    await page.waitForURL((url) => url.origin === app && !url.pathname.startsWith('/auth'))
    expect([await who(page), errors]).toEqual([[...data.users.keys()][0], []])
    await context.close()
  })
})
