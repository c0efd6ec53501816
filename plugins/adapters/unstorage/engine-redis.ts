/** Transactions on Redis: values are read, and one Lua script writes if none of them changed meanwhile. */
import { AuthError } from 'authkernel/kernel'
import { createBuffer, readKey } from './buffer.ts'
import { findEviction } from './eviction.ts'
import { onPrimary } from './primary.ts'
import { createLock } from './rw-lock.ts'
import type { Engine, KeyValueDriver, KeyValueStorage, Transaction } from './types.ts'

/** The part of an ioredis client that is used. */
interface RedisClient {
  get(key: string): Promise<string | null>
  eval(script: string, keys: number, ...args: (string | number)[]): Promise<unknown>
  zrangebylex(key: string, min: string, max: string, limit: 'LIMIT', offset: number, count: number): Promise<string[]>
  zrevrangebylex(key: string, max: string, min: string, limit: 'LIMIT', offset: number, count: number): Promise<string[]>
  scan(cursor: string, match: 'MATCH', pattern: string, count: 'COUNT', size: number): Promise<[cursor: string, keys: string[]]>
  info(section: string): Promise<string>
  /** Closes the connection; with `true` the client opens another one. */
  disconnect?(reconnect: boolean): void
  /** Of a cluster. */
  nodes?(role: 'master'): RedisClient[]
}

// KEYS: what was read, then what is written, then the sorted sets, then the receipt. ARGV: how many were read and are written; per read '-'
// (absent) or '=' and the value; per write '-' (remove), or '=' and the value followed by milliseconds to live ('0': for ever); per set '+' or
// '-' and a member. Answers 0: another process was faster; 1: done;
// 2: done before, and the answer was lost. Then the client sends the same script with the same receipt, and what it finds is its own.
const commitScript = `
local receipt = KEYS[#KEYS]
if redis.call('EXISTS', receipt) == 1 then return 2 end
local reads, writes = tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 1, reads do
  local value = redis.call('GET', KEYS[i])
  local expected = ARGV[2 + i]
  if value == false then
    if expected ~= '-' then return 0 end
  elseif expected ~= '=' .. value then return 0 end
end
local at = 3 + reads
for i = reads + 1, reads + writes do
  if ARGV[at] == '-' then
    redis.call('DEL', KEYS[i])
  elseif ARGV[at + 1] == '0' then
    redis.call('SET', KEYS[i], string.sub(ARGV[at], 2))
  else
    redis.call('SET', KEYS[i], string.sub(ARGV[at], 2), 'PX', ARGV[at + 1])
  end
  at = at + 2
end
for i = reads + writes + 1, #KEYS - 1 do
  local member = string.sub(ARGV[at], 2)
  if string.sub(ARGV[at], 1, 1) == '+' then redis.call('ZADD', KEYS[i], 0, member) else redis.call('ZREM', KEYS[i], member) end
  at = at + 1
end
redis.call('SET', receipt, '1', 'PX', ${60_000})
return 1`

// With this many processes on one record the last of them still gets its turn; more means that something is broken.
const attempts = 400

/** Where the keys of an adapter lie, and what it calls. */
interface RedisOptions {
  /** Where the driver is mounted. */
  base: string
  /** Begins all keys of the adapter. */
  root: string
  now(): number
  /** Called when a lost connection did no harm. */
  logHealing(message: string): void
}

