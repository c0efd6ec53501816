/** `emailPlugin({ signIn: false })`: mails of plugins, and no sign-in method. */
import { createAuth } from 'authkernel'
import { type AuthConfig, definePlugin, type Kernel, type Plugin } from 'authkernel/kernel'
import { emailPlugin } from 'authkernel/plugins/email'
import { memoryAdapter } from 'authkernel/plugins/memory'
import postmark from 'authkernel/providers/postmark'
import resend from 'authkernel/providers/resend'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'

const notice = definePlugin({
  name: 'notice',
  setup(kernel: Kernel) {
    kernel.messages({ en: { 'notice.subject': 'News of {site}', 'notice.line': 'Something happened.' } })
    kernel.mailTemplate('notice.one', { subject: 'notice.subject', lines: ['notice.line'] })
    kernel.route({
      method: 'GET',
      path: '/tell',
      async handler(ctx) {
        await ctx.service('mail').send(ctx, 'ada@example.com', 'notice.one', {})
        return new Response('told')
      },
    })
  },
})

function host(plugin: Plugin, config: Partial<AuthConfig> = {}) {
  const base = baseConfig({ adapter: memoryAdapter(), ...config })
  const sent: Request[] = []
  base.runtime.fetch = async (input, init) => {
    sent.push(new Request(input, init))
    return new Response('{}', { headers: { 'content-type': 'application/json' } })
  }
  const auth = createAuth(base).use(notice).use(plugin)
  return { auth, sent, client: new Client(auth) }
}

const from = 'Acme <no-reply@acme.example>'

describe.each([
  ['a preset with the option', () => emailPlugin({ ...resend({ apiKey: 'k' }), from, signIn: false })],
  [
    'a mailer as data',
    () =>
      emailPlugin({
        from,
        apiKey: 'k',
        signIn: false,
        api: { url: 'https://api.resend.com/emails', body: { text: '{text}', to: '{to}' } },
      }),
  ],
  ['a function', () => emailPlugin(() => ({ ...resend({ apiKey: 'k' }), from, signIn: false }))],
])('%s', (_name, plugin) => {
  it('sends the mails of plugins', async () => {
    const { client, sent } = host(plugin())
    expect(await (await client.get('/tell')).text()).toBe('told')
    expect(sent.map(({ url }) => url)).toEqual(['https://api.resend.com/emails'])
    expect(await sent[0]?.text()).toContain('Something happened.')
  })

  it('is no provider, no button and no address', async () => {
    const { auth, client } = host(plugin())
    await auth.ready()
    expect(await (await client.get('/providers')).json()).toEqual({})
    expect(await (await client.get('/signin')).text()).not.toMatch(/<form|type="email"/)
    for (const id of ['email', 'resend']) {
      const answer = await client.post(`/signin/${id}`, { email: 'ada@example.com' })
      expect(answer.headers.get('location')).toContain('error=')
    }
    expect((await auth.inspect()).providers).toEqual([])
  })
})

it('the key comes from the environment, as for a sign-in method', async () => {
  const { client, sent } = host(emailPlugin({ ...postmark(), from, signIn: false }), { env: { AUTH_POSTMARK_KEY: 'from-env' } })
  await client.get('/tell')
  expect(sent[0]?.headers.get('x-postmark-server-token')).toBe('from-env')
})

it('stands beside a sign-in method, and carries the mails of plugins in its place', async () => {
  const { client, sent } = host(emailPlugin({ ...postmark({ apiKey: 'p' }), from }, { ...resend({ apiKey: 'r' }), from, signIn: false }))
  expect(Object.keys((await (await client.get('/providers')).json()) as object)).toEqual(['postmark'])
  await client.get('/tell')
  expect(new URL(sent[0]!.url).host).toBe('api.resend.com')
})

it('`signIn: true` is a sign-in method', async () => {
  const { client } = host(emailPlugin({ ...resend({ apiKey: 'k' }), from, signIn: true }))
  expect(Object.keys((await (await client.get('/providers')).json()) as object)).toEqual(['resend'])
})

it.each([
  ['no server', { signIn: false }, /has no `server`/],
  ['a function that sends links', { signIn: false, sendVerificationRequest: () => undefined }, /sign-in links only/],
  ['no key', { ...resend(), signIn: false }, /"apiKey" is missing: give it, or set AUTH_RESEND_KEY/],
  [
    'a template of its own',
    { signIn: false, api: { url: 'https://m.example', body: { id: 't', url: '{url}' } } },
    /neither \{text\} nor \{html\}/,
  ],
])('%s is a mistake of the configuration', async (_name, given, message) => {
  await expect(host(emailPlugin(given as never)).auth.ready()).rejects.toThrow(message)
})

it('a wrong server or sender is told before a mail is sent', async () => {
  const { client, sent } = host(emailPlugin({ ...resend({ apiKey: 'k' }), from: 'two@a.example, three@a.example', signIn: false }))
  expect((await client.get('/tell')).status).toBeGreaterThanOrEqual(300)
  expect(sent).toEqual([])
})
