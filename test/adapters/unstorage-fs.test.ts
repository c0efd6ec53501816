import { readdir, writeFile } from 'node:fs/promises'
import { testAdapter, testServices } from 'authkernel/testing'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { afterAll, describe, expect, it } from 'vitest'
import { newAccount, newSession, newUser } from '../contract/adapter-subject.ts'
import { dropStore, newStore, openStore, storageOf } from './_stores.ts'
import { startWorker, startWorkers, type Worker } from './_workers.ts'

type Folder = { kind: 'fs' | 'fs-lite'; folder: string }
const stores: Folder[] = []
const workers: Worker[] = []
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()))
  await Promise.all(stores.map(dropStore))
})
function fresh(kind: Folder['kind'] = 'fs'): Folder {
  const store = newStore(kind) as Folder
  stores.push(store)
  return store
}

testAdapter('unstorage, fs driver', { adapter: () => openStore(fresh()) })
testAdapter('unstorage, fs-lite driver', { adapter: () => openStore(fresh('fs-lite')) })

describe('unstorageAdapter in a folder', () => {
  it('says what its one-time use is worth', () => {
    const adapter = unstorageAdapter(storageOf(fresh()))
    expect(adapter).toMatchObject({ atomic: false, exclusive: true })
    expect(adapter.once.shared).toBe(false)
  })

  it('refuses a second process, naming the first', async () => {
    const store = fresh()
    const [holder, second] = await startWorkers(2, store)
    workers.push(holder!, second!)
    expect((await holder!.ask({ do: 'call', method: 'createUser', args: [newUser()] })).rejected).toEqual([])
    const refused = await second!.ask({ do: 'call', method: 'getUser', args: ['1'], times: 3 })
    expect(refused.fulfilled).toEqual([])
    expect(refused.rejected[0]).toContain(`in use by process ${holder!.child.pid}`)
    // And gets the folder when the first one has left.
    await holder!.ask({ do: 'close' })
    expect((await second!.ask({ do: 'call', method: 'getUser', args: ['1'] })).rejected).toEqual([])
  })

  it('takes over the folder of a killed process, and of several claimants one gets it', async () => {
    const store = fresh()
    const holder = await startWorker()
    await holder.ask({ do: 'open', store })
    const user = newUser()
    await holder.ask({ do: 'call', method: 'createUser', args: [user] })
    await holder.kill()
    const claimants = await startWorkers(4, store)
    workers.push(...claimants)
    const answers = await Promise.all(claimants.map((claimant) => claimant.ask({ do: 'call', method: 'getUser', args: [user.id] })))
    expect(answers.filter(({ rejected }) => rejected.length === 0)).toHaveLength(1)
    expect(answers.find(({ rejected }) => rejected.length === 0)!.fulfilled[0]).toMatchObject({ email: user.email })
    expect((await readdir(store.folder)).filter((name) => name.startsWith('.authkernel'))).toEqual(['.authkernel-lock'])
  })

  it('two adapters of one process share a folder', async () => {
    const store = fresh()
    const [first, second] = [unstorageAdapter(storageOf(store)), unstorageAdapter(storageOf(store))]
    const users = [...Array(10).keys()].map((index) => newUser({ email: `ada${index % 2}@example.com` }))
    const answers = await Promise.allSettled(users.map((user, index) => (index % 3 ? first : second).createUser(user)))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    await first.close()
    expect((await second.getUserByEmail('ada1@example.com'))?.email).toBe('ada1@example.com')
    await second.close()
    expect((await readdir(store.folder)).filter((name) => name.startsWith('.authkernel'))).toEqual([])
  })

  it('leaves nothing half-made when the process is killed in the middle of writes', async () => {
    for (let round = 0; round < 4; round++) {
      const store = fresh()
      const worker = await startWorker()
      await worker.ask({ do: 'open', store })
      await worker.ask({ do: 'churn' })
      // Killed at another point each round: after so many reports.
      await new Promise<void>((resolve) => {
        worker.child.on('message', () => worker.told.length > 20 + round * 7 && resolve())
      })
      await worker.kill()
      await expectWhole(store, worker.told)
    }
  })

  it('finishes a write that failed half-way before anything else is read', async () => {
    const storage = storageOf(fresh())
    let failing = false
    const flaky = {
      ...storage,
      setItem: (key: string, value: string) =>
        failing && key.includes('account') ? Promise.reject(new Error('ENOSPC')) : storage.setItem(key, value),
    }
    const adapter = unstorageAdapter(flaky)
    const { userId: _none, ...account } = newAccount('')
    const user = newUser()
    failing = true
    await expect(adapter.createUserWithAccount(user, account)).rejects.toThrow('ENOSPC')
    // The disk is still full: nobody sees the half.
    await expect(adapter.getUserByEmail(user.email)).rejects.toThrow('ENOSPC')
    failing = false
    const found = await adapter.getUserByEmail(user.email)
    expect(await adapter.getUserByAccount(account as { provider: string; providerAccountId: string })).toEqual(found)
    await adapter.close()
  })

  it('refuses nonsense that somebody wrote into a file, and works on for others', async () => {
    const store = fresh()
    const adapter = openStore(store) as Required<ReturnType<typeof openStore>>
    const [user, other] = [await adapter.createUser(newUser()), await adapter.createUser(newUser())]
    await writeFile(`${store.folder}/user/${user.id}`, '{"name": 5')
    await expect(adapter.getUser(user.id)).rejects.toThrow(/not a user/)
    expect(await adapter.getUser(other.id)).toMatchObject({ email: other.email })
    const session = newSession(other.id)
    await adapter.createSession(session)
    await writeFile(`${store.folder}/user/session/${session.sessionToken}`, JSON.stringify({ ...session, expires: 'soon' }))
    await expect(adapter.getSessionAndUser(session.sessionToken)).rejects.toThrow(/not a date/)
    await adapter.close()
  })
})

