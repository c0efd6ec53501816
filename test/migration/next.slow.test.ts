/** next-auth 5: App Router, server actions, the proxy, and next-auth/react, which stays. */
import { expect } from 'vitest'
import { testMigration } from './_journey.ts'

const next = '../../node_modules/next/dist/bin/next'

testMigration({
  name: 'next',
  beside: 'playground/next',
  builds: [[next, 'build']],
  start: [next, 'start', '-H', '127.0.0.1'],
  basePath: '/api/auth',
  async more(page, { origin }) {
    await page.goto(origin)
    await expect.poll(() => page.locator('#client').textContent()).toBe('Ada Lovelace')
  },
})
