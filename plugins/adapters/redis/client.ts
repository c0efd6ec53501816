/** Commands and scripts, over the clients that users have. Structural types: no client is a dependency. */
import { toHex } from 'authkernel/kernel'
import { onPrimary } from '../unstorage/primary.ts'

/** `Redis` or `Cluster` of ioredis. */
export interface IoredisClient {
  call(command: string, ...args: string[]): Promise<unknown>
  /** Closes the connection; with `true` the client opens another one. */
  disconnect?(reconnect?: boolean): void
  /** Of a cluster. */
  nodes?(role: 'master'): IoredisClient[]
}
/** A client of node-redis. */
export interface NodeRedisClient {
  sendCommand(args: string[]): Promise<unknown>
}
/** A cluster of node-redis. */
export interface NodeRedisCluster {
  readonly masters: readonly unknown[]
  sendCommand(firstKey: string, isReadonly: boolean, args: string[]): Promise<unknown>
}
/** Sends one command, for any other client: `['GET', 'key']`. */
export type RedisFunction = (args: string[]) => Promise<unknown>
/** A client of Redis or Valkey that the host app has opened. The stores never close it. */
export type RedisClient = IoredisClient | NodeRedisClient | NodeRedisCluster | RedisFunction

/** What the stores need of a server. */
export interface Redis {
  /** One command. `key`: the key that decides which node gets it. */
  send(key: string, ...args: string[]): Promise<unknown>
  /** A script over keys of one slot. The answer to a script that was sent twice must be the same. */
  run(script: Script, keys: readonly [string, ...string[]], args: readonly string[]): Promise<unknown>
  /** The same command for each primary of a cluster, or for the one server. */
  sendToEach(...args: string[]): Promise<unknown[]>
}
/** A script with its name at the server. */
export interface Script {
  readonly text: string
  hash?: Promise<string>
}

/** Throws TypeError for what is no client. */
export function openRedis(client: RedisClient): Redis {
  const sendArgs = toSender(client)
  const send = (key: string, ...args: string[]): Promise<unknown> =>
    onPrimary(
      () => client as IoredisClient,
      () => sendArgs(key, args),
    )
  return {
    send,
    async run(script, keys, args) {
      const tail = [String(keys.length), ...keys, ...args]
      try {
        return await send(keys[0], 'EVALSHA', await (script.hash ??= hashScript(script.text)), ...tail)
      } catch (error) {
        // After a restart or a fail-over the server does not have it.
        if (!/\bNOSCRIPT\b/.test(String((error as Error).message))) throw error
        return send(keys[0], 'EVAL', script.text, ...tail)
      }
    },
    sendToEach: (...args) => {
      const nodes = (client as IoredisClient).nodes?.('master')
      if (nodes) return Promise.all(nodes.map((node) => node.call(args[0] ?? '', ...args.slice(1))))
      return sendArgs('', args).then((answer) => [answer])
    },
  }
}

/** Whether keys lie on several nodes. A function does not say. */
export function isCluster(client: RedisClient): boolean {
  return typeof client !== 'function' && ('nodes' in client || 'masters' in client)
}

function toSender(client: RedisClient): (key: string, args: string[]) => Promise<unknown> {
  if (typeof client === 'function') return (_key, args) => client(args)
  if ('call' in client) return (_key, [command = '', ...args]) => client.call(command, ...args)
  if ('masters' in client) return (key, args) => client.sendCommand(key, false, args)
  if ('sendCommand' in client) return (_key, args) => client.sendCommand(args)
  throw new TypeError('[redis] Give a client of ioredis or node-redis, or a function that sends one command: (args) => Promise.')
}

// The name of a script is its SHA-1 (command EVALSHA): no security rests on it.
async function hashScript(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text))))
}
