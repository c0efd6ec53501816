import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { testAdapter, testServices } from 'authkernel/testing'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { newAccount, newSession, newUser } from '../../src/testing/adapter-subject.ts'
import { dropStore, newStore, openStore, storageOf } from './_stores.ts'
import { testStoreRecords } from './_records.ts'
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
const folder = fresh()
testStoreRecords('unstorage, fs driver', () => folder, { alone: true, rows: 300 })

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

  /** A lock as a process of somewhere else left it, that many seconds ago. */
  async function leaveLock(
    store: Folder,
    owner: { pid: number; started: string | null; host: string },
    secondsAgo: number,
  ): Promise<string> {
    const file = `${store.folder}/.authkernel-lock`
    await writeFile(file, JSON.stringify({ id: crypto.randomUUID(), since: '2026-01-01T00:00:00.000Z', ...owner }))
    const then = new Date(Date.now() - secondsAgo * 1_000)
    await utimes(file, then, then)
    return file
  }

  it('waits for another host until that has been silent for a minute', async () => {
    const store = fresh()
    const adapter = openStore(store)
    await leaveLock(store, { pid: 1, started: null, host: 'elsewhere' }, 50)
    await expect(adapter.getUser!('1')).rejects.toThrow('in use by process 1 on elsewhere')
    await leaveLock(store, { pid: 1, started: null, host: 'elsewhere' }, 70)
    expect(await adapter.getUser!('1')).toBeNull()
    await adapter.close!()
  })

  it('is not kept away by another process that was given the pid of a dead one', async () => {
    const store = fresh()
    const other = await startWorker()
    workers.push(other)
    // Silent too, for systems that do not tell when a process began.
    await leaveLock(store, { pid: other.child.pid!, started: 'another boot 1', host: hostname() }, 70)
    const adapter = openStore(store)
    expect(await adapter.getUser!('1')).toBeNull()
    await adapter.close!()
  })

  it('touches its lock every five seconds, and writes no more when another process took the folder over', async () => {
    const store = fresh()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const adapter = openStore(store)
      await adapter.getUser!('1')
      const file = `${store.folder}/.authkernel-lock`
      await utimes(file, new Date(0), new Date(0))
      vi.advanceTimersByTime(5_000)
      await expect.poll(async () => (await stat(file)).mtimeMs).toBeGreaterThan(Date.now() - 60_000)
      await leaveLock(store, { pid: 1, started: null, host: 'elsewhere' }, 0)
      vi.advanceTimersByTime(5_000)
      const write = async (): Promise<unknown> => adapter.createUser!(newUser())
      await expect.poll(() => write().catch(String)).toContain('taken over by another process')
      await adapter.close!()
      // The other one's lock stays.
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ host: 'elsewhere' })
    } finally {
      vi.useRealTimers()
    }
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

  it('finishes a write that failed half-way before anything else is read', async () => {
    const storage = storageOf(fresh())
    let failing = false
    const flaky = {
      ...storage,
      setItem: (key: string, value: string) =>
        failing && key.includes('account') ? Promise.reject(new Error('ENOSPC')) : storage.setItem(key, value),
    }
    const adapter = unstorageAdapter(flaky)
    const healed: string[] = []
    adapter.onHealed(({ message }) => healed.push(message))
    const { userId: _none, ...account } = newAccount('')
    const user = newUser()
    failing = true
    await expect(adapter.createUserWithAccount(user, account)).rejects.toThrow('ENOSPC')
    // The disk is still full: no reader sees the half.
    await expect(adapter.getUserByEmail(user.email)).rejects.toThrow('ENOSPC')
    expect(healed).toEqual([])
    failing = false
    const found = await adapter.getUserByEmail(user.email)
    expect(healed).toEqual(['writes that were interrupted half-way were finished'])
    expect(await adapter.getUserByAccount(account as { provider: string; providerAccountId: string })).toEqual(found)
    await adapter.close()
  })

  it('refuses nonsense that a user wrote into a file, and works on for others', async () => {
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

testServices('unstorage, fs driver', {
  services: (now) => unstorageAdapter(storageOf(fresh()), { now }),
  shared: false,
})
