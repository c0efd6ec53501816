/** Runs a TypeScript file against the sources of the package: `node scripts/dev.mjs playground/express/main.ts`. */
import { resolve } from 'node:path'
import { createJiti } from 'jiti'

const [file, ...rest] = process.argv.slice(2)
if (!file) throw new Error('Usage: node scripts/dev.mjs <file.ts>')
const path = resolve(file)
// The program sees its own name first, as if Node had started it.
process.argv.splice(1, process.argv.length, path, ...rest)
await createJiti(import.meta.url, { tsconfigPaths: true, fsCache: false }).import(path)
