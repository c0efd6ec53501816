/** What the packed package loads, and what a bundle of it weighs: counts that the load of a machine does not move. */
import { execFileSync } from 'node:child_process'
import { describe, expect, inject, it } from 'vitest'
import { bundleLines, kilobytesOf } from '../../scripts/bundle-bytes.mjs'

const fault = inject('fault')
if (fault) throw new Error(fault)
const consumer = inject('consumer')

const host = `
  import { createAuth } from 'authkernel'
  import google from 'authkernel/providers/google'
  const auth = createAuth({ secret: 'x'.repeat(32), trustHost: true, env: false, providers: [google({ clientId: 'a', clientSecret: 'b' })] })`
const kernel = `
  import { createKernel } from 'authkernel/kernel'
  import { oidcPlugin } from 'authkernel/plugins/oidc'
  import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
  const auth = createKernel({ secret: 'x'.repeat(32), trustHost: true })
    .use(oidcPlugin({ id: 'a', issuer: 'https://op.example.com', clientId: 'a', clientSecret: 'b' })).use(jwtSessionPlugin())`
const bare = `
  import { createKernel } from 'authkernel/kernel'
  const auth = createKernel({ secret: 'x'.repeat(32) })`
const read = `
  const { encode } = await import('authkernel/jwt')
  const token = await encode({ token: { name: 'Ada' }, secret: 'x'.repeat(32), salt: 'authkernel.session-token' })
  const session = await auth.session(new Request('http://localhost/', { headers: { cookie: 'authkernel.session-token=' + token } }))
  if (session.user.name !== 'Ada') throw new Error('no session')`

describe('modules', () => {
  it.each([
    ['authkernel', 7],
    ['authkernel/kernel', 8],
    ['authkernel/jwt', 5],
    ['authkernel/errors', 1],
    ['authkernel/plugins/oidc', 10],
    ['authkernel/plugins/session-jwt', 10],
    ['authkernel/plugins/email', 9],
    ['authkernel/bindings/express', 18],
    ['authkernel/client', 3],
  ])('%s loads at most %i files of ours, and nothing that a request is to load', (name, files) => {
    const loaded = modules(`await import('${name}')`)
    const ours = loaded.filter((file) => file.includes('/authkernel/dist/'))
    expect(ours.length).toBeGreaterThan(0)
    expect(ours.length, ours.join('\n')).toBeLessThanOrEqual(files)
    expect(late(loaded)).toEqual([])
    expect(libraries(loaded).filter((library) => !['defu', 'hookable', 'rou3'].includes(library))).toEqual([])
  })

  it('a session read with one provider loads no jose, no oauth4webapi, no page, no route', () => {
    const loaded = modules(host + read)
    // Contexts, checks of options with those of the provider, the strategy, the sealer.
    expect(late(loaded).map((file) => file.replace(/.*\//, ''))).toEqual(
      expect.arrayContaining(['serving.mjs', 'validate-options.mjs', 'configured.mjs', 'sealer.mjs']),
    )
    expect(late(loaded)).toHaveLength(5)
    expect(libraries(loaded)).toEqual(['defu', 'hookable', 'rou3'])
  })

  it('after ready({ warm: true }) a session read loads nothing more', () => {
    const warm = `${host}\nawait auth.ready({ warm: true })\nawait import('authkernel/jwt')`
    const [before, after] = [late(modules(warm)), late(modules(warm + read))]
    expect(after.filter((file) => !before.includes(file))).toEqual([])
    expect(before.some((file) => file.endsWith('/chunks/sealer.mjs'))).toBe(true)
  })

  it('the sign-in page is loaded by the request that shows it, without the libraries of a sign-in', () => {
    const program = `${host}
      const response = await auth.handler(new Request('http://localhost/auth/signin'))
      if (!(await response.text()).includes('Google')) throw new Error('no page')`
    const loaded = modules(program)
    expect(late(loaded).some((file) => file.endsWith('/chunks/draw.mjs'))).toBe(true)
    expect(libraries(loaded)).toEqual(['defu', 'hookable', 'rou3'])
  })

  it('ready({ warm: true }) loads them before', () => {
    const loaded = modules(`${host}\nawait auth.ready({ warm: true })`)
    for (const name of ['draw', 'work', 'dispatch', 'handlers', 'flows', 'sign-in'])
      expect(
        late(loaded).some((file) => file.endsWith(`/chunks/${name}.mjs`)),
        name,
      ).toBe(true)
    expect(libraries(loaded)).toContain('oauth4webapi')
  })
})

describe('bundles', () => {
  it.each([
    // Passkeys are in the preset: pages, records and ceremonies, which load with the request that needs them.
    ['createAuth and one provider', 45, 200, host],
    ['createKernel, oidcPlugin and jwtSessionPlugin', 38, 130, kernel],
    ['createKernel', 30, 80, bare],
  ])('%s: at most %i KB before the first request, %i in one file', async (_, first, whole, source) => {
    const split = await bundle(source, true)
    const one = await bundle(source, false)
    expect(kilobytesOf(split).first).toBeLessThanOrEqual(first)
    expect(one.outputFiles).toHaveLength(1)
    expect(kilobytesOf(one).whole).toBeLessThanOrEqual(whole)
  })

  it('a bundle of one file draws the sign-in page and reads a session', async () => {
    const program = `${host}
      const page = await (await auth.handler(new Request('http://localhost/auth/signin'))).text()
      ${read}
      console.log(page.includes('Google'), session.user.name)`
    const { outputFiles } = await bundle(program, false)
    expect(node(outputFiles[0]!.text)).toBe('true Ada')
  })
})

/** Files of modules that a process has loaded after a program. */
function modules(program: string): string[] {
  const listed = `
    const { Session } = await import('node:inspector')
    const inspector = new Session()
    const files = new Set()
    inspector.connect()
    inspector.on('Debugger.scriptParsed', ({ params }) => params.url.startsWith('file:') && files.add(params.url))
    inspector.post('Debugger.enable')
    inspector.disconnect()
    console.log(JSON.stringify([...files]))`
  return JSON.parse(node(`${program}\n${listed}`)) as string[]
}

function late(loaded: readonly string[]): string[] {
  // Express, Fastify and Koa are Node: what turns its requests into those of the platform is a chunk for the others. What `authkernel/jwt` and the kernel
  // share is named a chunk because the bearer plugin imports that entry on demand.
  return loaded.filter((file) => file.includes('/authkernel/dist/chunks/') && !/\/(?:node-request|jwt)\.mjs$/.test(file))
}

function libraries(loaded: readonly string[]): string[] {
  const names = loaded.flatMap((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
  return [...new Set(names)].filter((name) => name !== 'authkernel').sort()
}

function bundle(source: string, splitting: boolean) {
  return bundleLines(source, { folder: consumer, external: ['nodemailer', '@simplewebauthn/server'], splitting })
}

function node(program: string): string {
  return execFileSync(process.execPath, ['--input-type=module'], { cwd: consumer, encoding: 'utf8', input: program }).trim()
}
