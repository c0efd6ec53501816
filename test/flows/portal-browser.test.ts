/** The IT of a customer walks through the portal in Chromium: with scripts and without, on a phone and on a wide screen, to a SAML provider on another site and back. */
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { inflateRawSync } from 'node:zlib'
import type { run } from 'axe-core'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { portalPlugin } from 'authkernel/plugins/portal'
import { samlPlugin } from 'authkernel/plugins/saml'
import { ssoPlugin } from 'authkernel/plugins/sso'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { idpEntity, idpKeys, sign, writeResponse } from '../saml/_idp.ts'
import { launch, person } from './_chromium.ts'
import { secret } from './_pages.ts'
import { listenSecure, type Secure } from './_tls.ts'

type Axe = { run: typeof run }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const servers: Secure[] = []
const dns = new Map<string, string[]>()
const store = memoryAdapter(memoryData())
let browser: Browser
let app = ''
let provider = ''
/** What the provider says of its user. */
let attributes: Record<string, string[]> = {}

/** Answers the request of the address with a page that posts the response. */
function providerPage(req: IncomingMessage, res: ServerResponse): void {
  const encoded = new URL(req.url ?? '', provider).searchParams.get('SAMLRequest') ?? ''
  const xml = encoded === '' ? '' : inflateRawSync(Buffer.from(encoded, 'base64')).toString()
  const acs = /AssertionConsumerServiceURL="([^"]+)"/.exec(xml)?.[1] ?? ''
  const request = /\bID="([^"]+)"/.exec(xml)?.[1]
  const parts = {
    now: Date.now(),
    request,
    nameId: 'grace-1',
    destination: acs,
    recipient: acs,
    audience: acs.replace(/acs$/, 'metadata'),
    attributes,
  }
  const answer = Buffer.from(sign(writeResponse(parts))).toString('base64')
  res
    .setHeader('content-type', 'text/html')
    .end(
      `<!doctype html><title>provider</title><form method="post" action="${acs}"><input type="hidden" name="SAMLResponse" value="${answer}"><button>Answer</button></form>`,
    )
}

