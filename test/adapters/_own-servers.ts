/** Servers that a test starts for itself, on free ports of 127.0.0.1, because it changes what other tests rely on. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { servers } from './_servers.ts'

/** A server that runs. */
export interface OwnServer {
  readonly url: string
  stop(): Promise<void>
}

/** Whether a program is there. In CI an absent one throws: `.ci/services.sh` installs it. */
export function installed(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore', env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` } })
    return true
  } catch {
    if (process.env.CI) throw new Error(`There is no ${program}. Install it (see .ci/services.sh).`)
    return false
  }
}

/** A port of 127.0.0.1 that no server has at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Asks until there is an answer. */
async function untilReady(what: string, ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return void (await ask())
    } catch (error) {
      if (tries > 300) throw new Error(`${what} does not answer.`, { cause: error })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

interface Started {
  program: string
  args: readonly string[]
  folder: string
  user?: { uid: number; gid: number } | undefined
}

function run({ program, args, folder, user }: Started): { stop(): Promise<void>; signal(name: 'SIGSTOP' | 'SIGCONT'): void } {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  const child = spawn(program, args, { stdio: 'ignore', cwd: folder, env, ...user })
  const ended = once(child, 'exit')
  // Told by what does not answer.
  child.on('error', () => {})
  return {
    signal: (name) => void child.kill(name),
    async stop() {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
        child.kill('SIGKILL')
        await ended
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'authkernel-server-'))
}

/** Redis without anything on a disk. */
export async function startRedis(...options: string[]): Promise<OwnServer & { signal(name: 'SIGSTOP' | 'SIGCONT'): void }> {
  const [port, folder] = [await freePort(), newFolder()]
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder, ...options]
  const { stop, signal } = run({ program: 'redis-server', args, folder })
  const url = `redis://127.0.0.1:${port}`
  await untilReady('redis-server', () => askRedis(url, 'PING'))
  return { url, stop, signal }
}

/** One command, by a connection of its own. */
export async function askRedis(url: string, command: string, ...args: (string | number)[]): Promise<unknown> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  client.on('error', () => {})
  try {
    await client.connect()
    return await client.call(command, ...args)
  } finally {
    client.disconnect()
  }
}

/** A Redis Cluster of three nodes, without replicas. */
export async function startCluster(): Promise<{ nodes: { host: string; port: number }[]; stop(): Promise<void> }> {
  const started = await Promise.all(
    [0, 1, 2].map(async () => {
      const bus = await freePort()
      const server = await startRedis('--cluster-enabled', 'yes', '--cluster-port', String(bus))
      return { ...server, bus, port: Number(new URL(server.url).port) }
    }),
  )
  const [first, ...others] = started
  for (const { port, bus } of others) await askRedis(first!.url, 'CLUSTER', 'MEET', '127.0.0.1', port, bus)
  const bounds = [0, 5_461, 10_923, 16_384]
  for (const [at, { url }] of started.entries()) await askRedis(url, 'CLUSTER', 'ADDSLOTSRANGE', bounds[at]!, bounds[at + 1]! - 1)
  for (const { url } of started)
    await untilReady('the cluster', async () => {
      if (!String(await askRedis(url, 'CLUSTER', 'INFO')).includes('cluster_state:ok')) throw new Error('The cluster is not ready.')
    })
  return {
    nodes: started.map(({ port }) => ({ host: '127.0.0.1', port })),
    stop: async () => void (await Promise.all(started.map((server) => server.stop()))),
  }
}

/** A primary, a replica, and three Sentinels that put the replica in its place after half a second without an answer. */
export async function startSentinels(): Promise<{
  sentinels: { host: string; port: number }[]
  primary: OwnServer & { signal(name: 'SIGSTOP' | 'SIGCONT'): void }
  replica: OwnServer
  stop(): Promise<void>
}> {
  const primary = await startRedis()
  const port = new URL(primary.url).port
  const replica = await startRedis('--replicaof', '127.0.0.1', port, '--repl-diskless-sync-delay', '0')
  await untilReady('the replica', async () => {
    if (!String(await askRedis(replica.url, 'INFO', 'replication')).includes('master_link_status:up')) throw new Error('no link')
  })
  const sentinels = await Promise.all(
    [0, 1, 2].map(async () => {
      const [own, folder] = [await freePort(), newFolder()]
      const lines = [
        `port ${own}`,
        'bind 127.0.0.1',
        `sentinel monitor auth 127.0.0.1 ${port} 2`,
        'sentinel down-after-milliseconds auth 500',
        'sentinel failover-timeout auth 2000',
      ]
      writeFileSync(join(folder, 'sentinel.conf'), `${lines.join('\n')}\n`)
      const { stop } = run({ program: 'redis-server', args: [join(folder, 'sentinel.conf'), '--sentinel'], folder })
      const url = `redis://127.0.0.1:${own}`
      await untilReady('a sentinel', () => askRedis(url, 'PING'))
      return { url, port: own, stop }
    }),
  )
  for (const { url } of sentinels)
    await untilReady('the sentinels', async () => {
      const facts = ((await askRedis(url, 'SENTINEL', 'MASTER', 'auth')) as string[]).join(' ')
      if (!/num-slaves 1/.test(facts) || !/num-other-sentinels 2/.test(facts)) throw new Error('They do not know each other yet.')
    })
  return {
    sentinels: sentinels.map((each) => ({ host: '127.0.0.1', port: each.port })),
    primary,
    replica,
    stop: async () => void (await Promise.all([...sentinels, primary, replica].map((server) => server.stop()))),
  }
}

