/** The pages of people and organizations in Chromium: all of it without JavaScript, from 320 pixels, in five languages, without a complaint of axe-core. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import type { MailMessage, Plugin, Provider } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { adminPlugin } from 'authkernel/plugins/admin'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import type { run } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sampleCases } from '../_tier.ts'
import { type NameServer, nameServer } from '../plugins/_dns.ts'
import { launch } from './_chromium.ts'
import { listen, openWindow, secret } from './_pages.ts'

type Axe = { run: typeof run }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const provider: Provider = {
  id: 'credentials',
  name: 'Name',
  type: 'credentials',
  credentials: { user: { label: 'User' } },
  authorize: ({ user }) => ({ id: String(user), name: String(user) }),
}

async function start() {
  const store = memoryAdapter()
  for (const id of ['ada', 'bob', 'root']) await store.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const [mails, errors]: [MailMessage[], unknown[]] = [[], []]
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    providers: [provider],
    session: { strategy: 'database' },
    logger: { error: (error) => void errors.push(error), warn: () => undefined, debug: () => undefined },
  })
    .use(adapterPlugin(store))
    .use(postbox)
    .use(multiSessionPlugin())
    .use(adminPlugin({ can: ({ admin }) => admin.id === 'root', pages: true }))
    .use(impersonationPlugin({ can: ({ admin }) => admin.id === 'root' }))
    .use(organizationsPlugin({ domains: { isPublicSuffix: () => false } }))
    .use(nodeBinding())
  await auth.ready()
  const { url, close } = await listen((req, res) => {
    void auth.node.handler(req, res).then((answered) => answered || res.end('<!doctype html><title>app</title>'))
  })
  return { auth, url, mails, errors, close }
}

let browser: Browser
let site: Awaited<ReturnType<typeof start>>
let dns: NameServer
beforeAll(async () => {
  ;[browser, site, dns] = await Promise.all([launch(), start(), nameServer()])
})
afterAll(async () => {
  await browser.close()
  await site.close()
  await dns.close()
})

/** A signed-in user, without JavaScript, on a small phone. */
async function phone(user: string): Promise<Page> {
  const { page } = await openWindow(browser, { javaScriptEnabled: false, viewport: { width: 320, height: 640 } })
  await page.goto(`${site.url}/auth/signin`)
  await page.fill('input[name=user]', user)
  await page.click('form[action*=credentials] button[type=submit]')
  return page
}
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).first().click()
const follow = (page: Page, name: string): Promise<void> => page.getByRole('link', { name, exact: true }).first().click()
/** A link beside the page: on a phone behind the menu, which opens without JavaScript. */
async function open(page: Page, name: string): Promise<void> {
  await page.locator('.ui-burger').click()
  await page.locator('#ui-nav').getByRole('link', { name, exact: true }).click()
}
const status = (page: Page) => page.getByRole('status').textContent()

