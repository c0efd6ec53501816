/** @auth/qwik: loaders and global actions. */
import { testMigration } from './_journey.ts'

const vite = '../../node_modules/vite/bin/vite.js'

testMigration({
  name: 'qwik',
  beside: 'playground/qwik',
  borrows: true,
  builds: [
    [vite, 'build'],
    [vite, 'build', '-c', 'adapters/node.config.ts'],
  ],
  start: ['server/entry.node.js'],
})
