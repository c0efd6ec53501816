/** npm's `prepare`: runs here after `npm ci`, where nothing is due, and when another folder installs this one, which needs `dist/`. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

if (resolve(process.env.INIT_CWD ?? root) !== resolve(root)) {
  if (!existsSync(`${root}node_modules/jiti`)) {
    console.error('authkernel is installed from its repository, which has no node_modules yet: run `npm ci` there first.')
    process.exit(1)
  }
  const { createJiti } = await import('jiti')
  await createJiti(import.meta.url, { fsCache: false }).import('./prepare.ts')
}
