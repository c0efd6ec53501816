/** Options of the wrong shape are named at once; `null` says what undefined says. */
import { createAuth } from 'authkernel'
import { describe, expect, it } from 'vitest'

const fine = { secret: 'a-secret-of-more-than-32-characters-here', trustHost: true, env: false, logger: { warn() {}, error() {} } }
const groups = 'session jwt callbacks events pages cookies theme limits deadlines experimental'.split(' ')
const plain = 'adapter providers allowedHosts basePath origin redirectProxyUrl throttle debug runtime'.split(' ')

describe('null', () => {
  it.each([...groups, ...plain, 'logger'])('%s: null is as if it were not there', async (name) => {
    const auth = createAuth({ ...fine, [name]: null } as never)
    await auth.ready()
    expect((await auth.handler(new Request('http://localhost/auth/session'))).status).toBe(200)
  })

  it('a secret that is null is missing', async () => {
    await expect(createAuth({ ...fine, secret: null } as never).ready()).rejects.toThrow('createAuth has no `secret`')
  })
})

describe('another shape', () => {
  it.each([...groups, 'logger', 'adapter', 'runtime'].flatMap((name) => [5, 'x', [], true].map((value) => [name, value] as const)))(
    '%s: %j is refused by name',
    (name, value) => {
      expect(() => createAuth({ ...fine, [name]: value } as never)).toThrow(`createAuth: \`${name}\` must be an object, not a `)
    },
  )

  it.each([
    ['providers', {}, 'a list, not an object'],
    ['allowedHosts', 'app.example', 'a list, not a string'],
    ['basePath', ['/auth'], 'a string, not a list'],
    ['origin', new URL('https://app.example'), 'a string, not an object'],
    ['redirectProxyUrl', 5, 'a string, not a number'],
    ['secret', 5, 'a string or a list, not a number'],
    ['throttle', true, 'an object or false, not a boolean'],
  ])('%s', (name, value, message) => {
    expect(() => createAuth({ ...fine, [name]: value } as never)).toThrow(`createAuth: \`${name}\` must be ${message}.`)
  })

  it.each([null, 5, 'x', []])('%j instead of the options', (options) => {
    expect(() => createAuth(options as never)).toThrow('createAuth takes an object of options, not ')
  })

  it('the value is not repeated: it may be a secret in the wrong place', () => {
    expect(() => createAuth({ ...fine, session: 'hunter2' } as never)).toThrow(/^(?!.*hunter2)/)
  })
})
