/** What a process of its own does in `shared-signals.test.ts`: it ends access of users, pushes what is due, and answers polls. */
import { createAuth } from 'authkernel'
import type { Adapter, AnyContext, Auth, Kernel } from 'authkernel/kernel'
import { createPublicFetch } from 'authkernel/kernel/protocols'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import { type SharedSignalsApi, sharedSignalsPlugin } from 'authkernel/plugins/shared-signals'
import { baseConfig, recordingLogger } from '../_setup.ts'

/** Asks a worker to end access of users, or to deliver, or to poll. */
export interface SignalsTask {
  do: 'signals'
  /** Certificate of the receiver. */
  ca: string
  end?: readonly string[]
  /** Looks for pushes that are due, at once. */
  deliver?: number
  /** Milliseconds that the clock of this process is ahead: leases of a process that was killed are over. */
  ahead?: number
  poll?: { stream: string; token: string; ack: readonly string[]; waits?: boolean }
}

/** An app over a store. */
export interface SignalsSite {
  auth: Auth & OrganizationsApi & SharedSignalsApi
  job<T>(work: (ctx: AnyContext) => Promise<T>): Promise<T>
}

/** With the clock of the machine, moved by `ahead` milliseconds. */
export function signalsSite(adapter: Adapter, ca: string, ahead = 0): SignalsSite {
  let inside: Kernel | undefined
  const runtime = { now: () => Date.now() + ahead, random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)), fetch }
  const auth = createAuth(baseConfig({ runtime, logger: recordingLogger(), session: { strategy: 'database' } }))
    .use(adapterPlugin(adapter))
    .use({
      name: 'network',
      setup(kernel) {
        inside = kernel
        kernel.provide('publicFetch', createPublicFetch({ allow: ['127.0.0.1'], ca, lookup: () => ['127.0.0.1'] }))
        kernel.provide('mailTransport', { send: () => undefined })
      },
    })
    .use(organizationsPlugin())
    .use(jwtPlugin())
    .use(sharedSignalsPlugin({ transmitter: { every: 0 } }))
  return { auth: auth as unknown as SignalsSite['auth'], job: (work) => inside!.job({ job: 'test' }, work) }
}
let site: { ahead: number; made: SignalsSite } | undefined

/** Answers what each operation said. */
export async function sendSignals(
  adapter: Adapter,
  { ca, end = [], deliver = 0, ahead = 0, poll }: SignalsTask,
): Promise<PromiseSettledResult<unknown>[]> {
  if (site?.ahead !== ahead) site = { ahead, made: signalsSite(adapter, ca, ahead) }
  const { auth, job } = site.made
  await auth.ready()
  const ask = async () => {
    if (!poll) return undefined
    const body = JSON.stringify({ ack: poll.ack, returnImmediately: poll.waits !== true })
    const request = new Request(`http://localhost:3000/auth/ssf/poll/${poll.stream}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${poll.token}`, 'content-type': 'application/json' },
      body,
    })
    return (await auth.handler(request)).json()
  }
  return Promise.allSettled([
    ...end.map((userId) => job((ctx) => ctx.access.end({ userId }, { by: 'test', reason: 'ban' }))),
    ...Array.from({ length: deliver }, () => auth.sharedSignals.deliver()),
    ...(poll ? [ask()] : []),
  ])
}
