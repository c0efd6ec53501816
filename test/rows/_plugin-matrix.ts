/** Runs every journey of `_plugin-faults.ts` with one call going wrong, and looks at every answer. */
import { AuthError, HttpError } from 'authkernel/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deadline, type Fault, faults, garbage } from './_faults.ts'
import { createGround, type Journey } from './_ground.ts'
import { journeys } from './_plugin-faults.ts'

const ways = [...Object.entries(faults), ...Object.entries(garbage)]

/** Defines the tests; `chosen` says which fault of which call. */
export async function testMatrix(chosen: (journey: Journey, at: number, way: number) => boolean): Promise<void> {
  // An unhandled rejection ends a process.
  const unhandled: unknown[] = []
  const remember = (reason: unknown): void => void unhandled.push(reason)
  beforeAll(() => void process.on('unhandledRejection', remember))
  afterAll(() => {
    process.off('unhandledRejection', remember)
    expect(unhandled).toEqual([])
  })
  for (const journey of journeys) {
    const calls = await callsOf(journey)
    it(`${journey.name}: touches the store`, () => expect(calls.length).toBeGreaterThan(3))
    const cases = calls.flatMap((name, at) =>
      ways.flatMap(([way, fault], index) => (chosen(journey, at, index) ? [{ at, name, way, fault: heard(name, way, fault) }] : [])),
    )
    if (cases.length === 0) continue
    // Together, because hanging calls only wait.
    describe.concurrent.each(cases)(`${journey.name}; call $at, $name`, ({ at, way, fault }) => {
      it(way, { timeout: 60_000 }, () => strike(journey, at, fault))
    })
  }
}

// The answer to a deletion says nothing, so a store that gives a strange one has deleted.
function heard(name: string, way: string, fault: Fault): Fault {
  if (!name.startsWith('delete') || !(way in garbage)) return fault
  return (real, later, args) => {
    void real()
    return fault(() => null, later, args)
  }
}

async function callsOf(journey: Journey): Promise<string[]> {
  const ground = await createGround(journey)
  ground.arm(undefined)
  const never = (what: string, happened: boolean): void => expect([what, happened]).toEqual([what, false])
  if (await journey.run(ground, 'first', never)) return [...ground.calls]
  const seen = ground.seen.map(({ what, response }) => `${what} ${response.status} ${response.headers.get('location')}`)
  const asked = ground.asked.map(({ what, error }) => `${what}: ${String(error)}`)
  throw new Error(`${journey.name} fails without a fault:\n${[...seen, ...asked, ...ground.logger.errors].join('\n')}`)
}

async function strike(journey: Journey, at: number, fault: Fault): Promise<void> {
  const ground = await createGround(journey)
  ground.arm(at, fault)
  const wrong: string[] = []
  await journey
    .run(ground, 'first', (what, happened) => void (happened && wrong.push(what)))
    // Whether the journey arrives is no matter; what the server answers is.
    .catch(() => false)
  expect(wrong).toEqual([])
  for (const { what, response, ms } of ground.seen) {
    const said = `${[...response.headers].join()} ${await response.text()}`
    expect([what, response.status < 500 || response.status === 503]).toEqual([what, true])
    expect(said).not.toMatch(/planted|hunter2|postgres|captcha-secret-canary/)
    expect([what, ms < slowest]).toEqual([what, true])
  }
  for (const { what, error, ms } of ground.asked) {
    // The host's own code is told what failed, by a name that it can know.
    expect([what, error === undefined || error instanceof AuthError || error instanceof HttpError, String(error)]).toEqual([
      what,
      true,
      String(error),
    ])
    expect([what, ms < slowest]).toEqual([what, true])
  }
  ground.arm(undefined)
  await ground.release()
  ground.runtime.advance(120_000)
  // For the next person it is as if nothing had been.
  expect(await journey.run(ground, 'second', (what, happened) => void (happened && wrong.push(what)))).toBe(true)
  expect(wrong).toEqual([])
}

// Deadlines of several calls one after the other, on a busy machine. Without deadlines a call that hangs would take for ever.
// A lease whose answer was lost is waited for, ten seconds at most.
const slowest = 300 * deadline
