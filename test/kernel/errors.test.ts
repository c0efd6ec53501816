/** Rows, section P: the classes and the table. */
import { describe, expect, it } from 'vitest'
import * as everything from 'authkernel'
import { createAuth, type AuthConfig } from 'authkernel'
import * as separate from 'authkernel/errors'
import { errorTable } from '../../src/errors/table.ts'
import { AuthError, CredentialsSignin, HttpError, SignInError, visibleType } from '../../src/errors/index.ts'
import { baseConfig, Client } from '../_setup.ts'

const names = Object.keys(errorTable) as (keyof typeof errorTable)[]
const classOf = (name: string) =>
  (everything as unknown as Record<string, new (message?: string) => AuthError>)[name] as new (message?: string) => AuthError
/** A host whose sign-in fails with the given error. */
const failing = (error: () => Error, config: AuthConfig = {}) => {
  const options = baseConfig({
    providers: [
      {
        id: 'c',
        name: 'C',
        type: 'credentials',
        authorize: () => {
          throw error()
        },
      },
    ],
    ...config,
  })
  return { options, send: (headers?: Record<string, string>) => new Client(createAuth(options)).post('/callback/c', {}, headers) }
}

describe('classes', () => {
  it('row 267: message, name, type, cause.err, stack', () => {
    const err = new TypeError('why')
    const error = new everything.CallbackRouteError('what', { cause: { err, provider: 'acme' } })
    expect(error).toBeInstanceOf(AuthError)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ message: 'what', name: 'CallbackRouteError', type: 'CallbackRouteError', kind: 'error' })
    expect(error.cause).toEqual({ err, provider: 'acme' })
    expect(error.stack).toContain('errors.test.ts')
  })

  it('rows 268, D21: a message carries no link to a foreign site', () => {
    for (const name of names) expect(new (classOf(name))('text').message).toBe('text')
  })

  it('row 269: 32 types, each an exported class of its name; six end on the sign-in page', () => {
    expect(names).toHaveLength(32)
    for (const name of names) {
      const error = new (classOf(name))('x')
      expect([error.name, error.type, error.kind]).toEqual([name, name, errorTable[name].page])
      expect(separate).toHaveProperty(name, classOf(name))
    }
    expect(names.filter((name) => errorTable[name].page === 'signIn').sort()).toEqual([
      'AccountNotLinked',
      'CredentialsSignin',
      'MissingCSRF',
      'OAuthAccountNotLinked',
      'OAuthCallbackError',
      'OAuthProfileParseError',
    ])
    for (const name of names)
      expect(new (classOf(name))('x')).toMatchObject({ status: errorTable[name].status, statusCode: errorTable[name].status })
    expect(new SignInError('x').kind).toBe('signIn')
    expect(new CredentialsSignin()).toBeInstanceOf(SignInError)
  })

  it('row 277: message, error, options, message and error, message and options, nothing', () => {
    const err = new RangeError('inner')
    expect(new AuthError('text')).toMatchObject({ message: 'text', cause: undefined })
    expect(new AuthError(err)).toMatchObject({ message: 'inner', cause: { err } })
    expect(new AuthError({ cause: { err, more: 1 } })).toMatchObject({ message: 'inner', cause: { err, more: 1 } })
    expect(new AuthError({ cause: err })).toMatchObject({ message: 'inner', cause: { err } })
    expect(new AuthError('text', err)).toMatchObject({ message: 'text', cause: { err } })
    expect(new AuthError('text', { cause: err })).toMatchObject({ message: 'text', cause: { err } })
    expect(new AuthError('text', { cause: 'a word' })).toMatchObject({ cause: { detail: 'a word' } })
    expect(new AuthError()).toMatchObject({ message: '', type: 'AuthError' })
  })

  it("a class of one's own keeps its name, its parent's page, and shows as Configuration", () => {
    class Locked extends CredentialsSignin {
      static override type = 'Locked'
      override code = 'locked'
    }
    class Plain extends AuthError {}
    expect(new Locked('x')).toMatchObject({ name: 'Locked', type: 'Locked', kind: 'signIn', code: 'locked' })
    expect(new Plain('x')).toMatchObject({ name: 'Plain', kind: 'error' })
    expect([visibleType(new Plain('x')), visibleType(new Error('x')), visibleType(new CredentialsSignin())]).toEqual([
      'Configuration',
      'Configuration',
      'CredentialsSignin',
    ])
  })

  it('HttpError is no AuthError: nothing is logged for it', () => {
    expect(new HttpError(413, 'large', { 'Retry-After': '1' })).toMatchObject({
      status: 413,
      message: 'large',
      headers: { 'Retry-After': '1' },
    })
    expect(new HttpError(400, 'x')).not.toBeInstanceOf(AuthError)
  })
})

