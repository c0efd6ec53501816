/** Rows 43, 266, 278 to 282, 285, 288: which page a person sees, and under which name. */
import { describe, expect, it } from 'vitest'
import { type AuthConfig, createAuth } from 'authkernel'
import { baseConfig, Client } from '../_setup.ts'
import { createWorld } from './_world.ts'

const ok = 'http://localhost:3000'
const providers = [{ id: 'password', name: 'Password', type: 'credentials' as const, authorize: () => null }]
const at = (path: string, config: AuthConfig = {}) => new Client(createAuth(baseConfig({ providers, ...config }))).get(path)
const to = async (response: Promise<Response>) => (await response).headers.get('location')

describe("the host's own pages", () => {
  it('row 279: signIn gets callbackUrl and error, beside what it has', async () => {
    expect(await to(at('/signin?callbackUrl=/inbox&error=CredentialsSignin', { pages: { signIn: '/in' } }))).toBe(
      `/in?callbackUrl=${encodeURIComponent(`${ok}/inbox`)}&error=CredentialsSignin`,
    )
    expect(await to(at('/signin', { pages: { signIn: '/in?x=1' } }))).toBe(`/in?x=1&callbackUrl=${encodeURIComponent(ok)}`)
  })

  it('row 279: a foreign callbackUrl is not handed on', async () => {
    expect(await to(at('/signin?callbackUrl=https://evil.example', { pages: { signIn: '/in' } }))).not.toContain('evil')
  })

  it('row 280: signOut gets nothing', async () => {
    expect(await to(at('/signout?callbackUrl=/x&error=y', { pages: { signOut: '/out' } }))).toBe('/out')
  })

  it('row 281: verifyRequest keeps the query', async () => {
    expect(await to(at('/verify-request?provider=mail&type=email&more=1', { pages: { verifyRequest: '/look-at-your-mail' } }))).toBe(
      '/look-at-your-mail?provider=mail&type=email&more=1',
    )
  })

  it('row 36: error gets the code; each option replaces one page', async () => {
    expect(await to(at('/error?error=AccessDenied&code=x', { pages: { error: '/oops' } }))).toBe('/oops?error=AccessDenied')
    expect((await at('/signout', { pages: { error: '/oops', signIn: '/in' } })).headers.get('content-type')).toContain('text/html')
  })

  it('row 282: newUser keeps the callback URL', async () => {
    const world = createWorld('jwt', 'whole', { pages: { newUser: 'https://own.example/hello' } })
    const back = await world.toProvider('oidc', { callbackUrl: '/inbox' })
    expect(await to(world.client.get(back))).toBe(`https://own.example/hello?callbackUrl=${encodeURIComponent(`${ok}/inbox`)}`)
  })
})

describe('the built-in pages', () => {
  it('row 266: GET /signout asks before it ends anything', async () => {
    const world = createWorld('jwt', 'none')
    await world.client.post('/callback/password', { password: 'right' })
    const response = await world.client.get('/signout')
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(html).toMatch(
      /<form[^>]*action="[^"]*\/auth\/signout"[^>]*method="post"|<form[^>]*method="post"[^>]*action="[^"]*\/auth\/signout"/i,
    )
    expect(html).toContain(await world.client.csrfToken())
    expect(await world.client.session()).toMatchObject({ user: { name: 'Pat' } })
  })

  it('row 43: a theme is not needed, and colours the pages when given', async () => {
    expect((await at('/signin')).status).toBe(200)
    const html = await (await at('/signin', { theme: { brandColor: '#a1b2c3', colorScheme: 'dark' } })).text()
    expect(html).toContain('#a1b2c3')
  })

  it('row 285: AccessDenied and Verification lead back to the sign-in page, not into the void', async () => {
    for (const error of ['AccessDenied', 'Verification']) {
      const html = await (await at(`/error?error=${error}`)).text()
      const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => new URL(href, ok).pathname)
      expect(links).toContain('/auth/signin')
    }
  })
})
