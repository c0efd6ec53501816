/** The small servers themselves: Hono, h3, Fastify, Koa, node:http and plain fetch, with the packed package. */
import { testBinding } from 'authkernel/testing'
import { afterAll, beforeAll, describe } from 'vitest'
import { type App, build, type Running, start } from './_app.ts'
import { testJourney } from './_journey.ts'
import { demo } from './_person.ts'

const server = (name: string): App => ({ folder: 'small', start: ['node_modules/jiti/lib/jiti-cli.mjs', `${name}.ts`] })

beforeAll(() => build(server('hono')), 300_000)

describe.each(['hono', 'h3', 'fastify', 'koa', 'node', 'fetch'])('%s', (name) => {
  let running: Running
  beforeAll(async () => {
    running = await start(server(name))
  })
  afterAll(() => running?.close())
  testJourney(name, () => running)
  testBinding({
    name: `${name}, itself`,
    fixed: true,
    person: demo,
    start: async () => ({ origin: running.origin, close: async () => {} }),
  })
})
