/** A host for apps, devices and API keys: the same in the test and in each of its processes. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth, RecordStore } from 'authkernel/kernel'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type BearerApi, bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'

export const origin = 'http://localhost:3000'

/** Does one thing `times` at once; answers JSON bodies. */
export interface AppTask {
  do: 'app'
  /** The token endpoint, a session read by `Authorization`, a rotation of an API key, or how many thefts this process noticed. */
  what: 'token' | 'session' | 'rotate' | 'create' | 'thefts'
  /** Fields of the form; `key` of a session read, `id` of a rotation; `dpop`: a proof, with which `key` is a bound token. */
  fields?: Record<string, string>
  times: number
  /** Milliseconds that this process believes to be later. */
  ahead?: number
  /** Ends the process as `kill -9` does, right before or after a write to this table. */
  die?: { when: 'before' | 'after'; table: string }
}

type Host = Auth<BearerApi & ApiKeysApi> & { thefts: number }
const known = new WeakMap<Adapter, Map<string, Host>>()

export async function workOnApps(
  adapter: Adapter,
  { what, fields = {}, times, ahead = 0, die }: AppTask,
): Promise<PromiseSettledResult<unknown>[]> {
  const hosts = known.get(adapter) ?? new Map<string, Host>()
  known.set(adapter, hosts)
  const id = JSON.stringify([ahead, die])
  const auth = hosts.get(id) ?? appHost(die ? dying(adapter, die) : adapter, ahead)
  hosts.set(id, auth)
  const once = async (): Promise<unknown> => {
    if (what === 'thefts') return [...hosts.values()].reduce((sum, host) => sum + host.thefts, 0)
    if (what === 'rotate') return auth.apiKeys.rotate({ service: fields['service'] ?? 'ci' }, fields['id']!)
    if (what === 'create') return auth.apiKeys.create({ service: 'ci' }, { name: 'k' }).catch((error: { status?: number }) => error.status)
    if (what === 'token')
      return (await auth.handler(new Request(`${origin}/auth/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) }))).json()
    const { key, dpop } = fields
    const headers = { authorization: `${dpop === undefined ? 'Bearer' : 'DPoP'} ${key}`, ...(dpop !== undefined && { dpop }) }
    return auth.session(new Request(origin, { headers })).then(
      (session) => session !== null,
      (error: { status?: number }) => error.status,
    )
  }
  return Promise.allSettled(Array.from({ length: times }, once))
}

export function appHost(adapter: Adapter, ahead = 0): Host {
  const auth = createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    session: { strategy: 'jwt' },
    providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: 'Ada' }) }],
    adapter,
    runtime: { now: () => Date.now() + ahead },
  })
    .use(apiKeysPlugin({ max: 10 }))
    .use(bearerPlugin({ apps: [{ id: 'app', name: 'App', redirectUris: ['http://127.0.0.1/cb'], scopes: ['read'] }] }))
    .use(deviceFlowPlugin({ apps: ['app'] }))
  const host = Object.assign(auth, { thefts: 0 })
  auth.on('appTokenReused', () => void host.thefts++)
  return host
}

function dying(adapter: Adapter, { when, table }: NonNullable<AppTask['die']>): Adapter {
  const { records } = adapter as { records: RecordStore }
  const end = (): void => void process.kill(process.pid, 'SIGKILL')
  const write: RecordStore['write'] = async (writes, now) => {
    const isIt = writes.some((one) => one.table === table)
    if (isIt && when === 'before') end()
    const answer = await records.write(writes, now)
    if (isIt) end()
    return answer
  }
  return { ...adapter, records: { ...records, write } } as Adapter
}
