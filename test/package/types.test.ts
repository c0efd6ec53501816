/** The declarations of the packed tarball, as a consumer's compiler reads them. */
import { execFile } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { root } from '../_sources.ts'
import { sampleCases } from '../_tier.ts'
import { entries, needsPeer } from './_entries.ts'

const run = promisify(execFile)
const fault = inject('fault')
if (fault) throw new Error(fault)
const consumer = inject('consumer')
const files = ['use.ts', 'merge.ts', 'options.ts', 'client.ts']

beforeAll(() => {
  for (const file of files) copyFileSync(join(root, 'test/package/consumer', file), join(consumer, file))
  const names = entries().filter((name) => !(name in needsPeer))
  writeFileSync(join(consumer, 'all.ts'), names.map((name, i) => `import * as m${i} from '${name}'\nexport { m${i} }`).join('\n'))
})

describe.each(['typescript', 'typescript-7'])('%s', (compiler) => {
  it.each([
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'preserve', moduleResolution: 'bundler' },
  ])('accumulating use, declaration merging, options and the methods of the client compile with $moduleResolution', async (resolution) => {
    expect(await check(compiler, resolution, files)).toBe('')
  })

  it('every entry compiles without any optional peer, declarations included', async () => {
    expect(await check(compiler, { module: 'nodenext', moduleResolution: 'nodenext' }, ['all.ts'])).toBe('')
  })
})

describe('entries about a UI framework compile with its types, declarations included', () => {
  const frameworks = { react: ['react', '@types/react', 'csstype'], vue: ['vue'], solid: ['solid-js'], svelte: ['svelte'] }

  it.each(sampleCases(Object.entries(frameworks), 4))('authkernel/%s', async (name, peers) => {
    // A folder of its own: the other tests prove that nothing else needs these packages.
    const home = mkdtempSync(join(tmpdir(), `authkernel-${name}-`))
    try {
      cpSync(join(consumer, 'node_modules'), join(home, 'node_modules'), { recursive: true, verbatimSymlinks: true })
      for (const peer of peers) {
        const target = join(home, 'node_modules', peer)
        mkdirSync(dirname(target), { recursive: true })
        if (!existsSync(target)) symlinkSync(join(root, 'node_modules', peer), target, 'junction')
      }
      writeFileSync(join(home, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
      writeFileSync(join(home, 'ui.ts'), `import * as ui from 'authkernel/${name}'\nexport { ui }`)
      for (const resolution of [
        { module: 'nodenext', moduleResolution: 'nodenext' },
        { module: 'preserve', moduleResolution: 'bundler' },
      ])
        expect(await check('typescript', resolution, ['ui.ts'], home)).toBe('')
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })
})

it('a chained plugin costs the compiler at most 200 type instantiations', async () => {
  const [one, forty] = await Promise.all([instantiations(1), instantiations(40)])
  expect(forty).toBeGreaterThan(one)
  expect((forty - one) / 39).toBeLessThanOrEqual(200)
})

it('the check itself notices an error', async () => {
  writeFileSync(join(consumer, 'wrong.ts'), `import { createAuth } from 'authkernel'\nexport const n: number = createAuth({ secret: '' })`)
  expect(await check('typescript-7', { module: 'nodenext', moduleResolution: 'nodenext' }, ['wrong.ts'])).toContain('TS2322')
})

/** What the compiler says. */
async function check(compiler: string, resolution: object, files: string[], home = consumer): Promise<string> {
  const project = join(home, `tsconfig.${compiler}.${Object.values(resolution).join('.')}.${files[0]}.json`)
  const compilerOptions = {
    ...resolution,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    // Consumers who publish declarations must be able to name every type of ours (TS2742).
    declaration: true,
    noEmit: true,
  }
  writeFileSync(project, JSON.stringify({ compilerOptions, files }))
  const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
  return run(process.execPath, [tsc, '-p', project], { cwd: home }).then(
    () => '',
    (error: { stdout: string }) => error.stdout || String(error),
  )
}

/** How many types a chain of that many plugins makes the compiler build: a count, so that a busy machine changes nothing. */
async function instantiations(plugins: number): Promise<number> {
  const uses = Array.from(
    { length: plugins },
    (_, i) => `.use({ name: 'p${i}', setup: () => ({ api${i}: { count: (): number => ${i} } }) })`,
  )
  const file = `chain${plugins}.ts`
  writeFileSync(
    join(consumer, file),
    `import { createAuth } from 'authkernel'\nexport const n: number = createAuth()${uses.join('\n')}.api${plugins - 1}.count()`,
  )
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', '--extendedDiagnostics']
  const { stdout } = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, file], { cwd: consumer })
  return Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1])
}
