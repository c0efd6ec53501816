/** People who sign in without a pause while PostgreSQL and a real OpenID Provider come and go. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAuth } from 'authkernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { auditPlugin, type AuditRecord, recordsSink } from 'authkernel/plugins/audit'
import { cleanupPlugin } from 'authkernel/plugins/cleanup'
import { healthPlugin } from 'authkernel/plugins/health'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin } from 'authkernel/plugins/provider-tokens'
import { type RealOp, realOp } from '../_op/real.ts'
import { Client } from '../_setup.ts'
import { startGate } from './_gate.ts'
import { servers } from './_servers.ts'
import { dropStore, newDatabase, openDatabase, openSql, openOutside } from './_stores.ts'
import { findHalves } from './_whole.ts'
import { sql } from 'kysely'

/** What a soak was like. */
export interface SoakReport {
  requests: number
  /** Sign-ins that led home. */
  arrived: number
  /** Requests that were answered with 503 or an error page because something was away. */
  refused: number
  outages: Record<string, number>
  /** Answers that may never be: another 5xx, a secret, a rejection. */
  wrong: string[]
  /** Milliseconds of the slowest answer. */
  slowest: number
  unhandled: string[]
  audit: { told: number; table: number; lost: number; doubled: number; dropped: number; signIns: number; faults: string[] }
  halves: string[]
  /** Connections to the database at the end. */
  connections: number
  /** Bytes in use after a fifth of the time and at the end. */
  memory: [number, number]
  /** Who could sign in at the end, when everything was back. */
  recovered: number
  health: string
}

