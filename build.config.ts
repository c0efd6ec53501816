import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineBuildConfig } from 'unbuild'
import { aliases } from './scripts/aliases.ts'
import { assertExports } from './scripts/exports.ts'
import { kernelEntry } from './scripts/kernel-entry.ts'
import { pluginFiles } from './scripts/plugins.ts'
import { shadcnItem } from './scripts/shadcn.ts'

// A leading `_` marks what is private: it ends in shared chunks.
const folder = (dir: string, name = dir) =>
  readdirSync(dir)
    .filter((file) => file.endsWith('.ts') && !file.startsWith('_'))
    .map((file) => ({ input: `./${dir}/${file}`, name: `${name}/${file.slice(0, -3)}` }))

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

// Rollup drops directives of modules; Next wants this one where hooks of React are called. In declarations it is an error.
const useClient = {
  name: 'use-client',
  renderChunk: (code: string, chunk: { name: string; isEntry: boolean; fileName: string }) =>
    chunk.isEntry && chunk.name === 'react' && !/\.d\.[cm]?ts$/.test(chunk.fileName) ? `'use client'\n${code}` : null,
}

/** What plugins of the preset import of `authkernel/kernel` when they register. */
const registering = [
  'src/registry/provider-plugin.ts',
  'src/keys/unverified-jwt.ts',
  'src/session/strategy.ts',
  'src/store/lazy-store.ts',
  'src/store/store-error.ts',
  'src/http/action-url.ts',
]

/**
 * Code that the entries share, in few files: each file of an import costs Node about half a millisecond. What is imported on demand stays apart from
 * what registering and compiling need.
 */
function groups(id: string, { getModuleInfo }: { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null }) {
  const reached = (entry: string): Set<string> => {
    const known = reachedFrom[entry]
    if (known) return known
    const seen = new Set<string>()
    const visit = (from: string): void => {
      // What an index only hands on belongs to whoever uses it.
      if (seen.has(from) || (indexes.has(from) && from !== pathOf(entry))) return
      seen.add(from)
      for (const next of getModuleInfo(from)?.importedIds ?? []) visit(next)
    }
    visit(pathOf(entry))
    return (reachedFrom[entry] = seen)
  }
  return chunks.find(([, ways]) => ways.some((way) => way.split(' and ').every((entry) => reached(entry).has(id))))?.[0]
}
const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))
/** What authors of plugins import. */
const kernelEntries = ['src/kernel/index.ts', ...readdirSync('src/kernel/entries').map((file) => `src/kernel/entries/${file}`)]
const indexes = new Set([...kernelEntries, 'plugins/pages/pages/index.ts', 'plugins/sign-in/email/index.ts'].map(pathOf))
const reachedFrom: Record<string, Set<string>> = {}
/** Name of a chunk, and from where its files are reached. In this order: what belongs to several belongs to the first. */
const chunks: readonly [name: string, ways: readonly string[]][] = [
  ['errors', ['src/errors/index.ts']],
  // What `authkernel/jwt` and the kernel share.
  ['base', ['src/jwt/index.ts and src/kernel/create-kernel.ts']],
  // Of `authkernel/jwt` and of `authkernel/kernel`, and of what is loaded later: not of registering.
  ['network', ['src/runtime/network.ts', 'src/keys/crypto.ts']],
  ['jwt', ['src/jwt/index.ts']],
  ['kernel', ['src/kernel/create-kernel.ts']],
  ['registering', registering],
  // Plugins of the preset: an import would load their files one by one.
  ['preset', ['src/preset.ts', 'plugins/pages/pages/plugin.ts', 'plugins/sign-in/email/plugin.ts']],
  // What plugins import, and what is loaded later has most of.
  ['toolkit', kernelEntries],
  ['serving', ['src/request/serving.ts']],
  // What a page has of the client, with and without components of a UI framework.
  ['client', ['src/client/auth-client.ts', 'src/client/shared.ts', 'src/client/support.ts', 'src/client/ask-passkey.ts']],
]

export default defineBuildConfig({
  entries: [
    { input: './src/index.ts', name: 'index' },
    ...['kernel', 'jwt', 'errors', 'client', 'parts', 'react', 'vue', 'solid', 'svelte', 'testing'].map((name) => ({
      input: `./src/${name}/index.ts`,
      name,
    })),
    // Qwik's optimizer takes the functions out of files of this name and sends browsers those that they need.
    { input: './src/qwik/index.ts', name: 'qwik.qwik' },
    ...[...pluginFiles()].map(([name, file]) => ({ input: `./${file}`, name: `plugins/${name}` })),
    ...folder('plugins/providers'),
    ...folder('bindings'),
    ...folder('src/kernel/entries', 'kernel'),
    { input: './src/cli/main.ts', name: 'cli' },
  ],
  // SvelteKit's own module, which Vite makes: see bindings/sveltekit.ts.
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
      // As `sideEffects` of package.json says: what an entry does not use it does not load, libraries included.
      options.treeshake = { moduleSideEffects: false }
      for (const output of [options.output].flat())
        if (output) Object.assign(output, { manualChunks: groups, onlyExplicitManualChunks: true, hoistTransitiveImports: false })
      options.plugins.unshift(self)
      options.plugins.push(useClient, kernelEntry)
    },
    'rollup:dts:options'(_, options) {
      delete (options.input as Record<string, string>).cli
    },
    // Before unbuild looks for what package.json names.
    'rollup:done'() {
      for (const file of readdirSync('src/svelte').filter((name) => name.endsWith('.svelte')))
        cpSync(`src/svelte/${file}`, `dist/svelte/${file}`)
      cpSync('src/parts/parts.css', 'dist/parts.css')
      // TypeScript 7 looks for the types of an import that is there for its effect alone.
      writeFileSync('dist/parts.css.d.mts', 'export {}\n')
      writeFileSync('dist/shadcn.json', shadcnItem('.'))
    },
    'build:done': ({ options }) => assertExports(options.rootDir),
  },
})
