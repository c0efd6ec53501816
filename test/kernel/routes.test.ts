/** Rows, section A and D through the public door. */
import { describe, expect, it } from 'vitest'
import { createAuth, raw, skipCSRFCheck } from 'authkernel'
import { baseConfig, Client } from '../_setup.ts'

const providers = [{ id: 'credentials', name: 'Password', type: 'credentials' as const, authorize: () => ({ id: '1', name: 'Ann' }) }]
const make = (config = {}) => createAuth(baseConfig({ providers, ...config } as never))
const at = (url: string, init?: RequestInit) => new Request(`http://localhost:3000${url}`, init)
const post = (url: string, body: BodyInit, type?: string) =>
  at(url, { method: 'POST', body, ...(type && { headers: { 'content-type': type } }) })

describe('A. mounting, parsing, dispatch', () => {
  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'])('rows 1, 2: %s gets 400 "Bad request."', async (method) => {
    const response = await make().handler(at('/auth/session', { method }))
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('application/json')
    if (method !== 'HEAD') expect(await response.json()).toBe('Bad request.')
  })

  it.each([
    '/auth',
    '/auth/',
    '/auth/nope',
    '/auth/signin/a/b',
    '/auth/session/x',
    '/auth/csrf/x',
    '/auth/providers/x',
    '/other',
    '/authors/session',
    '/',
  ])('rows 3, 13: %s gets 400', async (path) => {
    const response = await make().handler(at(path))
    expect([response.status, await response.json()]).toEqual([400, 'Bad request.'])
  })

  it('row 4: one slash at the end is accepted', async () => {
    expect((await make().handler(at('/auth/session/'))).status).toBe(200)
  })

  it.each(['/auth//session', '/auth/session//', '/auth/%73ession', '/auth/sessio%6E/', '/auth//session///'])(
    'D61: %s is led to its canonical form',
    async (path) => {
      const response = await make().handler(at(`${path}?a=1`))
      expect([response.status, response.headers.get('location')]).toEqual([308, '/auth/session?a=1'])
      expect((await make().handler(at(path, { method: 'POST' }))).status).toBe(400)
    },
  )

  it.each(['/a.b', '/a+b', '/a(b)', '/a$', '/[a]'])('row 5: the base path %s is literal', async (basePath) => {
    const auth = make({ basePath })
    expect((await auth.handler(at(`${basePath}/session`))).status).toBe(200)
    expect((await auth.handler(at('/aXb/session'))).status).toBe(400)
  })

  it('row 6: the id "undefined" is none', async () => {
    const client = new Client(make())
    expect((await client.post('/signin/undefined')).headers.get('location')).toBe('http://localhost:3000/auth/signin')
  })

  it.each(['/signin/nope', '/callback/nope'])('row 7: POST %s ends as Configuration', async (path) => {
    const response = await new Client(make()).post(path)
    expect([response.status, response.headers.get('location')]).toEqual([302, 'http://localhost:3000/auth/error?error=Configuration'])
  })

  it('row 8: JSON and form bodies are read, others are none', async () => {
    const client = new Client(make())
    const csrfToken = await client.csrfToken()
    const send = (body: BodyInit, type?: string) =>
      client.send('/signout', { method: 'POST', body, ...(type && { headers: { 'content-type': type } }) })
    expect((await send(JSON.stringify({ csrfToken }), 'application/json; charset=utf-8')).headers.get('location')).toBe(
      'http://localhost:3000',
    )
    expect((await send(new URLSearchParams({ csrfToken }))).headers.get('location')).toBe('http://localhost:3000')
    const multipart = new FormData()
    multipart.set('csrfToken', csrfToken)
    expect((await send(multipart)).headers.get('location')).toContain('error=MissingCSRF')
    expect((await send(JSON.stringify({ csrfToken }), 'text/plain')).headers.get('location')).toContain('error=MissingCSRF')
  })

  it.each(['{', '', '{"a":', 'x'])('row 9: malformed JSON %j is 400', async (body) => {
    const response = await make().handler(post('/auth/signout', body, 'application/json'))
    expect([response.status, await response.json()]).toEqual([400, 'Bad request.'])
  })

  it('D20: a body over 64 KiB is 413, said or not', async () => {
    const big = 'a'.repeat(65_537)
    expect((await make().handler(post('/auth/signout', big, 'application/x-www-form-urlencoded'))).status).toBe(413)
    const stream = new ReadableStream({ pull: (controller) => controller.enqueue(new TextEncoder().encode('a'.repeat(8192))) })
    const response = await make().handler(
      new Request('http://localhost:3000/auth/signout', {
        method: 'POST',
        body: stream,
        headers: { 'content-type': 'application/json' },
        duplex: 'half',
      } as RequestInit),
    )
    expect(response.status).toBe(413)
  })

  it.each(['/csrf', '/providers', '/error', '/verify-request'])('row 10: POST %s is UnknownAction', async (path) => {
    const options = baseConfig()
    const response = await createAuth(options).handler(post(`/auth${path}`, ''))
    expect(response.headers.get('location')).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(options.logger.errors[0]).toMatchObject({ name: 'UnknownAction' })
  })

  it('rows 11, 12, 16, 358: default base path and the list of providers', async () => {
    const response = await make().handler(at('/auth/providers'))
    expect(await response.json()).toEqual({
      credentials: {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        signinUrl: 'http://localhost:3000/auth/signin/credentials',
        callbackUrl: 'http://localhost:3000/auth/callback/credentials',
        // Nothing to show: it has no fields.
        form: { post: 'callback', hidden: true },
      },
    })
    expect(response.headers.get('cache-control')).toBeNull()
    expect(response.headers.getSetCookie()).toEqual([])
  })

  it('row 14: /csrf gives a token, two cookies and no cache', async () => {
    const response = await make().handler(at('/auth/csrf'))
    const { csrfToken } = (await response.json()) as { csrfToken: string }
    expect(csrfToken).toMatch(/^[0-9a-f]{64}$/)
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(response.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toEqual([
      'authkernel.callback-url',
      'authkernel.csrf-token',
    ])
  })

  it('row 15: /csrf without protection is 404 and expires the cookie', async () => {
    const options = baseConfig({ skipCSRFCheck })
    const response = await createAuth(options).handler(at('/auth/csrf'))
    expect([response.status, await response.text()]).toEqual([404, ''])
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^authkernel\.callback-url=/),
      expect.stringMatching(/^authkernel\.csrf-token=; Max-Age=0/),
    ])
    expect(options.logger.warnings).toEqual(['csrf-disabled'])
  })

  it('rows 17, 378: a session without a user is null and not cached', async () => {
    const response = await make().handler(at('/auth/session'))
    expect([response.status, await response.json(), response.headers.get('cache-control')]).toEqual([200, null, 'private, no-store'])
    expect(await make().session(at('/'))).toBeNull()
  })

  it('row 18: GET /signin/<provider> is refused', async () => {
    expect((await make().handler(at('/auth/signin/credentials'))).headers.get('location')).toContain('error=Configuration')
  })

  it.each(['/signin', '/signin/credentials'])('row 19: POST %s goes to the sign-in page', async (path) => {
    expect((await new Client(make()).post(path)).headers.get('location')).toBe('http://localhost:3000/auth/signin')
  })

  it('row 20: GET callback of credentials is InvalidProvider', async () => {
    const options = baseConfig({ providers })
    const response = await createAuth(options).handler(at('/auth/callback/credentials?username=a'))
    expect(response.headers.get('location')).toContain('error=Configuration')
    expect(options.logger.errors[0]).toMatchObject({ name: 'InvalidProvider' })
  })

  it('rows 21, 22: X-Auth-Return-Redirect turns redirects and errors into JSON', async () => {
    const client = new Client(make())
    const header = { 'X-Auth-Return-Redirect': '1' }
    const good = await client.post('/callback/credentials', { callbackUrl: '/inbox' }, header)
    expect([good.status, await good.json()]).toEqual([200, { url: 'http://localhost:3000/inbox' }])
    expect(good.headers.getSetCookie().join()).toContain('authkernel.session-token=')
    const bad = await client.send('/signout', { method: 'POST', body: new URLSearchParams(), headers: header })
    expect([bad.status, await bad.json()]).toEqual([200, { url: 'http://localhost:3000/auth/signin?error=MissingCSRF' }])
  })

  it('row 23: POST /session failing is 400 null', async () => {
    const response = await make().handler(post('/auth/session', '{"data":1}', 'application/json'))
    expect([response.status, await response.json()]).toEqual([400, null])
  })

  it('row 27: with raw, AuthErrors are thrown', async () => {
    await expect(make({ raw }).handler(at('/auth/callback/nope'))).rejects.toMatchObject({ type: 'InvalidProvider' })
  })
})

