/** Links that Auth.js has mailed and sessions that it has stored, met by authkernel over the same adapter. */
import { Auth, type AuthConfig as AuthjsConfig } from '@auth/core'
import { type AuthConfig, createAuth } from 'authkernel'
import { authjsCompatPlugin } from 'authkernel/plugins/authjs-compat'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'

const [old, fresh] = ['the secret of last year, of 40 letters..', 'the secret of this year, of 40 letters..']

function hosts(secret: string | string[]): { before: Client; after: Client; links: string[] } {
  const links: string[] = []
  const config = {
    secret,
    adapter: memoryAdapter(),
    basePath: '/auth',
    trustHost: true,
    logger: { warn() {}, error() {} },
    providers: [
      {
        id: 'mail',
        name: 'Mail',
        type: 'email' as const,
        from: 'auth@example.com',
        sendVerificationRequest: ({ url }: { url: string }) => void links.push(url),
      },
    ],
  }
  const auth = createAuth({ ...(config as AuthConfig), env: false }).use(authjsCompatPlugin())
  const before = new Client({ handler: (request) => Auth(request, config as unknown as AuthjsConfig) as Promise<Response> })
  return { before, after: new Client(auth), links }
}

it.each([
  ['one secret', old],
  ['two secrets', [fresh, old]],
])('with %s: a link that is in the mail signs in, once; a stored session goes on, and back', async (_text, secret) => {
  const { before, after, links } = hosts(secret)
  expect(locationOf(await before.signIn('mail', { email: 'ada@example.com' }))).toContain('/auth/verify-request')
  await after.get(links[0]!)
  expect(await after.session()).toMatchObject({ user: { email: 'ada@example.com' } })
  expect(locationOf(await new Client(after.auth).get(links[0]!))).toContain('error=Verification')

  await before.signIn('mail', { email: 'grace@example.com' })
  await before.get(links[1]!)
  const moved = new Client(after.auth)
  for (const [name, value] of before.cookies) moved.cookies.set(name, value)
  expect(await moved.session()).toMatchObject({ user: { email: 'grace@example.com' } })

  const back = new Client(before.auth)
  for (const [name, value] of after.cookies) back.cookies.set(name, value)
  expect(await back.session()).toMatchObject({ user: { email: 'ada@example.com' } })
})
