import { createHash } from 'node:crypto'
import { decode as authjsDecode, encode as authjsEncode } from '@auth/core/jwt'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { decode, encode } from 'authkernel/jwt'
import { authjsCompatPlugin, authjsKeyInfo } from 'authkernel/plugins/authjs-compat'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { baseConfig, Client, secret } from '../_setup.ts'

const salt = 'authjs.session-token'
const make = (config = {}) =>
  createAuth({ ...baseConfig({ ...config }), runtime: {} })
    .use(authjsCompatPlugin())
    .use(credentialsPlugin({ id: 'credentials', authorize: () => ({ id: '1', name: 'Ann', email: 'ann@example.com' }) }))

describe('authjsCompatPlugin', () => {
  it('row 94: a token issued by @auth/core decodes here, and vice versa', async () => {
    const theirs = await authjsEncode({ token: { name: 'Ann', sub: '1' }, secret, salt })
    expect(await decode({ token: theirs, secret, salt, keyInfo: authjsKeyInfo })).toMatchObject({ name: 'Ann', sub: '1' })
    const ours = await encode({ token: { name: 'Ann', sub: '1' }, secret, salt, keyInfo: authjsKeyInfo })
    expect(await authjsDecode({ token: ours, secret, salt })).toMatchObject({ name: 'Ann', sub: '1' })
  })

  it('a browser signed in by Auth.js stays signed in', async () => {
    const client = new Client(make())
    client.cookies.set(salt, await authjsEncode({ token: { name: 'Ann', email: 'ann@example.com', sub: '1' }, secret, salt }))
    expect(await client.session()).toMatchObject({ user: { name: 'Ann', email: 'ann@example.com' } })
  })

  it('a browser signed in here is known to Auth.js', async () => {
    const client = new Client(make())
    await client.post('/callback/credentials', { username: 'ann' })
    expect(await authjsDecode({ token: client.cookies.get(salt) ?? '', secret, salt })).toMatchObject({ name: 'Ann', sub: '1' })
  })

  it('row 69: a CSRF cookie of Auth.js counts, with one secret and with a joined list', async () => {
    const token = 'ab'.repeat(32)
    for (const secrets of [[secret], ['new-'.repeat(10), secret]]) {
      const client = new Client(make({ secret: secrets }))
      const hash = createHash('sha256')
        .update(token + secrets.join(','))
        .digest('hex')
      client.cookies.set('authjs.csrf-token', encodeURIComponent(`${token}|${hash}`))
      expect(await client.csrfToken()).toBe(token)
    }
  })

  it('without the plugin such a token is signed out', async () => {
    const client = new Client(createAuth({ ...baseConfig(), runtime: {} }))
    client.cookies.set('authkernel.session-token', await authjsEncode({ token: { sub: '1' }, secret, salt: 'authkernel.session-token' }))
    expect(await client.session()).toBeNull()
  })
})
