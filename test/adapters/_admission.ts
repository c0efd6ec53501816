/** A host to which visitors come with an invitation: the same in the test and in each of its processes. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth, Plugin } from 'authkernel/kernel'
import { type AdmissionApi, admissionPlugin } from 'authkernel/plugins/admission'

/** Starts `times` sign-ups at once, each of another visitor, with the cookie that holds the code; answers who came in. */
export interface AdmissionTask {
  do: 'admission'
  cookie: string
  csrfToken: string
  name: string
  times: number
}

export function admissionHost(adapter: Adapter, strategy: 'jwt' | 'database' = 'database'): Auth<AdmissionApi> {
  const door: Plugin = {
    name: 'door',
    setup(kernel) {
      kernel.provide('mailTransport', { send() {} })
      kernel.providerType(
        'door' as never,
        {
          async finish(ctx: { body(): Promise<Record<string, unknown>> }) {
            const sub = String((await ctx.body())['sub'])
            const account = { provider: 'door', providerAccountId: sub, type: 'door' }
            return { user: { name: sub, email: `${sub}@example.com` }, account, match: 'account', provesEmail: true }
          },
        } as never,
      )
    },
  }
  return createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    origin: 'http://localhost:3000',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    adapter,
    session: { strategy },
    providers: [{ id: 'door', name: 'Door', type: 'door' } as never],
  })
    .use(door)
    .use(admissionPlugin()) as unknown as Auth<AdmissionApi>
}

const hosts = new WeakMap<Adapter, Auth<AdmissionApi>>()

export async function comeIn(adapter: Adapter, task: AdmissionTask): Promise<PromiseSettledResult<unknown>[]> {
  const auth = hosts.get(adapter) ?? admissionHost(adapter)
  hosts.set(adapter, auth)
  const one = async (at: number): Promise<string> => {
    const body = new URLSearchParams({ csrfToken: task.csrfToken, sub: `${task.name}-${at}` })
    const request = new Request('http://localhost:3000/auth/callback/door', { method: 'POST', headers: { cookie: task.cookie }, body })
    const response = await auth.handler(request)
    if (response.headers.getSetCookie().some((line) => line.includes('session-token') && !/max-age=0/i.test(line))) return 'in'
    return new URL(response.headers.get('location') ?? '/', request.url).searchParams.get('error') ?? String(response.status)
  }
  return Promise.allSettled(Array.from({ length: task.times }, (_, at) => one(at)))
}
