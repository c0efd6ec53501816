/** A request with a credential in a header and a session cookie beside it: the header decides, on every route that a plugin has. */
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isFullTier } from '../_tier.ts'
import type { Client } from '../_setup.ts'
import { ofOrganization, ofUser, walk, world } from './_everything.ts'

const origin = 'http://localhost:3000'
const strategies = ['jwt', 'database'] as const
/** Credentials that open nothing, and whose they may have been. */
const bad: [string, Record<string, string>][] = [
  ['an access token', { authorization: `Bearer at.${'0'.repeat(32)}.9999999999.0.${'x'.repeat(43)}` }],
  ['a broken access token', { authorization: 'Bearer at.broken' }],
  ['a bound token', { authorization: 'DPoP at.broken' }],
  ['an API key', { authorization: 'Bearer ak_live_aaaaaaaaaaaa_bbbb' }],
  ['an API key in its own header', { 'x-api-key': 'ak_live_aaaaaaaaaaaa_bbbb' }],
  ['a key without its beginning', { 'x-api-key': 'aaaaaaaaaaaa' }],
  ['a text of nobody', { authorization: 'bearer  hello' }],
  ['two texts in one header', { authorization: 'Bearer one, Bearer two' }],
]
const two: Record<string, string>[] = [
  { authorization: 'Bearer at.broken', 'x-api-key': 'ak_live_aaaaaaaaaaaa_bbbb' },
  { authorization: 'Bearer ak_live_bbbbbbbbbbbb_cccc', 'x-api-key': 'ak_live_aaaaaaaaaaaa_bbbb' },
]

/** The browser, which sends the headers with everything. */
function carrying(client: Client, more: Record<string, string>): Client {
  const send = client.send.bind(client)
  client.send = (path, init = {}) => send(path, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...more } })
  return client
}

describe.each(strategies)('under the %s strategy', (strategy) => {
  it('a credential that opens nothing: every route answers as without the cookies, writes none, and changes nothing', async () => {
    const of = await world(strategy)
    const browser = await of.browser('ada')
    const cookie = browser.cookieHeader()
    const kept = () => ofUser(of, 'ada') + ofOrganization(of, of.own.organization) + [...of.data.sessions.values()].length
    const before = kept()
    const routes = of.auth.inspect().routes
    expect(routes.length).toBeGreaterThan(80)
    const ask = async (method: string, path: string, headers: Record<string, string>) => {
      const root = path.startsWith('/.well-known')
      const response = await of.auth.handler(
        new Request(`${origin}${root ? '' : '/auth'}${path.replace(/:(\w+)/g, (_, name) => (name === 'provider' ? 'orbit' : 'ada'))}`, {
          method,
          headers: { ...headers, ...(method !== 'GET' && { 'content-type': 'application/json', origin }) },
          ...(method !== 'GET' && { body: '{}' }),
        }),
      )
      return [response.status, response.headers.get('location')?.replace(/[?].*/, ''), response.headers.getSetCookie().length > 0]
    }
    for (const { method, path } of routes)
      for (const [name, headers] of bad) {
        const [alone, beside] = [await ask(method, path, headers), await ask(method, path, { ...headers, cookie })]
        expect([method, path, name, ...beside.slice(0, 2)]).toEqual([method, path, name, ...alone.slice(0, 2)])
        expect([method, path, name, path === '/csrf' || beside[2]]).toEqual([method, path, name, path === '/csrf'])
      }
    expect([kept() === before, (await browser.session()) !== null]).toEqual([true, true])
    for (const [name, headers] of bad)
      expect([name, await of.auth.session(new Request(origin, { headers: { ...headers, cookie } }))]).toEqual([name, null])
  }, 120_000)

  it('two different credentials are answered 400 on every route, and by the API', async () => {
    const of = await world(strategy)
    const cookie = (await of.browser('ada')).cookieHeader()
    for (const { method, path } of of.auth.inspect().routes)
      for (const headers of two) {
        const root = path.startsWith('/.well-known')
        const url = `${origin}${root ? '' : '/auth'}${path.replace(/:(\w+)/g, 'orbit')}`
        const response = await of.auth.handler(new Request(url, { method, headers: { ...headers, cookie } }))
        expect([method, path, response.status]).toEqual([method, path, 400])
      }
    for (const headers of two)
      await expect(of.auth.session(new Request(origin, { headers: { ...headers, cookie } }))).rejects.toMatchObject({ status: 400 })
    // One credential twice is one.
    const { key } = await of.auth.apiKeys.create({ userId: 'dan' }, { name: 'k' })
    const same = new Request(origin, { headers: { authorization: `Bearer ${key}`, 'x-api-key': key, cookie } })
    expect((await of.auth.session(same))?.user?.id).toBe('dan')
  }, 60_000)

  it('the key of another person: no form and no JSON changes what the person of the cookie has', async () => {
    const of = await world(strategy)
    const { key } = await of.auth.apiKeys.create({ userId: 'dan' }, { name: 'k' })
    const browser = await of.browser('ada')
    const kept = () => ofUser(of, 'ada') + ofOrganization(of, of.own.organization)
    const open = async () => carrying(await of.browser('ada'), { authorization: `Bearer ${key}` })
    const { changed, asked } = await walk(of, kept, { client: open })
    expect([changed, asked > (isFullTier ? 1000 : 300), (await browser.session()) !== null]).toEqual([[], true, true])
    const asks = new Request(origin, { headers: { authorization: `Bearer ${key}`, cookie: browser.cookieHeader() } })
    expect([await of.auth.accounts.list(asks), await of.auth.sessions.list(asks)]).toEqual([[], []])
    expect([await of.auth.sessions.revokeAll(asks), await of.auth.users.delete(asks)]).toEqual([false, false])
  }, 120_000)
})

it('signs no user in, whatever the credential: 400 before anything is used up', async () => {
  const of = await world()
  const { key } = await of.auth.apiKeys.create({ userId: 'dan' }, { name: 'k' })
  for (const headers of [{ 'x-api-key': key }, { authorization: 'Bearer nothing' }]) {
    const client = carrying(await of.browser(), headers)
    const response = await client.post('/callback/credentials', { user: 'ada' })
    expect([response.status, response.headers.getSetCookie()]).toEqual([400, []])
    expect([...of.data.sessions.values()]).toEqual([])
  }
})

it('the walk has every plugin that people, apps and providers meet, so that routes of a new one are in it', async () => {
  const of = await world()
  const names = new Set(of.auth.inspect().plugins.map(({ name }) => name))
  // Types of providers come with the preset; these have no routes, or another test of their own.
  const without = new Set(['credentials', 'email', 'oauth', 'webauthn', 'captcha', 'limits', 'notices'])
  const folders = ['people', 'machines', 'federation', 'security', 'sign-in'].flatMap((group) =>
    readdirSync(new URL(`../../plugins/${group}`, import.meta.url)).filter((name) => !without.has(name)),
  )
  expect(folders.filter((name) => !names.has(name))).toEqual([])
})
