/** What the packed tarball holds, and what a consumer can reach in it. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { compareExports, isChunk } from '../../scripts/exports.ts'
import { type Lock, missingOptionals } from '../../scripts/lock.ts'
import { pluginFiles } from '../../scripts/plugins.ts'
import { list, root } from '../_sources.ts'
import { entries, needsPeer } from './_entries.ts'

const fault = inject('fault')
if (fault) throw new Error(fault)
const consumer = inject('consumer')
const packed = inject('packed')
const home = join(consumer, 'node_modules/authkernel')
const { peerDependencies, dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Record<
  'peerDependencies' | 'dependencies',
  Record<string, string>
>

describe('files', () => {
  it('exports and built files are the same set', () => {
    expect(compareExports(home)).toEqual([])
  })

  it('every public source file is built, and nothing private has a name', () => {
    const bindings = list('bindings').filter((path) => !/\/_/.test(path))
    const public_ = [...pluginFiles().keys()].map((name) => `plugins/${name}.ts`)
    const sources = [...public_, ...list('plugins/providers'), ...bindings].map((path) => path.replace(/\.ts$/, '.mjs'))
    expect(sources.length).toBeGreaterThan(100)
    expect(sources.filter((path) => !packed.includes(`dist/${path}`))).toEqual([])
    expect(packed.filter((path) => /\/_/.test(path) && !isChunk(`./${path}`))).toEqual([])
  })

  it('the tarball holds dist, the docs, five papers, and nothing else', () => {
    const others = packed.filter((path) => !path.startsWith('dist/') && !/^docs\/[\w/-]+\.(?:md|json|png|svg)$/.test(path))
    expect(others.sort()).toEqual(['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'])
  })

  it('every link of README.md leads to a file of the tarball', () => {
    const links = [...readFileSync(join(home, 'README.md'), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path ?? '')
    expect(links.length).toBeGreaterThan(30)
    expect(links.filter((path) => !existsSync(join(home, path)))).toEqual([])
  })

  it('says where it comes from, and has no script that an installation runs or warns about', () => {
    const { repository, homepage, bugs, scripts } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Record<string, unknown>
    expect(repository).toMatchObject({ type: 'git', url: expect.stringMatching(/^git\+https:/) })
    expect([homepage, bugs]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^https:/)])
    const run = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare', 'dependencies']
    expect(Object.keys(scripts as object).filter((name) => run.includes(name))).toEqual([])
  })

  it('installs at most 6 packages: itself and direct dependencies without dependencies of their own', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dependencies?: Record<string, string> }>
    }
    const names = Object.keys(dependencies)
    expect(names.filter((name) => Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {}).length > 0)).toEqual([])
    expect(names.length + 1).toBeLessThanOrEqual(6)
  })

  it('docs/licenses.md names the bundled packages with their versions', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string }>
    }
    const listed = [...readFileSync(join(root, 'docs/licenses.md'), 'utf8').matchAll(/^\| `([^`]+)` \| (\S+) \|/gm)].map(
      ([, name, version]) => [name, version],
    )
    const config = readFileSync(join(root, 'build.config.ts'), 'utf8')
    const inlined = [...(/inlineDependencies: \[([^\]]*)\]/.exec(config)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(([, name]) => name)
    expect(listed.map(([name]) => name).sort()).toEqual(inlined.sort())
    expect(listed).toEqual(listed.map(([name]) => [name, packages[`node_modules/${name}`]?.version]))
  })

  it('the lock files name no download address', () => {
    for (const file of ['package-lock.json', 'test/peers/package-lock.json'])
      expect(readFileSync(join(root, file), 'utf8')).not.toMatch(/"resolved"/)
  })

  it('npm ci finds every optional package in the lock file: npm run lock', () => {
    expect(missingOptionals(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock)).toEqual({})
  })
})

describe('run time', () => {
  it('every entry loads without any optional peer', () => {
    for (const peer of Object.keys(peerDependencies)) expect(existsSync(join(consumer, 'node_modules', peer)), peer).toBe(false)
    const names = entries().filter((name) => !(name in needsPeer))
    const program = `const failed = []
      for (const name of ${JSON.stringify(names)}) await import(name).catch((error) => failed.push(name + ': ' + error.message))
      console.log(JSON.stringify(failed))`
    expect(JSON.parse(node(program))).toEqual([])
  })

  it('each class and symbol exists once, whichever entry it comes from', () => {
    const program = `const [main, kernel, errors, express] = await Promise.all(['authkernel', 'authkernel/kernel', 'authkernel/errors', 'authkernel/bindings/express'].map((name) => import(name)))
      console.log(JSON.stringify([
        main.AuthError === kernel.AuthError, kernel.AuthError === errors.AuthError, express.AuthError === errors.AuthError,
        main.customFetch === kernel.customFetch, new main.CredentialsSignin() instanceof errors.AuthError,
      ]))`
    expect(JSON.parse(node(program))).toEqual([true, true, true, true, true])
  })

  it.each([
    // The pattern of the plugins takes any name; no such file is built.
    ['authkernel/plugins/sign-in/oauth/flow', 'ERR_MODULE_NOT_FOUND'],
    ['authkernel/bindings/_node', 'ERR_PACKAGE_PATH_NOT_EXPORTED'],
    ['authkernel/shared/anything', 'ERR_PACKAGE_PATH_NOT_EXPORTED'],
    ['authkernel/dist/index.mjs', 'ERR_PACKAGE_PATH_NOT_EXPORTED'],
  ])('%s cannot be imported', (name, code) => {
    expect(node(`console.log(await import('${name}').then(() => 'loaded', (error) => error.code))`)).toBe(code)
  })

  it('the command runs', () => {
    expect(execFileSync(process.execPath, [join(home, 'dist/cli.mjs'), '--version'], { encoding: 'utf8' })).toContain('0.')
  })
})

describe('declarations', () => {
  it('no declaration imports an optional peer, or a package that is not installed with authkernel', () => {
    const leaks = packed
      .filter(
        (path) =>
          path.endsWith('.d.mts') && !Object.keys(needsPeer).some((name) => path === `dist/${name.slice('authkernel/'.length)}.d.mts`),
      )
      .flatMap((path) =>
        [...declaration(path).matchAll(/(?<!')(?:from|import) ?\(?'([^'.][^']*)'/g)].map(([, name]) => `${path} imports ${name}`),
      )
      .filter(
        (leak) =>
          !Object.keys(dependencies).some((name) => leak.endsWith(` ${name}`)) && !/ (?:node:\w+|authkernel(?:\/kernel)?)$/.test(leak),
      )
    expect(leaks).toEqual([])
  })

  it('chunks stay few: a plugin costs what it uses', () => {
    // 24 of them are sections, steps and languages of the ready-made parts, which browsers load one by one. 5 are what hosts of functions and procedures share.
    expect(packed.filter((path) => isChunk(`./${path}`) && path.endsWith('.mjs')).length).toBeLessThanOrEqual(115)
  })
})

/** Declarations without their comments, which show imports as examples. */
function declaration(path: string): string {
  return readFileSync(join(home, path), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
}

function node(program: string): string {
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: consumer, encoding: 'utf8' }).trim()
}
