/** Style and scripts of the playground, from memory: nothing is loaded from elsewhere. */
import { buildSync } from 'esbuild'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Path to type and content. `/client.js` is `authkernel/client` as a bundler would deliver it. */
export function readAssets(): Readonly<Record<string, { type: string; content: string }>> {
  const { outputFiles } = buildSync({
    entryPoints: [here('../../src/client/index.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  })
  return {
    '/style.css': { type: 'text/css', content: readFileSync(here('style.css'), 'utf8') },
    '/live.js': { type: 'text/javascript', content: readFileSync(here('live.js'), 'utf8') },
    '/account.js': { type: 'text/javascript', content: readFileSync(here('account.js'), 'utf8') },
    '/client.js': { type: 'text/javascript', content: outputFiles[0]?.text ?? '' },
  }
}
