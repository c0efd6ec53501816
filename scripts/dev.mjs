/** Runs a TypeScript file against the sources of the package: `node scripts/dev.mjs playground/express/main.ts`. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'

const [file, ...rest] = process.argv.slice(2)
if (!file) throw new Error('Usage: node scripts/dev.mjs <file.ts>')
const path = resolve(file)
// The program sees its own name first, as if Node had started it.
process.argv.splice(1, process.argv.length, path, ...rest)
// Compiled files are kept by their content: the second start takes a quarter of the first one's time.
const fsCache = fileURLToPath(new URL('../node_modules/.cache/jiti', import.meta.url))
await createJiti(import.meta.url, { tsconfigPaths: true, fsCache }).import(path)
