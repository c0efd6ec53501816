/** Connections that break while people sign in, as at a restart of the database: no user is half-made, the process lives, and a retry signs in. */
import { describe, expect, it } from 'vitest'
import { useOp } from '../_op/journey.ts'
import { openToCut } from './_cut.ts'
import { createHost, createPerson } from './_journeys.ts'
import { reachable } from './_servers.ts'

const there = { postgres: await reachable('postgres'), mysql: await reachable('mysql'), redis: await reachable('redis') }
const home = /3000\/?$/

describe.each(['postgres', 'mysql', 'redis'] as const)('%s', (kind) => {
  const op = useOp()

  it.skipIf(!there[kind])('idle connections are cut: the process lives, and the next request works', async () => {
    const { adapter, cut, close } = await openToCut(kind)
    const host = createHost(adapter, op(), 'database')
    const browser = host.client()
    expect(await host.signIn(browser, createPerson())).toMatch(home)
    for (let time = 0; time < 3; time++) {
      expect(await cut()).toBeGreaterThan(0)
      expect(await browser.session()).not.toBeNull()
    }
    expect(host.errors).toEqual([])
    await close()
  })

  it.skipIf(!there[kind])('connections are cut while people sign up: an error page or a sign-in, and a retry signs in', async () => {
    const { adapter, cut, halves, close } = await openToCut(kind)
    // One host each: the provider tells a host who signs in.
    const people = [...Array(12).keys()].map(() => ({ who: createPerson(), host: createHost(adapter, op(), 'database') }))
    const ends = Promise.all(people.map(async ({ who, host }) => host.signIn(host.client(), who)))
    let [broken, over] = [0, false]
    void ends.finally(() => (over = true))
    while (!over) {
      broken += await cut()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(broken).toBeGreaterThan(0)
    for (const end of await ends) expect(end).toMatch(/3000\/?$|error=Configuration/)
    for (const { who, host } of people) {
      for (const error of host.errors) expect(error).toMatchObject({ name: 'AdapterError', message: expect.stringMatching(/\w+\(\)/) })
      host.errors.length = 0
      const browser = host.client()
      expect(await host.signIn(browser, who)).toMatch(home)
      expect(await browser.session()).toMatchObject({ user: { email: who.email } })
      expect(host.errors).toEqual([])
    }
    expect(await halves()).toEqual([])
    await close()
  })
})
