/** What a few providers do otherwise: second requests, odd errors, flags for verified addresses. */
import { describe, expect, it } from 'vitest'
import { customFetch, type Provider } from 'authkernel'
import { locationOf } from '../_client.ts'
import { clientId, clientSecret } from './_expected.ts'
import { facts } from './_facts.ts'
import { createHost, origin, reason } from './_host.ts'
import { samples } from './_samples.ts'
import { createStub } from './_stub.ts'

type Answers = Record<string, (request: Request) => Response>

/** A sign-in where some URLs answer otherwise than usual. */
async function signIn(id: string, answers: Answers, answer = samples[id]!.full, options: object = {}) {
  const { default: preset } = (await import(`../../plugins/providers/${id}.ts`)) as { default: (options: object) => Provider }
  const stub = createStub(
    facts.find((fact) => fact.id === id)!,
    samples[id]!,
    answer,
  )
  const seen: Request[] = []
  const host = createHost(preset({ clientId, clientSecret, ...samples[id]!.options, ...options }), async (input, init) => {
    const request = new Request(input as RequestInfo, init)
    const { origin: from, pathname } = new URL(request.url)
    seen.push(request)
    return answers[from + pathname]?.(request) ?? stub.fetch(input, init)
  })
  stub.now = host.now()
  const authorization = await host.start()
  stub.nonce = authorization.searchParams.get('nonce') ?? undefined
  const response = await host.back(authorization, { device_id: 'device-1' })
  return { host, seen, location: locationOf(response), reason: host.errors.length > 0 ? reason(host.errors) : undefined }
}

describe('github', () => {
  const emails = 'https://api.github.com/user/emails'
  const hidden = { id: 1, login: 'ada', email: null }
  const list = [
    { email: 'first@mail.example', primary: false, verified: true },
    { email: 'Ada@Mail.example', primary: true, verified: false },
  ]

  it('row 186: a hidden address is read from /user/emails, the primary one first, with its flag', async () => {
    const { host, seen } = await signIn('github', { [emails]: () => Response.json(list) }, hidden)
    expect(host.asked().user).toMatchObject({ name: 'ada', email: 'ada@mail.example' })
    expect(host.asked().profile).toMatchObject({ email_verified: false })
    const asked = seen.find(({ url }) => url === emails)!
    expect([asked.headers.get('authorization'), asked.headers.get('user-agent')]).toEqual(['Bearer access-token-1', 'authkernel'])
  })

  it('takes the first where none is primary, and none where there is none', async () => {
    const first = await signIn('github', { [emails]: () => Response.json(list.slice(0, 1)) }, hidden)
    expect(first.host.asked().user.email).toBe('first@mail.example')
    for (const answer of [Response.json([]), new Response('no', { status: 404 })]) {
      const { host, location } = await signIn('github', { [emails]: () => answer.clone() }, hidden)
      expect([location, host.asked().user.email]).toEqual([origin, undefined])
    }
  })

  it('row 207: requests of its own go through the customFetch of the host', async () => {
    const seen: string[] = []
    const own: typeof fetch = async (input) => {
      const url = String(input instanceof Request ? input.url : input)
      seen.push(url)
      if (url.endsWith('/access_token')) return Response.json({ access_token: 'x', token_type: 'bearer' })
      return Response.json(url === emails ? list : hidden)
    }
    const refused = (): Response => new Response('the fetch of the runtime was used', { status: 500 })
    const all = { 'https://github.com/login/oauth/access_token': refused, 'https://api.github.com/user': refused, [emails]: refused }
    const { host } = await signIn('github', all, hidden, { [customFetch]: own })
    expect(host.asked().user.email).toBe('ada@mail.example')
    expect(seen).toEqual(['https://github.com/login/oauth/access_token', 'https://api.github.com/user', emails])
  })

  it('an address that the profile shows is verified when /user/emails says so of this very address', async () => {
    const shown = { id: 1, login: 'ada', email: 'Ada@Mail.example' }
    const said = async (answer: Response): Promise<unknown> =>
      (await signIn('github', { [emails]: () => answer.clone() }, shown)).host.asked().profile?.['email_verified']
    expect(await said(Response.json(list))).toBe(false)
    expect(await said(Response.json([{ ...list[1]!, verified: true }]))).toBe(true)
    expect(await said(Response.json([{ ...list[0]!, verified: true }]))).toBeUndefined()
    expect(await said(new Response('no', { status: 403 }))).toBeUndefined()
  })

  it('an Enterprise Server is not asked for what would not be believed', async () => {
    const site = 'https://github.example.com'
    const { seen } = await signIn('github', {}, undefined, { enterprise: { baseUrl: site } })
    expect(seen.map(({ url }) => url)).not.toContain(`${site}/api/v3/user/emails`)
  })

  it('a refused profile is an error with the status', async () => {
    const { location, reason: why } = await signIn('github', { 'https://api.github.com/user': () => new Response('bad', { status: 401 }) })
    expect(location).toContain('/auth/error')
    expect(why).toBe('Provider "github": https://api.github.com/user answered 401')
  })

  it('a token error with status 200 is an error', async () => {
    const token = 'https://github.com/login/oauth/access_token'
    const { location } = await signIn('github', { [token]: () => Response.json({ error: 'bad_verification_code' }) })
    expect(location).toContain('error=')
  })

  it('an account without an id is refused, not called "undefined"', async () => {
    const { location, host } = await signIn('github', {}, { login: 'ada', email: 'ada@mail.example' })
    expect(location).toContain('/auth/signin')
    expect(host.errors.at(-1)!.name).toBe('OAuthProfileParseError')
  })
})

