/** The double-submit token (rows 63 to 69, D3, D30). */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { createWorld } from '../rows/_world.ts'
import { baseConfig, Client, secret } from '../_setup.ts'

const name = 'authkernel.csrf-token'
const make = () => new Client(createAuth(baseConfig()))
const signOut = (client: Client, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  client.send('/signout', { method: 'POST', body: new URLSearchParams(fields), headers })
const refused = 'http://localhost:3000/auth/signin?error=MissingCSRF'

describe('token and cookie', () => {
  it('rows 64, 213, D3: token|keyed hash, 64 hex characters each; the hash is not the plain one of Auth.js', async () => {
    const client = make()
    const token = await client.csrfToken()
    const [head = '', tail = ''] = decodeURIComponent(client.cookies.get(name) ?? '').split('|')
    expect(head).toBe(token)
    expect(tail).toMatch(/^[0-9a-f]{64}$/)
    const plain = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token + secret))
    expect(tail).not.toBe(Buffer.from(plain).toString('hex'))
  })

  it('row 65: two browsers have two tokens; one cannot use the token of the other', async () => {
    const [ann, bob] = [make(), make()]
    const [a, b] = [await ann.csrfToken(), await bob.csrfToken()]
    expect(a).not.toBe(b)
    expect((await signOut(ann, { csrfToken: b })).headers.get('location')).toBe(refused)
    expect((await signOut(ann, { csrfToken: a })).headers.get('location')).toBe('http://localhost:3000')
  })

  it.each([
    ['no token in the body', async (client: Client) => (await client.csrfToken(), {})],
    ['another token', async (client: Client) => (await client.csrfToken(), { csrfToken: '0'.repeat(64) })],
    ['the token in upper case', async (client: Client) => ({ csrfToken: (await client.csrfToken()).toUpperCase() })],
    ['a token that is longer', async (client: Client) => ({ csrfToken: `${await client.csrfToken()}0` })],
    ['an empty token', async (client: Client) => (await client.csrfToken(), { csrfToken: '' })],
    ['the whole cookie', async (client: Client) => (await client.csrfToken(), { csrfToken: client.cookies.get(name) ?? '' })],
    [
      'no cookie',
      async (client: Client) => {
        const csrfToken = await client.csrfToken()
        client.cookies.clear()
        return { csrfToken }
      },
    ],
    [
      'a cookie without its hash',
      async (client: Client) => {
        const csrfToken = await client.csrfToken()
        client.cookies.set(name, csrfToken)
        return { csrfToken }
      },
    ],
    [
      'a cookie with the hash twice',
      async (client: Client) => {
        const csrfToken = await client.csrfToken()
        client.cookies.set(name, `${client.cookies.get(name)}%7C${'0'.repeat(64)}`)
        return { csrfToken }
      },
    ],
    [
      'a cookie made by hand',
      async (client: Client) => {
        client.cookies.set(name, `${'a'.repeat(64)}%7C${'b'.repeat(64)}`)
        return { csrfToken: 'a'.repeat(64) }
      },
    ],
  ])('row 66: %s is refused', async (_name, prepare) => {
    const client = make()
    const fields = (await prepare(client)) as Record<string, string>
    expect((await signOut(client, fields)).headers.get('location')).toBe(refused)
  })

  it('row 66: a JSON token that is no text is refused, never a 500', async () => {
    const client = make()
    const token = await client.csrfToken()
    for (const csrfToken of [[token], { token }, 1, null, true]) {
      const body = JSON.stringify({ csrfToken })
      const response = await client.send('/signout', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      expect(response.headers.get('location')).toBe(refused)
    }
  })

  it('the token of another secret, and one of another purpose, do not count', async () => {
    const other = new Client(createAuth(baseConfig({ secret: 'another-secret-of-more-than-32-characters' })))
    const csrfToken = await other.csrfToken()
    const client = make()
    client.cookies.set(name, other.cookies.get(name) ?? '')
    expect((await signOut(client, { csrfToken })).headers.get('location')).toBe(refused)
  })
})

