/** Names of keys. Each key has one part in braces, which decides its slot in a Redis Cluster: keys of one session, user, value or limit lie together. */
import { AuthError, sha256 } from 'authkernel/kernel'
import { base64url } from 'jose'

/** What begins all keys of a store. */
export function toRoot(prefix: string): string {
  if (!/[{}]/.test(prefix)) return prefix === '' ? '' : `${prefix}:`
  throw new AuthError(
    `[redis] The option \`prefix\` is ${JSON.stringify(prefix)}. Leave out the braces: they would keep all keys on one node.`,
  )
}

/** A key that says nothing of what it stands for. */
export async function hashKey(key: string): Promise<string> {
  return base64url.encode((await sha256(key)).slice(0, 16))
}

/** Milliseconds to live, as an argument of a command. */
export function lifetimeOf(expires: number, now: number): string {
  return String(Math.max(1, Math.ceil(expires - now)))
}
