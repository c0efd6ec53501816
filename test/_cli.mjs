/** Starts src/cli/main.ts from the sources; the app under test sees the same sources under the package's name. */
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'

const root = fileURLToPath(new URL('../', import.meta.url))
await createJiti(import.meta.url, { tsconfigPaths: `${root}tsconfig.json` }).import(`${root}src/cli/main.ts`)
