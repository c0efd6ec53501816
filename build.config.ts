import { cpSync, readdirSync } from 'node:fs'
import { defineBuildConfig } from 'unbuild'
import { aliases } from './scripts/aliases.ts'
import { assertExports } from './scripts/exports.ts'
import { pluginFiles } from './scripts/plugins.ts'

// A leading `_` marks what is private: it ends in shared chunks.
const folder = (dir: string) =>
  readdirSync(dir)
    .filter((file) => file.endsWith('.ts') && !file.startsWith('_'))
    .map((file) => ({ input: `./${dir}/${file}`, name: `${dir}/${file.slice(0, -3)}` }))

// unbuild leaves a package's own name to the consumer's resolver; here it becomes a relative import, so that each class exists once.
const self = {
  name: 'self',
  resolveId: {
    order: 'pre' as const,
    handler(id: string) {
      const alias = aliases.find(({ find }) => find.test(id))
      return alias ? id.replace(alias.find, alias.replacement) : undefined
    },
  },
}

// Rollup drops directives of modules; Next wants this one where hooks of React are called.
const useClient = {
  name: 'use-client',
  renderChunk: (code: string, chunk: { name: string; isEntry: boolean }) =>
    chunk.isEntry && chunk.name === 'react' ? `'use client'\n${code}` : null,
}

export default defineBuildConfig({
  entries: [
    { input: './src/index.ts', name: 'index' },
    ...['kernel', 'jwt', 'errors', 'client', 'react', 'vue', 'solid', 'svelte', 'testing'].map((name) => ({
      input: `./src/${name}/index.ts`,
      name,
    })),
    ...[...pluginFiles()].map(([name, file]) => ({ input: `./${file}`, name: `plugins/${name}` })),
    ...folder('plugins/providers'),
    ...folder('bindings'),
    { input: './src/cli/main.ts', name: 'cli' },
  ],
  // SvelteKit's own module, which Vite makes: see bindings/_kit.ts.
  externals: ['$app/paths'],
  clean: true,
  declaration: 'node16',
  failOnWarn: true,
  rollup: {
    emitCJS: false,
    // Small and without dependencies, so an installation is five packages beside ours. The questions of `init` are in the file of the command alone.
    // docs/licenses.md has their licences.
    inlineDependencies: [
      'citty',
      'cookie-es',
      '@clack/prompts',
      '@clack/core',
      'sisteransi',
      'fast-string-width',
      'fast-string-truncated-width',
      'fast-wrap-ansi',
    ],
    esbuild: { target: 'es2022' },
    alias: false,
  },
  hooks: {
    'build:before'({ options }) {
      options.externals = options.externals.filter(
        (external) => !/^\^?authkernel/.test(external instanceof RegExp ? external.source : external),
      )
    },
    'rollup:options'(_, options) {
      options.plugins.unshift(self)
      options.plugins.push(useClient)
    },
    'rollup:dts:options'(_, options) {
      delete (options.input as Record<string, string>).cli
    },
    // Before unbuild looks for what package.json names.
    'rollup:done'() {
      for (const file of readdirSync('src/svelte').filter((name) => name.endsWith('.svelte')))
        cpSync(`src/svelte/${file}`, `dist/svelte/${file}`)
    },
    'build:done': ({ options }) => assertExports(options.rootDir),
  },
})
