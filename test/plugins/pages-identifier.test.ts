/** The sign-in page asks for one thing first, then shows the ways of the deployment: the same for everybody. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import type { AuthConfig, Provider } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import passkey from 'authkernel/providers/passkey'
import { baseConfig, Client } from '../_setup.ts'

const mail: Provider = { id: 'email', name: 'Email', type: 'email', sendVerificationRequest: () => undefined }
const password: Provider = {
  id: 'credentials',
  name: 'Password',
  type: 'credentials',
  credentials: { username: { label: 'Username', required: true }, password: { label: 'Password', type: 'password', required: true } },
  authorize: ({ username, password }) => (password === 'right' ? { id: 'u1', name: String(username) } : null),
}
const orbit: Provider = { id: 'orbit', name: 'Orbit', type: 'oidc', issuer: 'https://orbit.example', clientId: 'a', clientSecret: 'b' }

async function host(providers: Provider[] = [mail, password, passkey(), orbit], config: AuthConfig = {}) {
  const adapter = memoryAdapter()
  await adapter.createUser!({ id: 'u1', email: 'known@example.com', emailVerified: new Date() })
  const settings = baseConfig({ adapter, providers, session: { strategy: 'jwt' }, experimental: { enableWebAuthn: true }, ...config })
  return new Client(createAuth(settings))
}
/** What people see: nothing that is hidden. */
const visible = (html: string) => html.replace(/<div hidden><div class="field">[^]*?<\/div><\/div>/g, '').replace(/<div hidden>[^]*$/, '')
const inputs = (html: string) => [...visible(html).matchAll(/<input name="([^"]+)"/g)].map(([, name]) => name)
const buttons = (html: string) => [...visible(html).matchAll(/<span class="label">([^<]*)</g)].map(([, label]) => label)

