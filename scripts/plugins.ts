/** The public plugins: a folder `plugins/<group>/<name>` with `index.ts` is `authkernel/plugins/<name>`. */
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Public name to file, relative to the root. Throws when two folders have one name. */
export function pluginFiles(): Map<string, string> {
  const found = new Map<string, string>()
  for (const group of folders('plugins')) {
    if (group === 'providers') continue
    for (const name of folders(`plugins/${group}`)) {
      const other = found.get(name)
      if (other) throw new Error(`Two plugins have the public name "${name}": ${other} and plugins/${group}/${name}.`)
      found.set(name, `plugins/${group}/${name}/index.ts`)
    }
  }
  return found
}

function folders(folder: string): string[] {
  return readdirSync(root + folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}
