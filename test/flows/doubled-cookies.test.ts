/** Two session cookies in one request. A sub-domain beside the site can plant one of them, with `Domain`, and a longer `Path` makes it the first. */
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { isDoubled } from '../../src/http/doubled-cookies.ts'
import { baseConfig, Client } from '../_setup.ts'

const origin = 'https://app.shop.example'
const plain = 'http://localhost:3000'
const kinds = {
  'no prefix': { at: plain, name: 'authkernel.session-token', cookies: {} },
  '__Secure-': { at: origin, name: '__Secure-authkernel.session-token', cookies: {} },
  '__Host-': { at: origin, name: '__Host-session', cookies: { sessionToken: { name: '__Host-session' } } },
}
const cases = Object.entries(kinds).flatMap(([kind, place]) =>
  (['jwt', 'database'] as const).map((strategy) => [`${kind}, ${strategy}`, place, strategy] as const),
)

async function world({ at, cookies }: (typeof kinds)['no prefix'], strategy: 'jwt' | 'database', size = 0) {
  const config = baseConfig({
    origin: at,
    cookies,
    session: { strategy },
    providers: [{ id: 'pw', name: 'P', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) }],
    callbacks: { jwt: ({ token }) => ({ ...token, filling: 'x'.repeat(size) }) },
  })
  const store = memoryAdapter()
  const auth = createAuth(config).use(adapterPlugin(store))
  await auth.ready()
  const cookiesOf = async (user: string) => {
    await store.createUser!({ id: user, email: `${user}@shop.example`, name: user, emailVerified: null })
    const client = new Client(auth, at)
    await client.post('/callback/pw', { user })
    return client.cookies
  }
  const read = (cookie: string) => auth.session(new Request(at, { headers: { cookie } }))
  return { auth, cookiesOf, read, warned: config.logger.warnings }
}

describe.each(cases)('%s', (_name, place, strategy) => {
  const { at, name } = place

  it('different values are signed out in both orders, and the log says why; equal ones are one', async () => {
    const { cookiesOf, read } = await world(place, strategy)
    const [own, planted] = [(await cookiesOf('ada')).get(name)!, (await cookiesOf('mallory')).get(name)!]
    expect((await read(`${name}=${own}`))?.user?.name).toBe('ada')
    for (const cookie of [`${name}=${own}; ${name}=${planted}`, `${name}=${planted}; x=1; ${name}=${own}`])
      expect(await read(cookie)).toBeNull()
    expect((await read(`${name}=${own}; ${name}=${own}`))?.user?.name).toBe('ada')
    // Another name that ends or begins so is another cookie.
    expect((await read(`x${name}=1; ${name}=${own}; ${name}-x=2; y=${name}=3`))?.user?.name).toBe('ada')
  })

  it('a sign-in and a sign-out expire what other places have set, and the own cookie is the last line of its name', async () => {
    const { auth, cookiesOf } = await world(place, strategy)
    const [own, planted] = [await cookiesOf('ada'), await cookiesOf('mallory')]
    const csrf = [...own].filter(([key]) => key !== name).map(([key, value]) => `${key}=${value}`)
    const cookie = [`${name}=${planted.get(name)!}`, `${name}=${own.get(name)!}`, ...csrf].join('; ')
    const token = [...own].find(([key]) => key.includes('csrf'))![1].split(/[|%]/)[0]!
    const post = async (path: string, fields: Record<string, string>) => {
      const body = new URLSearchParams({ ...fields, csrfToken: token })
      const answer = await auth.handler(new Request(`${at}/auth${path}`, { method: 'POST', body, headers: { cookie, origin: at } }))
      return answer.headers.getSetCookie().filter((line) => line.startsWith(`${name}=`))
    }
    const elsewhere = at === plain ? [] : ['app.shop.example', 'shop.example'].flatMap((domain) => [`${domain} /`, `${domain} /auth`])
    // Browsers take a name with `__Host-` from one place only.
    const places = name.startsWith('__Host-') ? [] : ['own /auth', ...elsewhere]
    const expired = (lines: string[]) =>
      lines
        .filter((line) => line.includes('Max-Age=0'))
        .map((line) => `${/Domain=([^;]+)/.exec(line)?.[1] ?? 'own'} ${/Path=([^;]+)/.exec(line)?.[1]}`)
    const into = await post('/callback/pw', { user: 'ada' })
    expect(expired(into)).toEqual(places)
    expect(into.at(-1)).not.toContain('Max-Age=0')
    const out = await post('/signout', {})
    expect(expired(out)).toEqual([...places, 'own /'])
  })
})

describe('in chunks', () => {
  const place = kinds['__Secure-']
  const { name } = place

  it('planted chunks and a planted whole cookie give no session, and a good one is read', async () => {
    const { cookiesOf, read, warned } = await world(place, 'jwt', 5000)
    const parts = async (user: string) => [...(await cookiesOf(user))].filter(([key]) => key.startsWith(`${name}.`))
    const [own, planted] = [await parts('ada'), await parts('mallory')]
    expect(own.length).toBeGreaterThan(1)
    const header = (...pairs: [string, string][]) => pairs.map(([key, value]) => `${key}=${value}`).join('; ')
    expect((await read(header(...own)))?.user?.name).toBe('ada')
    const small = (await (await world(place, 'jwt')).cookiesOf('mallory')).get(name)!
    for (const cookie of [
      header(...planted, ...own),
      header(...own, ...planted),
      header(planted[0]!, ...own),
      header([name, small], ...own),
      header(...own, [name, small]),
    ])
      expect(await read(cookie)).toBeNull()
    expect(warned).toContain('doubled-cookie')
    // A deleted cookie is no second one.
    expect((await read(`${name}=; ${header(...own)}`))?.user?.name).toBe('ada')
  })

  it('a name that is a member of every object is no cookie', () => {
    expect([isDoubled('a=1; a=2', 'a'), isDoubled('a=1; b=2', 'constructor'), isDoubled('a=1', 'a')]).toEqual([true, false, false])
  })
})