describe('one field first', () => {
  it('with autofill for passkeys, the passkey button and the providers; no way is asked for yet', async () => {
    const browser = await host()
    const text = await (await browser.get('/signin?callbackUrl=/after')).text()
    expect([inputs(text), buttons(text)]).toEqual([['identifier'], ['Continue', 'Sign in with passkey', 'Sign in with Orbit']])
    expect(text).toMatch(
      /<label[^>]*>Email or username<\/label><input name="identifier"[^>]*type="text"[^>]*autocomplete="username webauthn"/,
    )
    expect(text.match(/class="button primary"/g)).toHaveLength(1)
  })

  it('then the ways, which carry what was typed, with the same answer for everybody', async () => {
    const browser = await host()
    const ways = async (identifier: string) => (await browser.post('/identifier', { identifier })).text()
    const text = await ways('known@example.com')
    expect([inputs(text), buttons(text)]).toEqual([
      ['password'],
      ['Email me a link to sign in', 'Sign in with password', 'Sign in with passkey', 'Sign in with Orbit'],
    ])
    expect(text.match(/value="known@example.com"/g)).toHaveLength(3)
    const plain = (html: string, name: string) =>
      html
        .replaceAll(name, '')
        .replaceAll(/nonce[^>]*>/g, '')
        .replaceAll(/[0-9a-f]{64}/g, '')
    expect(plain(await ways('other@example.com'), 'other@example.com')).toBe(plain(text, 'known@example.com'))
    // A name gets no mail: that is its shape, and not who has it.
    expect(buttons(await ways('known'))).toEqual(['Sign in with password', 'Sign in with passkey', 'Sign in with Orbit'])
    expect(await (await browser.post('/identifier', { identifier: '"><script>alert(1)</script>@x' })).text()).not.toContain('<script>alert')
  })

  it('ids, actions and fields that clients know are on both pages, and the forms work', async () => {
    const browser = await host()
    const known = [
      'id="input-email-for-email-provider"',
      'id="input-username-for-credentials-provider"',
      'id="input-password-for-credentials-provider"',
      'id="input-email-for-passkey-provider"',
      'id="passkey-form"',
      'id="submitButton"',
      'action="http://localhost:3000/auth/signin/email"',
      'action="http://localhost:3000/auth/callback/credentials"',
    ]
    for (const text of [
      await (await browser.get('/signin')).text(),
      await (await browser.post('/identifier', { identifier: 'a@example.com' })).text(),
    ]) {
      expect(known.filter((one) => !text.includes(one))).toEqual([])
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      expect(new Set(ids).size).toBe(ids.length)
    }
    await browser.post('/callback/credentials', { username: 'Jane', password: 'right' })
    expect((await browser.session())?.user?.name).toBe('Jane')
  })

  it('a single form with a name, and a form that begins with something else, stay as they are', async () => {
    const pin: Provider = { ...password, id: 'pin', name: 'PIN', credentials: { pin: { label: 'PIN', type: 'password' } } }
    const text = await (await (await host([password, pin, orbit])).get('/signin')).text()
    expect([inputs(text), text.includes('identifier')]).toEqual([['username', 'password', 'pin'], false])
    const both = await (await (await host([password, mail, pin])).get('/signin')).text()
    expect(inputs(both)).toEqual(['identifier', 'pin'])
  })

  it('a wrong password leads to the ways with the name in place', async () => {
    const browser = await host()
    await browser.post('/callback/credentials', { username: 'Jane', password: 'wrong' }, { accept: 'text/html' })
    const text = await (await browser.get('/signin?error=CredentialsSignin&code=credentials')).text()
    expect([inputs(text), text.includes('role="alert"'), /class="who"><bdi>Jane/.test(text)]).toEqual([['password'], true, true])
  })

  it('the query `email` fills the field in; the callback URL is kept through both pages', async () => {
    const browser = await host()
    expect(await (await browser.get('/signin?email=a%40b.example&callbackUrl=/after')).text()).toMatch(
      /name="identifier"[^>]*value="a@b.example"/,
    )
    await browser.post('/identifier', { identifier: 'Jane' })
    const answer = await browser.post('/callback/credentials', { username: 'Jane', password: 'right' })
    expect(answer.headers.get('location')).toBe('http://localhost:3000/after')
  })

  it.each([
    ['nothing', {}],
    ['blanks', { identifier: '   ' }],
    ['a novel', { identifier: 'a'.repeat(255) }],
  ])('%s leads back to the field', async (_name, fields) => {
    const answer = await (await host()).post('/identifier', fields as Record<string, string>)
    expect([answer.status, new URL(answer.headers.get('location')!).pathname]).toEqual([302, '/auth/signin'])
  })

  it('a host with a page of its own is sent there, and other sites are refused', async () => {
    const own = await (await host(undefined, { pages: { signIn: '/in' } })).post('/identifier', { identifier: 'Jane' })
    // Which leads on to the page of the host.
    expect(own.headers.get('location')).toBe('http://localhost:3000/auth/signin')
    const foreign = await (
      await host()
    ).send('/identifier', { method: 'POST', headers: { origin: 'https://evil.example' }, body: new URLSearchParams() })
    expect(foreign.status).toBe(403)
  })

  it.each([
    ['de', 'E-Mail oder Benutzername', 'Weiter'],
    ['fr', 'E-mail ou nom d’utilisateur', 'Continuer'],
    ['es', 'Correo o nombre de usuario', 'Continuar'],
    ['ja', 'メールアドレスまたはユーザー名', '続ける'],
  ])('speaks %s', async (lang, label, button) => {
    const text = await (await (await host()).get('/signin', { 'accept-language': lang })).text()
    expect([text.includes(`>${label}</label>`), buttons(text)[0]]).toEqual([true, button])
  })

  it('the address of the policy: a magic link and a code stay here, a provider does not', async () => {
    const policy = async (...providers: Provider[]) =>
      (await (await host(providers)).get('/signin')).headers.get('content-security-policy')!.match(/form-action [^;]*/)![0]
    expect(await policy(mail, password)).not.toContain('https:')
    expect(await policy(mail, password, orbit)).toContain('https:')
  })
})
