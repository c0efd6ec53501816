/** The package's own names (`paths` of tsconfig.json) as alias entries for rollup and vite: one list for types, tests and build. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const { compilerOptions } = JSON.parse(readFileSync(`${root}tsconfig.json`, 'utf8')) as {
  compilerOptions: { paths: Record<string, [string]> }
}

export const aliases: { find: RegExp; replacement: string }[] = Object.entries(compilerOptions.paths).map(([name, [target]]) => ({
  find: new RegExp(`^${name.replace('*', '(.+)')}$`),
  replacement: root + target.replace('./', '').replace('*', '$1'),
}))
