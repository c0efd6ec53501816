/** Transactions on Redis: values are read, and one Lua script writes if none of them changed meanwhile. */
import { createBuffer, readKey } from './buffer.ts'
import { createLock } from './rw-lock.ts'
import type { Engine, KeyValueDriver, KeyValueStorage, Transaction } from './types.ts'

/** The part of an ioredis client that is used. */
interface RedisClient {
  get(key: string): Promise<string | null>
  eval(script: string, keys: number, ...args: (string | number)[]): Promise<unknown>
}

// KEYS: what was read, then what is written. ARGV: how many were read; per read '-' (absent) or '=' and the value;
// per write '-' (remove), or '=' and the value followed by milliseconds to live ('0': for ever).
const commit = `
local reads = tonumber(ARGV[1])
for i = 1, reads do
  local value = redis.call('GET', KEYS[i])
  local expected = ARGV[1 + i]
  if value == false then
    if expected ~= '-' then return 0 end
  elseif expected ~= '=' .. value then return 0 end
end
local at = 2 + reads
for i = reads + 1, #KEYS do
  if ARGV[at] == '-' then
    redis.call('DEL', KEYS[i])
  elseif ARGV[at + 1] == '0' then
    redis.call('SET', KEYS[i], string.sub(ARGV[at], 2))
  else
    redis.call('SET', KEYS[i], string.sub(ARGV[at], 2), 'PX', ARGV[at + 1])
  end
  at = at + 2
end
return 1`

// With this many processes on one record the last of them still gets its turn; more means that something is broken.
const attempts = 400

/** An engine for a mounted `redis` driver, or undefined for another driver. */
export function redisEngine(storage: KeyValueStorage, driver: KeyValueDriver, base: string, now: () => number): Engine | undefined {
  if (driver.name !== 'redis' || !driver.getInstance) return undefined
  const client = (): RedisClient => driver.getInstance!() as RedisClient
  const driverBase = ((driver.options as { base?: string } | undefined)?.base ?? '').replace(/:$/, '')
  const physical = (path: string): string => (driverBase ? `${driverBase}:` : '') + path.slice(base.length)
  const read = async (path: string): Promise<unknown> => parse(await client().get(physical(path)))
  let probed: Promise<void> | undefined
  const ready = (): Promise<void> =>
    (probed ??= probe(storage, base, (path) => client().get(physical(path))).catch((error: unknown) => {
      probed = undefined
      throw error
    }))
  const paths = (folder: string): Promise<string[]> => storage.getKeys(folder)
  const queue = createLock()

  /** Undefined when somebody changed what was read. */
  async function attempt<T>(work: (tx: Transaction) => Promise<T>): Promise<{ result: T } | undefined> {
    const seen = new Map<string, string | null>()
    const buffer = createBuffer(async (path) => {
      if (!seen.has(path)) seen.set(path, await client().get(physical(path)))
      return parse(seen.get(path) ?? null)
    }, paths)
    const result = await work(buffer)
    const writes = buffer.writes()
    if (writes.length === 0) return { result }
    const answer = await client().eval(
      commit,
      seen.size + writes.length,
      ...[...seen.keys(), ...writes.map((write) => write.path)].map(physical),
      seen.size,
      ...[...seen.values()].map((value) => (value === null ? '-' : `=${value}`)),
      ...writes.flatMap((write) =>
        write.value === undefined ? ['-', '0'] : [`=${JSON.stringify(write.value)}`, life(write.expires, now())],
      ),
    )
    return answer === 1 ? { result } : undefined
  }
  return {
    atomic: true,
    async get(key) {
      await ready()
      return readKey(read, key)
    },
    paths,
    async transact(work) {
      await ready()
      const first = await attempt(work)
      if (first) return first.result
      // Those of one process who met go one after the other, so that only processes still meet.
      return queue.write(async () => {
        for (let tries = 1; tries < attempts; tries++) {
          // Others were faster; an even spread lets everybody through.
          await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(tries - 1, 20)))
          const next = await attempt(work)
          if (next) return next.result
        }
        throw new Error(`[unstorage] Redis: ${attempts} conflicting writes in a row`)
      })
    },
    close: async () => storage.dispose?.(),
  }
}

/**
 * A wrapped storage (`prefixStorage`) puts its keys elsewhere than the driver is asked for them: two prefixes would be one store, and one
 * tenant would see the other's people.
 */
async function probe(storage: KeyValueStorage, base: string, read: (path: string) => Promise<string | null>): Promise<void> {
  const path = `${base}authkernel-probe:${crypto.randomUUID()}`
  await storage.setItem(path, '1', { ttl: 60 })
  const found = await read(path)
  await storage.removeItem(path)
  if (found === null) {
    throw new Error(
      '[unstorage] This storage puts its keys elsewhere than its driver. Give the storage itself, and unstorageAdapter the prefix.',
    )
  }
}

function life(expires: Date | undefined, now: number): string {
  return expires ? String(Math.max(1, expires.getTime() - now)) : '0'
}

// Values of `@auth/unstorage-adapter` may be bare text: ids and key names.
function parse(value: string | null): unknown {
  if (value === null) return null
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
