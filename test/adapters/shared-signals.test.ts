/** The transmitter of shared signals in four processes over one database: each event reaches its receiver, and none is lost when a process is killed. */
import type { Adapter, AdapterUser } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCertificate, type Listener, listen } from '../plugins/_signals.ts'
import { reachable } from './_servers.ts'
import { signalsSite, type SignalsSite, type SignalsTask } from './_signals-task.ts'
import { dropStore, newDatabase, openStore, type StoreSpec } from './_stores.ts'
import { startWorker, startWorkers, type Worker } from './_workers.ts'

const caep = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
const disabled = 'https://schemas.openid.net/secevent/risc/event-type/account-disabled'
const issuer = 'http://localhost:3000/auth'
const idOf = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()) as { jti: string; sub_id: { sub: string } }

describe.skipIf(!(await reachable('postgres')))('postgres, four processes', () => {
  const tls = createCertificate()
  let spec: StoreSpec
  let adapter: Required<Adapter>
  let workers: Worker[] = []
  let server: Listener
  let host: SignalsSite
  let acme = ''
  /** Events that the receiver took, in order. */
  let took: ReturnType<typeof idOf>[] = []
  /** Milliseconds that the receiver takes. */
  let slow = 0

  beforeAll(async () => {
    server = await listen(
      async (request) => {
        const event = idOf(await request.text())
        await new Promise((resolve) => setTimeout(resolve, slow))
        took.push(event)
        return new Response(null, { status: 202 })
      },
      'https://receiver.example',
      tls,
    )
    spec = await newDatabase('postgres')
    adapter = openStore(spec) as Required<Adapter>
    host = signalsSite(adapter, tls.cert)
    await host.auth.ready()
    const owner = await adapter.createUser({ id: 'owner', email: 'owner@acme.example', emailVerified: null } as AdapterUser)
    acme = (await host.auth.organizations.create({ userId: owner.id }, { name: 'Acme' })).id
    workers = await startWorkers(4, spec)
  }, 60_000)
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()))
    await host?.auth.close()
    await adapter?.close()
    if (spec) await dropStore(spec)
    await server?.close()
  })

  async function createMembers(name: string, count: number): Promise<string[]> {
    const ids: string[] = []
    for (let at = 0; at < count; at++) {
      const { id } = await adapter.createUser({
        id: `${name}${at}`,
        email: `${name}${at}@acme.example`,
        emailVerified: null,
      } as AdapterUser)
      await host.auth.organizations.add({ system: true }, acme, id)
      ids.push(id)
    }
    return ids
  }
  async function createStream(endpoint?: string) {
    const receiver = await host.auth.sharedSignals.receivers.create({ organizationId: acme, name: 'R', audience: 'r' })
    const stream = await host.auth.sharedSignals.streams.create({
      receiverId: receiver.id,
      issuer,
      events: [caep, disabled],
      ...(endpoint && { endpoint }),
    })
    return { stream: stream.id, token: receiver.token, remove: () => host.auth.sharedSignals.receivers.remove({ id: receiver.id }) }
  }
  const endpoint = () => `https://receiver.example:${server.port}/events`
  const ask = async (worker: Worker, task: Omit<SignalsTask, 'do' | 'ca'>) => {
    const { fulfilled, rejected } = await worker.ask({ do: 'signals', ca: tls.cert, ...task })
    expect(rejected).toEqual([])
    return fulfilled
  }
  /** Until nothing waits. */
  const settle = async (list: Worker[], ahead = 0) => {
    await expect
      .poll(
        async () => {
          await Promise.all(list.map((worker) => ask(worker, { deliver: 2, ahead })))
          return (await host.auth.sharedSignals.streams.list({ organizationId: acme })).every(
            ({ method, due }) => method === 'poll' || due === null,
          )
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBe(true)
  }
  const eventsOf = (users: readonly string[]) => users.flatMap((id) => [id, id]).sort()

  it('each event is pushed once, whatever ends and pushes at once', { timeout: 120_000 }, async () => {
    took = []
    const { remove } = await createStream(endpoint())
    const users = await createMembers('push', 40)
    await Promise.all(workers.map((worker, at) => ask(worker, { end: users.slice(at * 10, at * 10 + 10), deliver: 10 })))
    await settle(workers)
    expect(took.map(({ sub_id }) => sub_id.sub).sort()).toEqual(eventsOf(users))
    expect(new Set(took.map(({ jti }) => jti)).size).toBe(took.length)
    await remove()
  })

  it('a poll stream gives each event until it is acknowledged at any process, and none twice after', { timeout: 120_000 }, async () => {
    const { stream, token, remove } = await createStream()
    const users = await createMembers('poll', 20)
    const seen = new Map<string, string>()
    let ack: string[] = []
    const round = async (end: readonly string[][]) => {
      const answers = await Promise.all(workers.map((worker, at) => ask(worker, { end: end[at] ?? [], poll: { stream, token, ack } })))
      ack = []
      for (const { sets } of answers.map((answer) => answer.at(-1) as { sets: Record<string, string> }))
        for (const [id, jwt] of Object.entries(sets)) {
          seen.set(id, idOf(jwt).sub_id.sub)
          ack.push(id)
        }
      ack = [...new Set(ack)]
    }
    await round([users.slice(0, 5), users.slice(5, 10), users.slice(10, 15), users.slice(15)])
    for (let left = 10; left > 0 && (seen.size < 40 || ack.length > 0); left--) await round([])
    expect([...seen.values()].sort()).toEqual(eventsOf(users))
    expect(ack).toEqual([])
    await remove()
  })

  it('an event of one process ends the wait of a poll at another within two seconds', { timeout: 60_000 }, async () => {
    const { stream, token, remove } = await createStream()
    const [user = ''] = await createMembers('wait', 1)
    const [here, there] = workers as [Worker, Worker]
    const waiting = ask(there, { poll: { stream, token, ack: [], waits: true } })
    await new Promise((resolve) => setTimeout(resolve, 700))
    const began = performance.now()
    await ask(here, { end: [user] })
    const [answer] = (await waiting) as { sets: Record<string, string> }[]
    expect(Object.values(answer!.sets).map((jwt) => idOf(jwt).sub_id.sub)).toContain(user)
    expect(performance.now() - began).toBeLessThan(4000)
    await remove()
  })

  it('a process that is killed while it pushes loses no event', { timeout: 120_000 }, async () => {
    took = []
    slow = 150
    const { remove } = await createStream(endpoint())
    const users = await createMembers('kill', 10)
    const victim = await startWorker()
    await victim.ask({ do: 'open', store: spec })
    void ask(victim, { end: users, deliver: 1 }).catch(() => {})
    await expect.poll(() => took.length, { timeout: 20_000 }).toBeGreaterThan(2)
    await victim.kill()
    slow = 0
    // Its lease is over in two minutes: the clock of the others is ahead.
    await settle(workers, 130_000)
    // Where the request that ended access died too, it is sent again by the caller that asked for it.
    const reached = new Set(took.map(({ sub_id }) => sub_id.sub))
    await ask(workers[0]!, { end: users.filter((id) => !reached.has(id)), ahead: 130_000 })
    await settle(workers, 130_000)
    expect([...new Set(took.map(({ sub_id }) => sub_id.sub))].sort()).toEqual(users.toSorted())
    // The one event whose answer the process did not live to note may come twice, with the same id.
    expect(took.length - new Set(took.map(({ jti }) => jti)).size).toBeLessThanOrEqual(1)
    await remove()
  })
})
