/** Side by side: in each round every contestant has its turn, so that a busy machine is busy for all of them. */
import { createHook } from 'node:async_hooks'

const warmUp = 1200

/**
 * Medians over rounds, per contestant: `wall` and `cpu` in µs per operation, `ratio` to the first contestant (median of the rounds'
 * own ratios, which noise reaches less than it reaches the durations). `cpu` counts all threads of the process.
 */
export async function sideBySide(contestants, { inFlight = 16, rounds = 15, milliseconds = 60 } = {}) {
  const names = Object.keys(contestants)
  const loops = {}
  for (const name of names) loops[name] = await calibrate(contestants[name], inFlight, milliseconds)
  const seen = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) seen[name].push(await turn(contestants[name], inFlight, loops[name]))
  }
  const [first] = names
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        wall: median(seen[name].map(({ wall }) => wall)),
        cpu: median(seen[name].map(({ cpu }) => cpu)),
        wallRatio: median(seen[name].map(({ wall }, i) => wall / seen[first][i].wall)),
        cpuRatio: median(seen[name].map(({ cpu }, i) => cpu / seen[first][i].cpu)),
      },
    ]),
  )
}

/** Jobs that one operation hands to the thread pool. Counted as they come back: a synchronous job has a resource too, but never returns. */
export async function poolJobs(work) {
  for (let i = 0; i < 5; i++) await work()
  const requests = new Set()
  let jobs = 0
  const hook = createHook({
    init: (id, type) => void (type.endsWith('REQUEST') && requests.add(id)),
    before: (id) => void (requests.delete(id) && jobs++),
  })
  hook.enable()
  await work()
  hook.disable()
  return jobs
}

async function calibrate(work, inFlight, milliseconds) {
  // Milliseconds for the optimising compiler, which comes after some thousand calls.
  const until = performance.now() + warmUp
  let done = 0
  while (performance.now() < until) {
    await Promise.all(Array.from({ length: inFlight }, work))
    done++
  }
  return Math.max(3, Math.round((done * milliseconds) / warmUp))
}

async function turn(work, inFlight, loops) {
  const cpu = process.cpuUsage()
  const began = performance.now()
  for (let i = 0; i < loops; i++) await Promise.all(Array.from({ length: inFlight }, work))
  const wall = (performance.now() - began) * 1000
  const { user, system } = process.cpuUsage(cpu)
  const operations = loops * inFlight
  return { wall: wall / operations, cpu: (user + system) / operations }
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
