/** A million sessions that have ended: how long `deleteExpired` takes, what it needs, and what those who sign in meanwhile notice. */
import { addSessions } from './database.mjs'

export async function cleanup(database, { expired, users }) {
  const adapter = database.open()
  await adapter.getUser('user-1')
  const rows = async () => Number((await database.query('select count(*) as n from sessions where expires < now()')).rows[0].n)

  await addSessions(database, { count: expired, users, name: 'ended', days: -60 })
  await database.query('vacuum analyze sessions')
  let over = false
  const waits = sign(database, () => over)
  const memory = watchMemory()
  const began = performance.now()
  const removed = await adapter.deleteExpired()
  const seconds = (performance.now() - began) / 1000
  over = true
  const megabytes = memory()
  const figures = { removed: removed.sessions, left: await rows(), seconds, megabytes, ...(await waits) }

  // The same by one statement, which keeps all its rows locked until its end.
  await addSessions(database, { count: expired, users, name: 'ended', days: -60 })
  await database.query('vacuum analyze sessions')
  const start = performance.now()
  await database.query('delete from sessions where expires < now()')
  return { ...figures, oneStatement: (performance.now() - start) / 1000 }
}

/** Signs people in and extends their sessions until it is over; milliseconds per operation. */
async function sign(database, isOver) {
  const adapter = database.open()
  const waits = []
  for (let n = 0; !isOver(); n++) {
    const sessionToken = `meanwhile-${n}`
    for (const work of [
      () => adapter.createSession({ sessionToken, userId: 'user-1', expires: new Date(Date.now() + 86_400_000), createdAt: new Date() }),
      () => adapter.getSessionAndUser(sessionToken),
      () => adapter.updateSession({ sessionToken, expires: new Date(Date.now() + 172_800_000) }),
    ]) {
      const began = performance.now()
      await work()
      waits.push(performance.now() - began)
    }
  }
  waits.sort((a, b) => a - b)
  return { operations: waits.length, median: waits[Math.floor(waits.length / 2)], worst: waits.at(-1) }
}

/** The most that the process took more than at the beginning, in MB. */
function watchMemory() {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
  return () => {
    clearInterval(timer)
    return (most - before) / 1e6
  }
}
