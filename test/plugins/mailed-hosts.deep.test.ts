/** Mails and text messages lead only to hosts that a setting names: an attacker chooses the Host header of a request, and another person reads the mail. */
import { describe, expect, it, vi } from 'vitest'
import { type AuthConfig, createAuth } from 'authkernel'
import type { MailMessage } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { noticesPlugin } from 'authkernel/plugins/notices'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import resend from 'authkernel/providers/resend'
import { baseConfig, Client, fakeRuntime } from '../_setup.ts'

const evil = 'https://evil.example'

async function site(config: AuthConfig = {}) {
  const sent: MailMessage[] = []
  const links: string[] = []
  const from = 'Acme <no-reply@acme.example>'
  const providers = [
    resend({ id: 'mailed', apiKey: 'key', from }),
    { id: 'link', name: 'Own', type: 'email', sendVerificationRequest: ({ url }: { url: string }) => void links.push(url) },
  ] as never
  const runtime = fakeRuntime(async (_url, init) => {
    sent.push(JSON.parse(String(init?.body)) as MailMessage)
    return Response.json({ id: '1' })
  })
  const options = baseConfig({ session: { strategy: 'database' }, providers, runtime, ...config })
  const store = memoryAdapter()
  await store.createUser!({ id: '1', email: 'ann@example.com', emailVerified: new Date(), name: 'Ann' })
  const auth = createAuth(options)
    .use(adapterPlugin(store))
    .use(mailPlugin({ from, transport: { send: (message) => void sent.push(message) } }))
    .use(codesPlugin({ via: email() }))
    .use(passwordsPlugin({ breached: false }))
    .use(noticesPlugin())
  const { errors } = options.logger
  // Messages leave after the answer.
  const settled = () => vi.waitFor(() => expect(sent.length + links.length + errors.length).toBeGreaterThan(0))
  return { auth, sent, links, errors, settled, logger: options.logger }
}
const ways: [string, string, Record<string, string>][] = [
  ['a sign-in link', '/signin/mailed', { email: 'ann@example.com' }],
  ['a sign-in link of a host with its own mailer', '/signin/link', { email: 'ann@example.com' }],
  ['a code', '/signin/codes', { email: 'ann@example.com' }],
  ['a reset', '/passwords/reset', { email: 'ann@example.com' }],
  ['a registration', '/passwords/sign-up', { email: 'bob@example.com', password: 'correct horse battery' }],
]

async function shapeOf(response: Response, origin: string): Promise<unknown> {
  const { status, headers } = response
  return {
    status,
    location: headers.get('location')?.replace(origin, ''),
    cookies: headers.getSetCookie().length,
    text: (await response.text()).length,
  }
}

describe.each(ways)('%s', (_name, path, fields) => {
  it('does not leave for a host that the Host header alone names, and the response does not tell', async () => {
    const [listed, named] = [await site({ allowedHosts: ['good.example'] }), await site()]
    const good = await new Client(listed.auth, 'https://good.example').post(path, fields)
    const bad = await new Client(named.auth, evil).post(path, fields)
    await Promise.all([listed.settled(), named.settled()])
    expect(listed.sent.length + listed.links.length).toBe(1)
    expect([...named.sent, ...named.links]).toEqual([])
    expect(named.errors.map(({ message }) => message).join()).toContain('evil.example')
    expect(await shapeOf(bad, evil)).toEqual(await shapeOf(good, 'https://good.example'))
  })

  it.each([
    ['origin', { origin: 'https://own.example' }, evil],
    ['AUTH_URL', { trustHost: undefined, env: { AUTH_URL: 'https://own.example' } }, evil],
    ['allowedHosts', { trustHost: undefined, allowedHosts: ['own.example'] }, 'https://own.example'],
    ['loopback', { trustHost: undefined }, 'http://localhost:3000'],
    ['VERCEL_URL', { trustHost: undefined, env: { VERCEL: '1', VERCEL_URL: 'own.example' } }, 'https://own.example'],
  ] as [string, AuthConfig, string][])('leaves where %s names the host', async (_what, config, origin) => {
    const { auth, sent, links, settled } = await site(config)
    expect((await new Client(auth, origin).post(path, fields)).status).toBe(302)
    await settled()
    expect(sent.length + links.length).toBe(1)
    expect(JSON.stringify([sent, links])).not.toContain('evil.example')
  })
})

describe('notices', () => {
  it('leave without their link, and name the sender instead of the host', async () => {
    const { auth, sent, settled } = await site()
    auth.use({
      name: 'probe',
      setup(kernel) {
        kernel.route({
          method: 'GET',
          path: '/probe',
          async handler(ctx) {
            const user = await ctx.service('store').getUser('1')
            await ctx.emit('credentialChanged', { user: user!, kind: 'passkey', action: 'added' })
            return new Response('done')
          },
        })
      },
    })
    expect((await new Client(auth, evil).get('/probe')).status).toBe(200)
    await settled()
    expect(sent).toHaveLength(1)
    expect(JSON.stringify(sent)).not.toContain('evil.example')
    expect(sent[0]?.text).toContain('Acme')
  })
})

describe('ready()', () => {
  const warned = async (config: AuthConfig): Promise<string[]> => {
    const { auth, logger } = await site(config)
    await auth.ready()
    await auth.ready()
    return logger.warnings
  }
  const env = { NODE_ENV: 'production' }

  it.each([
    ['in production', { env }, ['trust-host-unlisted']],
    ['where NODE_ENV is not set, as some frameworks start', { env: { PATH: '/bin' } }, ['trust-host-unlisted']],
    ['on a platform that sets trustHost', { trustHost: undefined, env: { ...env, VERCEL: '1' } }, ['trust-host-unlisted']],
    ['not in development', { env: { NODE_ENV: 'development' } }, []],
    ['not with origin', { env, origin: 'https://own.example' }, []],
    ['not with AUTH_URL', { env: { ...env, AUTH_URL: 'https://own.example' } }, []],
    ['not with allowedHosts', { env, allowedHosts: ['own.example'] }, []],
    ['not without trustHost', { env, trustHost: undefined }, []],
  ] as [string, AuthConfig, string[]][])('warns once of trustHost without hosts %s', async (_when, config, expected) => {
    expect(await warned(config)).toEqual(expected)
  })
})
