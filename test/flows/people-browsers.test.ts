/** People with two browsers: Chromium binds a session to a key, a thief has the cookies, an administrator acts, and accounts are switched. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import type { Provider } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { auditPlugin, recordsSink } from 'authkernel/plugins/audit'
import { deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { impersonationPlugin } from 'authkernel/plugins/impersonation'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { multiSessionPlugin } from 'authkernel/plugins/multi-session'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { secret } from './_pages.ts'
import { listenSecure, type Profile, profile, type Secure } from './_tls.ts'

const minute = 60_000
let offset = 0
const now = () => Date.now() + offset
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
  const [told, errors]: [string[], unknown[]] = [[], []]
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    runtime: { now },
    providers: [provider],
    session: { strategy: 'jwt', revocable: true },
    logger: { error: (error) => void errors.push(error), warn: () => undefined, debug: () => undefined },
  })
    .use(adapterPlugin(store))
    .use(deviceSessionsPlugin({ bind: 'optional' }))
    .use(multiSessionPlugin())
    .use(impersonationPlugin({ can: ({ admin }) => admin.id === 'root' }))
    .use(auditPlugin({ sink: recordsSink() }))
    .use(nodeBinding())
  auth.on('deviceBinding', ({ what }) => void told.push(what))
  await auth.ready()

  /** The host's own pages: who is here, and a button for administrators. */
  async function own(request: Request): Promise<Response> {
    const url = new URL(request.url)
    if (url.pathname === '/act')
      return auth.impersonation.start(request, { userId: url.searchParams.get('user') ?? '', reason: 'ticket 4711', returnTo: '/' })
    const session = await auth.session(request)
    const text = `${session?.user?.name ?? 'nobody'}${session?.actor ? `, by ${session.actor.id}` : ''}`
    return new Response(`<!doctype html><title>app</title><p id="who">${text}</p>`, { headers: { 'content-type': 'text/html' } })
  }
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (await auth.node.handler(req, res)) return
    const headers = { cookie: req.headers.cookie ?? '' }
    const response = await own(new Request(`https://${req.headers.host}${req.url}`, { headers }))
    for (const [name, value] of response.headers) if (name !== 'set-cookie') res.setHeader(name, value)
    res.setHeader('set-cookie', response.headers.getSetCookie())
    res.writeHead(response.status).end(Buffer.from(await response.arrayBuffer()))
  }
  const site = await listenSecure((req, res) => void answer(req, res).catch((error: unknown) => errors.push(error)))
  return { auth, site, told, errors }
}

let world: Awaited<ReturnType<typeof start>>
let site: Secure
const profiles: Profile[] = []
beforeAll(async () => {
  world = await start()
  site = world.site
}, 60_000)
afterAll(async () => {
  await Promise.all(profiles.map((each) => each.close()))
  await site?.close()
  await world?.auth.close()
})

async function browser(): Promise<{ context: BrowserContext; page: Page }> {
  const opened = await profile(site.pin)
  profiles.push(opened)
  return { context: opened.context, page: opened.context.pages()[0] ?? (await opened.context.newPage()) }
}
/** Signs in, and waits until the browser has bound the session. */
async function signIn(page: Page, user: string, how: { bound?: boolean } = {}): Promise<void> {
  const before = world.told.filter((what) => what === 'registered').length
  if (!page.url().includes('/signin')) await page.goto(`${site.url}/auth/signin?callbackUrl=/`)
  await page.fill('input[name=user]', user)
  await page.click('form[action*=credentials] button[type=submit]')
  await page.waitForURL(`${site.url}/`)
  if (how.bound !== false)
    await expect.poll(() => world.told.filter((what) => what === 'registered').length, { timeout: 10_000 }).toBe(before + 1)
}
async function who(page: Page): Promise<string | null> {
  await page.goto(`${site.url}/`)
  return page.textContent('#who')
}
const short = (context: BrowserContext) => context.cookies().then((all) => all.filter(({ name }) => name.includes('.device.')))

