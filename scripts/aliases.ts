/** The package's own names as alias entries for rollup and vite: `paths` of tsconfig.json, with plugins looked up in their groups. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { pluginFiles } from './plugins.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const { compilerOptions } = JSON.parse(readFileSync(`${root}tsconfig.json`, 'utf8')) as {
  compilerOptions: { paths: Record<string, readonly [string, ...string[]]> }
}

export interface Alias {
  find: RegExp
  replacement: string
}

// TypeScript tries several targets for one name; the bundlers do not.
const plugins = [...pluginFiles()].map(([name, file]): Alias => ({
  find: new RegExp(`^authkernel/plugins/${name}$`),
  replacement: root + file,
}))
const others = Object.entries(compilerOptions.paths)
  .filter(([name]) => !name.startsWith('authkernel/plugins/'))
  .map(([name, [target]]): Alias => ({
    find: new RegExp(`^${name.replace('*', '(.+)')}$`),
    replacement: root + target.replace('./', '').replace('*', '$1'),
  }))

export const aliases: readonly Alias[] = [...plugins, ...others]
