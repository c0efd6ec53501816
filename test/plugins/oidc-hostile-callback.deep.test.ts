/** Callbacks that no provider sent (SECURITY 2.2, RFC 9207, D12, D35, D36, D47, D48). */
import { describe, expect, it } from 'vitest'
import { type Client, locationOf, setCookies } from '../_client.ts'
import { type Case, expectRefused, instance, refuses, useOp } from '../_op/journey.ts'

const op = useOp()
const url = (change: (params: URLSearchParams) => void): Case => ({ url: ({ searchParams }) => change(searchParams) })
const set = (name: string, value: string): Case => url((params) => params.set(name, value))
const append = (name: string, value?: string): Case => url((params) => params.append(name, value ?? params.get(name) ?? ''))
const first = (name: string, value: string): Case =>
  url((params) => {
    const good = params.get(name) ?? ''
    params.delete(name)
    params.append(name, value)
    params.append(name, good)
  })
const advertised: Case = { discovery: (document) => ({ ...document, authorization_response_iss_parameter_supported: true }) }

describe('parameters', () => {
  refuses(op, {
    'state missing': url((params) => params.delete('state')),
    'state empty': set('state', ''),
    'state wrong': set('state', 'wrong'),
    'state with a character more': url((params) => params.set('state', `${params.get('state')}A`)),
    'state with a character less': url((params) => params.set('state', params.get('state')?.slice(0, -1) ?? '')),
    'state in upper case': url((params) => params.set('state', params.get('state')?.toUpperCase() ?? '')),
    'state with a blank': url((params) => params.set('state', ` ${params.get('state')}`)),
    'state of 10 kB': set('state', 'a'.repeat(10_000)),
    'state twice, the same': append('state'),
    'state twice, good first': append('state', 'wrong'),
    'state twice, good last': first('state', 'wrong'),
    'code missing': url((params) => params.delete('code')),
    'code empty': set('code', ''),
    'code twice, the same': append('code'),
    'code twice, good first': append('code', 'wrong'),
    'code twice, good last': first('code', 'wrong'),
    'code of 1 MB': set('code', 'a'.repeat(1_000_000)),
    'iss wrong, not advertised': set('iss', 'https://evil.example'),
    'iss empty, not advertised': set('iss', ''),
    'iss with a slash, not advertised': url((params) => params.set('iss', `${op().issuer}/`)),
    'iss missing, advertised': advertised,
    'iss wrong, advertised': { ...advertised, ...set('iss', 'https://evil.example') },
    'iss empty, advertised': { ...advertised, ...set('iss', '') },
    'iss in upper case, advertised': { ...advertised, ...url((params) => params.set('iss', op().issuer.toUpperCase())) },
    'iss twice, the same': url((params) => ['1', '2'].forEach(() => params.append('iss', op().issuer))),
    'iss twice, good last': url((params) => ['https://evil.example', op().issuer].forEach((iss) => params.append('iss', iss))),
    'error and code': set('error', 'access_denied'),
    'error empty and code': set('error', ''),
    'error twice': url((params) => ['a', 'b'].forEach((error) => params.append('error', error))),
    'error_description twice': url((params) => ['a', 'b'].forEach((text) => params.append('error_description', text))),
    'response (JARM)': set('response', 'eyJhbGciOiJub25lIn0.e30.'),
    'response empty': set('response', ''),
    'response twice': url((params) => ['a', 'b'].forEach((text) => params.append('response', text))),
    id_token: set('id_token', 'eyJhbGciOiJub25lIn0.e30.'),
    'id_token empty': set('id_token', ''),
    access_token: set('access_token', 'stolen'),
    token: set('token', 'stolen'),
    'the code of nobody': { ...set('code', 'nobodys'), token: () => ({ status: 400, body: { error: 'invalid_grant' } }) },
  })

  it('row 192: an error of the provider ends on the sign-in page, told in the log without control characters and bounded', async () => {
    const description = `<script>alert(1)</script>\n[auth][error] forged ${'x'.repeat(5000)}`
    const { location, errors } = await expectRefused(op(), {
      url: ({ searchParams }) => {
        searchParams.delete('code')
        searchParams.set('error', 'access_denied')
        searchParams.set('error_description', description)
      },
    })
    expect(location.href).toBe('http://localhost:3000/auth/signin?error=OAuthCallbackError')
    expect(errors[0]?.cause).toMatchObject({ provider: 'acme', error: 'access_denied' })
    const told = JSON.stringify(errors[0]?.cause)
    expect(told.length).toBeLessThan(400)
    expect(told).not.toContain('\\n')
    expect(op().count('/token')).toBe(0)
  })

  it('row 192: an error of another issuer is not believed (RFC 9207 section 2.4)', async () => {
    const { location, errors } = await expectRefused(op(), {
      url: ({ searchParams }) => {
        searchParams.delete('code')
        searchParams.set('error', 'access_denied')
        searchParams.set('iss', 'https://evil.example')
      },
    })
    expect(errors[0]?.name).toBe('CallbackRouteError')
    expect(location.searchParams.get('error')).toBe('Configuration')
  })

  it('accepts parameters of no meaning, once or often', async () => {
    op().reset()
    const { client } = instance(op())
    const back = new URL(await op().authorize(locationOf(await client.signIn('acme'))))
    for (const [name, value] of [
      ['session_state', 'x'],
      ['scope', 'openid'],
      ['foo', '1'],
      ['foo', '2'],
      ['iss', op().issuer],
    ] as const)
      back.searchParams.append(name, value)
    expect(locationOf(await client.get(back.href))).toBe('http://localhost:3000')
  })
})