describe('a stolen jar in a second browser', () => {
  it('Chromium binds the session, and the copied cookies are dead when the short one ends; the owner goes on', async () => {
    const [owner, thief] = [await browser(), await browser()]
    await signIn(owner.page, 'ada')
    await expect.poll(async () => (await short(owner.context)).length).toBe(1)
    expect(await who(owner.page)).toBe('ada')

    // All that the browser has, copied.
    const jar = await owner.context.cookies()
    await thief.context.addCookies(jar)
    expect(await who(thief.page), 'while the short cookie lives').toBe('ada')

    // The short cookie ends, for the server and in the owner's browser.
    offset += 6 * minute
    await owner.context.clearCookies({ name: jar.find(({ name }) => name.includes('.device.'))!.name })
    expect(await who(thief.page)).toBe('nobody')
    await thief.page.goto(`${site.url}/auth/account`)
    expect(new URL(thief.page.url()).pathname).not.toBe('/auth/account')
    const told = world.told.length
    expect(await who(owner.page)).toBe('ada')
    expect(world.told.slice(told)).toContain('refreshed')
    expect((await short(owner.context))[0]!.value).not.toBe(jar.find(({ name }) => name.includes('.device.'))!.value)

    // The thief has no key, and what the owner's browser gets is nothing for an old copy.
    expect(await who(thief.page)).toBe('nobody')
    await thief.context.clearCookies({ name: jar.find(({ name }) => name.includes('.device.'))!.name })
    expect(await who(thief.page)).toBe('nobody')
    expect(await who(owner.page)).toBe('ada')

    // Signing out ends it for both, and the browser forgets the key.
    await owner.page.goto(`${site.url}/auth/signout`)
    await owner.page.click('form[action*=signout] button[type=submit]')
    expect(await who(owner.page)).toBe('nobody')
    await thief.context.addCookies(jar)
    expect(await who(thief.page)).toBe('nobody')
    expect(world.errors).toEqual([])
  }, 120_000)
})

describe('accounts of one browser', () => {
  it('are added, switched and signed out on the page, each bound by Chromium; the other browser sees none of it', async () => {
    const [mine, other] = [await browser(), await browser()]
    await signIn(mine.page, 'ada')
    await signIn(other.page, 'bob')
    await mine.page.goto(`${site.url}/auth/switch`)
    await mine.page.getByRole('button', { name: 'Add an account' }).click()
    await signIn(mine.page, 'bob')
    expect(await who(mine.page)).toBe('bob')
    await mine.page.goto(`${site.url}/auth/switch`)
    expect(await mine.page.locator('.ui-row .ui-main > div > bdi').allTextContents()).toEqual(expect.arrayContaining(['ada', 'bob']))
    await mine.page.locator('.ui-row', { hasText: 'ada' }).getByRole('button').first().click()
    expect(await who(mine.page)).toBe('ada')
    expect(await who(other.page)).toBe('bob')
    expect(
      await other.page.goto(`${site.url}/auth/switch`).then(() => other.page.locator('.ui-row .ui-main > div > bdi').allTextContents()),
    ).toEqual(['bob'])
    // The list, carried to another browser, opens nothing there once the short cookies have ended.
    const jar = await mine.context.cookies()
    await other.context.clearCookies()
    await other.context.addCookies(jar)
    offset += 6 * minute
    expect(await who(other.page)).toBe('nobody')
    expect(world.errors).toEqual([])
  }, 120_000)
})

describe('an administrator who acts as a user', () => {
  it('sees the banner, goes back to the own bound session, and the log has both names', async () => {
    const [admin, user] = [await browser(), await browser()]
    await signIn(admin.page, 'root')
    await signIn(user.page, 'ada')
    await admin.page.goto(`${site.url}/act?user=ada`)
    expect(await admin.page.textContent('#who')).toBe('ada, by root')
    for (const path of ['/auth/signin', '/auth/error?error=AccessDenied', '/auth/signout']) {
      await admin.page.goto(site.url + path)
      expect(await admin.page.getByRole('status').textContent(), path).toMatch(/root.*ada/)
    }
    expect(await who(user.page), 'the user sees nothing of it').toBe('ada')
    await admin.page.goto(`${site.url}/auth/impersonation`)
    expect(await admin.page.textContent('main')).toContain('ticket 4711')
    await admin.page.locator('form[action*="impersonation/stop"] button').click()
    expect(await who(admin.page)).toBe('root')
    await admin.page.goto(`${site.url}/auth/impersonation`)
    expect(await admin.page.getByRole('status').count()).toBe(0)
    // Restored, and still bound: the key of this browser answers for it.
    const [cookie] = await short(admin.context)
    offset += 6 * minute
    await admin.context.clearCookies({ name: cookie!.name })
    expect(await who(admin.page)).toBe('root')
    const { records } = await world.auth.audit.list({ name: 'impersonation.started' })
    expect(records[0]).toMatchObject({ actor: { id: 'root' }, subject: { id: 'ada' } })
    expect(world.errors).toEqual([])
  }, 120_000)
})