describe('D. CSRF and redirects', () => {
  it('rows 63, 66, 68: every sign-in and sign-out POST needs the token', async () => {
    for (const path of ['/signin', '/signin/credentials', '/signout', '/callback/credentials']) {
      const response = await make().handler(post(`/auth${path}`, new URLSearchParams({ csrfToken: 'a'.repeat(64) })))
      expect(response.headers.get('location')).toBe('http://localhost:3000/auth/signin?error=MissingCSRF')
    }
  })

  it('row 65: a valid cookie is reused, a tampered one replaced', async () => {
    const client = new Client(make())
    const token = await client.csrfToken()
    expect((await client.get('/csrf')).headers.getSetCookie()).toEqual([])
    client.cookies.set('authkernel.csrf-token', encodeURIComponent(`${token}|${'0'.repeat(64)}`))
    const failed = await client.send('/signout', { method: 'POST', body: new URLSearchParams({ csrfToken: token }) })
    expect(failed.headers.get('location')).toContain('error=MissingCSRF')
    expect(await client.csrfToken()).not.toBe(token)
  })

  it('row 69: a token survives the rotation of secrets', async () => {
    const old = 'old-secret-'.repeat(4)
    const client = new Client(make({ secret: old }))
    const csrfToken = await client.csrfToken()
    const rotated = make({ secret: ['new-secret-'.repeat(4), old] })
    const request = post('/auth/signout', new URLSearchParams({ csrfToken }))
    request.headers.set('cookie', client.cookieHeader())
    expect((await rotated.handler(request)).headers.get('location')).toBe('http://localhost:3000')
  })

  it.each([
    ['a foreign Origin', { origin: 'https://evil.example' }, 403],
    ['Origin null', { origin: 'null' }, 403],
    ['Sec-Fetch-Site cross-site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['Sec-Fetch-Site same-site', { 'sec-fetch-site': 'same-site' }, 403],
    ['a foreign Origin that claims same-origin', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, 403],
    ['the own Origin', { origin: 'http://localhost:3000' }, 302],
    ['same-origin behind a TLS proxy', { origin: 'https://localhost:3000', 'sec-fetch-site': 'same-origin' }, 302],
    ['no browser', {}, 302],
  ])('D30: %s with a valid token', async (_name, headers, status) => {
    expect((await new Client(make()).post('/signout', {}, headers as Record<string, string>)).status).toBe(status)
  })

  it('D30: in origin mode the browser vouches instead of the token', async () => {
    const send = (headers: Record<string, string>) => make().handler(at('/auth/signout', { method: 'POST', headers }), { csrf: 'origin' })
    expect((await send({ 'sec-fetch-site': 'same-origin' })).status).toBe(302)
    expect((await send({ origin: 'http://localhost:3000' })).status).toBe(302)
    expect((await send({})).status).toBe(403)
    expect((await send({ origin: 'https://evil.example' })).status).toBe(403)
  })

  it('row 71: the redirect callback may send anywhere but to a script', async () => {
    const to = async (target: string) =>
      (await new Client(make({ callbacks: { redirect: () => target } })).post('/signout', { callbackUrl: '/x' })).headers.get('location')
    expect(await to('https://other.example/y')).toBe('https://other.example/y')
    expect(await to('myapp://done')).toBe('myapp://done')
    expect(await to('/here')).toBe('/here')
    expect(await to('javascript:alert(1)')).toBe('http://localhost:3000/auth/error?error=Configuration')
  })

  it('row 72: body, then query, then cookie; the result is kept in the cookie', async () => {
    const client = new Client(make())
    const where = async (path: string, fields = {}) => (await client.post(path, fields)).headers.get('location')
    expect(await where('/signout?callbackUrl=/query', { callbackUrl: '/body' })).toBe('http://localhost:3000/body')
    expect(await where('/signout')).toBe('http://localhost:3000/body')
    expect(await where('/signout?callbackUrl=/query')).toBe('http://localhost:3000/query')
    expect(await where('/signout')).toBe('http://localhost:3000/query')
  })

  const foreign = [
    'https://evil.example',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    'https:evil.example',
    'https:/evil.example',
    'http://localhost:3000@evil.example',
    'http://localhost:3000.evil.example',
    'http://evil.example#http://localhost:3000',
    'javascript:alert(1)',
    'data:text/html,x',
    'JaVaScRiPt:alert(1)',
    ' https://evil.example',
    'https://evil.example\u0000',
    'http://user:pass@localhost:3000',
    '/%09/evil.example',
    '/..//evil.example',
    'ftp://localhost:3000',
    'http://[::1',
    'http://',
    '',
    'a'.repeat(3000),
    'http://localhost:3000\\@evil.example',
    'http://localhost:3001/',
  ]
  it.each(foreign)('rows 70, 73, 74, D57: callbackUrl %j never leaves the origin, and is never a 500', async (callbackUrl) => {
    for (const send of [
      (client: Client) => client.post('/signout', { callbackUrl }),
      (client: Client) => client.post(`/signout?callbackUrl=${encodeURIComponent(callbackUrl)}`),
      (client: Client) => {
        client.cookies.set('authkernel.callback-url', encodeURIComponent(callbackUrl))
        return client.post('/signout')
      },
    ]) {
      const response = await send(new Client(make()))
      expect(response.status).toBe(302)
      expect(new URL(response.headers.get('location') ?? '', 'http://localhost:3000/auth/').origin).toBe('http://localhost:3000')
    }
  })

  it('row 76: a failing redirect callback is an error, not a crash', async () => {
    const options = baseConfig({
      callbacks: {
        redirect: () => {
          throw new Error('broken')
        },
      },
    })
    const response = await new Client(createAuth(options)).send('/signout', {
      method: 'POST',
      body: new URLSearchParams({ callbackUrl: '/x', csrfToken: await new Client(createAuth(baseConfig())).csrfToken() }),
    })
    expect(response.status).toBe(302)
    expect(options.logger.errors).toHaveLength(1)
  })
})