describe('check cookies', () => {
  const provider = { checks: ['pkce', 'state', 'nonce'] }
  const pending = async (): Promise<{ client: Client; back: string; errors: Error[] }> => {
    op().reset()
    const { client, errors } = instance(op(), { provider })
    return { client, errors, back: await op().authorize(locationOf(await client.signIn('acme'))) }
  }
  const refused = async (client: Client, back: string, errors: Error[]): Promise<void> => {
    const response = await client.get(back)
    expect(locationOf(response)).toBe('http://localhost:3000/auth/error?error=Configuration')
    expect(errors.map(({ name }) => name)).toEqual(['InvalidCheck'])
    expect(await client.session()).toBeNull()
    expect(op().count('/token')).toBe(0)
  }
  const names = ['state', 'pkce.code_verifier', 'nonce'].map((name) => `authkernel.${name}`)

  it.each(names)('row 191: refuses a callback without %s, before the token request', async (name) => {
    const { client, back, errors } = await pending()
    client.cookies.delete(name)
    await refused(client, back, errors)
  })
  it.each(names)('refuses a callback with a changed %s', async (name) => {
    const { client, back, errors } = await pending()
    client.cookies.set(name, `${client.cookies.get(name)?.slice(0, -4)}AAAA`)
    await refused(client, back, errors)
  })
  it.each(names)('refuses a callback with rubbish in %s', async (name) => {
    for (const value of ['', 'x', '%', '%E0%A4%A', '{}', 'a.b.c.d.e', 'eyJhbGciOiJkaXIifQ....', 'x'.repeat(9000)]) {
      const { client, back, errors } = await pending()
      client.cookies.set(name, value)
      await refused(client, back, errors)
    }
  })
  it.each([
    ['state', 'nonce'],
    ['nonce', 'pkce.code_verifier'],
    ['pkce.code_verifier', 'state'],
  ])('refuses %s in the place of %s: cookies are sealed for their purpose', async (from, to) => {
    const { client, back, errors } = await pending()
    client.cookies.set(`authkernel.${to}`, client.cookies.get(`authkernel.${from}`) ?? '')
    await refused(client, back, errors)
  })
  it.each(names)('refuses %s of another sign-in', async (name) => {
    const { client, back, errors } = await pending()
    const other = client.clone()
    for (const cookie of names) other.cookies.delete(cookie)
    await other.signIn('acme')
    client.cookies.set(name, other.cookies.get(name) ?? '')
    await refused(client, back, errors)
  })
  it('refuses the callback in another browser', async () => {
    const { client, back, errors } = await pending()
    const other = client.clone()
    other.cookies.clear()
    await refused(other, back, errors)
  })
  it('refuses a session under the name of a check, and a check under the name of the session', async () => {
    const { client } = await pending()
    for (const name of names) {
      const other = client.clone()
      other.cookies.set('authkernel.session-token', client.cookies.get(name) ?? '')
      expect(await other.session()).toBeNull()
    }
  })
  it('row 88: refuses the answer to a sign-in at another provider (mix-up)', async () => {
    op().reset()
    const { auth, client, errors } = instance(op(), {
      provider,
      config: { providers: [{ id: 'other', name: 'Other', type: 'oidc', issuer: op().issuer, clientId: 'client-1' }] },
    })
    await auth.ready()
    const back = await op().authorize(locationOf(await client.signIn('acme')))
    await refused(client, back.replace('/callback/acme', '/callback/other'), errors)
  })
  it('refuses a callback more than 15 minutes after the start, by the clock of the instance', async () => {
    op().reset()
    let offset = 0
    const { client, errors } = instance(op(), { provider, config: { runtime: { now: () => Date.now() + offset } } })
    const back = await op().authorize(locationOf(await client.signIn('acme')))
    offset = 901_000
    await refused(client, back, errors)
  })
  it('D35: one state is used once, also by a browser that kept its cookies', async () => {
    const { client, back, errors } = await pending()
    const kept = client.clone()
    expect(locationOf(await client.get(back))).toBe('http://localhost:3000')
    expect(locationOf(await kept.get(back))).toContain('error=Configuration')
    expect(errors.map(({ name }) => name)).toEqual(['InvalidCheck'])
    expect(op().count('/token')).toBe(1)
  })
  it('D35, D48: ten parallel copies of a callback make one token request and one session', async () => {
    const { client, back, errors } = await pending()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => client.clone()).map(async (copy) => {
        const response = await copy.get(back)
        return {
          location: locationOf(response),
          session: setCookies(response).some(({ name, value }) => name.includes('session') && value !== ''),
        }
      }),
    )
    expect(answers.filter(({ session }) => session)).toHaveLength(1)
    expect(answers.filter(({ location }) => location.includes('error=Configuration'))).toHaveLength(9)
    expect(errors.map(({ name }) => name)).toEqual(Array(9).fill('InvalidCheck'))
    expect(op().count('/token')).toBe(1)
  })
  it('D48: the loser of a race keeps the session it has', async () => {
    const { client, back } = await pending()
    const kept = client.clone()
    await client.get(back)
    kept.cookies.set('authkernel.session-token', client.cookies.get('authkernel.session-token') ?? '')
    await kept.get(back)
    expect(await kept.session()).toMatchObject({ user: { name: 'Alice' } })
  })
  it('row 89: a failed callback clears the check cookies', async () => {
    for (const change of [
      { token: () => ({ status: 500, body: {} }) },
      { callback: (params: URLSearchParams) => (params.set('error', 'access_denied'), params) },
      { callback: (params: URLSearchParams) => (params.set('state', 'wrong'), params) },
      { callback: () => new URLSearchParams() },
    ]) {
      op().reset(change)
      const { client } = instance(op(), { provider })
      const back = await op().authorize(locationOf(await client.signIn('acme')))
      expect([...client.cookies.keys()]).toEqual(expect.arrayContaining(names))
      await client.get(back)
      expect([...client.cookies.keys()].filter((name) => names.includes(name))).toEqual([])
    }
  })
})

describe('method', () => {
  it('a POST is not read where the query was asked for', async () => {
    op().reset()
    const { client, errors } = instance(op())
    const back = new URL(await op().authorize(locationOf(await client.signIn('acme'))))
    const response = await client.request('POST', `${back.origin}${back.pathname}`, { body: back.searchParams })
    expect(locationOf(response)).toContain('error=Configuration')
    expect(errors.map(({ name }) => name)).toEqual(['InvalidCheck'])
  })
  it('a GET is not read where form_post was asked for', async () => {
    op().reset()
    const { client, errors } = instance(op(), { provider: { authorization: { params: { response_mode: 'form_post' } } } })
    const back = await op().authorize(locationOf(await client.signIn('acme')))
    expect(locationOf(await client.get(back))).toContain('error=Configuration')
    expect(errors.map(({ name }) => name)).toEqual(['InvalidCheck'])
  })
})
