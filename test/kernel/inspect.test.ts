/** inspect(): who registered what; the two forms of configuration are one. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { createKernel } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { databaseSessionPlugin } from 'authkernel/plugins/session-database'
import { emailPlugin } from 'authkernel/plugins/email'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'

const signIn = () => true
const password = { id: 'password', name: 'Password', authorize: () => ({ id: '1' }) }
const acme = { id: 'acme', name: 'Acme', issuer: 'https://op.example', clientId: 'c', clientSecret: 's' }
const mail = { id: 'mail', name: 'Mail', type: 'email' as const, sendVerificationRequest: () => {} }

describe('inspect', () => {
  it('row 328: options and .use() say the same', async () => {
    const options = createAuth(
      baseConfig({
        adapter: memoryAdapter(),
        providers: [{ ...acme, type: 'oidc' }, { ...password, type: 'credentials' }, mail],
        callbacks: { signIn },
        events: { signIn: () => {} },
      }),
    )
    const used = createAuth(baseConfig())
      .use(adapterPlugin(memoryAdapter()))
      .use(oidcPlugin(acme))
      .use(credentialsPlugin(password))
      .use(emailPlugin(mail))
    used.hook('signIn', signIn)
    used.on('signIn', () => {})
    await Promise.all([options.ready(), used.ready()])
    const shown = (auth: typeof used) => {
      const { providers, providerTypes, routes, services, hooks, events, fault } = auth.inspect()
      return { providers, providerTypes: providerTypes.toSorted(), routes, services, hooks, events, fault }
    }
    expect(shown(used)).toEqual(shown(options as typeof used))
  })

  it('is plain data with owners, and holds no secret', () => {
    const auth = createAuth(baseConfig({ providers: [{ ...acme, type: 'oidc', clientSecret: 'canary-client-secret' }] }))
    const inspection = auth.inspect()
    expect(JSON.parse(JSON.stringify(inspection))).toEqual(inspection)
    expect(JSON.stringify(inspection)).not.toMatch(/canary|a-secret-of-more/)
    expect(inspection.routes).toContainEqual({ method: 'GET', path: '/session', plugin: 'kernel' })
    expect(inspection.services).toMatchObject({ session: 'session-jwt', pages: 'pages', sealer: 'host' })
  })

  it('`debug: true` lists the plugin before the first request, once, and it can be taken away', async () => {
    const logger = recordingLogger()
    const auth = createAuth(baseConfig({ debug: true, logger }))
    const listed = () => auth.inspect().plugins.filter(({ name }) => name === 'debug')
    expect(listed()).toEqual([{ name: 'debug', layer: 'preset' }])
    await auth.session(new Request('http://localhost:3000/'))
    expect(listed()).toEqual([{ name: 'debug', layer: 'preset' }])
    expect(logger.debugs).not.toEqual([])
    const [without, replaced] = [createAuth(baseConfig({ debug: true, logger })), createAuth(baseConfig({ debug: true, logger }))]
    without.remove('debug')
    replaced.use({ name: 'debug', setup() {} })
    logger.debugs.length = 0
    for (const other of [without, replaced]) await other.session(new Request('http://localhost:3000/'))
    expect(logger.debugs).toEqual([])
    expect(without.inspect().plugins.map(({ name }) => name)).not.toContain('debug')
    expect(replaced.inspect().plugins.filter(({ name }) => name === 'debug')).toEqual([{ name: 'debug', layer: 'plugin' }])
  })

  it('names the first mistake', () => {
    expect(createAuth(baseConfig({ secret: 'short' })).inspect().fault).toContain('less than 32 characters')
    expect(createAuth(baseConfig()).inspect()).not.toHaveProperty('fault')
  })

  it('row 333: each feature works with its plugin alone, and nothing else is there', async () => {
    const sessions = createKernel(baseConfig()).use(adapterPlugin(memoryAdapter())).use(databaseSessionPlugin())
    await sessions.ready()
    expect(sessions.inspect().providerTypes).toEqual([])
    expect(sessions.inspect().plugins.map(({ name }) => name)).toEqual(['adapter', 'session-database'])
    expect((await new Client(sessions).get('/signin')).headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const credentials = sessions.use(credentialsPlugin(password))
    expect(credentials.inspect().providerTypes).toEqual(['credentials'])
    await expect(
      createKernel(baseConfig({ providers: [mail] }))
        .use(adapterPlugin(memoryAdapter()))
        .use(databaseSessionPlugin())
        .ready(),
    ).rejects.toThrow('Provider "mail" has the type "email", which no plugin knows')
  })
})
