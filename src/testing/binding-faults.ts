/** The contract of bindings, second part: bad input, foreign sites and forged headers. */
import { expect, it } from './runner.ts'
import type { BindingSubject } from './binding-options.ts'

export function faultRules({ host, client, base, paths, person }: BindingSubject): void {
  it('D30: a cross-site POST is rejected, with a token and from server code, too', async () => {
    const ada = client()
    const fields = { ...person.right, csrfToken: await ada.token(), callbackUrl: '/after' }
    for (const headers of [{ origin: 'https://evil.example' }, { origin: host().origin, 'sec-fetch-site': 'cross-site' }]) {
      const refused = await ada.post(`${base}/callback/${person.provider}`, fields, headers)
      expect([refused.status, refused.cookies.filter(isSession)], refused.summary).toEqual([403, []])
    }
    for (const headers of [{ origin: 'https://evil.example' }, {}]) {
      const refused = await ada.post(paths.login, person.right, headers)
      expect([refused.status >= 400, refused.cookies.filter(isSession)], refused.summary).toEqual([true, []])
    }
    expect((await ada.get(paths.session)).text).toBe('null')
  })

  it('a POST without a token signs no user in unless the browser vouches for it', async () => {
    const stranger = client()
    const answer = await stranger.post(`${base}/callback/${person.provider}`, { ...person.right, callbackUrl: '/after' })
    expect([answer.cookies.filter(isSession), answer.status < 500], answer.summary).toEqual([[], true])
    expect((await stranger.get(`${base}/session`)).text).toBe('null')
  })

  it('malformed and oversized bodies, other methods and unknown paths are 4xx, and the app lives on', async () => {
    const origin = host().origin
    const path = `${base}/callback/${person.provider}`
    const json = { 'content-type': 'application/json', origin }
    const bad = [
      await client().send(path, { method: 'POST', headers: json, body: '{' }),
      await client().send(path, { method: 'POST', headers: json, body: JSON.stringify({ a: 'b'.repeat(70_000) }) }),
      await client().send(`${base}/session`, { method: 'DELETE', headers: { origin } }),
      await client().get(`${base}/nothing-of-this-name/at/all`),
    ]
    for (const { status, summary } of bad) {
      expect(status, summary).toBeGreaterThanOrEqual(400)
      expect(status, summary).toBeLessThan(500)
    }
    expect((await client().get(`${base}/session`)).status).toBe(200)
  })

  it('D34: forwarded headers of a client name no origin of the app', async () => {
    const { text } = await client().get(`${base}/providers`, { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' })
    const [provider] = Object.values(JSON.parse(text) as Record<string, { callbackUrl: string }>)
    expect(new URL(provider!.callbackUrl).host).toBe(new URL(host().origin).host)
  })

  it('a path of two slashes names no host', async () => {
    for (const path of [`//evil.example${base}/signin`, `//evil.example${paths.guarded}`]) {
      const answer = await client().send(host().origin + path, { headers: { accept: 'text/html' } })
      const to = answer.headers.get('location')
      expect(to === null ? host().origin : new URL(to, host().origin).origin).toBe(host().origin)
      expect(answer.status).toBeLessThan(500)
    }
  })

  it('a malformed cookie is no session', async () => {
    const stranger = client()
    stranger.jar.set('authkernel.session-token', '%E0%A4%A.not.a-token')
    expect((await stranger.get(paths.session)).text).toBe('null')
  })
}

function isSession(cookie: string): boolean {
  return /session-token=[^;]/.test(cookie)
}
