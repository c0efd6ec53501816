/**
 * The generation of a user's sessions, and the list of them. Both keys of a user lie in one slot. A new generation ends all sessions that began in
 * another one, whatever the list says: the list is for showing and for freeing memory.
 */
import { longestCookie, type SessionGeneration } from 'authkernel/kernel/stores'
import type { Redis, Script } from './client.ts'

/** The generation of a user. */
export async function readGeneration(redis: Redis, [generation]: UserKeys): Promise<SessionGeneration> {
  return parseGeneration(await redis.send(generation, 'GET', generation))
}

/** Names of the two keys of a user: generation and list. */
export type UserKeys = readonly [generation: string, list: string]

/** Notes a session, and keeps generation and list as long as it may live. Answers the generation. */
export async function noteSession(redis: Redis, keys: UserKeys, session: string, expires: number, now: number): Promise<SessionGeneration> {
  return parseGeneration(await redis.run(noteScript, [...keys], [session, String(expires), String(now)]))
}

/** Begins a generation, and answers the sessions that were noted. `kept` goes on if it was of the former one. The same call again does the same. */
export async function beginGeneration(
  redis: Redis,
  keys: UserKeys,
  name: string,
  kept: { session: string; stamp: string } | undefined,
  now: number,
): Promise<string[]> {
  const args = [name, kept?.session ?? '', kept?.stamp ?? '', String(now), String(longestCookie)]
  return (await redis.run(beginScript, [...keys], args)) as string[]
}

/** Takes sessions off the list. */
export async function forgetSessions(redis: Redis, [, list]: UserKeys, sessions: readonly string[]): Promise<void> {
  if (sessions.length > 0) await redis.send(list, 'ZREM', list, ...sessions)
}

// `name`, or `name session stamp`.
function parseGeneration(text: unknown): SessionGeneration {
  const [name = '', session, stamp = ''] = typeof text === 'string' ? text.split(' ') : []
  return { name, kept: session === undefined ? undefined : { session, stamp } }
}

// KEYS: generation, list. ARGV: session, end, now.
const noteScript: Script = {
  text: `
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[3])
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
local needed = tonumber(ARGV[2]) - tonumber(ARGV[3])
if needed > 0 then
  for i = 1, 2 do
    local left = redis.call('PTTL', KEYS[i])
    if left ~= -2 and left < needed then redis.call('PEXPIRE', KEYS[i], needed) end
  end
end
return redis.call('GET', KEYS[1])`,
}

// KEYS: generation, list. ARGV: new name, session that goes on or empty, its stamp, now, milliseconds that a generation is kept at least.
const beginScript: Script = {
  text: `
local former = redis.call('GET', KEYS[1]) or ''
local name, session, stamp = string.match(former, '^(%S*) ?(%S*) ?(%S*)$')
local kept = ''
if ARGV[2] ~= '' and (ARGV[3] == name or (ARGV[2] == session and ARGV[3] == stamp)) then kept = ' ' .. ARGV[2] .. ' ' .. ARGV[3] end
local noted = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
local longest, sessions, score = tonumber(ARGV[5]), {}, nil
for i = 1, #noted, 2 do
  longest = math.max(longest, tonumber(noted[i + 1]) - tonumber(ARGV[4]))
  if kept ~= '' and noted[i] == ARGV[2] then score = noted[i + 1] else table.insert(sessions, noted[i]) end
end
redis.call('DEL', KEYS[2])
if score then
  redis.call('ZADD', KEYS[2], score, ARGV[2])
  redis.call('PEXPIRE', KEYS[2], math.max(1, tonumber(score) - tonumber(ARGV[4])))
end
redis.call('SET', KEYS[1], ARGV[1] .. kept, 'PX', string.format('%.0f', longest))
return sessions`,
}
