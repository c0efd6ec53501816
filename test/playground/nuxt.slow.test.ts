/**
 * Nuxt itself: built from the packed package, and driven in Chromium. Its generator fetches the template from a place that cannot be reached here:
 * the playground has the same files and versions.
 */
import { testBinding } from 'authkernel/testing'
import { afterAll, beforeAll } from 'vitest'
import { type App, build, type Running, start } from './_app.ts'
import { testJourney } from './_journey.ts'
import { demo } from './_person.ts'

const app: App = { folder: 'nuxt', build: ['node_modules/@nuxt/cli/bin/nuxi.mjs', 'build'], start: ['.output/server/index.mjs'] }

let running: Running
beforeAll(async () => {
  build(app)
  running = await start(app)
}, 600_000)
afterAll(() => running?.close())

testJourney('nuxt', () => running)
testBinding({ name: 'nuxt, built', fixed: true, person: demo, start: async () => ({ origin: running.origin, close: async () => {} }) })
