/** `better-auth/react` in a browser, while better-auth and authkernel answer the same address over the same database, one request each. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import type { BetterAuthApi } from 'authkernel/plugins/better-auth-compat'
import type { SqlAdapter } from 'authkernel/plugins/sql'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dialectOf, dropStore, newDatabase, type SqlSpec } from '../adapters/_stores.ts'
import { launch, person } from '../flows/_chromium.ts'
import { root } from '../_sources.ts'
import { bundlePage, type Front, listenWith, startFront } from './_front.ts'

interface App {
  handler(request: Request): Promise<Response>
}
interface Moved extends App {
  adapter: SqlAdapter
  auth: BetterAuthApi & { ready(): Promise<void>; close(): Promise<void> }
}
interface Client {
  client: {
    signIn: { email(fields: object): Promise<{ data: { user?: object } | null; error: { code?: string } | null }> }
    signUp: { email(fields: object): Promise<{ error: unknown }> }
    signOut(): Promise<unknown>
  }
}

const secret = 'a secret that both apps have, of 44 letters..'
const ann = { email: 'ann@example.com', password: 'seven purple otters sing' }

describe.each(['1.6', '1.7'])('better-auth/react %s', (version) => {
  const work = mkdtempSync(join(root, 'test/migration/.better-auth-'))
  const mails: { to: string; text: string }[] = []
  let front: Front
  let spec: SqlSpec
  let browser: Browser
  let before: RequestListener
  let after: RequestListener
  let close: () => Promise<void>

  beforeAll(async () => {
    const page = `
      import { createAuthClient } from 'better-auth-${version}/react'
      import { createElement } from 'react'
      import { createRoot } from 'react-dom/client'
      const client = createAuthClient()
      function Who() {
        const { data, isPending } = client.useSession()
        return createElement('p', { id: 'who' }, isPending ? 'loading' : data ? data.user.name + ', ' + data.session.expiresAt.constructor.name : 'nobody')
      }
      window.client = client
      createRoot(document.getElementById('app')).render(createElement(Who))
    `
    front = await startFront(await bundlePage(join(root, 'test/migration'), page))
    spec = await newDatabase('libsql')
    cpSync(join(root, 'test/migration/apps/better-auth'), work, { recursive: true })
    const rewrite = (name: string, change: (text: string) => string): string => {
      const file = join(work, name)
      writeFileSync(file, change(readFileSync(file, 'utf8')))
      return file
    }
    const old = rewrite('before.ts', (text) => text.replaceAll(/'better-auth(?=['/])/g, `'better-auth-${version}`))
    const fresh = rewrite('after.ts', (text) => text.replace('betterAuthCompatPlugin({ db', 'betterAuthCompatPlugin({ routes: true, db'))
    const setting = () => {
      const { dialect } = dialectOf(spec)
      const provider = { issuer: 'http://127.0.0.1:9', clientId: 'app', clientSecret: 'app-secret' }
      return { database: { dialect, type: 'sqlite' }, origin: front.origin, secret, provider, mails }
    }
    const theirs = await ((await import(/* @vite-ignore */ old)) as { start(setting: object): Promise<App> }).start(setting())
    const ours = await ((await import(/* @vite-ignore */ fresh)) as { start(setting: object): Promise<Moved> }).start(setting())
    before = listenWith(front.origin, (request) => theirs.handler(request))
    after = listenWith(front.origin, (request) => ours.handler(request))
    close = () => ours.auth.close()
    browser = await launch()
    front.answerWith(before)
    const first = await visitor()
    await first.evaluate((fields) => (window as never as Client).client.signUp.email({ name: 'ann', ...fields }), ann)
    await vi.waitFor(() => expect(mails.length).toBe(1))
    await first.goto(mails[0]!.text)
    await expect(ours.auth.ready()).rejects.toThrow('migrate --apply')
    await ours.adapter.migrate({ apply: true })
    await ours.auth.betterAuth.takeOver({ apply: true })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await close?.()
    await front?.close()
    if (spec) await dropStore(spec)
    rmSync(work, { recursive: true, force: true })
  })

  const visitor = async (): Promise<Page> => {
    const { page } = await person(browser)
    await page.goto(front.origin)
    return page
  }
  const expectWho = (page: Page, who: string): Promise<void> => expect.poll(() => page.locator('#who').textContent()).toBe(who)
  const signIn = (page: Page, fields: object = ann) =>
    page.evaluate((sent) => (window as never as Client).client.signIn.email(sent), fields)

  it('the page follows a sign-in and a sign-out, also after a switch in between, forwards and backwards', async () => {
    for (const [first, second] of [
      [before, after],
      [after, before],
    ] as const) {
      front.answerWith(first)
      const page = await visitor()
      await expectWho(page, 'nobody')
      expect((await signIn(page, { ...ann, password: 'something else entirely' })).error?.code).toBe('INVALID_EMAIL_OR_PASSWORD')
      expect((await signIn(page)).error).toBeNull()
      await expectWho(page, 'ann, Date')
      front.answerWith(second)
      await page.reload()
      await expectWho(page, 'ann, Date')
      await page.evaluate(() => (window as never as Client).client.signOut())
      await expectWho(page, 'nobody')
      front.answerWith(first)
      await page.reload()
      await expectWho(page, 'nobody')
      await page.context().close()
    }
  })

  it('both answer the same visitor in turn', async () => {
    let count = 0
    front.answerWith((req, res) => (count++ % 2 === 0 ? before : after)(req, res))
    const page = await visitor()
    expect((await signIn(page)).error).toBeNull()
    for (let i = 0; i < 4; i++) {
      await page.reload()
      await expectWho(page, 'ann, Date')
    }
    await page.evaluate(() => (window as never as Client).client.signOut())
    for (let i = 0; i < 2; i++) {
      await page.reload()
      await expectWho(page, 'nobody')
    }
    expect(count).toBeGreaterThan(8)
  })
})