describe('over HTTP', () => {
  const safe = [
    'AccessDenied',
    'AccountNotLinked',
    'CredentialsSignin',
    'MissingCSRF',
    'OAuthAccountNotLinked',
    'OAuthCallbackError',
    'Verification',
    'WebAuthnVerificationError',
  ]

  it.each(names)('rows 270, 271: %s goes to its page, under its name or as Configuration', async (name) => {
    const { send } = failing(() => new (classOf(name))('detail for the log'))
    const page = errorTable[name].page === 'signIn' ? 'signin' : 'error'
    const code = name === 'CredentialsSignin' ? '&code=credentials' : ''
    expect((await send()).headers.get('location')).toBe(
      `http://localhost:3000/auth/${page}?error=${safe.includes(name) ? name : 'Configuration'}${code}`,
    )
  })

  it('row 270: exactly the eight', () => {
    expect(names.filter((name) => errorTable[name].visible).sort()).toEqual(safe)
  })

  it("row 271: the host's pages take their place, with a query that is there already and a fragment", async () => {
    const pages = { signIn: '/in?theme=dark#form', error: 'https://errors.example/oops' }
    expect((await failing(() => new CredentialsSignin(), { pages }).send()).headers.get('location')).toBe(
      'http://localhost:3000/in?theme=dark&error=CredentialsSignin&code=credentials#form',
    )
    expect((await failing(() => new everything.AccessDenied(), { pages }).send()).headers.get('location')).toBe(
      'https://errors.example/oops?error=AccessDenied',
    )
  })

  it.each([
    ['Configuration', 500],
    ['AccessDenied', 403],
    ['Verification', 403],
    ['Anything', 200],
    ['', 200],
  ])('row 272: the error page for %j has status %i', async (error, status) => {
    const response = await new Client(createAuth(baseConfig())).get(`/error?error=${error}`)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toContain('text/html')
  })

  it('row 274: one log entry per failure, whole', async () => {
    const { options, send } = failing(() => new everything.AccessDenied('because of this', { cause: { err: new Error('and that') } }))
    await send()
    expect(options.logger.errors).toEqual([
      expect.objectContaining({ message: 'because of this', cause: { err: expect.objectContaining({ message: 'and that' }) as Error } }),
    ])
  })

  it('the failure hook answers instead of the redirect; one that fails itself does not hide the failure', async () => {
    const { options } = failing(() => new CredentialsSignin('x'))
    const auth = createAuth(options)
    const take = auth.hook('failure', ({ error }) => Response.json({ failed: error.type }, { status: 418 }))
    const response = await new Client(auth).post('/callback/c')
    expect([response.status, await response.json()]).toEqual([418, { failed: 'CredentialsSignin' }])
    take()
    auth.hook('failure', () => {
      throw new Error('failure of the failure')
    })
    expect((await new Client(auth).post('/callback/c')).headers.get('location')).toContain('/auth/signin?error=CredentialsSignin')
    expect(options.logger.errors.map(({ message }) => message)).toEqual(['x', 'x', 'failure of the failure'])
  })

  it.each(['a text', undefined, null, 42, { a: 1 }])('%j thrown instead of an error is Configuration, and logged', async (thrown) => {
    const { options, send } = failing(() => thrown as never)
    expect((await send()).headers.get('location')).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(options.logger.errors).toHaveLength(1)
    expect(options.logger.errors[0]).toMatchObject({ name: 'CallbackRouteError', cause: { provider: 'c' } })
  })
})
