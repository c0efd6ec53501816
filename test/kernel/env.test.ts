/** Rows, section C, and D24, D34, D41. */
import { describe, expect, it } from 'vitest'
import { type AuthConfig, createAuth, setEnvDefaults } from 'authkernel'
import { createKernel } from 'authkernel/kernel'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { baseConfig, Client, recordingLogger, secret } from '../_setup.ts'

const filled = (env: Record<string, string>, config: AuthConfig = {}, quiet = false) => {
  const logger = recordingLogger()
  const result: AuthConfig = { ...config, logger }
  const answer: unknown = setEnvDefaults(env, result, quiet)
  return { ...result, warnings: logger.warnings, answer }
}

describe('setEnvDefaults', () => {
  it('row 60: takes a getter or a record, and gives nothing back', () => {
    const values = { AUTH_SECRET: secret }
    const config: AuthConfig = {}
    setEnvDefaults((name) => values[name as 'AUTH_SECRET'], config)
    expect(config.secret).toEqual([secret])
    expect(filled(values).secret).toEqual([secret])
    expect(filled(values).answer).toBeUndefined()
  })

  it('row 54: AUTH_SECRET, with AUTH_SECRET_1 to 3 in front, newest first', () => {
    expect(filled({ AUTH_SECRET: '0', AUTH_SECRET_1: '1', AUTH_SECRET_2: '2', AUTH_SECRET_3: '3' }).secret).toEqual(['3', '2', '1', '0'])
    expect(filled({ AUTH_SECRET_2: '2' }).secret).toEqual(['2'])
    expect(filled({}).secret).toBeUndefined()
  })

  it('row 54: a secret that is there stays; an empty one is none', () => {
    expect(filled({ AUTH_SECRET: 'env' }, { secret: 'own' }).secret).toBe('own')
    expect(filled({ AUTH_SECRET: 'env' }, { secret: [] }).secret).toEqual(['env'])
    expect(filled({ AUTH_SECRET: 'env' }, { secret: '' }).secret).toEqual(['env'])
    expect(filled({ AUTH_SECRET: '' }).secret).toBeUndefined()
  })

  it('rows 11, 55: the path of AUTH_URL is the base path, else /auth; both given warn', () => {
    expect(filled({ AUTH_URL: 'https://a.example/api/auth/' })).toMatchObject({
      basePath: '/api/auth',
      origin: 'https://a.example',
      warnings: [],
    })
    expect(filled({ AUTH_URL: 'https://a.example' }).basePath).toBe('/auth')
    expect(filled({}).basePath).toBe('/auth')
    const both = filled({ AUTH_URL: 'https://a.example/api/auth' }, { basePath: '/mine' })
    expect(both).toMatchObject({ basePath: '/mine', warnings: ['env-url-basepath-redundant'] })
    expect(filled({ AUTH_URL: 'https://a.example/api/auth' }, { basePath: '/mine' }, true).warnings).toEqual([])
  })

  it('D34: AUTH_URL names the origin; one that is no URL is kept, to be refused at compile', () => {
    expect(filled({ AUTH_URL: 'https://a.example:8443/x' }).origin).toBe('https://a.example:8443')
    expect(filled({ AUTH_URL: 'https://a.example' }, { origin: 'https://own.example' }).origin).toBe('https://own.example')
    expect(filled({ AUTH_URL: 'a.example' })).toMatchObject({ basePath: '/auth', origin: 'a.example' })
  })

  it.each([
    ['AUTH_URL', { AUTH_URL: 'https://a.example', NODE_ENV: 'production' }, true],
    ['AUTH_TRUST_HOST', { AUTH_TRUST_HOST: 'true', NODE_ENV: 'production' }, true],
    ['VERCEL', { VERCEL: '1', NODE_ENV: 'production' }, true],
    ['CF_PAGES', { CF_PAGES: '1', NODE_ENV: 'production' }, true],
    ['development', { NODE_ENV: 'development' }, undefined],
    ['no NODE_ENV', {}, undefined],
    ['production', { NODE_ENV: 'production' }, undefined],
  ])('row 57: trustHost by %s', (_name, env, expected) => {
    expect(filled(env as Record<string, string>).trustHost).toBe(expected)
  })

  it.each(['false', '0', 'no', 'off', 'False', 'OFF'])('row 58, D24: AUTH_TRUST_HOST=%s means false, in development too', (value) => {
    expect(filled({ AUTH_TRUST_HOST: value }).trustHost).toBe(false)
    expect(filled({ AUTH_TRUST_HOST: value, AUTH_URL: 'https://a.example', VERCEL: '1' }).trustHost).toBe(false)
    expect(filled({ AUTH_TRUST_HOST: value }, { trustHost: true }).trustHost).toBe(true)
  })

  it.each([
    [{ AUTH_TRUST_PROXY: 'true' }, true],
    [{ AUTH_TRUST_PROXY: '2' }, 2],
    [{ AUTH_TRUST_PROXY: '0' }, 0],
    [{ AUTH_TRUST_PROXY: 'false', VERCEL: '1' }, false],
    [{ VERCEL: '1' }, true],
    [{ CF_PAGES: '1' }, true],
    [{}, undefined],
  ])('D34: trustProxy by %j', (env, expected) => {
    expect(filled(env as Record<string, string>).trustProxy).toBe(expected)
  })

  it('row 40: AUTH_REDIRECT_PROXY_URL fills redirectProxyUrl; the option wins', () => {
    const env = { AUTH_REDIRECT_PROXY_URL: 'https://proxy.example/auth' }
    expect(filled(env).redirectProxyUrl).toBe('https://proxy.example/auth')
    expect(filled(env, { redirectProxyUrl: 'https://own.example/auth' }).redirectProxyUrl).toBe('https://own.example/auth')
  })

  it('row 59: AUTH_<ID>_ID, _SECRET, _ISSUER, _KEY in upper case with _ for -, under what is given', () => {
    const env = { AUTH_MY_OP_ID: 'id', AUTH_MY_OP_SECRET: 's', AUTH_MY_OP_ISSUER: 'https://op.example', AUTH_MAILER_KEY: 'k' }
    const providers = [
      { id: 'my-op', name: 'Op', type: 'oidc', clientId: 'given' },
      () => ({ id: 'mailer', name: 'M', type: 'email' }),
    ] as never[]
    const [op, mailer] = (filled(env, { providers }).providers ?? []) as [object, object]
    expect(op).toMatchObject({ clientId: 'given', clientSecret: 's', issuer: 'https://op.example' })
    expect(mailer).toMatchObject({ apiKey: 'k' })
    expect(providers[0]).toEqual({ id: 'my-op', name: 'Op', type: 'oidc', clientId: 'given' })
  })

  it('names of Object.prototype are no values', () => {
    const config: AuthConfig = { providers: [{ id: 'constructor', name: 'C', type: 'oidc' } as never] }
    setEnvDefaults({}, config)
    expect(config.providers?.[0]).toEqual({ id: 'constructor', name: 'C', type: 'oidc' })
  })
})