function makeAuth() {
  return createAuth({
    secret,
    trustHost: true,
    env: false,
    throttle: false,
    session: { strategy: 'database' },
    providers: [
      {
        id: 'credentials',
        name: 'Name',
        type: 'credentials',
        credentials: { user: { label: 'User' } },
        authorize: async ({ user }) => store.getUser!(String(user)),
      },
    ],
  })
    .use(adapterPlugin(store))
    .use({ name: 'mails', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
    .use(organizationsPlugin({ domains: { isPublicSuffix: () => false, resolveTxt: (name) => Promise.resolve([dns.get(name) ?? []]) } }))
    .use(samlPlugin())
    .use(ssoPlugin())
    .use(portalPlugin())
    .use(nodeBinding())
}
let auth: ReturnType<typeof makeAuth>

beforeAll(async () => {
  const atProvider = await listenSecure(providerPage)
  servers.push(atProvider)
  // Another site than the app, and on the same machine.
  provider = atProvider.url.replace('localhost', '127.0.0.1')
  auth = makeAuth()
  await auth.ready()
  const own = await listenSecure((req, res) => {
    void auth.node.handler(req, res).then((answered) => answered || res.end('app'))
  })
  servers.push(own)
  app = own.url
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await Promise.all(servers.map((server) => server.close()))
})

/** Reflow and axe; a screenshot where SHOTS names a folder. */
async function check(page: Page, name: string, scripts: boolean): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder) await page.screenshot({ path: `${folder}/portal-${name}.png`, fullPage: true })
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${name} overflows`).toBeLessThanOrEqual(0)
  // axe-core waits for timers, which do not run without JavaScript.
  if (!scripts) return
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run())
  expect(violations.map(({ id, nodes }) => `${name}: ${id} ${nodes[0]?.html}`)).toEqual([])
}

it.each([
  [1280, 'light', true],
  [390, 'light', true],
  [390, 'dark', false],
] as const)('a company sets itself up at %i pixels, %s, JavaScript %s', async (width, colorScheme, javaScriptEnabled) => {
  const tag = `${width}-${colorScheme}`
  const owner = `ada-${tag}`
  const domain = `company-${tag}.example`
  await store.createUser!({ id: owner, email: `ada@${domain}`, name: 'Ada Lovelace', emailVerified: new Date() })
  const { id } = await auth.organizations.create({ userId: owner }, { name: 'Acme Inc' })
  const options = { ignoreHTTPSErrors: true, viewport: { width, height: 900 }, colorScheme, javaScriptEnabled }
  const shot = (page: Page, name: string) => check(page, `${name}-${tag}`, javaScriptEnabled)

  // The owner makes a link.
  const atOwner = await person(browser, options)
  const { csrfToken } = (await (await atOwner.context.request.get(`${app}/auth/csrf`)).json()) as { csrfToken: string }
  await atOwner.context.request.post(`${app}/auth/callback/credentials`, { form: { csrfToken, user: owner } })
  await atOwner.page.goto(`${app}/auth/portal/links?organization=${id}`)
  await atOwner.page.getByLabel('Email of the administrator').fill('it@acme.example')
  await shot(atOwner.page, 'links')
  await atOwner.page.getByRole('button', { name: 'Make a link' }).click()
  const url = (await atOwner.page.locator('#created code').textContent()) ?? ''
  await shot(atOwner.page, 'created')

  // The customer's IT opens it.
  const { page, context, complaints } = await person(browser, options)
  await page.goto(url)
  expect(page.url()).toBe(`${app}/auth/portal/open`)
  await shot(page, 'open')
  await page.getByRole('button', { name: 'Open the portal' }).click()
  await page.waitForURL('**/portal')
  await shot(page, 'overview')

  await page.goto(`${app}/auth/portal/domains`)
  await page.getByLabel('Domain', { exact: true }).fill(domain)
  await page.getByRole('button', { name: 'Add a domain' }).click()
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('has no TXT record').waitFor()
  await shot(page, 'domain-missing')
  const values = await page.locator('.ui-copy code').allTextContents()
  dns.set(values.find((one) => one.startsWith('_')) ?? '', [values.find((one) => one.includes('=')) ?? ''])
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('Verified').waitFor()
  await shot(page, 'domains')

  await page.goto(`${app}/auth/portal/connections`)
  await shot(page, 'products')
  await page.getByRole('link', { name: 'Choose' }).nth(1).click()
  await shot(page, 'protocol')
  await page.getByRole('button', { name: 'Use SAML 2.0' }).click()
  await page.getByText('Audience URI (SP Entity ID)').waitFor()
  await shot(page, 'draft')
  await page.getByText('Enter the fields manually').click()
  await page.getByLabel('Entity ID (issuer)').fill(idpEntity)
  await page.getByLabel('Sign-in address (SSO URL)').fill(`${provider}/sso`)
  await page.getByLabel('Signing certificate').fill(idpKeys.certificate)
  await page.locator('details').getByRole('button', { name: 'Save' }).first().click()
  await page.getByRole('button', { name: 'Test now' }).waitFor()

  // First an answer that the company must mend, then a right one.
  attributes = { uid: ['grace'] }
  await page.getByRole('button', { name: 'Test now' }).click()
  await page.getByRole('button', { name: 'Answer' }).click()
  await page.getByText('No email arrived').waitFor()
  await shot(page, 'test-failed')
  attributes = { email: [`grace@${domain}`], displayName: ['Grace Hopper'], groups: ['engineering', 'admins'] }
  await page.getByRole('button', { name: 'Test now' }).click()
  await page.getByRole('button', { name: 'Answer' }).click()
  await page.getByText('Attributes that arrived').first().waitFor()
  expect(await page.getByText('Failed', { exact: true }).count()).toBe(0)
  await shot(page, 'test-passed')
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByText('Users of your domains sign in with this connection.').waitFor()

  await page.goto(`${app}/auth/portal/policy`)
  await page.getByLabel(`ada@${domain}`).check()
  await shot(page, 'policy')
  await page.getByRole('button', { name: 'Require it', exact: true }).click()
  await page.getByText('In force').waitFor()
  await shot(page, 'policy-on')

  // A user of the company signs in.
  const user = await person(browser, options)
  await user.page.goto(`${app}/auth/signin`)
  await user.page.locator('input[name=identifier]').fill(`grace@${domain}`)
  await user.page.locator('form[action$="/identifier"] button[type=submit]').click()
  await user.page.getByRole('button', { name: 'Answer' }).click()
  await user.page.waitForURL(`${app}/`)
  await page.goto(`${app}/auth/portal/log`)
  await page.getByText(`grace@${domain}`).waitFor()
  await shot(page, 'log')

  // The owner ends it.
  await atOwner.page.goto(`${app}/auth/portal/links?organization=${id}`)
  await shot(atOwner.page, 'links-list')
  expect(complaints.filter((one) => !/status of 4(?:00|09)/.test(one))).toEqual([])
  await auth.portal.revokeLink({ system: true }, id, (await auth.portal.listLinks({ system: true }, id))[0]!.id)
  expect((await page.goto(`${app}/auth/portal`))?.status()).toBe(403)
  await shot(page, 'closed')
  for (const one of [context, atOwner.context, user.context]) await one.close()
})
