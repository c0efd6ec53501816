/** Whole journeys through the kernel over an adapter: an OpenID Provider, a magic link, sign-out, coming back, many at once. */
import { type Adapter, type Auth, type AuthConfig, createAuth, type VerificationRequest } from 'authkernel'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { describe, expect, it } from 'vitest'
import type { HostileOp } from '../_op/hostile.ts'
import { useOp } from '../_op/journey.ts'
import { Client, locationOf } from '../_client.ts'

const secret = 'a-secret-of-more-than-32-characters-for-tests'

const home = /^http:\/\/localhost:3000\/?$/

/** A person who signs in. */
export interface Person {
  id: string
  name: string
  email: string
}
/** An instance, and what people do with it. */
export interface Host {
  auth: Auth
  errors: Error[]
  mails: VerificationRequest[]
  client(): Client
  /** Signs in at the provider as a person; answers where that leads. */
  signIn(browser: Client, who: Person): Promise<string>
  /** Answers the mailed link. */
  askForLink(browser: Client, email: string): Promise<string>
  signOut(browser: Client): Promise<void>
}

/** An instance over an adapter: the provider `acme` (a person of one's choice), and mailed links. */
export function createHost(
  adapter: Adapter,
  op: Pick<HostileOp, 'issuer' | 'clientId' | 'clientSecret' | 'authorize'>,
  strategy: 'jwt' | 'database',
  config: AuthConfig = {},
): Host {
  const errors: Error[] = []
  const mails: VerificationRequest[] = []
  // The provider tells no names: the person who signs in says who they are by the time the answer is read.
  const person = { id: '', name: '', email: '' }
  const auth = createAuth({
    secret,
    adapter,
    trustHost: true,
    env: false,
    session: { strategy },
    throttle: false,
    ...config,
    logger: { error: (error) => errors.push(error), warn() {} },
    providers: [
      { id: 'mail', name: 'Mail', type: 'email', from: 'auth@example.com', sendVerificationRequest: (mail) => void mails.push(mail) },
    ],
  }).use(
    oidcPlugin({ id: 'acme', issuer: op.issuer, clientId: op.clientId, clientSecret: op.clientSecret, profile: () => ({ ...person }) }),
  )
  const client = (): Client => new Client(auth)
  return {
    auth,
    errors,
    mails,
    client,
    async signIn(browser, who) {
      Object.assign(person, who)
      const start = await browser.signIn('acme')
      return locationOf(await browser.get(await op.authorize(locationOf(start))))
    },
    async askForLink(browser, email) {
      await browser.post('/signin/mail', { email, csrfToken: await browser.csrfToken() })
      return mails.at(-1)!.url
    },
    async signOut(browser) {
      await browser.post('/signout', { csrfToken: await browser.csrfToken() })
    },
  }
}

/** A new person. */
export function createPerson(): Person {
  const id = crypto.randomUUID()
  return { id, name: 'Ada Ångström', email: `ada-${id}@example.com` }
}

/** Defines the journeys, with both strategies. */
export function testJourneys(name: string, adapter: () => Adapter): void {
  const op = useOp()
  describe.each(['jwt', 'database'] as const)(`journeys over ${name}, strategy %s`, (strategy) => {
    it('signs up, reads the session, signs out, and comes back as the same user', async () => {
      const host = createHost(adapter(), op(), strategy)
      const ada = createPerson()
      const browser = host.client()
      expect(await host.signIn(browser, ada)).toMatch(home)
      expect(await browser.session()).toMatchObject({ user: { name: ada.name, email: ada.email } })
      const first = await adapter().getUserByEmail!(ada.email)
      await host.signOut(browser)
      expect(await browser.session()).toBeNull()
      expect(await host.signIn(browser, ada)).toMatch(home)
      expect(await browser.session()).toMatchObject({ user: { email: ada.email } })
      const owner = await adapter().getUserByAccount!({ provider: 'acme', providerAccountId: ada.id })
      expect(String(owner?.id)).toBe(String(first?.id))
      expect(host.errors).toEqual([])
    })

    it('links a second account to who is signed in, and knows them by it', async () => {
      const ids: unknown[] = []
      const host = createHost(adapter(), op(), strategy, {
        callbacks: {
          session: ({ session, user, token }) => {
            ids.push(user?.id ?? token?.sub)
            return session
          },
        },
      })
      const [ada, countess] = [createPerson(), createPerson()]
      const browser = host.client()
      // Coming back while signed in is the same user.
      for (const who of [ada, ada, countess, ada]) expect(await host.signIn(browser, who)).toMatch(home)
      await browser.session()
      await host.signOut(browser)
      expect(await host.signIn(browser, countess)).toMatch(home)
      await browser.session()
      const { id } = (await adapter().getUserByEmail!(ada.email))!
      expect(new Set(ids)).toEqual(new Set([String(id)]))
      expect(await adapter().getUserByEmail!(countess.email)).toBeNull()
      expect(host.errors).toEqual([])
    })

    it('signing out twice, and an ended session that is asked for at once, are harmless', async () => {
      const host = createHost(adapter(), op(), strategy)
      const browser = host.client()
      await host.signIn(browser, createPerson())
      const late = host.client()
      for (const [name, value] of browser.cookies) late.cookies.set(name, value)
      await host.signOut(browser)
      await host.signOut(late)
      expect(await late.session()).toBeNull()
      expect(host.errors).toEqual([])
    })

    it('signs in by a magic link, which works once', async () => {
      const host = createHost(adapter(), op(), strategy)
      const { email } = createPerson()
      const browser = host.client()
      const link = await host.askForLink(browser, email)
      expect(locationOf(await browser.get(link))).toMatch(home)
      expect(await browser.session()).toMatchObject({ user: { email } })
      expect(host.errors).toEqual([])
      const again = host.client()
      expect(locationOf(await again.get(link))).toContain('error=Verification')
      expect(await again.session()).toBeNull()
    })

    it('many first sign-ins of one person at once make one user, and all of them end signed in', async () => {
      const host = createHost(adapter(), op(), strategy)
      const ada = createPerson()
      const browsers = [...Array(6).keys()].map(() => host.client())
      const ends = await Promise.all(browsers.map((browser) => host.signIn(browser, ada)))
      for (const end of ends) expect(end).toMatch(home)
      for (const browser of browsers) expect(await browser.session()).toMatchObject({ user: { email: ada.email } })
      expect(host.errors).toEqual([])
    })

    it('one link opened many times at once signs in one browser', async () => {
      const host = createHost(adapter(), op(), strategy)
      const { email } = createPerson()
      const link = await host.askForLink(host.client(), email)
      const browsers = [...Array(6).keys()].map(() => host.client())
      await Promise.all(browsers.map((browser) => browser.get(link)))
      const sessions = await Promise.all(browsers.map((browser) => browser.session()))
      expect(sessions.filter((session) => session !== null)).toHaveLength(1)
    })
  })
}