describe('who reads the environment', () => {
  const env = { AUTH_SECRET: secret, AUTH_ACME_ID: 'from-env', AUTH_ACME_ISSUER: 'https://op.example', AUTH_TRUST_HOST: 'true' }

  it('row 59, D18, D41: createAuth does, for providers of use() too', async () => {
    const { secret: _, trustHost: __, ...config } = baseConfig()
    const auth = createAuth({ ...config, env }).use(oidcPlugin({ id: 'acme' }))
    await auth.ready()
    const plain = createAuth({ ...config, env: false })
    await expect(plain.ready()).rejects.toMatchObject({ type: 'MissingSecret' })
  })

  it('D41: a bare kernel reads nothing by itself', async () => {
    const saved = process.env['AUTH_SECRET']
    process.env['AUTH_SECRET'] = secret
    try {
      const auth = createKernel().use(jwtSessionPlugin())
      await expect(auth.ready()).rejects.toMatchObject({ type: 'MissingSecret' })
      await createAuth({ logger: recordingLogger() }).ready()
    } finally {
      if (saved === undefined) delete process.env['AUTH_SECRET']
      else process.env['AUTH_SECRET'] = saved
    }
  })

  it('row 376: no file is read: what the host did not load is not there', async () => {
    const asked: string[] = []
    const auth = createAuth({ logger: recordingLogger(), env: (name) => (asked.push(name), undefined) })
    await expect(auth.ready()).rejects.toMatchObject({ type: 'MissingSecret' })
    expect(asked).toContain('AUTH_SECRET')
  })

  it('row 53: the options of the host stay as they were', () => {
    const config = Object.freeze({ providers: Object.freeze([]), logger: recordingLogger(), env })
    createAuth(config)
    expect(Object.keys(config)).toEqual(['providers', 'logger', 'env'])
  })

  it('row 57: an untrusted host in production is rejected, with what to set', async () => {
    const logger = recordingLogger()
    const auth = createAuth({ logger, env: { AUTH_SECRET: secret, NODE_ENV: 'production' } })
    expect((await new Client(auth, 'https://app.example').get('/session')).status).toBe(500)
    expect(logger.errors[0]?.message).toMatch(/AUTH_URL.*AUTH_TRUST_HOST/s)
  })
})