describe('row 187: token answers that are repaired', () => {
  const url = 'https://id.twitch.tv/oauth2/oauth/token'

  it('twitch: scope as a list becomes a string, any other type goes', async () => {
    const { host } = await signIn('twitch', {})
    expect(host.asked().account.scope).toBe('openid user:read:email')
  })

  it('twitch: an error without `error` is understood', async () => {
    const { location, reason: why } = await signIn('twitch', {
      [url]: () => Response.json({ status: 400, message: 'Invalid authorization code' }, { status: 400 }),
    })
    expect(location).toContain('error=')
    expect(why).toMatch(/error/)
  })

  it('vk-id: an error with status 200 is an error', async () => {
    const { location, reason: why } = await signIn('vk-id', {
      'https://id.vk.com/oauth2/auth': () => Response.json({ error: 'invalid_grant' }),
    })
    expect(location).toContain('/auth/error')
    expect(why).toBe('Provider "vk-id": https://id.vk.com/oauth2/auth answered 200 invalid_grant')
  })

  it('row 188: azure-devops sends the code as an assertion, and a refusal is an error', async () => {
    const { location, reason: why } = await signIn('azure-devops', {
      'https://app.vssps.visualstudio.com/oauth2/token': () => new Response('{}', { status: 400 }),
    })
    expect(location).toContain('/auth/error')
    expect(why).toBe('Provider "azure-devops": the token endpoint answered 400')
  })
})

describe('D33: where providers say that an address is verified', () => {
  const eventbrite = (verified: boolean) => ({ emails: [{ email: 'a@b.example', primary: true, verified }] })
  it.each([
    ['discord', { verified: true }, true],
    ['discord', { verified: false }, false],
    ['eventbrite', eventbrite(true), true],
    ['eventbrite', eventbrite(false), false],
    ['gitlab', { confirmed_at: '2026-01-01T00:00:00Z' }, true],
    ['gitlab', { confirmed_at: null }, false],
    ['kakao', { kakao_account: { is_email_verified: false } }, false],
    ['patreon', { data: { attributes: { is_email_verified: true } } }, true],
    ['paypal', { emails: [{ value: 'a@b.example', primary: true, confirmed: false }] }, false],
    ['wikimedia', { confirmed_email: false }, false],
    ['zoom', { verified: 1 }, true],
    ['zoom', { verified: 0 }, false],
  ])('%s %j: %s', async (id, profile, expected) => {
    const { default: preset } = (await import(`../../plugins/providers/${id}.ts`)) as {
      default: () => { emailVerified(profile: object): unknown }
    }
    expect(preset().emailVerified(profile)).toBe(expected)
    expect(preset().emailVerified({}), 'not said').toBeUndefined()
  })
})

describe('details of mappings', () => {
  const profileOf = async (id: string, profile: object, tokens: object = {}) => {
    const { default: preset } = (await import(`../../plugins/providers/${id}.ts`)) as {
      default: () => { profile(...given: object[]): unknown }
    }
    return preset().profile(profile, tokens)
  }
  it('discord: default pictures of old and new accounts, animated and still ones', async () => {
    const id = '175928847299117063'
    const image = async (more: object) => ((await profileOf('discord', { id, username: 'ada', ...more })) as { image: string }).image
    expect(await image({ avatar: null, discriminator: '1337' })).toBe('https://cdn.discordapp.com/embed/avatars/2.png')
    expect(await image({ avatar: 'abc' })).toBe(`https://cdn.discordapp.com/avatars/${id}/abc.png`)
    expect(await image({ avatar: 'a_bc' })).toBe(`https://cdn.discordapp.com/avatars/${id}/a_bc.gif`)
    expect(await profileOf('discord', { id: 'no-number' })).toMatchObject({ image: 'https://cdn.discordapp.com/embed/avatars/0.png' })
  })

  it('threads: members at the top or below data', async () => {
    const flat = { id: '1', username: 'ada', threads_profile_picture_url: 'https://img.example/a' }
    expect(await profileOf('threads', flat)).toEqual(await profileOf('threads', { data: flat }))
  })

  it('wechat: an app outside an Open Platform account has openids only', async () => {
    expect(await profileOf('wechat', { openid: 'o-1' })).toMatchObject({ id: 'o-1' })
  })
})
