/** @auth/sveltekit: form actions, and its components, which stay. */
import { testMigration } from './_journey.ts'

testMigration({
  name: 'sveltekit',
  beside: 'playground/sveltekit',
  sync: ['node_modules/@sveltejs/kit/svelte-kit.js', 'sync'],
  builds: [['../../node_modules/vite/bin/vite.js', 'build']],
  start: ['build/index.js'],
  env: (port) => ({ ORIGIN: `http://localhost:${port}` }),
})
