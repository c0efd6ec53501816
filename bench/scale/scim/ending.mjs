/** The time from the answer to `active: false` to the last request that is served, over several processes. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const worker = fileURLToPath(new URL('worker.mjs', import.meta.url))

/** Milliseconds for each round: below 0 where the last request was served before the answer. */
export async function measureEndings(host, send, { bundle, url, strategy, processes, rounds, signIn }) {
  const children = []
  for (let at = 0; at < processes; at++) {
    const child = fork(worker, [JSON.stringify({ bundle, url, strategy })], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    await once(child, 'message')
    children.push(child)
  }
  const late = []
  let reads = 0
  try {
    for (let round = 0; round < rounds; round++) {
      const email = `${strategy}${round}@acme.example`
      const { body, status } = await send('POST', '/Users', { userName: email, active: true })
      if (status !== 201) throw new Error(`POST /Users: ${status} ${JSON.stringify(body)}`)
      const cookie = await signIn(email)
      const { id: userId } = await host.adapter.getUserByEmail(email)
      const { key } = await host.auth.apiKeys.create({ userId }, { name: 'script' })
      const answers = children.map((child) => once(child, 'message'))
      for (const child of children) child.send({ cookie, key })
      // Each has served this user for a while.
      await new Promise((resolve) => setTimeout(resolve, 400))
      const ended = await send('PATCH', `/Users/${body.id}`, { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] })
      const answered = Date.now()
      if (ended.status !== 200) throw new Error(`PATCH /Users: ${ended.status}`)
      for (const [{ lastServed, count }] of await Promise.all(answers)) {
        late.push(lastServed - answered)
        reads += count
      }
    }
  } finally {
    for (const child of children) child.disconnect()
  }
  return { processes, rounds, reads, longest: Math.max(...late) }
}
