/** Local accounts between four processes: of all that try one code, one link, one backup code, one reset at once, one wins. */
import { sampleStores } from '../_tier.ts'
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'
import { localsHost, type LocalsTask } from './_locals.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore, type StoreSpec } from './_stores.ts'
import { startWorkers, type Worker } from './_workers.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const kinds = ['libsql', 'postgres', 'mysql', 'redis'] as const
const good = 'seven purple otters sing'

describe.each(sampleStores(kinds))('%s, four processes', (kind) => {
  describe.skipIf(!there[kind])('with a server', () => {
    let spec: StoreSpec
    let auth: ReturnType<typeof localsHost>
    let workers: Worker[] = []
    beforeAll(async () => {
      spec = kind === 'redis' ? newStore('redis') : await newDatabase(kind)
      const adapter = openStore(spec) as Required<Adapter>
      auth = localsHost(adapter)
      await auth.ready()
      workers = await startWorkers(4, spec)
    }, 60_000)
    afterAll(async () => {
      await Promise.all(workers.map((worker) => worker.kill()))
      await auth?.close()
      if (spec) await dropStore(spec)
    })
    /** How many sessions came of it; `browsers` and `fields` go around among the processes. */
    const race = async (path: string, browsers: string[], fields: Record<string, string>[], times = 2): Promise<number> => {
      const answers = await Promise.all(
        workers.map((worker, at) => {
          const task: LocalsTask = {
            do: 'locals',
            path,
            browsers: [browsers[at % browsers.length]!],
            fields: [fields[at % fields.length]!],
            times,
          }
          return worker.ask(task)
        }),
      )
      expect(answers.flatMap(({ rejected }) => rejected)).toEqual([])
      return answers.flatMap(({ fulfilled }) => fulfilled).filter(Boolean).length
    }
    const mailTo = async (address: string, pattern: RegExp): Promise<string> => {
      let found: string | undefined
      await expect.poll(() => (found = pattern.exec(auth.mails.findLast(({ to }) => to === address)?.text ?? '')?.[1])).toBeTruthy()
      return found!
    }
    const csrf = async (client: Client): Promise<{ csrfToken: string }> => ({ csrfToken: await client.csrfToken() })
    const own = async (address: string): Promise<void> => {
      const client = new Client(auth)
      await client.post('/passwords/sign-up', { email: address, password: good })
      await client.post('/passwords/confirm', { token: await mailTo(address, /token=([0-9a-f]{64})/) })
      expect((await client.session())?.user?.email).toBe(address)
    }
    const signIn = async (address: string, password = good): Promise<Client> => {
      const client = new Client(auth)
      await client.post('/callback/passwords', { email: address, password })
      return client
    }

    it('one code, and one link', async () => {
      for (const [address, by] of [
        ['code@example.com', 'code'],
        ['link@example.com', 'link'],
      ] as const) {
        const client = new Client(auth)
        await client.post('/signin/codes', { email: address })
        const code = await mailTo(address, /^\s*(\d{6})\s*$/m)
        const token = await mailTo(address, /token=([0-9a-f]{64})/)
        const fields = { ...(await csrf(client)), ...(by === 'code' ? { code } : { token }) }
        // Five tries per code: each process has one.
        expect(await race('/callback/codes', [client.cookieHeader()], [fields], 1)).toBe(1)
        expect(await race('/callback/codes', [client.cookieHeader()], [fields], 1)).toBe(0)
      }
    })

    it('guesses at one code in all processes: five are compared, so the right one after them is too late', async () => {
      const client = new Client(auth)
      await client.post('/signin/codes', { email: 'guess@example.com' })
      const code = await mailTo('guess@example.com', /^\s*(\d{6})\s*$/m)
      const wrong = Array.from({ length: 4 }, (_, i) => String((Number(code) + i + 1) % 1_000_000).padStart(6, '0'))
      const { csrfToken } = await csrf(client)
      await race(
        '/callback/codes',
        [client.cookieHeader()],
        wrong.map((one) => ({ csrfToken, code: one })),
        3,
      )
      expect(await race('/callback/codes', [client.cookieHeader()], [{ csrfToken, code }], 1)).toBe(0)
    })

    it('one code of an app, and one backup code, in four sign-ins that wait', async () => {
      const address = 'factor@example.com'
      await own(address)
      const client = await signIn(address)
      const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
      const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)![1]!.replaceAll(' ', '')
      const id = /name="id" value="([^"]+)"/.exec(page)![1]!
      const done = await (
        await client.post('/two-factor/setup', { action: 'confirm', id, code: totpAt(secret, Date.now() - 30_000) })
      ).text()
      const backup = [...done.matchAll(/<li><code>([A-Z2-9-]{11})<\/code>/g)].map(([, one]) => one!)
      expect(backup).toHaveLength(10)
      for (const code of [totpAt(secret, Date.now()), backup[0]!]) {
        const waiting = await Promise.all(Array.from({ length: 4 }, () => signIn(address)))
        const fields = await Promise.all(waiting.map(async (one) => ({ ...(await csrf(one)), code })))
        const cookies = waiting.map((one) => one.cookieHeader())
        expect(await race('/two-factor', cookies, fields, 1)).toBe(1)
      }
    }, 30_000)

    it('one reset link: one of four new passwords counts', async () => {
      const address = 'reset@example.com'
      await own(address)
      const client = new Client(auth)
      await client.post('/passwords/reset', { email: address })
      const token = await mailTo(address, /new\?token=([0-9a-f]{64})/)
      const passwords = ['a', 'b', 'c', 'd'].map((letter) => `nine yellow llamas dance ${letter}`)
      const { csrfToken } = await csrf(client)
      await race(
        '/passwords/new',
        [client.cookieHeader()],
        passwords.map((password) => ({ csrfToken, token, password })),
        1,
      )
      const ends = await Promise.all(passwords.map(async (password) => (await (await signIn(address, password)).session()) !== null))
      expect(ends.filter(Boolean)).toHaveLength(1)
      expect(await (await signIn(address)).session()).toBeNull()
    }, 30_000)

    it('everybody signs up and proves at once: one user, whose password is the one of a proof', async () => {
      const address = 'all@example.com'
      const clients: { client: Client; token: string }[] = []
      for (const end of ['x', 'y']) {
        const client = new Client(auth)
        auth.mails.length = 0
        await client.post('/passwords/sign-up', { email: address, password: `${good} ${end}` })
        clients.push({ client, token: await mailTo(address, /confirm\?token=([0-9a-f]{64})/) })
      }
      const code = new Client(auth)
      await code.post('/signin/codes', { email: address })
      const link = await mailTo(address, /callback\/codes\?token=([0-9a-f]{64})/)
      const tasks = [
        ...(await Promise.all(
          clients.map(async ({ client, token }) => ({
            path: '/passwords/confirm',
            browsers: [client.cookieHeader()],
            fields: [{ ...(await csrf(client)), token }],
          })),
        )),
        { path: '/callback/codes', browsers: [code.cookieHeader()], fields: [{ ...(await csrf(code)), token: link }] },
      ]
      const answers = await Promise.all(tasks.map((task, at) => workers[at]!.ask({ do: 'locals', times: 1, ...task })))
      expect(answers.flatMap(({ rejected }) => rejected)).toEqual([])
      const again = new Client(auth)
      auth.mails.length = 0
      await again.post('/signin/codes', { email: address })
      await again.post('/callback/codes', { code: await mailTo(address, /^\s*(\d{6})\s*$/m) })
      expect((await again.session())?.user?.email).toBe(address)
      const passwords = await Promise.all(
        ['x', 'y'].map(async (end) => (await (await signIn(address, `${good} ${end}`)).session()) !== null),
      )
      expect(passwords.filter(Boolean).length).toBeLessThanOrEqual(1)
    }, 30_000)
  })
})