const people = 6
const clientSecret = 'the-client-secret-canary-of-the-soak'
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export async function soak(seconds: number): Promise<SoakReport> {
  const spec = await newDatabase('postgres')
  const [database, op] = [await startGate(servers.postgres), await startProvider()]
  const provider = await startGate(op.issuer)
  const told: AuditRecord[] = []
  const unhandled: string[] = []
  const remember = (reason: unknown): void => void unhandled.push(String(reason))
  process.on('unhandledRejection', remember)
  const adapter = openSql(openDatabase(spec, database.url))
  const auth = createAuth({
    secret: 'a-secret-canary-of-more-than-32-characters',
    adapter,
    trustHost: true,
    env: false,
    throttle: false,
    session: { strategy: 'database' },
    deadlines: { store: 1_500, network: 1_500 },
    logger: { error() {}, warn() {} },
    // What is asked at the issuer goes through the gate.
    runtime: {
      fetch: (input, init) => fetch(String(input instanceof Request ? input.url : input).replace(op.issuer, gateOf(provider.url)), init),
    },
  })
    .use(
      oidcPlugin({
        id: 'acme',
        issuer: op.issuer,
        clientId: 'app',
        clientSecret,
        profile: ({ sub }) => ({ id: sub, name: sub, email: `${sub}@example.com` }),
      }),
    )
    .use(accountsPlugin())
    .use(apiKeysPlugin())
    .use(providerTokensPlugin())
    .use(healthPlugin({ cache: 1 }))
    .use(cleanupPlugin({ every: 60 }))
    .use(
      auditPlugin({
        sink: [recordsSink(), (some) => void told.push(...some)],
        chain: true,
        pause: 50,
        maxRecords: 1_000_000,
        maxBytes: 2 ** 30,
      }),
    )
  await auth.ready()
  // Tables are made while everything is there.
  await adapter.getUser!('nobody')

  const report = { requests: 0, arrived: 0, refused: 0, slowest: 0, wrong: [] as string[], outages: {} as Record<string, number> }
  const until = performance.now() + seconds * 1000
  const handler = async (request: Request): Promise<Response> => {
    const started = performance.now()
    const path = `${request.method} ${new URL(request.url).pathname}`
    report.requests++
    const response = await auth.handler(request).catch((error: unknown) => {
      report.wrong.push(`${path} rejected: ${String(error)}`)
      return new Response(null, { status: 503 })
    })
    report.slowest = Math.max(report.slowest, performance.now() - started)
    if (response.status === 503 || response.headers.get('location')?.includes('error=')) report.refused++
    else if (response.status >= 500) report.wrong.push(`${path} answered ${response.status}`)
    const text = await response.clone().text()
    if (/canary|postgres:|ECONN|\bat \S+ \(/.test(text + [...response.headers].join()))
      report.wrong.push(`${path} tells ${text.slice(0, 200)}`)
    return response
  }
  const signIn = async (client: Client, who: string): Promise<boolean> => {
    const start = await client.post('/signin/acme')
    const location = start.headers.get('location') ?? ''
    if (!location.startsWith(gateOf(provider.url)) && !location.startsWith(op.issuer)) return false
    // The person's browser is on the other side of the gate.
    const back = await op.visit(location.replace(gateOf(provider.url), op.issuer), { login: who })
    const home = await client.get(back)
    return home.status === 302 && !home.headers.get('location')?.includes('error=') && (await client.session().catch(() => null)) !== null
  }
  const live = async (who: string): Promise<void> => {
    for (let round = 0; performance.now() < until; round++) {
      const client = new Client({ handler })
      try {
        if (await signIn(client, who)) report.arrived++
        for (let i = 0; i < 3; i++) await client.get('/session')
        await client.get('/health')
        // A stranger's cookie, a form without a token, a path that is none.
        await new Client({ handler }).get('/session', { cookie: 'authkernel.session-token=planted' })
        await client.send('/signout', { method: 'POST', body: new URLSearchParams({ csrfToken: 'wrong' }) })
        await client.get(`/nowhere-${round}`)
        if (round % 3 === 0) await client.post('/signout')
      } catch {
        // An answer that is no JSON: an error page.
      }
      await pause(5)
    }
  }
  const chaos = async (): Promise<void> => {
    const acts: [string, () => Promise<unknown>][] = [
      ['database away', () => database.away()],
      ['provider away', () => provider.away()],
      ['database stalled', () => database.stall()],
      ['provider stalled', () => provider.stall()],
      ['both away', () => Promise.all([database.away(), provider.away()])],
    ]
    for (let at = 0; performance.now() < until; at++) {
      await pause(2_000)
      const [name, act] = acts[at % acts.length]!
      report.outages[name] = (report.outages[name] ?? 0) + 1
      await act()
      await pause(1_000 + (at % 3) * 1_000)
      await Promise.all([database.open(), provider.open()])
    }
  }
  const measure = async (): Promise<number> => {
    for (let i = 0; i < 4; i++) {
      collect()
      await pause(0)
    }
    // What the test itself keeps is not the package's.
    return process.memoryUsage().heapUsed - JSON.stringify(told).length * 2
  }
  let early = 0
  const warm = pause(seconds * 200).then(async () => (early = await measure()))
  await Promise.all([chaos(), warm, ...Array.from({ length: people }, (_, at) => live(`person-${at}`))])

  await Promise.all([database.open(), provider.open()])
  const health = await auth.health.ready({ seconds: 20 })
  let recovered = 0
  for (let at = 0; at < people; at++) if (await signIn(new Client({ handler }), `person-${at}`)) recovered++
  // The first try may meet a connection that was cut.
  for (let tries = 0; ; tries++) {
    const error = await auth.audit.flush().then(() => null, String)
    if (error === null) break
    if (tries > 20) throw new Error(error)
    await pause(500)
  }
  const audit = await counted(auth, told)
  const late = await measure()
  const outside = openOutside(spec)
  const { rows } = await sql`select pid from pg_stat_activity where datname = ${spec.name} and pid <> pg_backend_pid()`.execute(outside)
  await outside.destroy()
  const halves = await findHalves(spec)
  await auth.close()
  await adapter.close!()
  await Promise.all([database.close(), provider.close(), op.stop()])
  await dropStore(spec)
  process.off('unhandledRejection', remember)
  return { ...report, unhandled, audit, halves, connections: rows.length, memory: [early, late], recovered, health: health.status }
}

const gateOf = (url: string): string => new URL(url).origin

function startProvider(): Promise<RealOp> {
  return realOp([
    {
      client_id: 'app',
      client_secret: clientSecret,
      redirect_uris: ['http://localhost:3000/auth/callback/acme'],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
    },
  ])
}

/** What was told to a function, what stands in the table, and what the chain says. */
async function counted(
  auth: {
    audit: {
      list(query: { limit: number; cursor?: string | undefined }): Promise<{ records: AuditRecord[]; cursor: string | undefined }>
      verify(): Promise<{ faults: string[] }>
      state(): { dropped: number }
    }
  },
  told: readonly AuditRecord[],
): Promise<SoakReport['audit']> {
  const table: AuditRecord[] = []
  let cursor: string | undefined
  do {
    const page = await auth.audit.list({ limit: 1000, ...(cursor !== undefined && { cursor }) })
    table.push(...page.records)
    cursor = page.cursor
  } while (cursor !== undefined)
  const [heard, kept] = [new Set(told.map(({ id }) => id)), new Set(table.map(({ id }) => id))]
  return {
    told: heard.size,
    table: kept.size,
    lost: [...heard].filter((id) => !kept.has(id)).length + [...kept].filter((id) => !heard.has(id)).length,
    doubled: table.length - kept.size,
    dropped: auth.audit.state().dropped,
    signIns: table.filter(({ name }) => name === 'signIn.succeeded').length,
    faults: (await auth.audit.verify()).faults,
  }
}
