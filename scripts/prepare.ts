/** Builds the package for whoever installs it from this folder: a playground, or an app beside the repository. `scripts/prepare.mjs` calls it. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isStale } from './stale.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

if (isStale()) execFileSync(process.execPath, ['node_modules/unbuild/dist/cli.mjs'], { cwd: root, stdio: 'inherit' })
