/** Bound sessions, their number and the account switcher between four processes. */
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { challengeOf, Device } from '../plugins/_dbsc.ts'
import { deviceHost, type DeviceTask } from './_devices.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore, type StoreSpec } from './_stores.ts'
import { startWorkers, type Worker } from './_workers.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }

describe.each(['libsql', 'postgres', 'mysql', 'redis'] as const)('%s, four processes', (kind) => {
  describe.skipIf(!there[kind])('with a server', () => {
    let spec: StoreSpec
    let auth: ReturnType<typeof deviceHost>
    let workers: Worker[] = []
    beforeAll(async () => {
      spec = kind === 'redis' ? newStore('redis') : await newDatabase(kind)
      const adapter = openStore(spec) as Required<Adapter>
      auth = deviceHost(adapter)
      await auth.ready()
      for (const id of ['ada', 'bob', 'cy'])
        await adapter.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
      workers = await startWorkers(4, spec)
    }, 60_000)
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker.kill()))
      await auth?.close()
      if (spec) await dropStore(spec)
    })

    /** Each process sends its request several times at once. */
    async function all(requests: readonly DeviceTask['request'][], times: number) {
      const answers = await Promise.all(
        workers.map((worker, at) => worker.ask({ do: 'devices', times, request: requests[at % requests.length]! })),
      )
      expect(answers.flatMap(({ rejected }) => rejected)).toEqual([])
      const ends = answers.flatMap(({ fulfilled }) => fulfilled) as { status: number; location: string | null; cookies: string[] }[]
      expect(ends.filter(({ status }) => status >= 500)).toEqual([])
      return ends
    }
    const signIn = async (client: Client, user: string) => client.post('/callback/credentials', { user })
    const proof = (client: Client, path: string, headers: Record<string, string>): DeviceTask['request'] => ({
      path,
      method: 'POST',
      headers: { cookie: client.cookieHeader(), ...headers },
      body: '',
    })

    it('one of many registrations binds the session, and one of many proofs counts', async () => {
      const client = new Client(auth)
      const offered = /challenge="([^"]+)"/.exec((await signIn(client, 'ada')).headers.get('secure-session-registration')!)![1]!
      const devices = workers.map(() => new Device(client))
      const registrations = await Promise.all(
        devices.map(async (device) =>
          proof(client, '/dbsc/register', { 'secure-session-response': `"${await device.proof(offered, true)}"` }),
        ),
      )
      const ends = await all(registrations, 2)
      expect(ends.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(ends.filter(({ status }) => status === 400)).toHaveLength(7)

      const other = new Client(auth)
      const device = new Device(other)
      expect((await device.register(await signIn(other, 'ada')))?.status).toBe(200)
      const challenge = challengeOf(await device.ask())!
      const { session_identifier: id } = device.instructions!
      const signed = await device.proof(challenge, false)
      const refreshed = await all(
        [proof(other, '/dbsc/refresh', { 'sec-secure-session-id': `"${id}"`, 'secure-session-response': `"${signed}"` })],
        2,
      )
      expect(refreshed.filter(({ status }) => status === 200)).toHaveLength(1)
      // The others get the next challenge.
      expect(refreshed.filter(({ status }) => status === 403)).toHaveLength(7)
      expect((await device.refresh()).status).toBe(200)
      expect((await other.session())?.user?.id).toBe('ada')
    })

    it('after sign-ins at the same moment no more sessions live than the limit', async () => {
      const visitor = new Client(auth)
      const csrfToken = await visitor.csrfToken()
      const body = new URLSearchParams({ csrfToken, user: 'cy' }).toString()
      const headers = { cookie: visitor.cookieHeader(), 'content-type': 'application/x-www-form-urlencoded' }
      await all([{ path: '/callback/credentials', method: 'POST', headers, body }], 2)
      // The next one sees them all.
      await signIn(new Client(auth), 'cy')
      expect((await auth.devices.list({ userId: 'cy' })).length).toBeLessThanOrEqual(3)
    })

    it('an account is switched to once', async () => {
      const client = new Client(auth)
      await signIn(client, 'ada')
      await client.post('/switch', { action: 'add' })
      await signIn(client, 'bob')
      const page = await (await client.get('/switch')).text()
      const id = /name="id" value="([^"]+)"/.exec(page)![1]!
      const csrfToken = await client.csrfToken()
      const body = new URLSearchParams({ csrfToken, action: 'switch', id }).toString()
      const headers = { cookie: client.cookieHeader(), 'content-type': 'application/x-www-form-urlencoded' }
      const ends = await all([{ path: '/switch', method: 'POST', headers, body }], 2)
      const switched = ends.filter(({ location }) => location !== null && !location.includes('error='))
      expect(switched).toHaveLength(1)
      const kept = new Client(auth)
      for (const line of switched[0]!.cookies) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        kept.cookies.set(name, value)
      }
      expect((await kept.session())?.user?.id).toBe('ada')
    })
  })
})
