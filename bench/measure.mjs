/** Side by side: in each round every contestant has its turn, so that a busy machine is busy for all of them. */
import { createHook } from 'node:async_hooks'

// The optimising compiler comes after some thousand calls, however long they take.
const warmUp = 4000

/**
 * Per contestant: `wall` and `cpu` in µs per operation, `times` and `cpuTimes` as multiples of the first contestant. `cpu` counts all
 * threads of the process. Turns are short and many and the lower decile counts: what other programs of the machine add, they add to
 * some turns only.
 */
export async function sideBySide(contestants, { inFlight = 16, rounds = 80, milliseconds = 8 } = {}) {
  const names = Object.keys(contestants)
  const loops = {}
  for (const name of names) loops[name] = await calibrate(contestants[name], inFlight, milliseconds)
  const turns = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) turns[name].push(await turn(contestants[name], inFlight, loops[name]))
  }
  const low = Object.fromEntries(
    names.map((name) => [name, { wall: decile(turns[name].map(({ wall }) => wall)), cpu: decile(turns[name].map(({ cpu }) => cpu)) }]),
  )
  const first = low[names[0]]
  return Object.fromEntries(
    names.map((name) => [name, { ...low[name], times: low[name].wall / first.wall, cpuTimes: low[name].cpu / first.cpu }]),
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

/** Warms up, then how many rounds of `inFlight` calls take that long. */
export async function calibrate(work, inFlight, milliseconds) {
  for (let done = 0; done < warmUp; done += inFlight) await Promise.all(Array.from({ length: inFlight }, work))
  const began = performance.now()
  for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: inFlight }, work))
  return Math.max(1, Math.round((20 * milliseconds) / (performance.now() - began)))
}

/** Microseconds per operation. */
export async function turn(work, inFlight, loops) {
  const cpu = process.cpuUsage()
  const began = performance.now()
  for (let i = 0; i < loops; i++) await Promise.all(Array.from({ length: inFlight }, work))
  const wall = (performance.now() - began) * 1000
  const { user, system } = process.cpuUsage(cpu)
  const operations = loops * inFlight
  return { wall: wall / operations, cpu: (user + system) / operations }
}

/** The lower decile: other programs slow some turns, none makes one faster. */
export function decile(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)]
}
