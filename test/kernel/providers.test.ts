/** What becomes of a provider that a host wrote (rows 37, 59, 358, D18, D50). */
import { describe, expect, it } from 'vitest'
import { createAuth, customFetch, type Provider } from 'authkernel'
import { createAddresses, normaliseProvider, readEnv } from '../../src/options/providers.ts'
import { baseConfig, Client } from '../_setup.ts'

const normalise = (provider: object, env: Record<string, string> | false = false) =>
  normaliseProvider(provider as Provider, env) as unknown as Record<PropertyKey, unknown>

describe('normaliseProvider', () => {
  it('the options of the host go over those of the preset: objects merge, arrays replace, symbols are kept', () => {
    const fetcher = async () => new Response()
    const preset = {
      id: 'acme',
      name: 'Acme',
      type: 'oauth',
      checks: ['pkce', 'state'],
      authorization: { url: 'https://acme.example/a', params: { scope: 'read', prompt: 'login' } },
      options: { clientId: 'c', checks: ['none'], authorization: { params: { scope: 'write' } }, [customFetch]: fetcher, name: undefined },
    }
    const before = JSON.stringify(preset)
    expect(normalise(preset)).toEqual({
      id: 'acme',
      name: 'Acme',
      type: 'oauth',
      clientId: 'c',
      checks: ['none'],
      authorization: { url: 'https://acme.example/a', params: { scope: 'write', prompt: 'login' } },
      [customFetch]: fetcher,
    })
    expect(JSON.stringify(preset)).toBe(before)
  })

  it('an id in the options renames it; the name defaults to the id', () => {
    expect(normalise({ id: 'a', type: 'oidc', options: { id: 'b' } })).toMatchObject({ id: 'b', name: 'b' })
    expect(normalise({ id: 'a', name: 'A', type: 'oidc' })).toMatchObject({ name: 'A' })
  })

  it('row 59: the environment fills what is undefined, by the id it ends up with', () => {
    const env = { AUTH_MY_OP_ID: 'from-env', AUTH_MY_OP_SECRET: '', AUTH_A_ID: 'wrong' }
    expect(normalise({ id: 'a', type: 'oidc', options: { id: 'my-op' } }, env)).toMatchObject({ clientId: 'from-env' })
    expect(normalise({ id: 'my-op', type: 'oidc', clientId: 'own' }, env)).toMatchObject({ clientId: 'own' })
    expect(normalise({ id: 'my-op', type: 'oidc' }, env)).not.toHaveProperty('clientSecret')
  })

  it.each([undefined, null, '', 'a/b', 'a b', 'a?b', 'ä', 'undefined', '../x', 5, {}])('the id %j is refused', (id) => {
    expect(() => normalise({ id, type: 'oidc' })).toThrow('has the id')
  })

  it('row 28, a provider may be a function', async () => {
    const auth = createAuth(
      baseConfig({ providers: [() => ({ id: 'late', name: 'Late', type: 'credentials', authorize: () => ({ id: '1' }) })] }),
    )
    expect(Object.keys((await (await new Client(auth).get('/providers')).json()) as object)).toEqual(['late'])
  })
})

describe('addresses', () => {
  it('row 358: signinUrl and callbackUrl by base; one object per base', () => {
    const addressed = createAddresses()
    const provider = { id: 'a', name: 'A', type: 'oidc' } as Provider
    const first = addressed(provider, 'https://x.example/auth')
    expect(first).toEqual({
      ...provider,
      signinUrl: 'https://x.example/auth/signin/a',
      callbackUrl: 'https://x.example/auth/callback/a',
    })
    expect(addressed(provider, 'https://x.example/auth')).toBe(first)
    expect(addressed(provider, 'https://y.example/auth')).toMatchObject({ callbackUrl: 'https://y.example/auth/callback/a' })
    expect(provider).not.toHaveProperty('signinUrl')
  })
})

describe('readEnv', () => {
  it('a record or a function; empty is absent; inherited names are not there', () => {
    expect(readEnv({ A: 'x' }, 'A')).toBe('x')
    expect(readEnv((name) => `${name}!`, 'A')).toBe('A!')
    expect(readEnv({ A: '' }, 'A')).toBeUndefined()
    expect(readEnv({}, 'constructor')).toBeUndefined()
  })
})