/** An engine for a mounted `redis` driver, or undefined for another driver. */
export function redisEngine(
  storage: KeyValueStorage,
  driver: KeyValueDriver,
  { base, root, now, logHealing }: RedisOptions,
): Engine | undefined {
  if (driver.name !== 'redis' || !driver.getInstance) return undefined
  const client = (): RedisClient => driver.getInstance!() as RedisClient
  const driverBase = ((driver.options as { base?: string } | undefined)?.base ?? '').replace(/:$/, '')
  const physical = (path: string): string => (driverBase ? `${driverBase}:` : '') + path.slice(base.length)
  const readEntry = async (path: string): Promise<unknown> => parseValue(await client().get(physical(path)))
  let probed: Promise<void> | undefined
  const ready = (): Promise<void> =>
    (probed ??= onPrimary(client, () => probeServer(storage, root, { client: client(), physical })).catch((error: unknown) => {
      probed = undefined
      throw error
    }))
  const queue = createLock()
  const range: Engine['range'] = async (set, { min, max, reverse, limit }) =>
    reverse
      ? client().zrevrangebylex(physical(set), max, min, 'LIMIT', 0, limit)
      : client().zrangebylex(physical(set), min, max, 'LIMIT', 0, limit)

  async function* scan(folder: string): AsyncGenerator<readonly string[]> {
    const pattern = `${physical(folder).replaceAll(/[\\*?[\]]/g, '\\$&')}*`
    // All keys of a cluster's prefix lie on one of its nodes.
    for (const node of client().nodes?.('master') ?? [client()]) {
      let cursor = '0'
      do {
        const [next, found] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000)
        cursor = next
        yield found.map((key) => base + key.slice(driverBase ? driverBase.length + 1 : 0))
      } while (cursor !== '0')
    }
  }
  // Not by the storage, whose driver takes ten keys of all at a time.
  async function paths(folder: string): Promise<string[]> {
    const found = new Set<string>()
    for await (const page of scan(folder)) for (const path of page) found.add(path)
    return [...found]
  }

  /** Undefined when another process changed what was read. */
  async function attempt<T>(work: (tx: Transaction) => Promise<T>): Promise<{ result: T } | undefined> {
    const seen = new Map<string, string | null>()
    const buffer = createBuffer(
      async (path) => {
        if (!seen.has(path)) seen.set(path, await client().get(physical(path)))
        return parseValue(seen.get(path) ?? null)
      },
      paths,
      (set) => range(set, { min: '-', max: '+', reverse: false, limit: -1 }),
      readEntry,
    )
    const result = await work(buffer)
    const [writes, changes] = [buffer.writes(), buffer.changes()]
    if (writes.length === 0 && changes.length === 0) return { result }
    // Unstorage lists no keys that end in `$`.
    const receipt = `${root}receipt:${crypto.randomUUID()}$`
    const answer = await onPrimary(client, () =>
      client().eval(
        commitScript,
        seen.size + writes.length + changes.length + 1,
        ...[...seen.keys(), ...writes.map((write) => write.path), ...changes.map(({ set }) => set), receipt].map(physical),
        seen.size,
        writes.length,
        ...[...seen.values()].map((value) => (value === null ? '-' : `=${value}`)),
        ...writes.flatMap((write) =>
          write.value === undefined ? ['-', '0'] : [`=${JSON.stringify(write.value)}`, lifetimeOf(write.expires, now())],
        ),
        ...changes.map(({ member, present }) => (present ? '+' : '-') + member),
      ),
    )
    if (answer === 2) logHealing('the connection broke before the answer to a write arrived; the write was done')
    return answer === 1 || answer === 2 ? { result } : undefined
  }
  return {
    atomic: true,
    sorted: true,
    async range(set, asked) {
      await ready()
      return range(set, asked)
    },
    async get(key) {
      await ready()
      return readKey(readEntry, key)
    },
    async peek(path) {
      await ready()
      return readEntry(path)
    },
    paths,
    check: ready,
    async findFaults() {
      const nodes = client().nodes?.('master') ?? [client()]
      const infos = await Promise.all(nodes.map((node) => node.info('memory'))).catch((): string[] => [])
      return findEviction(infos, 'users and sessions are lost, and used one-time values can be used again')
    },
    async *scan(folder) {
      await ready()
      yield* scan(folder)
    },
    async transact(work) {
      await ready()
      const first = await attempt(work)
      if (first) return first.result
      // Writes of one process that met go one after the other, so that only processes still meet.
      return queue.write(async () => {
        for (let tries = 1; tries < attempts; tries++) {
          // Others were faster; an even spread lets all through.
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
 * tenant would see the other's users. And a cluster keeps keys on several nodes, unless a part of their prefix in braces keeps them together: no
 * script could write two of them. Throws AuthError.
 */
async function probeServer(
  storage: KeyValueStorage,
  root: string,
  { client, physical }: { client: RedisClient; physical(path: string): string },
): Promise<void> {
  const path = `${root}authkernel-probe:${crypto.randomUUID()}`
  await storage.setItem(path, '1', { ttl: 60 })
  const found = await client.get(physical(path))
  await storage.removeItem(path)
  if (found === null) {
    throw new AuthError(
      '[unstorage] This storage puts its keys elsewhere than its driver. Give the storage itself, and unstorageAdapter the prefix.',
    )
  }
  // Keys that differ in their last letter alone are never of one slot (CRC-16), unless braces say so.
  await client.eval('return 1', 2, physical(`${path}a`), physical(`${path}b`)).catch((error: unknown) => {
    if (!/\bCROSSSLOT\b/.test(String((error as Error).message))) throw error
    throw new AuthError(
      '[unstorage] This Redis Cluster keeps the keys of the adapter on several nodes, and every write would fail. Set the option `prefix` to a text ' +
        "in braces, which keeps them in one slot: unstorageAdapter(storage, { prefix: '{auth}' }).",
      { cause: { err: error as Error } },
    )
  })
}

function lifetimeOf(expires: Date | undefined, now: number): string {
  return expires ? String(Math.max(1, expires.getTime() - now)) : '0'
}

// Values of `@auth/unstorage-adapter` may be bare text: ids and key names.
function parseValue(value: string | null): unknown {
  if (value === null) return null
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
