/**
 * The fault matrix of SECURITY 5.2: every call of the adapter in every flow, and every way in which it can go wrong. The calls are those that a run
 * without a fault makes, so a call that is added to a flow is tested from then on.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp, type App, type Fault, faults, type Flow, flows, garbage, type Step } from './_faults.ts'

// Deadlines are short here: what the first request would load is there before.
beforeAll(() => createApp(false).auth.ready({ warm: true }))

const sessionCookie = 'authkernel.session-token'

// An unhandled rejection ends a process.
const unhandled: unknown[] = []
const remember = (reason: unknown): void => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', remember))
afterAll(() => {
  process.off('unhandledRejection', remember)
  expect(unhandled).toEqual([])
})

async function open(flow: Flow): Promise<{ app: App; step: Step }> {
  const app = createApp(flow.split === true)
  const step = await flow.prepare(app)
  app.options.logger.errors.length = 0
  return { app, step }
}

async function callsOf(flow: Flow): Promise<string[]> {
  const { app, step } = await open(flow)
  app.arm(undefined)
  const response = await step.run()
  if (!(await step.succeeded(response))) throw new Error(`${flow.name} fails without a fault: ${response.headers.get('location')}`)
  return [...app.calls]
}

/** Who is signed in by the session cookies that a response sets. */
function signedInBy(response: Response): string[] {
  return response.headers.getSetCookie().filter((line) => line.startsWith(`${sessionCookie}=`) && !/max-age=0/i.test(line))
}

async function seen(response: Response): Promise<string> {
  return `${[...response.headers].join()} ${await response.clone().text()}`
}

/** Nothing half done: no row without its user, no user twice. */
function whole({ data }: App): void {
  for (const { userId } of [...data.accounts.values(), ...data.sessions.values(), ...data.authenticators.values()]) {
    expect(data.users.has(userId)).toBe(true)
  }
  const emails = [...data.users.values()].map(({ email }) => email)
  expect(emails).toHaveLength(new Set(emails).size)
}

/** What a person sees of a fault: an error page or 503, in time, and nothing of the database. */
async function refused(app: App, step: Step, response: Response): Promise<void> {
  expect([302, 503]).toContain(response.status)
  if (response.status === 302) expect(new URL(response.headers.get('location') ?? '').searchParams.get('error')).toBeTruthy()
  expect(signedInBy(response)).toEqual([])
  expect(await seen(response)).not.toMatch(/planted|hunter2|postgres/)
  const logged = app.options.logger.errors.map(({ name }) => name)
  expect(logged).toHaveLength(1)
  // The deadline of the call, not that of the whole request, has answered.
  expect(logged).not.toContain('RequestTimeout')
  expect(await step.succeeded(response)).toBe(false)
}

async function strike(flow: Flow, at: number, fault: Fault): Promise<{ app: App; step: Step; response: Response }> {
  const { app, step } = await open(flow)
  app.arm(at, fault)
  const response = await step.run()
  app.arm(undefined)
  return { app, step, response }
}

/** After the fault everything is as if it had never been. */
async function recovers({ app, step }: { app: App; step: Step }): Promise<void> {
  const users = app.data.users.size
  const again = await step.retry()
  expect([again.status, again.headers.get('location'), await step.succeeded(again)]).toEqual([
    again.status,
    again.headers.get('location'),
    true,
  ])
  whole(app)
  expect(app.data.users.size - users).toBeLessThanOrEqual(1)
}

const made = new Map<string, number>()
for (const flow of flows) {
  const calls = await callsOf(flow)
  made.set(flow.name, calls.length)
  const cases = calls.map((method, at) => [at, method] as const)

  // Together, because hanging calls only wait.
  describe.concurrent.each(cases)(`${flow.name}; call %i, %s`, (at, method) => {
    it.each(Object.entries(faults))('%s', async (name, fault) => {
      const { app, step, response } = await strike(flow, at, fault)
      // A write that was done and only its answer lost may be found again (D32): then the user is in, once.
      if (await step.succeeded(response)) expect(name).toMatch(/commit/)
      else await refused(app, step, response)
      await app.release()
      await recovers({ app, step })
    })

    it.each(Object.entries(garbage))('%s', async (_name, fault) => {
      const { app, step, response } = await strike(flow, at, fault)
      // Any answer of these will do, and of a user that was stored the id is known (D32).
      const free = /^(?:link|unlink|delete|update(?:Session|Auth)|createVerif|createAuth)/.test(method)
      const found = method === 'createUser' || method === 'createUserWithAccount'
      if ((free || found) && (await step.succeeded(response))) return whole(app)
      await refused(app, step, response)
      await recovers({ app, step })
    })
  })
}

it('every flow but the start at a provider touches the store', () => {
  expect([...made].filter(([, count]) => count === 0).map(([name]) => name)).toEqual(['F3: a sign-in at a provider begins'])
})
