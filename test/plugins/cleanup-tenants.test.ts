/** A clean-up comes to each tenant: policies whose grace is over, retention, and mails before certificates end. */
import { createAuth } from 'authkernel'
import type { Kernel, MailMessage } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { cleanupPlugin } from 'authkernel/plugins/cleanup'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { samlPlugin } from 'authkernel/plugins/saml'
import { ssoPlugin } from 'authkernel/plugins/sso'
import { tenantsPlugin } from 'authkernel/plugins/tenants'
import { describe, expect, it } from 'vitest'
import { idpEntity, idpKeys } from '../saml/_idp.ts'
import { baseConfig, Client } from '../_setup.ts'
import { movedRuntime } from './_sso.ts'

const hour = 3_600_000
const hostOf = (tenant: string): string => `https://${tenant}.example`

/** Two processes over one store. `list` names the tenants; `gone` is one that the hook does not know any more. */
function make(list: () => Iterable<string> | AsyncIterable<string>) {
  const runtime = movedRuntime()
  const store = memoryAdapter(memoryData())
  const mails: MailMessage[] = []
  const process = () => {
    const base = baseConfig({
      runtime,
      trustHost: true,
      origin: undefined,
      session: { strategy: 'database' },
      providers: [
        {
          id: 'credentials',
          name: 'Name',
          type: 'credentials',
          authorize: ({ user }) => ({ id: String(user), name: String(user) }),
        },
      ],
    })
    const settings = (namespace: string) => ({
      namespace,
      secret: [`the-secret-of-${namespace}`.padEnd(40, '-')],
      origin: hostOf(namespace),
    })
    const known = new Map(['a', 'b'].map((name) => [name, settings(name)]))
    let inside: Kernel | undefined
    const createUser = (tenant: string) =>
      inside!.job({ job: 'test', tenant }, (ctx) =>
        ctx.users.create({ email: `ada@${tenant}.example`, name: 'Ada', emailVerified: ctx.now }),
      )
    const auth = createAuth(base)
      .use(adapterPlugin(store))
      .use(
        tenantsPlugin({
          settings: ({ url }) => known.get(new URL(url).hostname.split('.')[0] ?? ''),
          tenant: (name) => known.get(name),
          list,
        }),
      )
      .use({
        name: 'mails',
        setup(kernel) {
          inside = kernel
          kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) })
        },
      })
      .use(organizationsPlugin())
      .use(samlPlugin())
      .use(ssoPlugin())
      .use(cleanupPlugin({ retention: { organizationEvent: { field: 'at', days: 30 } } }))
    return { auth, createUser, logger: base.logger }
  }
  return { runtime, store, mails, here: process(), there: process() }
}

/** In one tenant: an organization with a connection and a policy that holds in an hour, and a browser that signed in otherwise. */
async function company({ auth, createUser }: ReturnType<typeof make>['here'], runtime: { now(): number }, tenant: string) {
  const client = new Client(auth, hostOf(tenant))
  const session = async () => client.session()
  const { id: userId } = await createUser(tenant)
  await client.post('/callback/credentials', { user: userId })
  expect(await session()).not.toBeNull()
  const { id } = await auth.organizations.create({ userId, tenant }, { name: 'Acme' })
  const by = { system: true, tenant } as const
  const connection = {
    type: 'saml',
    name: 'ID',
    entityId: idpEntity,
    signInUrl: 'https://idp.example/sso',
    certificates: [idpKeys.certificate],
  } as const
  await auth.sso.create(by, id, { ...connection, contact: `it@${tenant}.example` })
  await auth.sso.setPolicy(by, id, { domains: false, members: true, from: new Date(runtime.now() + hour) })
  const acts = async () => (await auth.organizations.history(by, id)).events.map(({ act }) => act)
  return { isIn: async () => (await session()) !== null, acts, applied: async () => (await auth.sso.getPolicy(by, id))?.applied }
}

describe('a clean-up', () => {
  it.each([
    ['a list', () => ['a', 'b']],
    [
      'an iterable that reads page by page',
      async function* () {
        yield 'a'
        await Promise.resolve()
        yield 'b'
      },
    ],
  ])('ends what policies forbid, deletes old rows and warns of certificates in each tenant of %s', async (_name, list) => {
    const { here, there, runtime, mails } = make(list)
    const [a, b] = [await company(here, runtime, 'a'), await company(here, runtime, 'b')]
    await here.auth.cleanup()
    expect([await a.isIn(), await b.isIn(), await a.applied()]).toEqual([true, true, false])
    expect(mails.map(({ to }) => to).toSorted()).toEqual(['ada@a.example', 'ada@b.example', 'it@a.example', 'it@b.example'])
    runtime.advance(hour + 1000)
    // Nothing but reads of the sessions, until both processes clean up at once.
    expect([await a.isIn(), await b.isIn()]).toEqual([true, true])
    await Promise.all([here.auth.cleanup(), there.auth.cleanup()])
    expect([await a.isIn(), await b.isIn(), await a.applied(), await b.applied()]).toEqual([false, false, true, true])
    expect([(await a.acts()).length, (await b.acts()).length].every((count) => count > 0)).toBe(true)
    runtime.advance(31 * 24 * hour)
    await there.auth.cleanup()
    expect([await a.acts(), await b.acts()]).toEqual([[], []])
    expect(mails).toHaveLength(4)
    expect([here.logger.errors, there.logger.errors]).toEqual([[], []])
  })

  it('goes on after a tenant that is gone, and says which one', async () => {
    const { here, runtime } = make(() => ['a', 'gone', 'b'])
    const b = await company(here, runtime, 'b')
    runtime.advance(hour + 1000)
    await here.auth.cleanup()
    expect(await b.isIn()).toBe(false)
    expect(here.logger.errors.map(({ message }) => message)).toEqual(['cleanup: the tenant "gone" was left out.'])
  })

  it('without a list comes to the default tenant alone', async () => {
    const { here, runtime } = make(() => [])
    const a = await company(here, runtime, 'a')
    runtime.advance(hour + 1000)
    await here.auth.cleanup()
    expect(await a.isIn()).toBe(true)
    expect(await here.auth.sso.applyDuePolicies({ tenant: 'a' })).toBe(1)
    expect(await a.isIn()).toBe(false)
  })
})

it('a list needs names that are known', () => {
  expect(() => tenantsPlugin({ list: () => ['a'] })).toThrow('`list` needs `tenant`')
})
