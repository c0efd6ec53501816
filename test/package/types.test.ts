/** The declarations of the packed tarball, as a consumer's compiler reads them. */
import { execFile } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { root } from '../_sources.ts'
import { entries, needsPeer } from './_entries.ts'

const run = promisify(execFile)
const consumer = inject('consumer')
const files = ['use.ts', 'merge.ts', 'options.ts']

beforeAll(() => {
  for (const file of files) copyFileSync(join(root, 'test/package/consumer', file), join(consumer, file))
  const names = entries().filter((name) => !(name in needsPeer))
  writeFileSync(join(consumer, 'all.ts'), names.map((name, i) => `import * as m${i} from '${name}'\nexport { m${i} }`).join('\n'))
})

describe.each(['typescript', 'typescript-7'])('%s', (compiler) => {
  it.each([
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'preserve', moduleResolution: 'bundler' },
  ])('accumulating use, declaration merging and options compile with $moduleResolution', async (resolution) => {
    expect(await check(compiler, resolution, files)).toBe('')
  })

  it('every entry compiles without any optional peer, declarations included', async () => {
    expect(await check(compiler, { module: 'nodenext', moduleResolution: 'nodenext' }, ['all.ts'])).toBe('')
  })
})

it('the check itself notices an error', async () => {
  writeFileSync(join(consumer, 'wrong.ts'), `import { createAuth } from 'authkernel'\nexport const n: number = createAuth({ secret: '' })`)
  expect(await check('typescript-7', { module: 'nodenext', moduleResolution: 'nodenext' }, ['wrong.ts'])).toContain('TS2322')
})

/** What the compiler says. */
async function check(compiler: string, resolution: object, files: string[]): Promise<string> {
  const project = join(consumer, `tsconfig.${compiler}.${Object.values(resolution).join('.')}.${files[0]}.json`)
  const compilerOptions = {
    ...resolution,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  }
  writeFileSync(project, JSON.stringify({ compilerOptions, files }))
  const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
  return run(process.execPath, [tsc, '-p', project], { cwd: consumer }).then(
    () => '',
    (error: { stdout: string }) => error.stdout || String(error),
  )
}
