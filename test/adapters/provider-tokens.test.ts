/** Four processes, one store, one account: one refresh, and a kill between the answer of the provider and the write. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Adapter } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, locationOf } from '../_client.ts'
import { type RealOp, realOp } from '../_op/real.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore } from './_stores.ts'
import { tokenHost, type TokenProvider } from './_tokens.ts'
import { startWorkers, type Worker } from './_workers.ts'

const clientSecret = 'a-client-secret-of-some-length-for-hmac-use'
const late = 10 * 60_000
const muchLater = 30 * 60_000
let op: RealOp
/** Counts what goes to the token endpoint, and may act between the answer of the provider and its way back. */
let front: { url: string; refreshes: number; after: (() => Promise<void>) | undefined; close(): void }

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
      const { authorization = '', 'content-type': type = '' } = request.headers
      const answer = await fetch(`${op.issuer}/token`, { method: 'POST', headers: { authorization, 'content-type': type }, body })
      const text = await answer.text()
      await front.after?.()
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  front = { url, refreshes: 0, after: undefined, close: () => (server.closeAllConnections(), server.close()) }
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
})
