/** Four processes, one store, one account: one refresh, and a kill between the answer of the provider and the write. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Adapter } from 'authkernel/kernel'
import { encryptTokens } from 'authkernel/plugins/encrypt-tokens'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openOutside, openStore, type SqlSpec, storageOf, type StoreSpec } from './_stores.ts'
import { tokenHost, type TokenProvider } from './_tokens.ts'
import { startWorkers, type Worker } from './_workers.ts'

const clientSecret = 'a-client-secret-of-some-length-for-hmac-use'
const late = 10 * 60_000
const muchLater = 30 * 60_000
let op: RealOp
/** Counts what goes to the token endpoint, and may act between the answer of the provider and its way back. */
let front: {
  url: string
  refreshes: number
  before: (() => Promise<void>) | undefined
  after: (() => Promise<void>) | undefined
  /** What the provider answered. */
  seen: Record<string, string>[]
  close(): void
}

beforeAll(async () => {
  op = await realOp(
    [
      {
        client_id: 'app',
        client_secret: clientSecret,
        redirect_uris: ['http://localhost:3000/auth/callback/acme'],
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    {
      rotateRefreshToken: true,
      ttl: {
        AccessToken: 300,
        AuthorizationCode: 60,
        IdToken: 3600,
        Interaction: 600,
        Grant: 36_000,
        Session: 36_000,
        RefreshToken: 36_000,
      },
    },
  )
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      if (body.includes('refresh_token')) front.refreshes++
      if (front.before) return void (await front.before(), response.destroy())
      const { authorization = '', 'content-type': type = '' } = request.headers
      const answer = await fetch(`${op.issuer}/token`, { method: 'POST', headers: { authorization, 'content-type': type }, body })
      const text = await answer.text()
      front.seen.push(JSON.parse(text) as Record<string, string>)
      await front.after?.()
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  front = { url, refreshes: 0, before: undefined, after: undefined, seen: [], close: () => (server.closeAllConnections(), server.close()) }
})
afterAll(async () => {
  front.close()
  await op.stop()
})

const there = { postgres: await reachable('postgres'), redis: await reachable('redis') }

describe.each(['postgres', 'redis'] as const)('%s', (kind) => {
  const provider = (): TokenProvider => ({ issuer: op.issuer, token: front.url, clientId: 'app', clientSecret })

  async function signedUp(): Promise<{ userId: string; workers: Worker[]; end(): Promise<void> }> {
    const store = kind === 'postgres' ? await newDatabase('postgres') : newStore('redis')
    const adapter = openStore(store) as Required<Adapter>
    const auth = tokenHost(adapter, provider())
    let userId = ''
    auth.on('signIn', ({ user }) => void (userId = user.id ?? ''))
    const browser = new Client(auth)
    await browser.get(await op.visit(locationOf(await browser.signIn('acme'))))
    const workers = await startWorkers(4, store)
    front.refreshes = 0
    front.before = undefined
    front.after = undefined
    const end = async (): Promise<void> => {
      await Promise.all(workers.map((worker) => worker.kill()))
      await auth.close()
      await dropStore(store)
    }
    return { userId, workers, end }
  }
  const ask = async (worker: Worker, userId: string, times: number, ahead: number): Promise<unknown[]> =>
    (await worker.ask({ do: 'tokens', provider: provider(), userId, times, ahead })).fulfilled

  it.skipIf(!there[kind])(
    'twenty callers in four processes make one refresh; after a kill between answer and write people sign in again',
    async () => {
      const { userId, workers, end } = await signedUp()
      const answers = (await Promise.all(workers.map((worker) => ask(worker, userId, 5, late)))).flat()
      expect([answers.length, new Set(answers).size, front.refreshes]).toEqual([20, 1, 1])
      expect(answers[0]).not.toMatch(/^Tokens/)

      // Killed between the answer and the write: the used token is not sent a second time.
      front.refreshes = 0
      const [victim, witness, later] = workers as [Worker, Worker, Worker]
      front.after = () => victim.kill()
      await expect(ask(victim, userId, 1, muchLater)).rejects.toThrow('SIGKILL')
      front.after = undefined
      // While the lease of the dead one lasts, others wait and are told to come back.
      expect(await ask(witness, userId, 1, muchLater)).toEqual(['TokensBusy'])
      expect(await ask(later, userId, 3, muchLater + 61_000)).toEqual(Array(3).fill('TokensExpired'))
      expect(await ask(later, userId, 1, muchLater + 61_000)).toEqual(['TokensExpired'])
      expect(front.refreshes).toBe(1)
      await end()
    },
  )

  it.skipIf(!there[kind])(
    'killed after the commit, the token is there; killed before the provider saw the request, no process sends it again',
    async () => {
      const { userId, workers, end } = await signedUp()
      const [first, victim, witness] = workers as [Worker, Worker, Worker]
      const [token] = await ask(first, userId, 1, late)
      await first.kill()
      expect([await ask(witness, userId, 1, late), front.refreshes]).toEqual([[token], 1])
      // The lease is committed, and the request is on its way.
      front.before = () => victim.kill()
      await expect(ask(victim, userId, 1, muchLater)).rejects.toThrow('SIGKILL')
      front.before = undefined
      expect(await ask(witness, userId, 1, muchLater + 61_000)).toEqual(['TokensExpired'])
      expect(front.refreshes).toBe(2)
      await end()
    },
  )

  it.skipIf(!there[kind])(
    'with `encryptTokens` no row holds a token of the provider as plain text, before and after a refresh',
    async () => {
      const store = kind === 'postgres' ? await newDatabase('postgres') : newStore('redis')
      const adapter = openStore(store)
      const auth = tokenHost(
        encryptTokens(adapter, { secret: 'one-secret-of-all-processes-of-forty-letters' }),
        {
          issuer: op.issuer,
          token: front.url,
          clientId: 'app',
          clientSecret,
        },
        0,
      )
      front.seen.length = 0
      let userId = ''
      auth.on('signIn', ({ user }) => void (userId = user.id ?? ''))
      const browser = new Client(auth)
      await browser.get(await op.visit(locationOf(await browser.signIn('acme'))))
      const texts = [await everything(store)]
      const token = await auth.tokens.get({ userId }, 'acme', { minValid: 400 })
      texts.push(await everything(store))
      const held = front.seen.flatMap(({ access_token: access, refresh_token: refresh, id_token: id }) => [access, refresh, id])
      expect([front.seen.length, held.filter((text) => (text?.length ?? 0) > 20).length]).toEqual([2, 6])
      expect(held).toContain(token?.accessToken)
      for (const text of texts) {
        // Else the rows were not read.
        expect(text).toContain(userId)
        expect(held.filter((value) => text.includes(String(value)))).toEqual([])
      }
      await auth.close()
      await dropStore(store)
    },
  )
})

/** All that is stored, as text. */
async function everything(store: StoreSpec): Promise<string> {
  if (store.kind !== 'postgres') {
    const storage = storageOf(store as Exclude<StoreSpec, SqlSpec>)
    const keys = await storage.getKeys()
    const values = await Promise.all(
      keys.map(async (key) => JSON.stringify(await storage.getItem(key).catch(() => 'an index, whose members are of the form of keys'))),
    )
    await storage.dispose()
    return [...keys, ...values].join('\n')
  }
  const db = openOutside(store as SqlSpec)
  const { rows: tables } = await sql<{
    name: string
  }>`select table_name as name from information_schema.tables where table_schema = 'public'`.execute(db)
  const found = await Promise.all(tables.map(({ name }) => sql`select * from ${sql.id(name)}`.execute(db)))
  await db.destroy()
  return JSON.stringify(found.map(({ rows }) => rows))
}
