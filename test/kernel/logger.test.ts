/** What hosts see on their console when they bring no logger. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { AccessDenied, createAuth, CredentialsSignin } from 'authkernel'
import { AuthError } from 'authkernel/kernel'
import { createLogger } from '../../src/runtime/logger.ts'
import { baseConfig, Client, fakeRuntime, secret } from '../_setup.ts'

const spies = () => ({
  error: vi.spyOn(console, 'error').mockImplementation(() => {}),
  warn: vi.spyOn(console, 'warn').mockImplementation(() => {}),
  log: vi.spyOn(console, 'log').mockImplementation(() => {}),
})
// eslint-disable-next-line no-control-regex
const plain = (calls: unknown[][]) => calls.map((call) => call.join(' ').replace(/\u001B\[\d+m/g, ''))

afterEach(() => vi.restoreAllMocks())

describe('console', () => {
  it('row 342: [auth][error], [auth][cause], [auth][details]', () => {
    const { error } = spies()
    createLogger().error(new AuthError('what is wrong', { cause: { err: new TypeError('why'), provider: 'acme' } }))
    const [head = '', cause = '', details = ''] = plain(error.mock.calls)
    expect(head).toBe('[auth][error] AuthError: what is wrong')
    expect(cause).toMatch(/^\[auth\]\[cause\]: TypeError: why\n\s+at /)
    expect(details).toBe('[auth][details]: {\n  "provider": "acme"\n}')
  })

  it('row 342: an error without a cause shows where it came from', () => {
    const { error } = spies()
    createLogger().error(new AuthError('broken'))
    const [head, stack] = plain(error.mock.calls)
    expect(head).toBe('[auth][error] AuthError: broken')
    expect(stack).toMatch(/^\s+at /)
  })

  it('a wrong password and the path of a scanner are one plain line at warn level each', async () => {
    const { error, warn } = spies()
    const { logger: _logger, ...config } = baseConfig({
      providers: [{ id: 'c', name: 'C', type: 'credentials', credentials: { name: {} }, authorize: () => null }],
    })
    const client = new Client(createAuth(config))
    await client.post('/callback/c', { name: 'ada', password: 'wrong' })
    await client.get('/wp-login.php')
    await client.get('/callback/nobody')
    expect(warn.mock.calls).toEqual([
      ['[auth][warn][CredentialsSignin] authorize() of provider "c" returned no user.'],
      ['[auth][warn][UnknownAction] GET /auth/wp-login.php is not a route of authkernel.'],
      [expect.stringMatching(/^\[auth\]\[warn\]\[InvalidProvider\] [^\n]+$/)],
    ])
    expect(error).not.toHaveBeenCalled()
  })

  it('under debug the stack follows; what strangers send makes no line of its own; facts beside the message stay', () => {
    const { error, warn } = spies()
    createLogger({}, true).error(new CredentialsSignin('wrong\n[auth][error] forged\u2028x', { cause: { provider: 'c', retryAfter: 3 } }))
    expect(warn.mock.calls).toEqual([['[auth][warn][CredentialsSignin] wrong [auth][error] forged x {"retryAfter":3}']])
    expect(plain(error.mock.calls)[0]).toMatch(/^\s+at /)
  })

  it('what the code of a host threw is no everyday failure', () => {
    const { error, warn } = spies()
    createLogger().error(new AccessDenied('callback failed', { cause: { err: new TypeError('x is undefined') } }))
    expect(warn).not.toHaveBeenCalled()
    expect(plain(error.mock.calls)[1]).toMatch(/^\[auth\]\[cause\]: TypeError: x is undefined\n\s+at /)
  })

  it.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: false }, {}, false],
    [{ isTTY: true }, { NO_COLOR: '1' }, false],
    [{ isTTY: false }, { FORCE_COLOR: '1' }, true],
    [{ isTTY: true }, { FORCE_COLOR: '0' }, false],
  ])('colour only on a terminal: %j %j', ({ isTTY }, env, coloured) => {
    const { warn } = spies()
    const before = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
    vi.stubEnv('NO_COLOR', undefined)
    vi.stubEnv('FORCE_COLOR', undefined)
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    Object.defineProperty(process.stderr, 'isTTY', { value: isTTY, configurable: true })
    createLogger().warn('csrf-disabled')
    expect(warn.mock.calls[0]?.[0]).toBe(coloured ? '\u001B[33m[auth][warn][csrf-disabled]\u001B[0m' : '[auth][warn][csrf-disabled]')
    if (before) Object.defineProperty(process.stderr, 'isTTY', before)
    else Reflect.deleteProperty(process.stderr, 'isTTY')
    vi.unstubAllEnvs()
  })

  it('row 342: [auth][warn][code] and [auth][debug]:', () => {
    const { warn, log } = spies()
    const logger = createLogger({}, true)
    logger.warn('csrf-disabled')
    logger.debug('what happens', { a: 1 })
    expect(plain(warn.mock.calls)).toEqual(['[auth][warn][csrf-disabled]'])
    expect(plain(log.mock.calls)).toEqual(['[auth][debug]: what happens {\n  "a": 1\n}'])
  })

  it('row 41: debug is silent unless asked for, by option or by a debug function', async () => {
    const { log } = spies()
    createLogger().debug('nothing')
    expect(log).not.toHaveBeenCalled()
    const heard: string[] = []
    createLogger({ debug: (message) => void heard.push(message) }).debug('own')
    expect(heard).toEqual(['own'])
  })

  it('row 42: one level replaced, the others keep the console', async () => {
    const { error, warn } = spies()
    const heard: string[] = []
    const auth = createAuth({
      secret,
      trustHost: true,
      env: false,
      runtime: fakeRuntime(),
      logger: { error: ({ name }) => void heard.push(name) },
    })
    const client = new Client(auth)
    await client.get('/callback/nobody')
    await client.get('/signin?callbackUrl=javascript:1')
    expect(heard).toEqual(['InvalidProvider'])
    expect(error).not.toHaveBeenCalled()
    expect(plain(warn.mock.calls)).toEqual(['[auth][warn][invalid-callback-url]'])
  })

  it('row 274: the whole error reaches the log, the browser its code alone', async () => {
    const { error } = spies()
    const { logger: _logger, ...config } = baseConfig({
      providers: [
        {
          id: 'c',
          name: 'C',
          type: 'credentials',
          authorize: () => {
            throw new Error('connect ECONNREFUSED 10.0.0.7')
          },
        },
      ],
    })
    const response = await new Client(createAuth(config)).post('/callback/c')
    expect(response.headers.get('location')).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(plain(error.mock.calls).join('\n')).toContain('connect ECONNREFUSED 10.0.0.7')
    expect(plain(error.mock.calls).join('\n')).toContain('"provider": "c"')
  })

  it('strange things thrown do not break the log', () => {
    spies()
    const circular: Record<string, unknown> = { err: new Error('inner') }
    circular['self'] = circular
    expect(() => createLogger().error(new AuthError('x', { cause: circular }))).not.toThrow()
    expect(() => createLogger().error(Object.assign(new Error('no stack'), { stack: undefined }))).not.toThrow()
    expect(() => createLogger().error(new AuthError('x', { cause: { err: new Error('i'), big: 1n } }))).not.toThrow()
  })
})
