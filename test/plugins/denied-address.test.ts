/** A provider without `trustEmail` says that an address is not verified: that is remembered, and the user is never taken for the one who proves the address. */
import { describe, expect, it, vi } from 'vitest'
import { createAuth, type Session } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { baseConfig, Client } from '../_setup.ts'
import { LocalOp } from '../rows/_op.ts'

const victim = 'ada@example.com'
type ProviderId = 'bare' | 'reads' | 'silent' | 'oidc'

async function world({ records = true, strategy = 'database' as 'jwt' | 'database' } = {}) {
  const base = baseConfig({ session: { strategy, ...(strategy === 'jwt' && { revocable: true }) }, throttle: false })
  const links: string[] = []
  const op = new LocalOp(base.runtime.now)
  base.runtime.fetch = op.fetch
  const data = memoryData()
  const { records: store, ...plain } = memoryAdapter(data)
  const fault: { next?: Error | undefined } = {}
  const faulty = {
    ...store,
    write: (...given: Parameters<typeof store.write>) => {
      if (fault.next && given[0].some(({ table }) => table === 'deniedAddress')) throw fault.next
      return store.write(...given)
    },
  }
  const keeps = { account: () => ({}) }
  const callbacks = {
    session: ({ session, token, user }: never) =>
      ({ ...(session as Session), who: (user as { id?: string })?.id ?? (token as { sub?: string })?.sub }) as Session,
  }
  const mail = {
    id: 'mail',
    name: 'Mail',
    type: 'email' as const,
    from: 'a@b.example',
    sendVerificationRequest: ({ url }: { url: string }) => void links.push(url),
  }
  const auth = createAuth({ ...base, providers: [mail as never], callbacks: callbacks as never })
    .use(adapterPlugin((records ? { ...plain, records: faulty } : plain) as never))
    .use(oauthPlugin({ ...op.provider('oauth', 'bare'), ...keeps } as never))
    .use(oauthPlugin({ ...op.provider('oauth', 'reads'), ...keeps, emailVerified: (profile: { ok?: boolean }) => profile.ok } as never))
    .use(oauthPlugin({ ...op.provider('oauth', 'silent'), ...keeps } as never))
    .use(oidcPlugin({ ...op.provider('oidc', 'oidc'), ...keeps } as never))
  await auth.ready()
  const atProvider = async (
    by: ProviderId,
    verified: boolean | undefined,
    { client = new Client(auth), address = victim, sub = '13' }: { client?: Client; address?: string; sub?: string } = {},
  ): Promise<Client> => {
    const said = verified === undefined ? {} : by === 'reads' ? { ok: verified } : { email_verified: verified }
    op.person = { sub, name: 'x', email: address, ...said }
    const started = await client.post(`/signin/${by}`)
    const answer = await client.get(op.authorize(started.headers.get('location')!))
    if (!fault.next) expect(answer.headers.get('location')).not.toContain('error=')
    return client
  }
  const prove = async (): Promise<Client> => {
    const owner = new Client(auth)
    await owner.post('/signin/mail', { email: victim })
    await vi.waitFor(() => expect(links).toHaveLength(1), { timeout: 5000, interval: 2 })
    await owner.get(links.pop()!)
    return owner
  }
  const idOf = async (client: Client) => ((await client.session()) as (Session & { who?: string }) | null)?.who ?? null
  return { data, fault, atProvider, prove, idOf, errors: base.logger.errors }
}

describe.each(['jwt', 'database'] as const)('with records, under the %s strategy', (strategy) => {
  it.each(['bare', 'reads', 'oidc'] as const)('%s said no: a person who proves the address gets another user', async (by) => {
    const { data, atProvider, prove, idOf } = await world({ strategy })
    const attacker = await atProvider(by, false)
    const id = await idOf(attacker)
    const owner = await idOf(await prove())
    expect(owner).not.toBe(id)
    expect(data.users.get(id!)?.email).toBeNull()
    expect(await idOf(await atProvider(by, false))).toBe(id)
  })

  it.each(['bare', 'reads', 'oidc'] as const)('%s said nothing: the user stays, as in Auth.js', async (by) => {
    const { atProvider, prove, idOf } = await world({ strategy })
    const id = await idOf(await atProvider(by, undefined))
    expect(await idOf(await prove())).toBe(id)
  })
})

describe('what was said', () => {
  it('counts though the account of a silent provider is linked beside it', async () => {
    const { atProvider, prove, idOf } = await world()
    const attacker = await atProvider('bare', false)
    const id = await idOf(attacker)
    await atProvider('silent', undefined, { client: attacker, address: 'eve@example.com', sub: '14' })
    expect(await idOf(await prove())).not.toBe(id)
  })

  it('is forgotten when the provider says later that this very address is verified', async () => {
    const { atProvider, prove, idOf } = await world()
    const id = await idOf(await atProvider('bare', false))
    await atProvider('bare', true)
    expect(await idOf(await prove())).toBe(id)
  })

  it('stays when the provider verifies another address later', async () => {
    const { atProvider, prove, idOf } = await world()
    const id = await idOf(await atProvider('bare', false))
    await atProvider('bare', true, { address: 'eve@example.com' })
    expect(await idOf(await prove())).not.toBe(id)
  })

  it('is of one address: another address that was denied for a linked account is nothing against this one', async () => {
    const { atProvider, prove, idOf } = await world()
    const owner = await atProvider('silent', undefined)
    const id = await idOf(owner)
    await atProvider('bare', false, { client: owner, address: 'other@example.com', sub: '14' })
    expect(await idOf(await prove())).toBe(id)
  })

  it('is stored with the user, or there is no user', async () => {
    const { data, fault, atProvider, errors } = await world()
    fault.next = new Error('the table is away')
    await atProvider('bare', false)
    expect([data.users.size, data.accounts.size, data.sessions.size, errors.length]).toEqual([0, 0, 0, 1])
    fault.next = undefined
    await atProvider('bare', false)
    expect(data.users.size).toBe(1)
  })
})

describe('without records', () => {
  it.each(['reads', 'oidc'] as const)('%s can say no, and nothing tells whether it did: another user', async (by) => {
    const { atProvider, prove, idOf } = await world({ records: false })
    const id = await idOf(await atProvider(by, false))
    expect(await idOf(await prove())).not.toBe(id)
  })

  it('a provider that has no such claim is believed, as in Auth.js', async () => {
    const { atProvider, prove, idOf } = await world({ records: false })
    const id = await idOf(await atProvider('silent', undefined))
    expect(await idOf(await prove())).toBe(id)
  })
})

it('a store that is away is told as such, and not as a profile that could not be used', async () => {
  const { fault, atProvider, errors } = await world()
  await atProvider('bare', false)
  fault.next = new Error('the table is away')
  await atProvider('bare', false)
  expect(errors.map(({ name }) => name)).toEqual(['AdapterError'])
})
