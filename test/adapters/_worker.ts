/** A process of its own that works on a store, bundled, started and driven by `_workers.ts`. */
import type { Adapter, Once, RecordStore } from 'authkernel/kernel'
import { newAccount, newAuthenticator, newSession, newToken, newUser } from '../../src/testing/adapter-subject.ts'
import type { RecordTask } from '../../src/testing/record-options.ts'
import { workOnRecords } from '../../src/testing/record-races.ts'
import { type AdmissionTask, comeIn } from './_admission.ts'
import { type AuditTask, changeForever } from './_audited.ts'
import { type AppTask, workOnApps } from './_apps.ts'
import { actAsDevices, type DeviceTask } from './_devices.ts'
import { createHost, type Person } from './_journeys.ts'
import { load, type LoadTask } from './_load.ts'
import { actAsLocals, type LocalsTask } from './_locals.ts'
import { type AccessTask, enterAtOnce } from '../access/_worker-task.ts'
import { actAsPeople, type PeopleTask } from './_people.ts'
import { sendSignals, type SignalsTask } from './_signals-task.ts'
import { endUsers, type RevocationTask } from './_revocations.ts'
import { sign, type SignTask } from './_signing.ts'
import { openStore, type SplitSpec, type StoreSpec } from './_stores.ts'
import { postAtOnce, type SamlTask } from '../saml/_worker-task.ts'
import { askForTokens, type TokenTask } from './_tokens.ts'

/** What a worker can be asked to do; every call starts `times` operations at once. */
export type Task =
  | { do: 'open'; store: StoreSpec | SplitSpec }
  | { do: 'call'; method: keyof Adapter; args: unknown[]; times?: number }
  | { do: 'calls'; method: keyof Adapter; list: unknown[][] }
  /** Takes each key once; answers those that it got. */
  | { do: 'take'; keys: string[] }
  | { do: 'churn' }
  | { do: 'records'; task: RecordTask }
  | LoadTask
  | { do: 'signIn'; provider: { issuer: string; clientId: string; clientSecret: string }; who: Person; times: number }
  | TokenTask
  | SignTask
  | AppTask
  | DeviceTask
  | PeopleTask
  | AuditTask
  | LocalsTask
  | AccessTask
  | AdmissionTask
  | SamlTask
  | SignalsTask
  | RevocationTask
  | { do: 'close' }
/** Counts of a finished task, and what the fulfilled operations returned. */
export interface Answer {
  id: number
  fulfilled: unknown[]
  rejected: string[]
}

let adapter: Adapter | undefined

process.on('message', ({ id, task }: { id: number; task: Task }) => {
  run(task).then(
    (answers) => {
      const fulfilled = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value ?? null] : []))
      const rejected = answers.flatMap((answer) => (answer.status === 'rejected' ? [String(answer.reason)] : []))
      process.send!({ id, fulfilled, rejected } satisfies Answer)
    },
    (error: unknown) => process.send!({ id, fulfilled: [], rejected: [String(error)] } satisfies Answer),
  )
})
process.send!('ready')

async function run(task: Task): Promise<PromiseSettledResult<unknown>[]> {
  if (task.do === 'open') {
    adapter = openStore(task.store)
    return []
  }
  if (!adapter) throw new Error('open a store first')
  const subject = adapter
  if (task.do === 'close') {
    await subject.close?.()
    return []
  }
  if (task.do === 'churn') {
    // Several people at once: the more is being written, the more a kill can tear.
    for (let person = 0; person < 4; person++) void churn(subject as Required<Adapter>)
    return []
  }
  if (task.do === 'audit') {
    void changeForever(subject, task)
    return []
  }
  if (task.do === 'access') return enterAtOnce(subject, task)
  if (task.do === 'take') {
    const { once } = subject as { once?: Once }
    return Promise.allSettled(task.keys.map(async (key) => ((await once!.take(key, 600)) ? key : null)))
  }
  if (task.do === 'records') {
    const answers = await workOnRecords((subject as { records?: RecordStore }).records!, task.task)
    return answers.map((value) => ({ status: 'fulfilled', value }))
  }
  if (task.do === 'saml') return postAtOnce(subject, task)
  if (task.do === 'signals') return sendSignals(subject, task)
  if (task.do === 'revocations') {
    void endUsers(subject, task)
    return []
  }
  if (task.do === 'tokens') return askForTokens(subject, task)
  if (task.do === 'sign') return sign(subject, task)
  if (task.do === 'locals') return actAsLocals(subject, task)
  if (task.do === 'admission') return comeIn(subject, task)
  if (task.do === 'app') return workOnApps(subject, task)
  if (task.do === 'devices') return actAsDevices(subject, task)
  if (task.do === 'people') return actAsPeople(subject, task)
  if (task.do === 'load') return Promise.allSettled([load(subject as never, task)])
  if (task.do === 'signIn') {
    const authorize = async (location: string): Promise<string> =>
      (await fetch(location, { redirect: 'manual' })).headers.get('location') ?? ''
    const host = createHost(subject, { ...task.provider, authorize }, 'database')
    return Promise.allSettled(
      [...Array(task.times).keys()].map(async () => {
        const browser = host.client()
        const end = await host.signIn(browser, task.who)
        return { end, email: (await browser.session())?.user?.['email'], errors: host.errors.map(String) }
      }),
    )
  }
  const list = task.do === 'calls' ? task.list : [...Array(task.times ?? 1).keys()].map(() => task.args)
  const operation = subject[task.method] as (...args: unknown[]) => unknown
  return Promise.allSettled(list.map(async (args) => operation.apply(subject, args.map(revive))))
}

/** Signs people up, in and out until the process is killed, telling after each finished step what must be there. */
async function churn(subject: Required<Adapter>): Promise<void> {
  for (let round = 0; ; round++) {
    const { userId: _none, ...account } = newAccount('')
    const user = await subject.createUserWithAccount(newUser(), account)
    process.send!({ made: { user: user.id, email: user.email, account: account.providerAccountId } })
    const session = newSession(user.id)
    await subject.createSession(session)
    process.send!({ session: session.sessionToken, user: user.id })
    await subject.createAuthenticator(newAuthenticator(user.id))
    const token = newToken({ identifier: user.email })
    await subject.createVerificationToken(token)
    await subject.useVerificationToken(token)
    process.send!({ used: { identifier: token.identifier, token: token.token } })
    if (round % 3 === 0) {
      process.send!({ deleting: user.id })
      await subject.deleteUser(user.id)
      process.send!({ deleted: user.id, session: session.sessionToken, account: account.providerAccountId })
    }
  }
}

// Messages carry dates as text.
function revive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, name === 'expires' ? new Date(field as string) : (field as unknown)]),
  )
}