describe('a token that we issued, when the browser says that the request is its own site', () => {
  const own = { origin: 'http://localhost:3000' }
  const done = 'http://localhost:3000'

  it.each([
    ['Origin', own],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin' }],
  ])('%s: counts beside another cookie, and without one', async (_name, headers) => {
    const client = make()
    const first = await client.csrfToken()
    client.cookies.clear()
    const second = await client.csrfToken()
    expect(first).not.toBe(second)
    for (const csrfToken of [first, second]) expect((await signOut(client, { csrfToken }, headers)).headers.get('location')).toBe(done)
    client.cookies.clear()
    expect((await signOut(client, { csrfToken: first }, headers)).headers.get('location')).toBe(done)
  })

  it.each<[string, Record<string, string>, (token: string) => string]>([
    ['no word of the browser', {}, (token) => token],
    ['a browser that was not sent by a site', { 'sec-fetch-site': 'none' }, (token) => token],
    ['a token with another proof', own, (token) => token.slice(0, 63) + (token.endsWith('0') ? '1' : '0')],
    ['a token with another nonce', own, (token) => (token.startsWith('0') ? '1' : '0') + token.slice(1)],
    ['random text', own, () => 'ab'.repeat(32)],
    ['a shorter token', own, (token) => token.slice(0, 62)],
  ])('%s: refused', async (_name, headers, change) => {
    const client = make()
    const csrfToken = change(await client.csrfToken())
    client.cookies.clear()
    expect((await signOut(client, { csrfToken }, headers)).headers.get('location')).toBe(refused)
  })

  it('a token of another secret does not count, one of an older secret does', async () => {
    const rotated = new Client(createAuth(baseConfig({ secret: ['a-newest-secret-of-more-than-32-characters', secret] })))
    const csrfToken = await make().csrfToken()
    expect((await signOut(rotated, { csrfToken }, own)).headers.get('location')).toBe(done)
    const stranger = new Client(createAuth(baseConfig({ secret: 'another-secret-of-more-than-32-characters' })))
    expect((await signOut(stranger, { csrfToken }, own)).headers.get('location')).toBe(refused)
  })

  it('no answer but that of /csrf sets the cookie', async () => {
    const client = make()
    const csrfToken = await client.csrfToken()
    client.cookies.clear()
    await signOut(client, { csrfToken }, own)
    expect(client.cookies.has(name)).toBe(false)
  })
})

describe('row 67, D30: where the token is asked for', () => {
  const post = (world: ReturnType<typeof createWorld>, path: string, headers: Record<string, string> = {}) =>
    world.client.send(path, { method: 'POST', body: new URLSearchParams(), headers })

  it('callbacks of email and passkeys need it too; those of oauth and oidc are protected by their state', async () => {
    const world = createWorld('database')
    for (const path of ['/callback/mail', '/callback/passkey', '/callback/password', '/signin/oidc', '/signin/mail', '/signout', '/signin'])
      expect((await post(world, path)).headers.get('location')).toBe(refused)
    for (const path of ['/callback/oidc', '/callback/oauth']) {
      const response = await post(world, path, { origin: 'https://op.example', 'sec-fetch-site': 'cross-site' })
      expect(response.headers.get('location')).toBe('http://localhost:3000/auth/error?error=Configuration')
      expect(world.options.logger.errors.at(-1)?.name).toBe('InvalidCheck')
    }
  })

  it('cross-site is 403 JSON before the token is looked at, and GET is not asked', async () => {
    const world = createWorld('database')
    const response = await post(world, '/signout', { origin: 'https://evil.example' })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: 'MissingCSRF' })
    expect((await world.client.get('/session', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })).status).toBe(200)
  })

  it('the method comes first: a POST to a route that has none is UnknownAction, from any site', async () => {
    const world = createWorld('database')
    const response = await post(world, '/providers', { origin: 'https://evil.example' })
    expect(response.headers.get('location')).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(world.options.logger.errors.at(-1)?.name).toBe('UnknownAction')
  })
})

describe('D43: a callback URL on the way to a page of the host', () => {
  it.each([
    ['/signout', { signOut: '/bye' }],
    ['/error', { error: '/oops' }],
    ['/verify-request', { verifyRequest: '/mail' }],
  ])('%s: is asked of the redirect callback and kept for the sign-out that follows', async (path, pages) => {
    const asked: string[] = []
    const redirect = ({ url, baseUrl }: { url: string; baseUrl: string }): string => (asked.push(url), new URL(url, baseUrl).href)
    const client = new Client(createAuth(baseConfig({ pages, callbacks: { redirect } })))
    await client.get(`${path}?callbackUrl=%2Finside`)
    expect(asked).toEqual(['/inside'])
    const answer = await signOut(client, { csrfToken: await client.csrfToken() })
    expect(answer.headers.get('location')).toBe('http://localhost:3000/inside')
  })
})
