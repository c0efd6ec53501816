/** Database servers of the tests: found by environment variable, else on 127.0.0.1. In CI a missing one is a failure. */
import { connect } from 'node:net'

/** Where each server is looked for. */
export const servers: Readonly<Record<'postgres' | 'mysql' | 'redis', string>> = {
  postgres: process.env.AUTHKERNEL_TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
  mysql: process.env.AUTHKERNEL_TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/mysql',
  redis: process.env.AUTHKERNEL_TEST_REDIS_URL ?? 'redis://127.0.0.1:6379',
}

/**
 * Whether a server answers. In CI an absent one throws: a proof that does not run proves nothing. On a laptop without it the suite is left
 * out, and the text says which variable names the server.
 */
export async function reachable(name: keyof typeof servers): Promise<boolean> {
  const { hostname, port } = new URL(servers[name])
  const open = await new Promise<boolean>((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: 2_000 })
    const end = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
  if (!open && process.env.CI) {
    throw new Error(`No ${name} at ${hostname}:${port}. Start it, or set AUTHKERNEL_TEST_${name.toUpperCase()}_URL.`)
  }
  return open
}

/** A name for a database, a prefix or a folder that no other run uses. */
export function uniqueName(): string {
  return `ak_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 8)}`
}