it('teams, domains, settings, invitations and the end of an organization, without JavaScript', async () => {
  const page = await phone('ada')
  await page.goto(`${site.url}/auth/account`)
  await follow(page, 'Manage organizations')
  await page.fill('input[name=name]', 'Acme')
  await press(page, 'Create an organization')
  expect(await page.textContent('h1')).toBe('Acme')
  const id = new URL(page.url()).searchParams.get('organization')!

  await page.fill('input[name=email]', 'bob@example.com')
  await press(page, 'Send the invitation')
  expect(await status(page)).toBe('Done.')
  await expect.poll(() => site.mails.length).toBe(1)
  const bob = await phone('bob')
  await bob.goto(/https?:\/\/\S+invitation\?token=[0-9a-f]+/.exec(site.mails[0]!.text)![0])
  expect(bob.url()).not.toContain('token')
  await press(bob, 'Accept')
  expect(await bob.textContent('h1')).toBe('Acme')

  await page.goto(`${site.url}/auth/organizations/members?organization=${id}`)
  await open(page, 'Teams')
  await page.fill('input[name=name]', 'Core')
  await press(page, 'Create a team')
  await follow(page, 'Core')
  await page.fill('input[name=email]', 'bob@example.com')
  await page.selectOption('select[name=role]', 'admin')
  await press(page, 'Add a member')
  expect(await page.locator('.ui-row').textContent()).toMatch(/bob.*Administrator/s)
  await page.fill('input[name=email]', 'root@example.com')
  await press(page, 'Add a member')
  expect(await page.getByRole('alert').textContent()).toContain('you are no member')
  await page.fill('input[name=name]', 'Kernel')
  await press(page, 'Save')
  expect(await page.locator('main h2').first().textContent()).toBe('Kernel')
  await press(page, 'Take out of the team')
  expect(await page.locator('.ui-row').count()).toBe(0)
  await press(page, 'Delete the team')
  expect(await status(page)).toBe('Done.')
  expect(await page.getByRole('link', { name: 'Kernel' }).count()).toBe(0)

  await open(page, 'Domains')
  await page.fill('input[name=domain]', 'acme.test')
  await press(page, 'Claim a domain')
  await press(page, 'Check the record')
  expect(await page.getByRole('alert').textContent()).toContain('not there yet')
  const [record, text] = await page.locator('main code').allTextContents()
  dns.records.set(record!, [text!])
  await press(page, 'Check the record')
  expect(await page.locator('main').textContent()).toContain('Proved.')
  await page.selectOption('select[name=provider]', 'credentials')
  await press(page, 'Save')
  expect(await page.locator('select[name=provider]').inputValue()).toBe('credentials')
  expect(await site.auth.organizations.domains.list({ system: true }, id)).toMatchObject([{ domain: 'acme.test', provider: 'credentials' }])
  await page.selectOption('select[name=joining]', 'suggest')
  await page.locator('form:has(select[name=joining]) button').click()
  expect(await site.auth.organizations.domains.list({ system: true }, id)).toMatchObject([{ joining: 'suggest' }])
  await press(page, 'Give the domain up')
  expect(await page.getByRole('button', { name: 'Give the domain up' }).count()).toBe(0)

  await open(page, 'Roles')
  await page.fill('input[name=title]', 'Inviter')
  await page.check('input[name="permission.invitation:create"]')
  await press(page, 'Create a role')
  await open(page, 'Members')
  await follow(page, 'bob')
  await page.getByLabel('Inviter').check()
  await press(page, 'Save')
  expect(await page.locator('.ui-table').textContent()).toContain('Member, Inviter')
  await page.fill('input[name=q]', 'nobody of this name')
  await press(page, 'Search')
  expect(await page.locator('.ui-table').filter({ hasText: 'bob' }).count()).toBe(0)
  await page.fill('textarea', 'many@example.com\nbroken')
  await press(page, 'Send the invitations')
  expect(await page.locator('.ui-table').textContent()).toMatch(/many@example.com.*Sent.*broken.*Not sent/s)
  await open(page, 'History')
  expect(await page.locator('.ui-table').textContent()).toContain('Role created')

  // A plain member neither sees nor reaches what the role does not permit.
  await bob.goto(`${site.url}/auth/organizations/teams?organization=${id}`)
  expect(await bob.getByRole('link', { name: 'Domains' }).count()).toBe(0)
  expect(await bob.locator('main form').count()).toBe(0)
  expect((await bob.goto(`${site.url}/auth/organizations/domains?organization=${id}`))!.status()).toBe(403)
  expect((await bob.goto(`${site.url}/auth/organizations/settings?organization=${id}`))!.status()).toBe(200)
  expect(await bob.locator('main form').count()).toBe(0)

  await open(page, 'Settings')
  await page.locator('input[name=name]').first().fill('Acme Corp')
  await press(page, 'Save')
  expect(await page.textContent('h1')).toBe('Acme Corp')
  await page.locator('input[name=name]').last().fill('Acme')
  await press(page, 'Delete the organization')
  expect(await page.getByRole('alert').count()).toBe(1)
  await page.locator('input[name=name]').last().fill('Acme Corp')
  await press(page, 'Delete the organization')
  expect(new URL(page.url()).pathname).toBe('/auth/organizations')
  expect(await site.auth.organizations.get({ userId: 'ada' }, id)).toBeNull()
  expect(site.errors).toEqual([])
}, 120_000)

it.each(sampleCases(['de', 'en', 'fr', 'ja', 'es'], 3))(
  'no complaint of axe-core, and nothing wider than 320 pixels: %s',
  async (locale) => {
    const { id } = await site.auth.organizations.create({ userId: 'root' }, { name: 'An organization with a long name' })
    await site.auth.organizations.add({ system: true }, id, 'bob', 'admin')
    const team = await site.auth.organizations.teams.create({ userId: 'root' }, id, { name: 'Team' })
    await site.auth.organizations.teams.add({ userId: 'root' }, id, team.id, 'bob', 'admin')
    await site.auth.organizations.domains.claim({ userId: 'root' }, id, `a-rather-long-domain-name-${locale}.example`)
    const { record, text } = await site.auth.organizations.domains.claim({ userId: 'root' }, id, `${locale}.example`)
    dns.records.set(record, [text])
    await site.auth.organizations.domains.prove({ userId: 'root' }, id, `${locale}.example`)
    const { page, context } = await openWindow(browser, {
      locale,
      colorScheme: locale === 'de' ? 'dark' : 'light',
      viewport: { width: 320, height: 640 },
    })
    await page.goto(`${site.url}/auth/signin`)
    await page.fill('input[name=user]', 'root')
    await page.click('form[action*=credentials] button[type=submit]')
    const at = `organization=${id}`
    await page.goto(`${site.url}/auth/organizations/members?${at}`)
    await page.fill('input[name=email]', `somebody-with-a-long-address-${locale}@mail.example`)
    await page.locator('form:has(input[name=email]) button').click()
    const paths = [
      '/organizations',
      `/organizations/members?${at}&done=1`,
      `/organizations/teams?${at}`,
      `/organizations/teams?${at}&team=${team.id}`,
      `/organizations/member?${at}&userId=bob`,
      `/organizations/roles?${at}`,
      `/organizations/history?${at}`,
      `/organizations/domains?${at}&error=DomainUnproved`,
      `/organizations/settings?${at}`,
      `/organizations/teams?organization=x`,
      '/organizations/invitation',
      '/switch',
      '/admin',
      '/admin/user?id=ada',
      '/account/delete?error=LastOwner',
      '/account',
    ]
    for (const path of paths) {
      await page.goto(`${site.url}/auth${path}`)
      expect(await page.getAttribute('html', 'lang'), path).toMatch(new RegExp(`^${locale}`))
      expect(await violations(page), path).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(320)
      // A text that is missing is empty, or English.
      for (const one of await page.locator('h1, h2, button, main a, label').allTextContents()) expect(one.trim(), path).not.toBe('')
    }
    await context.close()
    await site.auth.organizations.delete({ system: true }, id)
  },
  120_000,
)

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run({ resultTypes: ['violations'] }))
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`),
  )
}
