/** The contract of a provider type, as a vitest suite for authors of one. */
import type { Auth, Awaitable, Login, Plugin } from 'authkernel/kernel'
import { describe, expect, it } from './runner.ts'

/** What `testProvider` needs. */
export interface TestProviderOptions {
  /** Makes an `auth` with the provider; `plugin` is to be `.use()`d too. Called for every test. */
  auth(plugin: Plugin): Awaitable<Auth>
  /** Goes through a whole successful sign-in and answers the last response. */
  signIn(auth: Auth): Awaitable<Response>
}

/** Defines a suite that proves what a host may rely on, whatever the type: the hooks are asked, the events told, and no means no. */
export function testProvider(name: string, options: TestProviderOptions): void {
  const run = async (setup: Plugin['setup']): Promise<Response> => options.signIn(await options.auth({ name: 'contract', setup }))

  describe(`provider contract: ${name}`, () => {
    it('a sign-in ends in a redirect with a session cookie, and tells signIn', async () => {
      const heard: string[] = []
      const response = await run((kernel) => void kernel.on('signIn', ({ account }) => void heard.push(account?.provider ?? '')))
      expect(response.status).toBe(302)
      expect(response.headers.getSetCookie().join('\n')).toMatch(/session-token=[^;]/)
      expect(heard).toHaveLength(1)
    })

    it('signIn is asked before anything is stored, and false rejects', async () => {
      const heard: string[] = []
      const response = await run((kernel) => {
        kernel.hook('signIn', () => false)
        for (const event of ['createUser', 'linkAccount', 'signIn'] as const) kernel.on(event, () => void heard.push(event))
        kernel.on('signInFailed', ({ error }) => void heard.push(error.type))
      })
      expect(response.headers.get('location')).toContain('error=AccessDenied')
      expect(response.headers.getSetCookie().join('\n')).not.toMatch(/session-token=[^;]/)
      expect(heard).toEqual(['AccessDenied'])
    })

    it('a text from signIn redirects without a session', async () => {
      const response = await run((kernel) => void kernel.hook('signIn', () => '/elsewhere'))
      expect(response.headers.get('location')).toMatch(/\/elsewhere$/)
      expect(response.headers.getSetCookie().join('\n')).not.toMatch(/session-token=[^;]/)
    })

    it('a type with `start` says who began the flow, so that a planted one links nothing', async () => {
      const missing: unknown[] = []
      await run((kernel) => void kernel.on('signInFailed', ({ error }) => void missing.push(error.cause?.['missing'])))
      expect(missing).not.toContain('startedBy')
    })

    it('a second factor can park the login, which is plain data', async () => {
      let parked: Login | undefined
      const response = await run((kernel) => {
        kernel.hook('login', ({ login }) => {
          parked = JSON.parse(JSON.stringify(login)) as Login
          return new Response('code?', { status: 200 })
        })
      })
      expect(await response.text()).toBe('code?')
      expect(response.headers.getSetCookie().join('\n')).not.toMatch(/session-token=[^;]/)
      expect(parked).toMatchObject({ account: { provider: expect.any(String) as string }, callbackUrl: expect.any(String) as string })
    })
  })
}
