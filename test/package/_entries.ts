/** The public names of the package, from `exports` and the built files. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../_sources.ts'

/** Entries that are about an optional peer: an app that imports them has it. */
export const needsPeer: Record<string, string> = {
  'authkernel/plugins/sql': 'kysely',
  'authkernel/react': 'react',
  'authkernel/vue': 'vue',
  'authkernel/solid': 'solid-js',
  'authkernel/svelte': 'svelte',
  'authkernel/qwik': '@builder.io/qwik',
  'authkernel/bindings/qwik': '@builder.io/qwik-city',
}

/** Every name a consumer can import. */
export function entries(): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, { default: string } | string | null>
  }
  return Object.entries(exports).flatMap(([name, target]) => {
    if (target === null || typeof target === 'string' || !target.default.endsWith('.mjs')) return []
    const specifier = `authkernel${name.slice(1)}`
    if (!specifier.includes('*')) return specifier
    return readdirSync(join(root, target.default.replace('/*.mjs', '')))
      .filter((file) => file.endsWith('.mjs'))
      .map((file) => specifier.replace('*', file.slice(0, -4)))
  })
}
