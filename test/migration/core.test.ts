/** @auth/core itself, on a server of web requests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'
import { root } from '../_sources.ts'
import { writeMoved } from './_app.ts'

interface App {
  fetch(request: Request): Promise<Response>
}

describe.each(['http://localhost:3000', 'https://app.example'])('core: moved from Auth.js at %s', (origin) => {
  const work = mkdtempSync(join(root, 'test/migration/.core-'))
  const told: string[] = []
  let op: RealOp
  let before: App
  let after: App
  beforeAll(async () => {
    vi.spyOn(console, 'log').mockImplementation((line) => void told.push(String(line)))
    const client = { client_id: 'acme-id', client_secret: 'acme-secret', redirect_uris: [`${origin}/auth/callback/acme`] }
    op = await realOp([client])
    vi.stubEnv('AUTH_SECRET', 'a secret that both apps have, of 44 letters..')
    vi.stubEnv('AUTH_ACME_ID', client.client_id)
    vi.stubEnv('AUTH_ACME_SECRET', client.client_secret)
    vi.stubEnv('AUTH_ACME_ISSUER', op.issuer)
    // The options are read when the module is.
    vi.resetModules()
    writeMoved('core', work)
    before = ((await import('./apps/core/app.ts')) as { default: App }).default
    after = ((await import(/* @vite-ignore */ join(work, 'app.ts'))) as { default: App }).default
  })
  afterAll(async () => {
    rmSync(work, { recursive: true, force: true })
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
    await op.stop()
  })

  const browser = (app: App, other?: Client): Client => {
    const client = new Client({ handler: app.fetch }, { origin })
    for (const [name, value] of other?.cookies ?? []) client.cookies.set(name, value)
    return client
  }
  const page = async (client: Client, path = '/'): Promise<string> => (await client.get(origin + path)).text()
  async function byPassword(client: Client): Promise<void> {
    const fields = { csrfToken: await client.csrfToken(), username: 'demo', password: 'open sesame', callbackUrl: origin }
    expect(locationOf(await client.post('/callback/credentials', fields))).toMatch(origin)
  }
  async function byProvider(client: Client): Promise<void> {
    const back = await op.visit(locationOf(await client.signIn('acme', { callbackUrl: origin })))
    expect(locationOf(await client.get(back))).toMatch(origin)
  }
  async function leave(client: Client): Promise<void> {
    await client.post('/signout', { csrfToken: await client.csrfToken() })
    expect(await page(client)).toBe('nobody')
  }

  it.each([
    ['Demo Person, admin', byPassword],
    ['Alice Liddell, member', byProvider],
  ] as const)('%s: stays signed in, leaves, comes back; and Auth.js reads that session', async (text, signIn) => {
    const old = browser(before)
    await signIn(old)
    expect(await page(old)).toBe(text)

    const fresh = browser(after, old)
    expect(await page(fresh)).toBe(text)
    expect(await page(fresh, '/role')).toBe(JSON.stringify(text.split(', ')[1]))
    expect((await fresh.session())?.user).toEqual((await old.session())?.user)
    await leave(fresh)
    expect(told.at(-1)).toMatch(/^out: \w/)
    await signIn(fresh)
    expect(told.at(-1)).toMatch(/^in: \w/)
    expect(await page(fresh)).toBe(text)

    const again = browser(before, fresh)
    expect(await page(again)).toBe(text)
    expect(await page(again, '/role')).toBe(JSON.stringify(text.split(', ')[1]))
    await leave(again)
  })

  it('a sign-in that began before the move must begin again, and that works', async () => {
    const old = browser(before)
    const back = await op.visit(locationOf(await old.signIn('acme', { callbackUrl: origin })))
    const fresh = browser(after, old)
    expect(locationOf(await fresh.get(back))).toContain('/auth/error?error=Configuration')
    await byProvider(fresh)
    expect(await page(fresh)).toBe('Alice Liddell, member')
  })

  it('a page that Auth.js drew can still be posted: its CSRF token counts', async () => {
    const old = browser(before)
    const csrfToken = await old.csrfToken()
    const fresh = browser(after, old)
    const answer = await fresh.post('/callback/credentials', { csrfToken, username: 'demo', password: 'open sesame', callbackUrl: origin })
    expect(locationOf(answer)).toMatch(origin)
    expect(await page(fresh)).toBe('Demo Person, admin')
  })

  it('routes and callback URLs are those of before', async () => {
    const [old, fresh] = [browser(before), browser(after)]
    const listed = (await (await fresh.get('/providers')).json()) as Record<string, { form?: unknown }>
    // D75: what a form posts to is told beside what Auth.js tells.
    for (const provider of Object.values(listed)) delete provider.form
    expect(listed).toEqual(await (await old.get('/providers')).json())
    for (const path of ['/signin', '/signout', '/error', '/verify-request', '/session', '/csrf'])
      expect((await fresh.get(path)).status, path).toBe((await old.get(path)).status)
  })
})
