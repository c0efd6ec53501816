/** Four processes end sessions and are killed in the middle of it: what was acknowledged counts in every process, and the feed has no gap. */
import type { Adapter } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { isFullTier } from '../_tier.ts'
import { feedHost } from './_revocations.ts'
import { reachable } from './_servers.ts'
import { dropStore, newDatabase, newStore, openStore } from './_stores.ts'
import { startWorker } from './_workers.ts'

const there = { libsql: true, postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const perProcess = isFullTier ? 200 : 12
const kills = isFullTier ? 30 : 4

describe.each(['postgres', 'mysql', 'redis', 'libsql'] as const)('%s', (kind) => {
  it.skipIf(!there[kind])('no acknowledged end is lost by a kill, and none is seen late', { timeout: 600_000 }, async () => {
    const store = kind === 'redis' ? newStore(kind) : await newDatabase(kind)
    const adapter = openStore(store) as Required<Adapter>
    const auth = feedHost(adapter)
    const browsers = new Map<string, Client>()
    const seen: { user: string; status: number; signedIn: boolean }[] = []
    const checks: Promise<void>[] = []
    const look = async (user: string): Promise<{ user: string; status: number; signedIn: boolean }> => {
      const copy = new Client(auth)
      for (const [name, value] of browsers.get(user)!.cookies) copy.cookies.set(name, value)
      const response = await copy.get('/session')
      return { user, status: response.status, signedIn: (await response.json()) !== null }
    }
    const acknowledged = new Set<string>()
    const failed: string[] = []
    /** Ends users in a process; after `dies` ends and some milliseconds the process is killed. Answers who is left. */
    const endIn = async (users: string[], dies?: { after: number; ms: number }): Promise<string[]> => {
      const worker = await startWorker()
      await worker.ask({ do: 'open', store })
      let count = 0
      const ended = new Promise<void>((resolve) => {
        worker.child.on('message', (message: { acknowledged?: string; failed?: string; finished?: true }) => {
          if (message.failed) failed.push(message.failed)
          if (message.acknowledged) {
            const user = message.acknowledged
            acknowledged.add(user)
            checks.push(look(user).then((one) => void seen.push(one)))
            if (++count === dies?.after) setTimeout(resolve, dies.ms)
          }
          if (message.finished) resolve()
        })
      })
      await worker.ask({ do: 'revocations', users })
      await ended
      await worker.kill()
      return users.filter((user) => !acknowledged.has(user))
    }
    try {
      await auth.ready()
      const users = Array.from({ length: 4 * perProcess + 2 }, (_, at) => `user-${at}`)
      for (const id of users) {
        await adapter.createUser({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
        const browser = new Client(auth)
        await browser.post('/callback/credentials', { user: id })
        browsers.set(id, browser)
      }
      const bystanders = users.splice(-2)
      const shares = Array.from({ length: 4 }, (_, at) => users.filter((_user, index) => index % 4 === at))
      await Promise.all(
        shares.map(async (share, at) => {
          let left = share
          for (let kill = at; kill < kills && left.length > 4; kill += 4) {
            left = await endIn(left, { after: 1 + ((kill * 7) % 9), ms: (kill * 5) % 11 })
          }
          await endIn(left)
        }),
      )
      await Promise.all(checks)
      expect(failed).toEqual([])
      expect(acknowledged.size).toBe(users.length)
      // Each look began after the end was acknowledged in another process.
      expect(seen.filter(({ status, signedIn }) => status !== 200 || signedIn)).toEqual([])
      expect(await Promise.all(bystanders.map(look))).toEqual(bystanders.map((user) => ({ user, status: 200, signedIn: true })))
      // A process that starts now reads the feed from its beginning, and finds no gap.
      const later = feedHost(adapter)
      const copy = new Client(later)
      for (const [name, value] of browsers.get(users[0]!)!.cookies) copy.cookies.set(name, value)
      expect(await (await copy.get('/session')).json()).toBeNull()
    } finally {
      await adapter.close?.()
      await dropStore(store)
    }
  })
})
