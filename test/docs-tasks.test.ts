/** What the pages of tasks promise and no other test does. */
import { createAuth } from 'authkernel'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { describe, expect, it } from 'vitest'
import { baseConfig } from './_setup.ts'

describe('docs/tasks/mobile-app.md', () => {
  const auth = createAuth(baseConfig()).use(
    credentialsPlugin({
      id: 'password',
      credentials: { name: {}, password: { type: 'password' } },
      authorize: ({ name, password }) => (password === 'right' ? { id: '1', name: String(name) } : null),
    }),
  )

  /** `fetch` of an app: keeps cookies, and sends neither Origin nor Sec-Fetch-Site. */
  function app(): (path: string, init?: RequestInit) => Promise<Response> {
    const jar = new Map<string, string>()
    return async (path, init) => {
      const headers = new Headers(init?.headers)
      headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
      const answer = await auth.handler(new Request(`http://localhost/auth${path}`, { ...init, headers }))
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        jar.set(name, value)
      }
      return answer
    }
  }
  const post = (fields: object): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-auth-return-redirect': '1' },
    body: JSON.stringify(fields),
  })

  it('signs in with JSON, keeps the session, and signs out', async () => {
    const send = app()
    const { csrfToken } = await (await send('/csrf')).json()
    const wrong = await (await send('/callback/password', post({ csrfToken, name: 'Ann', password: 'wrong' }))).json()
    expect(new URL(wrong.url).searchParams.get('error')).toBe('CredentialsSignin')
    const { url } = await (await send('/callback/password', post({ csrfToken, name: 'Ann', password: 'right' }))).json()
    expect(new URL(url).searchParams.get('error')).toBeNull()
    expect(await (await send('/session')).json()).toMatchObject({ user: { name: 'Ann' } })
    await send('/signout', post({ csrfToken }))
    expect(await (await send('/session')).json()).toBeNull()
  })

  it('is refused without the cookie of the token', async () => {
    const { csrfToken } = await (await app()('/csrf')).json()
    const answer = await app()('/callback/password', post({ csrfToken, name: 'Ann', password: 'right' }))
    expect(answer.headers.getSetCookie().filter((line) => line.includes('session-token'))).toEqual([])
    const { url } = await answer.json()
    expect(url).toContain('error=MissingCSRF')
  })
})
