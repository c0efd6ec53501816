/** @auth/solid-start: server functions, and its client, which stays. */
import { testMigration } from './_journey.ts'

testMigration({
  name: 'solid-start',
  beside: 'playground/solid-start',
  builds: [['../../node_modules/vinxi/bin/cli.mjs', 'build']],
  start: ['.output/server/index.mjs'],
  basePath: '/api/auth',
})
