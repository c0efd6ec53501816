/** A provider on another site answers by an auto-submitting cross-site POST, as Apple does, and the session cookie is Lax: a real Chromium between the two. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import apple from 'authkernel/providers/apple'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LocalOp } from '../rows/_op.ts'
import { launch, person } from './_chromium.ts'
import { secret } from './_pages.ts'
import { listenSecure, type Secure } from './_tls.ts'

let offset = 0
const now = () => Date.now() + offset
const op = new LocalOp(now)
/** Whether the page of the provider waits for a click before it posts. */
let waits = false
/** Addresses of repeated answers, and whether they are kept from the app. */
const answers: string[] = []
let holds = false
const servers: Secure[] = []
let browser: Browser
/** The same in every test: the people are new. */
let site: Awaited<ReturnType<typeof start>>

/** The page of the provider: a form that posts the answer to the app. */
function providerPage(req: IncomingMessage, res: ServerResponse): void {
  if (!req.url?.startsWith('/authorize')) return void res.writeHead(404).end()
  const back = new URL(op.authorize(`https://127.0.0.1${req.url}`))
  const fields = [...back.searchParams].map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`).join('')
  const script = waits ? '' : '<script>document.forms[0].submit()</script>'
  res
    .setHeader('content-type', 'text/html')
    .end(
      `<!doctype html><title>provider</title><form method="post" action="${back.origin}${back.pathname}">${fields}<button>Continue</button></form>${script}`,
    )
}

async function start() {
  const atProvider = await listenSecure(providerPage)
  // Another site than the app, and on the same machine.
  const provider = atProvider.url.replace('localhost', '127.0.0.1')
  op.answers['/.well-known/openid-configuration'] = () => ({
    issuer: op.issuer,
    authorization_endpoint: `${provider}/authorize`,
    token_endpoint: `${op.issuer}/token`,
    jwks_uri: `${op.issuer}/jwks`,
    response_types_supported: ['code'],
    response_modes_supported: ['form_post'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  })
  const data = memoryData()
  const store = memoryAdapter(data)
  const errors: Error[] = []
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    throttle: false,
    runtime: { now, fetch: op.fetch },
    session: { strategy: 'database' },
    providers: [
      {
        id: 'credentials',
        name: 'Name',
        type: 'credentials',
        credentials: { user: { label: 'User' } },
        authorize: ({ user }) => ({ id: String(user) }),
      },
    ],
    logger: { error: (error) => void errors.push(error), warn: () => undefined, debug: () => undefined },
  })
    .use(adapterPlugin(store))
    .use(oidcPlugin(apple({ issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret }) as never))
    .use(nodeBinding())
  await auth.ready()
  /** Requests for the callback, and whether each of them had the session cookie. */
  const callbacks: { method: string; session: boolean }[] = []
  const app = await listenSecure((req, res) => {
    if (req.url?.includes('?answer=')) {
      answers.push(req.url)
      if (holds) return void res.setHeader('content-type', 'text/html').end('<!doctype html><title>held</title>')
    }
    if (req.url?.startsWith('/auth/callback/apple'))
      callbacks.push({ method: req.method ?? '', session: /session-token=[^;]/.test(req.headers.cookie ?? '') })
    void auth.node.handler(req, res).then(async (answered) => {
      if (answered) return
      const session = await auth.node.session(req, res)
      res.setHeader('content-type', 'text/html').end(`<!doctype html><title>app</title><p id="who">${session?.user?.id ?? 'nobody'}</p>`)
    })
  })
  servers.push(atProvider, app)
  return { url: app.url, auth, store, data, errors, callbacks }
}

beforeAll(async () => {
  ;[site, browser] = await Promise.all([start(), launch()])
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await Promise.all(servers.map((server) => server.close()))
  await site?.auth.close()
})
let people = 0
beforeEach(async () => {
  const { data, store, errors, callbacks } = site
  for (const map of [data.users, data.accounts, data.sessions]) map.clear()
  for (const list of [errors, callbacks, answers]) list.length = 0
  for (const id of ['ada', 'bob']) await store.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
  const sub = `person-${++people}`
  op.person = { sub, email: `${sub}@relay.example`, email_verified: 'true' }
  waits = holds = false
  offset = 0
})

async function who(page: Page): Promise<string | null> {
  await page.goto(`${site.url}/`)
  return page.textContent('#who')
}
async function signInAs(page: Page, user: string): Promise<void> {
  await page.goto(`${site.url}/auth/signin?callbackUrl=/`)
  await page.fill('input[name=user]', user)
  await page.click('form[action*=credentials] button[type=submit]')
  await page.waitForURL(`${site.url}/`)
}
async function connect(page: Page): Promise<void> {
  await page.goto(`${site.url}/auth/account`)
  await page.click('form[action*="/signin/apple"] button')
}
const accounts = () => [...site.data.accounts.values()].map(({ userId }) => userId)

describe('an answer by form_post from another site', () => {
  it('signs in', async () => {
    const { page, context } = await person(browser, { ignoreHTTPSErrors: true })
    await page.goto(`${site.url}/auth/signin?callbackUrl=/`)
    await page.click('form[action*="/signin/apple"] button')
    await page.waitForURL(`${site.url}/`)
    expect(site.callbacks).toEqual([{ method: 'POST', session: false }])
    const [user] = accounts()
    expect([await who(page), site.data.users.size, site.errors]).toEqual([user, 3, []])
    const cookie = (await context.cookies()).find(({ name }) => name.endsWith('session-token'))
    expect(cookie?.sameSite).toBe('Lax')
    await context.close()
  })

  it('Connect links to the user who is signed in, and makes no second one', async () => {
    const { page, context } = await person(browser, { ignoreHTTPSErrors: true })
    await signInAs(page, 'ada')
    await connect(page)
    await page.waitForURL(`${site.url}/auth/account`)
    // The POST comes without the cookie, and the GET of the same site with it.
    expect(site.callbacks).toEqual([
      { method: 'POST', session: false },
      { method: 'GET', session: true },
    ])
    expect([accounts(), site.data.users.size, await who(page), site.errors]).toEqual([['ada'], 2, 'ada', []])
    await context.close()
  })

  it.each(['another user', 'nobody'])('is refused where %s is signed in when it comes back', async (then) => {
    const { page, context } = await person(browser, { ignoreHTTPSErrors: true })
    await signInAs(page, 'ada')
    waits = true
    await connect(page)
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    const other = await context.newPage()
    await other.goto(`${site.url}/auth/signout`)
    await other.click('form[action*=signout] button')
    await expect.poll(() => who(other)).toBe('nobody')
    if (then === 'another user') await signInAs(other, 'bob')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(/error=/)
    expect([accounts(), site.data.users.size]).toEqual([[], 2])
    expect(await who(other)).toBe(then === 'nobody' ? 'nobody' : 'bob')
    await context.close()
  })

  it('works once, and for two minutes', async () => {
    const { page, context } = await person(browser, { ignoreHTTPSErrors: true })
    await signInAs(page, 'ada')
    holds = true
    await connect(page)
    await page.waitForURL(/answer=/)
    holds = false
    const repeated = page.url()
    expect(repeated).not.toContain('code-')
    offset = 121_000
    await page.goto(repeated)
    expect([page.url().includes('error='), accounts()]).toEqual([true, []])

    offset = 0
    answers.length = 0
    await connect(page)
    await page.waitForURL(`${site.url}/auth/account`)
    expect(accounts()).toEqual(['ada'])
    await page.goto(site.url + answers[0])
    expect([page.url().includes('error='), accounts(), site.data.users.size]).toEqual([true, ['ada'], 2])
    await context.close()
  })
})
