/** A host whose sessions know their device, with several accounts in a browser: the same in the test and in each of its processes. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth } from 'authkernel/kernel'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { type DeviceSessionsApi, deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { multiSessionPlugin } from 'authkernel/plugins/multi-session'

/** Sends one request `times` at once; answers the status of each, and where a redirect leads. */
export interface DeviceTask {
  do: 'devices'
  times: number
  request: { path: string; method: string; headers: Record<string, string>; body: string }
}

export function deviceHost(adapter: Adapter): Auth<AccountsApi & DeviceSessionsApi> {
  return createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    origin: 'http://localhost:3000',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    adapter,
    session: { strategy: 'jwt', revocable: true },
    throttle: false,
    providers: [
      { id: 'credentials', name: 'Name', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
    ],
  })
    .use(accountsPlugin())
    .use(deviceSessionsPlugin({ bind: 'optional', max: 3 }))
    .use(multiSessionPlugin())
}

let host: ReturnType<typeof deviceHost> | undefined

export async function actAsDevices(adapter: Adapter, { times, request }: DeviceTask): Promise<PromiseSettledResult<unknown>[]> {
  const auth = (host ??= deviceHost(adapter))
  return Promise.allSettled(
    [...Array(times)].map(async () => {
      const { path, method, headers, body } = request
      const response = await auth.handler(new Request(`http://localhost:3000/auth${path}`, { method, headers, body }))
      return { status: response.status, location: response.headers.get('location'), cookies: response.headers.getSetCookie() }
    }),
  )
}
