/** A host that signs tokens: the same in each process of the test. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth, RecordStore } from 'authkernel/kernel'
import { type JwtApi, jwtPlugin } from 'authkernel/plugins/jwt'
import { decodeProtectedHeader } from 'jose'

/** Issues `times` tokens at once; answers the ids of the keys that signed them. */
export interface SignTask {
  do: 'sign'
  times: number
  /** Milliseconds that this process believes to be later. */
  ahead: number
  /** Ends the process as `kill -9` does, right before or after the next key is written. */
  die?: 'before' | 'after'
}

const hosts = new Map<string, Auth<JwtApi>>()

export async function sign(adapter: Adapter, { times, ahead, die }: SignTask): Promise<PromiseSettledResult<unknown>[]> {
  const id = `${ahead} ${die}`
  const auth = hosts.get(id) ?? signingHost(die ? dying(adapter, die) : adapter, ahead)
  hosts.set(id, auth)
  return Promise.allSettled(
    [...Array(times).keys()].map(async () => {
      const issued = await auth.jwt.issue(new Request('http://localhost:3000/'), { audience: 'https://api.example' })
      return decodeProtectedHeader(issued!.accessToken).kid
    }),
  )
}

export function signingHost(adapter: Adapter, ahead = 0): Auth<JwtApi> {
  const auth = createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    adapter,
    runtime: { now: () => Date.now() + ahead },
  }).use(jwtPlugin({ rotateEvery: 86_400 }))
  auth.hook('authenticate', () => ({ user: { id: 'ada' }, expires: '2999-01-01T00:00:00.000Z' }))
  return auth
}

function dying(adapter: Adapter, when: 'before' | 'after'): Adapter {
  const { records } = adapter as { records: RecordStore }
  const end = (): void => void process.kill(process.pid, 'SIGKILL')
  const write: RecordStore['write'] = async (writes, now) => {
    const isKey = writes.some(({ op, table }) => op === 'create' && table === 'jwtKey')
    if (isKey && when === 'before') end()
    const answer = await records.write(writes, now)
    if (isKey) end()
    return answer
  }
  return { ...adapter, records: { ...records, write } } as Adapter
}
