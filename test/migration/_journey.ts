/** What must be true of an app that has moved, in Chromium: a user who was signed in still is, and everything is where it was. */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { atProvider, launch, type Person, person } from '../flows/_chromium.ts'
import { type Running, start } from '../playground/_app.ts'
import { type Copies, type MovingApp, prepare } from './_app.ts'

const playground = fileURLToPath(new URL('../../playground/', import.meta.url))
const secret = 'a secret that both apps have, of 44 letters..'

/** A preset that takes everything from the environment. */
const auth0 = { AUTH_AUTH0_ID: 'auth0-id', AUTH_AUTH0_SECRET: 'auth0-secret', AUTH_AUTH0_ISSUER: 'https://acme.auth0.example' }

/** An app, and what its pages look like. */
export interface Journey extends MovingApp {
  start: readonly string[]
  basePath?: string
  env?: (port: number) => Record<string, string>
  /** Whether people can sign in with a password. */
  password?: boolean
  /** Out of the app's start page, to where the provider asks. */
  signIn?: (page: Page) => Promise<void>
  /** Out of the app's start page, until no user is signed in. */
  signOut?: (page: Page) => Promise<void>
  /** More to prove, with the moved app running and Ada signed in. */
  more?: (page: Page, running: Running) => Promise<void>
}

/** Signs people in with Auth.js, moves the app, and looks whether anybody notices; then goes back. */
export function testMigration(app: Journey): void {
  const { basePath = '/auth', password = true } = app
  describe(`${app.name}: moved from Auth.js`, () => {
    let copies: Copies
    let browser: Browser
    let running: Running | undefined
    let demo: Person
    let ada: Person
    let seen: unknown

    beforeAll(async () => {
      copies = prepare(app)
      browser = await launch()
      demo = await person(browser)
      ada = await person(browser)
    }, 900_000)
    afterAll(async () => {
      await browser?.close()
      await running?.close()
      copies?.remove()
    })

    async function run(folder: string): Promise<void> {
      await running?.close()
      running = undefined
      const at = relative(playground, folder)
      running = await start({
        folder: at,
        start: app.start,
        basePath,
        env: (port) => ({
          AUTH_SECRET: secret,
          AUTH_GITHUB_ID: 'github-id',
          AUTH_GITHUB_SECRET: 'github-secret',
          ...auth0,
          ...app.env?.(port),
        }),
      })
    }
    const to = (path: string): string => running!.origin + path
    const home = (page: Page): Promise<unknown> => page.goto(to('/'), { waitUntil: 'networkidle' })
    async function expectSignedIn(page: Page, name: string, role: string): Promise<void> {
      await home(page)
      await expect.poll(() => page.locator('#who').textContent()).toBe(name)
      expect(await page.locator('#role').textContent()).toBe(role)
    }
    async function byPassword(page: Page): Promise<void> {
      await page.goto(to(`${basePath}/signin?callbackUrl=/`))
      const form = page.locator(`form[action$="${basePath}/callback/credentials"]`)
      await form.locator('input[name="username"]').fill('demo')
      await form.locator('input[name="password"]').fill('open sesame')
      await form.locator('button').click()
      await page.waitForURL(to('/'))
      await expectSignedIn(page, 'Demo Person', 'admin')
    }
    async function byProvider(page: Page): Promise<void> {
      await home(page)
      if (app.signIn) await app.signIn(page)
      else await page.getByRole('button', { name: 'Sign in' }).click()
      await atProvider(page, 'Ada Lovelace')
      await page.waitForURL(to('/'))
      await expectSignedIn(page, 'Ada Lovelace', password ? 'member' : 'admin')
    }
    async function leave(page: Page): Promise<void> {
      await home(page)
      if (app.signOut) await app.signOut(page)
      else await page.getByRole('button', { name: 'Sign out' }).click()
      await expect.poll(() => page.locator('#who').textContent()).toBe('nobody')
    }

    /** What the outside sees of the routes: where forms go and what is in them, answers, addresses. */
    async function surface(): Promise<unknown> {
      const answers: Record<string, unknown> = {}
      for (const path of ['/providers', '/session', '/signin', '/signout', '/error', '/verify-request']) {
        const response = await fetch(to(basePath + path), { redirect: 'manual' })
        answers[path] = [response.status, response.headers.get('content-type')?.split(';')[0]]
      }
      const providers = await (await fetch(to(`${basePath}/providers`))).text()
      const visitor = await person(browser)
      const forms: Record<string, unknown> = {}
      // D66: without a session there is nothing to sign out of, and no form.
      for (const path of ['/signin']) {
        await visitor.page.goto(to(basePath + path))
        forms[path] = await visitor.page.evaluate(() =>
          [...document.forms].map((form) => ({
            to: new URL(form.action).pathname,
            method: form.method,
            fields: [...form.querySelectorAll('input')].map(({ name, type }) => `${name}: ${type}`),
          })),
        )
      }
      await visitor.page.goto(to('/protected'))
      const { pathname, searchParams } = new URL(visitor.page.url())
      await visitor.context.close()
      return {
        answers,
        forms,
        guard: [pathname, new URL(searchParams.get('callbackUrl') ?? '', to('/')).pathname],
        // D75: what a form posts to is told beside what Auth.js tells.
        providers: JSON.parse(providers.replaceAll(to(''), 'https://app.example'), (key, value: unknown) =>
          key === 'form' ? undefined : value,
        ),
      }
    }

    it('Auth.js signs people in', async () => {
      await run(copies.before)
      if (password) await byPassword(demo.page)
      await byProvider(ada.page)
      expect(running!.log()).toContain('in: ada@example.com by acme')
      seen = await surface()
    })

    it('routes, forms and callback URLs are those of before', async () => {
      await run(copies.after)
      expect(await surface()).toEqual(seen)
    })

    it('a user who was signed in still is, with what the callbacks put into the session', async () => {
      if (password) await expectSignedIn(demo.page, 'Demo Person', 'admin')
      await expectSignedIn(ada.page, 'Ada Lovelace', password ? 'member' : 'admin')
      await ada.page.goto(to('/protected'))
      await ada.page.getByRole('heading', { name: 'For Ada Lovelace' }).waitFor()
      await app.more?.(ada.page, running!)
    })

    it('signs out a session that Auth.js began, and signs in anew; events are told', async () => {
      await leave(ada.page)
      await expect.poll(() => running!.log()).toContain('out')
      await byProvider(ada.page)
      expect(running!.log()).toContain('in: ada@example.com by acme')
      if (!password) return
      await leave(demo.page)
      await byPassword(demo.page)
      expect(running!.log()).toContain('in: demo@example.com by credentials')
    })

    it('Auth.js reads the sessions that authkernel began', async () => {
      await run(copies.before)
      await expectSignedIn(ada.page, 'Ada Lovelace', password ? 'member' : 'admin')
      if (password) await expectSignedIn(demo.page, 'Demo Person', 'admin')
      await leave(ada.page)
      await byProvider(ada.page)
    })
  })
}