/** Opens the store after a kill and looks for what was promised, and for halves. */
async function expectWhole(store: Folder, told: readonly Record<string, unknown>[]): Promise<void> {
  const adapter = openStore(store) as Required<ReturnType<typeof openStore>>
  const storage = storageOf(store)
  const deleted = new Set(told.flatMap((message) => ('deleting' in message ? [message.deleting] : [])))
  for (const message of told) {
    const made = message.made as { user: string; email: string; account: string } | undefined
    if (made && !deleted.has(made.user)) {
      expect(await adapter.getUserByEmail(made.email)).toMatchObject({ id: made.user })
      expect(await adapter.getUserByAccount({ provider: 'acme', providerAccountId: made.account })).toMatchObject({ id: made.user })
    }
    if (message.deleted) expect(await adapter.getAccount(message.account as string, 'acme')).toBeNull()
    if (message.used) expect(await adapter.useVerificationToken(message.used as { identifier: string; token: string })).toBeNull()
  }
  const users = new Set<string>()
  for (const key of await storage.getKeys()) {
    const value = (await storage.getItem(key)) as Record<string, string>
    const kind = key.match(/^user:(email|account|session|token):(?!by-)/)?.[1]
    if (kind === 'email') expect(await storage.getItem(`user:${value as unknown as string}`), key).toMatchObject({ id: value })
    else if (kind === 'account') users.add(value.userId!)
    else if (kind === 'session') expect(await storage.getItem(`user:${value.userId}`), key).toMatchObject({ id: value.userId })
  }
  for (const key of await storage.getKeys()) {
    // Every user of the churn came with an account: one without is half a person.
    if (/^user:[^:]+$/.test(key)) expect(users.has(key.slice(5)), key).toBe(true)
  }
  await adapter.close()
}

testServices('unstorage, fs driver', {
  services: (now) => unstorageAdapter(storageOf(fresh()), { now }),
  shared: false,
})