/** MariaDB with an empty `root` password. */
export async function startMariadb(...options: string[]): Promise<OwnServer> {
  const [port, folder] = [await freePort(), newFolder()]
  const root = process.getuid?.() === 0 ? ['--user=root'] : []
  const data = [`--datadir=${folder}/data`, ...root]
  execFileSync('mariadb-install-db', ['--no-defaults', ...data, '--auth-root-authentication-method=normal', '--skip-test-db'], {
    stdio: 'ignore',
  })
  const files = [`--socket=${folder}/s`, `--pid-file=${folder}/pid`, '--skip-log-bin', '--innodb-buffer-pool-size=16M']
  const args = ['--no-defaults', ...data, ...files, '--bind-address=127.0.0.1', `--port=${port}`, ...options]
  const { stop } = run({ program: 'mariadbd', args, folder })
  const url = `mysql://root@127.0.0.1:${port}/mysql`
  await untilReady('mariadbd', () => askMysql(url, 'select 1'))
  return { url, stop }
}

/** Statements, by a connection of their own. */
export async function askMysql(url: string, ...statements: string[]): Promise<void> {
  const connection = await createConnection(url)
  for (const statement of statements) await connection.query(statement)
  await connection.end()
}

/** PostgreSQL and a standby of it, which replays what it gets after a delay. */
export async function startStandby(delay: string): Promise<{ primary: OwnServer; standby: OwnServer }> {
  const programs = execFileSync('sh', ['-c', 'ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1'], { encoding: 'utf8' }).trim()
  const folder = newFolder()
  const user =
    process.getuid?.() === 0
      ? { uid: Number(execFileSync('id', ['-u', 'postgres'])), gid: Number(execFileSync('id', ['-g', 'postgres'])) }
      : undefined
  if (user) chownSync(folder, user.uid, user.gid)
  const start = async (data: string, ...options: string[]): Promise<OwnServer> => {
    const port = await freePort()
    const settings = ['fsync=off', 'listen_addresses=127.0.0.1', 'max_wal_senders=4', ...options].flatMap((setting) => ['-c', setting])
    const args = ['-D', data, '-p', String(port), '-k', folder, ...settings]
    const { stop } = run({ program: `${programs}/postgres`, args, folder, user })
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    await untilReady('postgres', async () => {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {})
      await client.connect()
      await client.end()
    })
    return { url, stop }
  }
  execFileSync(`${programs}/initdb`, ['-D', `${folder}/primary`, '-A', 'trust', '-U', 'postgres', '--no-sync'], {
    stdio: 'ignore',
    ...user,
  })
  const primary = await start(`${folder}/primary`)
  execFileSync(
    `${programs}/pg_basebackup`,
    ['-d', primary.url, '-D', `${folder}/standby`, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
    {
      stdio: 'ignore',
      ...user,
    },
  )
  return { primary, standby: await start(`${folder}/standby`, `recovery_min_apply_delay=${delay}`) }
}

/** PgBouncer in transaction mode before the PostgreSQL of the tests: it knows no prepared statement. */
export async function startPgBouncer(): Promise<OwnServer> {
  const [port, folder] = [await freePort(), newFolder()]
  const { hostname, port: to, username, password } = new URL(servers.postgres)
  const secret = password ? ` password=${decodeURIComponent(password)}` : ''
  const version = execFileSync('sh', ['-c', 'PATH="$PATH:/usr/sbin" pgbouncer --version'], { encoding: 'utf8' })
  const [, major, minor] = (/(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  // Earlier ones do not know the option, and never prepare.
  const plain = (major ?? 1) > 1 || (minor ?? 0) >= 21 ? 'max_prepared_statements = 0' : ''
  const ini = `[databases]
* = host=${hostname} port=${to || 5432} user=${username}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
ignore_startup_parameters = extra_float_digits
${plain}
`
  writeFileSync(join(folder, 'pgbouncer.ini'), ini)
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined
  chmodSync(folder, 0o755)
  if (user) chownSync(folder, user.uid, user.gid)
  const { stop } = run({ program: 'pgbouncer', args: [join(folder, 'pgbouncer.ini')], folder, user })
  const url = new URL(servers.postgres)
  url.host = `127.0.0.1:${port}`
  await untilReady('pgbouncer', async () => {
    const client = new pg.Client({ connectionString: url.href })
    client.on('error', () => {})
    await client.connect()
    await client.end()
  })
  return { url: url.href, stop }
}

function idOf(which: '-u' | '-g'): number {
  return Number(execFileSync('id', [which, 'nobody'], { encoding: 'utf8' }))
}
