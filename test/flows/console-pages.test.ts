/** The console of administrators in Chromium: every page from 320 to 1280 pixels, both schemes, and an act with and without JavaScript. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { run } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { agentsPlugin } from 'authkernel/plugins/agents'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { auditPlugin, recordsSink } from 'authkernel/plugins/audit'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'

import { launch } from './_chromium.ts'
import { listen, openWindow, secret } from './_pages.ts'

type Axe = { run: typeof run }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const paths = [
  'overview',
  '',
  'new',
  'user?id=ada',
  'act?id=ada&action=ban&act=ban',
  'organizations',
  'keys',
  'clients',
  'client?id=partner',
  'clients/new',
  'agents',
  'audit',
  'configuration',
]

let browser: Browser
let site: Awaited<ReturnType<typeof startConsole>>
beforeAll(async () => {
  ;[browser, site] = await Promise.all([launch(), startConsole()])
})
afterAll(async () => {
  await browser.close()
  await site.close()
})

async function startConsole() {
  const store = memoryAdapter(memoryData())
  const auth = createAuth({
    secret,
    env: false,
    appName: 'Acme',
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        authorize: ({ user }) => ({ id: String(user), name: String(user) }),
        credentials: { user: {} },
      },
    ],
    session: { strategy: 'database' },
  })
    .use(adapterPlugin(store))
    .use(mailPlugin({ transport: { send: async () => undefined } }))
    .use(apiKeysPlugin())
    .use(organizationsPlugin())
    .use(auditPlugin({ sink: recordsSink(), chain: true }))
    .use(jwtPlugin())
    .use(agentsPlugin({ scopes: ['notes.read'] }))
    .use(
      authorizationServerPlugin({
        clients: [{ client_id: 'partner', client_name: 'Partner', redirect_uris: ['https://partner.example/callback'] }],
      }),
    )
    .use(adminPlugin({ roles: true, administrators: ['root'], approvals: { deleteUser: 2 }, pages: true }))
    .use(nodeBinding())
  await auth.ready()
  const names = ['root', 'ada', ...[...Array(60).keys()].map((at) => `user${at}`)]
  for (const id of names)
    await store.createUser({
      id,
      email: `${id}@a-long-name-of-a-company.example.com`,
      name: `${id} Lovelace`,
      emailVerified: id === 'ada' ? new Date(0) : null,
    })
  await auth.admin.setRole({ userId: 'root' }, 'user1', { role: 'administrator', reason: 'second' })
  await auth.admin.deleteUser({ userId: 'user1' }, 'user2', { reason: 'asked for by mail' })
  await auth.apiKeys.create({ userId: 'ada' }, { name: 'Build server' })
  await auth.agents.create({ userId: 'ada' }, { name: 'Robot', scopes: ['notes.read'] })
  await auth.organizations.create({ userId: 'ada' }, { name: 'Acme', slug: 'acme' })
  const { url, close } = await listen((req, res) => {
    void auth.node.handler(req, res).then((answered) => answered || res.end('<!doctype html><title>app</title>'))
  })
  return { url, close, auth }
}

async function signIn(options: BrowserContextOptions) {
  const window = await openWindow(browser, options)
  await window.page.goto(`${site.url}/auth/signin`)
  await window.page.fill('input[name=user]', 'root')
  await window.page.click('form[action*=credentials] button[type=submit]')
  return window
}

/** Reflow and axe; a picture where SHOTS names a folder. */
async function check(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${name} overflows`).toBeLessThanOrEqual(0)
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run())
  expect(violations.map(({ id, nodes }) => `${name}: ${id} ${nodes[0]?.html}`)).toEqual([])
}

it.each([
  [1280, 'light'],
  [768, 'dark'],
  [390, 'light'],
  [320, 'dark'],
] as const)('at %i pixels, %s: no page overflows, and axe finds nothing', async (width, colorScheme) => {
  const { page, context, complaints } = await signIn({ viewport: { width, height: 900 }, colorScheme })
  for (const path of paths) {
    await page.goto(`${site.url}/auth/admin${path === '' ? '' : `/${path}`}`)
    await check(page, `console-${path.replace(/\W.*/, '') || 'users'}-${width}-${colorScheme}`)
  }
  expect(complaints).toEqual([])
  await context.close()
})

it.each([true, false])('an act asks once, JavaScript %s, and the second administrator is named as missing', async (javaScriptEnabled) => {
  const { page, context } = await signIn({ viewport: { width: 1280, height: 900 }, javaScriptEnabled })
  const user = javaScriptEnabled ? 'user3' : 'user4'
  await page.goto(`${site.url}/auth/admin?q=${user}@`)
  await page.click(`table a:has-text("${user}")`)
  await page.click('a:has-text("Ban")')
  const form = page.locator('form:has(input[value=ban]):visible')
  await form.locator('input[name=reason]').fill('spam')
  await form.locator('button:has-text("Ban")').first().click()
  await page.locator('text=Banned: spam').waitFor()
  await page.click('a:has-text("Delete user")')
  const last = page.locator('form:has(input[value=deleteUser]):visible')
  await last.locator('input[name=reason]').fill('spam')
  await last.locator('button:has-text("Delete user")').first().click()
  await page.locator('text=Another administrator must approve this.').first().waitFor()
  expect((await site.auth.admin.get({ userId: 'root' }, user))?.ban).toMatchObject({ reason: 'spam' })
  await context.close()
})

it.each([true, false])('a client is made, gets a new secret, and is disabled, JavaScript %s', async (javaScriptEnabled) => {
  const { page, context, complaints } = await signIn({ viewport: { width: 1280, height: 900 }, javaScriptEnabled })
  const name = `Shop ${javaScriptEnabled}`
  await page.goto(`${site.url}/auth/admin/clients`)
  await page.click('a:has-text("New client")')
  await page.fill('input[name=client_name]', name)
  await page.fill('textarea[name=redirect_uris]', 'http://shop.example/cb')
  await page.fill('input[name=reason]', 'contract 4711')
  await page.click('button:has-text("Save")')
  await page.locator('text=use https').waitFor()
  await page.fill('textarea[name=redirect_uris]', 'https://shop.example/cb')
  await page.click('button:has-text("Save")')
  await page.locator(`h1:has-text("Secret of ${name}")`).waitFor()
  if (javaScriptEnabled) await check(page, 'console-secret')
  await page.click('a:has-text("Back")')
  await page.locator(`h1:has-text("${name}")`).waitFor()
  const ask = async (label: string) => {
    await page.click(`a:has-text("${label}")`)
    const form = page.locator(`form:has(button:has-text("${label}")):visible`).first()
    await form.locator('input[name=reason]').fill('leaked')
    await form.locator(`button:has-text("${label}")`).first().click()
  }
  await ask('New secret')
  await page.locator(`h1:has-text("Secret of ${name}")`).waitFor()
  await page.click('a:has-text("Back")')
  await ask('Disable')
  await page.locator('a:has-text("Enable")').waitFor()
  const { items } = await site.auth.admin.listClients({ userId: 'root' }, { text: name })
  expect(items).toMatchObject([{ name, disabled: expect.any(Date), formerSecretUntil: expect.any(Date) }])
  // The browser tells of the form that was refused.
  expect(complaints.filter((text) => !text.includes('status of 400'))).toEqual([])
  await context.close()
})
