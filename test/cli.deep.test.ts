/** The command `authkernel`, run as a process over the sources. */
import { execFile } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuth, skipCSRFCheck } from 'authkernel'
import { auditPlugin, jsonLines } from 'authkernel/plugins/audit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPaint, table } from '../src/cli/report.ts'
import { runCli } from '../src/cli/run.ts'
import { root } from './_sources.ts'

const secret = 'a secret of at least thirty-two characters'
let folder: string
let issuer: Server
let issuerUrl: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'authkernel-cli-'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', name: 'app' }))
  // The app has the loader of its own tools, and sees the sources under the package's name.
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(root, 'node_modules/jiti'), join(folder, 'node_modules/jiti'), 'junction')
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { baseUrl: root, paths: compilerOptions.paths } }))
  issuer = createServer((req, res) => {
    res.setHeader('content-type', 'application/json')
    // Compiling an app blocks this process for seconds: a connection that waits meanwhile is closed just as it is used again.
    res.setHeader('connection', 'close')
    const base = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
    if (req.url === '/.well-known/good') res.end('{}')
    else if (req.url?.startsWith('/good/')) res.end(JSON.stringify({ issuer: `${base}/good` }))
    else if (req.url?.startsWith('/other/')) res.end(JSON.stringify({ issuer: `${base}/somebody-else` }))
    else res.writeHead(404).end('{}')
  })
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve))
  issuerUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
})
afterAll(async () => {
  await new Promise((resolve) => issuer.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

describe('TypeScript by tsx', () => {
  const tsx = join(root, 'node_modules/tsx')
  const run = (cwd: string, ...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, args, { cwd, encoding: 'utf8', env: { ...process.env, NODE_ENV: 'test' } }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
      )
    })

  it('runs under tsx, and then loads a module of TypeScript as it is', { timeout: 60_000 }, async () => {
    const file = app('under-tsx', `origin: 'https://app.example'`)
    const { code, stdout, stderr } = await run(folder, join(tsx, 'dist/cli.mjs'), join(root, 'src/cli/main.ts'), 'routes', file)
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('/callback/:provider')
  })

  it('loads it by the tsx of the app, where there is no jiti', { timeout: 60_000 }, async () => {
    const own = mkdtempSync(join(tmpdir(), 'authkernel-tsx-'))
    mkdirSync(join(own, 'node_modules'))
    symlinkSync(tsx, join(own, 'node_modules/tsx'), 'junction')
    for (const name of ['package.json', 'tsconfig.json']) writeFileSync(join(own, name), readFileSync(join(folder, name)))
    // An enum needs more than types to be removed: Node does not load it by itself.
    writeFileSync(
      join(own, 'auth.ts'),
      `import { createAuth } from 'authkernel'\nenum Origin { App = 'https://app.example' }\nexport const auth = createAuth({ secret: '${secret}', origin: Origin.App })\n`,
    )
    const { code, stdout, stderr } = await run(own, join(root, 'test/_cli.mjs'), 'routes', 'auth.ts')
    rmSync(own, { recursive: true, force: true })
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('/callback/:provider')
  })
})

describe('audit verify', () => {
  it('says that a log is whole, or what is wrong with it', async () => {
    let lines = ''
    const anchors: string[] = []
    const sink = jsonLines({ write: (more) => void (lines += more) })
    const providers = [{ id: 'credentials', name: 'Name', type: 'credentials' as const, authorize: () => ({ id: 'ann' }) }]
    const auth = createAuth({ secret, trustHost: true, env: false, skipCSRFCheck, logger: { warn() {} }, providers }).use(
      auditPlugin({ sink, chain: true, anchor: (anchor) => void anchors.push(JSON.stringify(anchor)) }),
    )
    await auth.handler(new Request('http://localhost:3000/auth/callback/credentials', { method: 'POST', body: new URLSearchParams() }))
    await auth.close()
    writeFileSync(join(folder, 'audit.jsonl'), lines)
    writeFileSync(join(folder, 'cut.jsonl'), lines.split('\n').slice(1).join('\n'))
    const uses = `.use(auditPlugin({ sink: () => {} }))`
    const file = app('audited', 'trustHost: true', undefined, uses, `import { auditPlugin } from 'authkernel/plugins/audit'\n`)
    const whole = await cli('audit', 'verify', file, '--file', 'audit.jsonl')
    expect([whole.code, whole.stdout]).toEqual([0, 'ok 2 records in 1 chains\n'])
    const cut = await cli('audit', 'verify', file, '--file', 'cut.jsonl', '--json')
    expect([cut.code, JSON.parse(cut.stdout)]).toMatchObject([
      1,
      { ok: false, faults: [expect.stringContaining('1 records are missing before')] },
    ])
    expect(anchors.length).toBeGreaterThan(0)
    const keep = (name: string, ...kept: string[]) => writeFileSync(join(folder, name), kept.join('\n'))
    const against = (name: string) => cli('audit', 'verify', file, '--file', 'audit.jsonl', '--anchor', name)
    keep('anchors.jsonl', ...anchors, '')
    expect(await against('anchors.jsonl')).toMatchObject({ code: 0, stdout: 'ok 2 records in 1 chains\n' })
    keep('other.jsonl', JSON.stringify({ ...JSON.parse(anchors[0]!), mac: 'f'.repeat(64) }))
    expect(await against('other.jsonl')).toMatchObject({ code: 1, stdout: expect.stringContaining('is not as it was anchored') })
    keep('broken.jsonl', ...anchors, '{"chainId":')
    const broken = await against('broken.jsonl')
    expect([broken.code === 0, broken.stderr]).toEqual([
      false,
      expect.stringContaining(`Line ${anchors.length + 1} of broken.jsonl is no JSON`),
    ])
    expect(broken.stderr).not.toContain('SyntaxError')
    keep('half.jsonl', '{"chainId":"x"}')
    expect((await against('half.jsonl')).stderr).toContain('Line 1 of half.jsonl is no anchor: it has no tenant, seq, mac, time')
    keep('empty.jsonl', '')
    expect((await against('empty.jsonl')).stderr).toContain('empty.jsonl has no anchor')
    expect((await against('away.jsonl')).stderr).toContain('The file of --anchor cannot be read')
    expect((await cli('audit', 'burn', file)).stderr).toContain('authkernel audit verify')
    expect((await cli('audit', 'verify', app('unaudited', 'trustHost: true'))).stderr).toContain('does not use auditPlugin')
  }, 60_000)
})

describe('secret', () => {
  it('makes a fresh secret of 44 characters each time', async () => {
    const [first, second] = await Promise.all([cli('secret', '--json'), cli('secret', '--json')])
    expect(JSON.parse(first.stdout)).toEqual({ ok: true, secret: expect.stringMatching(/^[A-Za-z0-9+/]{44}$/) })
    expect(first.stdout).not.toBe(second.stdout)
    expect((await cli('secret')).stdout).toMatch(/^AUTH_SECRET="[A-Za-z0-9+/]{44}"\n$/)
  })

  it('writes an environment file that others cannot read, keeps what stands there, and never prints the value', async () => {
    writeFileSync(join(folder, 'kept.env'), 'OTHER=1')
    const { stdout, code } = await cli('secret', '--write', 'kept.env')
    const text = readFileSync(join(folder, 'kept.env'), 'utf8')
    expect(code).toBe(0)
    expect(text).toMatch(/^OTHER=1\nAUTH_SECRET="[^"]{44}"\n$/)
    expect(stdout).not.toContain(text.split('"')[1])
    await cli('secret', '--write', 'new.env')
    if (process.platform !== 'win32') expect(statSync(join(folder, 'new.env')).mode & 0o077).toBe(0)
  })

  it('does not replace a secret; --rotate adds a newer one until all names are taken', async () => {
    await cli('secret', '--write', 'rotated.env')
    const refused = await cli('secret', '--write', 'rotated.env')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--rotate') })
    for (const name of ['AUTH_SECRET_1', 'AUTH_SECRET_2', 'AUTH_SECRET_3']) {
      expect((await cli('secret', '--write', 'rotated.env', '--rotate')).stdout).toContain(`${name} was written`)
    }
    expect(await cli('secret', '--write', 'rotated.env', '--rotate')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Remove the oldest'),
    })
    expect(readFileSync(join(folder, 'rotated.env'), 'utf8').match(/^AUTH_SECRET/gm)).toHaveLength(4)
  })
})

describe('doctor', () => {
  it('lists providers with callback URLs and finds nothing to change in a sound app', async () => {
    const file = app('sound', `origin: 'https://app.example', providers: [${oidc('acme', '/good')}]`)
    const { stdout, code } = await cli('doctor', file, '--json')
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ ok: true, origin: 'https://app.example', findings: [] })
    expect(report.providers).toEqual([{ id: 'acme', name: 'Acme', type: 'oidc', callbackUrl: 'https://app.example/auth/callback/acme' }])
    expect(report.plugins.map(({ name }: { name: string }) => name)).toContain('oidc')
    expect(code).toBe(0)
  })

  it('is not ok with a configuration mistake, and says what to do', async () => {
    const file = app('short', `providers: []`, `'short'`)
    const { stdout, code } = await cli('doctor', file, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout).findings[0]).toMatchObject({
      level: 'error',
      code: 'configuration',
      message: expect.stringContaining('authkernel secret'),
    })
  })

  it('looks at the health of the app: a store that is away is an error, a check of the host may warn', async () => {
    const broken = `adapter: { ...memoryAdapter(), getUserByEmail() { throw new Error('connect ECONNREFUSED postgres://root:hunter2@db') } }`
    const imports = `import { memoryAdapter } from 'authkernel/plugins/memory'\nimport { healthPlugin } from 'authkernel/plugins/health'\n`
    const away = await cli(
      'doctor',
      app('away', `origin: 'https://app.example', providers: [], ${broken}`, undefined, '', imports),
      '--json',
    )
    const health = (stdout: string): object[] =>
      (JSON.parse(stdout) as { findings: { code: string }[] }).findings.filter(({ code }) => code === 'health')
    expect([away.code, health(away.stdout)]).toEqual([
      1,
      [{ level: 'error', code: 'health', message: expect.stringMatching(/^store: .*getUserByEmail/) }],
    ])
    expect(away.stdout).not.toContain('hunter2')
    const uses = `.use(healthPlugin({ checks: { queue: () => 'is long' } }))`
    const slow = app('slow', `origin: 'https://app.example', providers: [], adapter: memoryAdapter()`, undefined, uses, imports)
    const warned = await cli('doctor', slow, '--json')
    expect([warned.code, health(warned.stdout)]).toEqual([0, [{ level: 'warning', code: 'health', message: 'queue: is long' }]])
    expect((await cli('doctor', slow, '--strict')).code).toBe(1)
    expect(health((await cli('doctor', slow, '--json', '--offline')).stdout)).toEqual([])
  })

  it('--watch prints what changes, and ends with the last exit code', { timeout: 60_000 }, async () => {
    const imports = `import { memoryAdapter } from 'authkernel/plugins/memory'\nimport { healthPlugin } from 'authkernel/plugins/health'\nimport { existsSync } from 'node:fs'\n`
    const flag = join(folder, 'down')
    const uses = `.use(healthPlugin({ checks: { queue: () => { if (existsSync(${JSON.stringify(flag)})) throw new Error('gone') } } }))`
    const file = app('watched', `origin: 'https://app.example', providers: [], adapter: memoryAdapter()`, undefined, uses, imports)
    let text = ''
    const stdout = { write: (more: string) => void (text += more) }
    const running = runCli(['doctor', file, '--watch', '1'], { stdout, stderr: stdout, env: {}, cwd: folder })
    await expect.poll(() => text, { timeout: 20_000 }).toContain('[once]')
    writeFileSync(flag, '')
    await expect.poll(() => text, { timeout: 20_000 }).toContain('queue: gone')
    process.emit('SIGINT')
    expect(await running).toBe(1)
    expect(text.match(/authkernel doctor/g)).toHaveLength(2)
  })

  it('asks issuers: one that is missing and one that is another are errors, --offline asks no server', async () => {
    const file = app('issuers', `origin: 'https://app.example', providers: [${oidc('gone', '/gone')}, ${oidc('other', '/other')}]`)
    const { stdout, code } = await cli('doctor', file, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout).findings).toEqual([
      { level: 'error', code: 'issuer', message: expect.stringContaining('answered 404') },
      { level: 'error', code: 'issuer', message: expect.stringContaining('somebody-else') },
    ])
    expect(JSON.parse((await cli('doctor', file, '--json', '--offline')).stdout)).toMatchObject({ ok: true, findings: [] })
  })

  it('warns about what is unsafe', async () => {
    const options = `trustHost: true, throttle: false, debug: true, useSecureCookies: false, session: { maxAge: 400 * 86400 },
      logger: { warn() {} },
      providers: [{ ...${oidc('acme', '/good')}, allowDangerousEmailAccountLinking: true, checks: ['none'] },
        { id: 'demo', name: 'Demo', type: 'credentials', authorize: () => null }]`
    const { stdout, code } = await cli('doctor', app('unsafe', options), '--json', { NODE_ENV: 'production' })
    expect(JSON.parse(stdout).findings.map(({ code }: { code: string }) => code)).toEqual([
      'trust-host',
      'debug',
      'throttle-mail',
      'throttle-credentials',
      'session-age',
      'email-linking',
      'checks',
      'demo-account',
    ])
    expect(code).toBe(0)
    const proxy = app('proxy', `origin: 'https://app.example', redirectProxyUrl: 'https://proxy.example/auth', logger: { warn() {} }`)
    const { findings } = JSON.parse((await cli('doctor', proxy, '--json', '--offline')).stdout)
    expect(findings.map(({ code }: { code: string }) => code)).toEqual(['redirect-proxy'])
  })

  it.each([
    ['a driver without an atomic command', 'createStorage()', ['adapter-not-atomic']],
    ['files, which refuse a second process', `createStorage({ driver: fsDriver({ base: './data' }) })`, []],
  ])('warns of a store where one-time use holds per process: %s', async (name, storage, codes) => {
    linkPackages('unstorage')
    const code = `import { createStorage } from 'unstorage'
      import fsDriver from 'unstorage/drivers/fs-lite'
      import { adapterPlugin } from 'authkernel/plugins/adapter'
      import { unstorageAdapter } from 'authkernel/plugins/unstorage'\n`
    const options = `origin: 'https://app.example', logger: { warn() {} }`
    const uses = app(`uses ${name}`, options, undefined, `.use(adapterPlugin(unstorageAdapter(${storage})))`, code)
    const given = app(`given ${name}`, `${options}, adapter: unstorageAdapter(${storage})`, undefined, '', code)
    for (const file of [uses, given]) {
      const { stdout } = await cli('doctor', file, '--json')
      expect(JSON.parse(stdout).findings.map(({ code }: { code: string }) => code)).toEqual(codes)
    }
  })

  it('production without an address that counts is an error: every request would be answered 500', async () => {
    const file = app('addressless', `providers: []`)
    const { stdout, code } = await cli('doctor', file, '--json', { NODE_ENV: 'production' })
    expect(code).toBe(1)
    expect(JSON.parse(stdout).findings).toEqual([
      { level: 'error', code: 'origin', message: expect.stringContaining('Set AUTH_URL=https://your-app.example') },
    ])
    const findings = JSON.parse((await cli('doctor', file, '--json')).stdout).findings as object[]
    expect(findings).toEqual([{ level: 'warning', code: 'origin', message: expect.stringContaining('does not come to localhost') }])
    const twin = app('addressed', `providers: []`)
    expect(await cli('doctor', twin, '--json', { NODE_ENV: 'production', AUTH_URL: 'https://app.example' })).toMatchObject({ code: 0 })
  })

  it('packages and tables that are missing are errors with the command to type, all at once', async () => {
    linkPackages('@libsql', 'libsql', 'kysely')
    const code = `import { createClient } from '@libsql/client'
      import { Kysely } from 'kysely'
      import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
      import { webauthnPlugin } from 'authkernel/plugins/webauthn'
      const adapter = sqlAdapter(new Kysely({ dialect: libsqlDialect({ client: createClient({ url: ':memory:' }) }) }))
      const lib = () => Promise.reject(new Error('not installed'))
      const email = { id: 'mail', name: 'Mail', type: 'email', server: 'smtp://127.0.0.1', lib }\n`
    const file = app(
      'missing',
      `origin: 'https://app.example', adapter, providers: [email]`,
      undefined,
      '.use(webauthnPlugin({ lib }))',
      code,
    )
    const { stdout, code: exit } = await cli('doctor', file, '--json')
    expect(exit).toBe(1)
    const { findings } = JSON.parse(stdout) as { findings: { level: string; code: string; message: string }[] }
    // The page for password managers is no error where its address does not answer.
    expect(findings.map(({ code, level }) => `${level} ${code}`)).toEqual([
      'error missing',
      'error missing',
      'error migrate',
      'warning root-path',
    ])
    const [passkey, mail, tables] = findings.map(({ message }) => message)
    expect(passkey).toMatch(/"passkey" needs @simplewebauthn\/server 14: npm install @simplewebauthn/)
    expect(mail).toMatch(/"mail" needs nodemailer 7, 8 or 10: npm install nodemailer/)
    expect(tables).toMatch(
      /lacks the tables users, accounts, verification_token, sessions, authenticators\..*npx authkernel migrate --apply/,
    )
  })

  it('asks the address for each path below /.well-known/ and names the line to add', async () => {
    const uses = `.use({ name: 'express', setup: (kernel) => {
      kernel.route({ method: 'GET', path: '/.well-known/good', at: 'root', public: true, handler: () => new Response('here') })
      kernel.route({ method: 'GET', path: '/.well-known/lost', at: 'root', public: true, handler: () => new Response('here') })
    } })`
    const file = app('root', `trustHost: true`, undefined, uses)
    const { stdout, code } = await cli('doctor', file, '--origin', issuerUrl, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout).findings).toContainEqual({
      level: 'error',
      code: 'root-path',
      message: `${issuerUrl}/.well-known/lost answered 404, the app 200: requests do not reach authkernel. Add: app.use(auth.express.root)`,
    })
    expect(stdout).not.toContain('/.well-known/good answered')
  })

  it('loads what a factory of a binding made, also one whose options are a function of the request', async () => {
    const at = (name: string, call: string): string => {
      writeFileSync(
        join(folder, `${name}.ts`),
        `import { NextAuth } from 'authkernel/bindings/next'\nimport { FetchAuth } from 'authkernel/bindings/fetch'\nvoid FetchAuth\n${call}\n`,
      )
      return `${name}.ts`
    }
    const options = `{ secret: '${secret}', origin: 'https://app.example', providers: [${oidc('acme', '/good')}] }`
    const next = at('next', `export const { handlers, auth, signIn } = NextAuth(${options})`)
    const lazy = at('lazy', `export const { handlers, auth } = NextAuth(async () => (${options}))`)
    for (const file of [next, lazy]) {
      const { stdout } = await cli('doctor', file, '--json')
      expect(JSON.parse(stdout)).toMatchObject({ ok: true, providers: [{ id: 'acme' }] })
      expect(JSON.parse(stdout).providers[0].callbackUrl).toBe('https://app.example/api/auth/callback/acme')
    }
    const broken = at('broken', `export const { auth } = NextAuth((request) => ({ secret: request.headers.get('x').trim() }))`)
    expect(await cli('doctor', broken)).toMatchObject({ code: 1, stderr: expect.stringContaining('are a function of the request') })
  })

  it('lets Vite load the module where the project is built with it: only its plugins know `$env/…`', async () => {
    const project = join(folder, 'vite')
    mkdirSync(join(project, 'src'), { recursive: true })
    mkdirSync(join(project, 'node_modules'))
    symlinkSync(join(root, 'node_modules/vitest/node_modules/vite'), join(project, 'node_modules/vite'), 'junction')
    writeFileSync(join(project, 'package.json'), '{"type":"module"}')
    const plugin = `{ name: 'env', resolveId: (id) => (id.startsWith('$env/') ? id : null), load: (id) => (id.startsWith('$env/') ? 'export const WORD = "told"' : null) }`
    writeFileSync(join(project, 'vite.config.js'), `export default { plugins: [${plugin}] }`)
    writeFileSync(
      join(project, 'src/auth.ts'),
      `import { WORD } from '$env/static/private'
       export const auth = { ready: async () => {}, inspect: () => ({ routes: [] }), use: () => { throw new Error('loaded ' + WORD) }, close: async () => {} }`,
    )
    const written: string[] = []
    const out = { write: (text: string) => void written.push(text) }
    await runCli(['routes'], { stdout: out, stderr: out, env: {}, cwd: project })
    expect(written.join('')).toContain('told')
  })

  it('prints plain text where no terminal is, and no secret anywhere', async () => {
    const file = app('plain', `origin: 'https://app.example', providers: [${oidc('acme', '/good')}]`)
    for (const args of [
      ['doctor', file],
      ['doctor', '--help'],
    ]) {
      const { stdout, stderr } = await spawned(...args)
      expect(stdout).toContain('doctor')
      expect(stdout).not.toContain('\u001B')
      expect(stdout + stderr).not.toContain(secret)
      expect(stdout + stderr).not.toContain('client secret')
    }
    expect((await cli('doctor', file)).stdout).toMatch(/acme +oidc +https:\/\/app\.example\/auth\/callback\/acme/)
  })

  it('says what it looked for when there is no auth module, and what a module exports instead', async () => {
    expect(await cli('doctor')).toMatchObject({ code: 1, stderr: expect.stringContaining('No auth module found') })
    writeFileSync(join(folder, 'empty.mjs'), 'export const other = 1')
    expect(await cli('doctor', 'empty.mjs')).toMatchObject({ code: 1, stderr: expect.stringContaining('exports other, but no `auth`') })
    expect(await cli('doctor', 'nowhere.mjs', '--json')).toMatchObject({ code: 1, stdout: expect.stringContaining('"ok": false') })
  })

  it('reads environment files, and lets what is set already win', async () => {
    const [file, twin] = ['env', 'twin'].map((name) => app(name, `origin: 'https://app.example'`, 'process.env.MY_SECRET'))
    writeFileSync(join(folder, 'my.env'), `MY_SECRET="${secret}"\n`)
    expect((await cli('doctor', file!, '--env', 'my.env', '--json')).code).toBe(0)
    expect((await cli('doctor', twin!, '--env', 'my.env', '--json', { MY_SECRET: 'short' })).code).toBe(1)
    expect(await cli('doctor', file!, '--env', 'absent.env')).toMatchObject({ code: 1, stderr: expect.stringContaining('absent.env') })
  })
})

describe('routes', () => {
  it('lists the routes below the base path with their plugin', async () => {
    const file = app(
      'routes',
      `basePath: '/api/auth'`,
      undefined,
      `.use({ name: 'mine', setup: (kernel) => { kernel.route({ method: 'GET', path: '/mine', handler: () => new Response() }) } })`,
    )
    const { stdout } = await cli('routes', file, '--json')
    expect(JSON.parse(stdout).routes).toEqual(
      expect.arrayContaining([
        { method: 'GET', path: '/api/auth/session', plugin: 'kernel' },
        { method: 'GET', path: '/api/auth/mine', plugin: 'mine' },
      ]),
    )
    expect((await cli('routes', file)).stdout).toMatch(/GET +\/api\/auth\/mine +mine\n/)
  })
})

describe('records', () => {
  // A file for each command: the adapter of a module that was loaded before is closed.
  const setUp = (name: string): string => {
    linkPackages('@libsql', 'libsql', 'kysely')
    return app(
      name,
      `origin: 'https://app.example', session: { strategy: 'jwt' }, adapter`,
      undefined,
      `.use({ name: 'keeper', setup: (kernel) => kernel.records('apiKey', {
        fields: { userId: { type: 'string', max: 64 }, label: { type: 'string', max: 80, default: 'mine' }, secret: { type: 'text', sealed: true, optional: true }, until: { type: 'date', optional: true } },
        unique: [['userId', 'label']], owner: 'user', expires: 'until' }) })`,
      `import { createClient } from '@libsql/client'
      import { Kysely } from 'kysely'
      import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
      const adapter = sqlAdapter(new Kysely({ dialect: libsqlDialect({ client: createClient({ url: 'file:${join(folder, `${name}.db`).replaceAll('\\', '/')}' }) }) }), { migrate: true })\n`,
    )
  }

  it('are printed as models for Prisma and Drizzle, and as statements', async () => {
    const prisma = (await cli('schema', 'prisma', setUp('models-prisma'))).stdout
    expect(prisma).toContain('model AuthApiKey {')
    expect(prisma).toContain('  userId String @map("user_id")')
    expect(prisma).toContain('  label String @default("mine")')
    expect(prisma).toContain('  @@unique([userId, ns, label], map: "auth_api_key_user_id_label_key")')
    expect(prisma).toContain('  @@index([until], map: "auth_api_key_until_end")\n  @@map("auth_api_key")')
    const drizzle = (await cli('schema', 'drizzle', setUp('models-drizzle'))).stdout
    expect(drizzle).toMatch(/^import \{ index, primaryKey, sqliteTable, text, uniqueIndex \} from 'drizzle-orm\/sqlite-core'/)
    expect(drizzle).toContain(`  label: text('label').notNull().default("mine"),`)
    expect((await cli('schema', 'sql', setUp('models-sql'))).stdout).toMatch(
      /create table if not exists "auth_api_key" .*;\ncreate unique index "auth_api_key_user_id_label_key"/,
    )
    expect(await cli('schema', 'xml', 'none.ts')).toMatchObject({ code: 1, stderr: expect.stringContaining('Known: prisma, drizzle, sql') })
    expect(await cli('schema', 'sql', app('no-records', ''))).toMatchObject({ code: 1, stderr: expect.stringContaining('not in SQL') })
  }, 60_000)

  it('are cleaned up and sealed anew', async () => {
    const { stdout, code } = await cli('cleanup', setUp('kept-json'), '--json')
    expect(code, stdout).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, removed: { records: { apiKey: 0 }, sessions: 0, tokens: 0, erasures: 0 } })
    expect((await cli('cleanup', setUp('kept'))).stdout).toContain('0 rows were removed.')
    expect(await cli('reseal', setUp('sealed'))).toMatchObject({ code: 0, stdout: '0 rows are sealed with the newest secret.\n' })
  }, 60_000)
})

describe('migrate', () => {
  const adapter = `{ createUser() {}, migrate: async ({ apply }) => ({ statements: ['create table users (id text)' + (apply ? ' -- applied' : '')] }) }`

  it('shows the statements and runs them only with --apply', async () => {
    const file = app('sql', `origin: 'https://app.example', session: { strategy: 'jwt' }, adapter: ${adapter}`)
    expect(await cli('migrate', file)).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('create table users (id text);'),
    })
    expect(JSON.parse((await cli('migrate', file, '--json')).stdout)).toMatchObject({
      applied: false,
      statements: ['create table users (id text)'],
    })
    expect(JSON.parse((await cli('migrate', file, '--apply', '--json')).stdout)).toMatchObject({
      applied: true,
      statements: ['create table users (id text) -- applied'],
    })
  })

  it('brings an empty database of the SQL adapter up to date, and finds nothing to do the second time', async () => {
    linkPackages('@libsql', 'libsql', 'kysely')
    const code = `import { createClient } from '@libsql/client'
      import { Kysely } from 'kysely'
      import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
      export const adapter = sqlAdapter(new Kysely({ dialect: libsqlDialect({ client: createClient({ url: 'file:${join(folder, 'app.db').replaceAll('\\', '/')}' }) }) }))\n`
    // Given as an option, or by the plugin alone.
    const option = [`origin: 'https://app.example', adapter`, undefined, '', code] as const
    const plugin = `import { adapterPlugin } from 'authkernel/plugins/adapter'\n${code.replace('export const', 'const')}`
    const first = app('sql-one', ...option)
    const second = app('sql-two', `origin: 'https://app.example'`, undefined, '.use(adapterPlugin(adapter))', plugin)
    const third = app('sql-three', ...option)
    const dry = await cli('migrate', first, '--json')
    expect(JSON.parse(dry.stdout)).toMatchObject({
      ok: true,
      applied: false,
      statements: expect.arrayContaining([expect.stringMatching(/create table/i)]),
    })
    expect(JSON.parse((await cli('migrate', second, '--apply', '--json')).stdout)).toMatchObject({
      ok: true,
      applied: true,
      statements: JSON.parse(dry.stdout).statements,
    })
    expect((await cli('migrate', third)).stdout).toBe('The database is up to date.\n')
  })

  it('says what stands in the way, and not that all is well', async () => {
    const noted = `{ createUser() {}, migrate: async () => ({ statements: [], notes: ['users: two of one address'] }) }`
    const { stdout, code } = await cli('migrate', app('noted', `session: { strategy: 'jwt' }, adapter: ${noted}`))
    expect(stdout).toBe('note users: two of one address\nThere is nothing else to do.\n')
    expect(code).toBe(1)
    const refused = `Object.assign(new Error(''), { errors: [new Error('connect ECONNREFUSED ::1:5432'), new Error('connect ECONNREFUSED 127.0.0.1:5432')] })`
    const down = `{ createUser() {}, migrate: async () => { throw ${refused} } }`
    const file = app('down', `session: { strategy: 'jwt' }, adapter: ${down}`)
    const message = /could not be read: connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127\.0\.0\.1:5432/
    expect(await cli('migrate', file)).toMatchObject({ code: 1, stderr: expect.stringMatching(message) })
    expect(JSON.parse((await cli('migrate', file, '--json')).stdout)).toEqual({ ok: false, error: expect.stringMatching(message) })
  })

  it('refuses a mistyped option instead of passing over it', async () => {
    expect(await cli('migrate', '--aply')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /no option "--aply". Known: --env, --apply, --concurrently, --from, --file, --accept, --conflicts, --finish, --html, --json\./,
      ),
    })
  })

  it('takes over from better-auth, a dry run first', async () => {
    const counts = `{ found: 2, new: 2, unchanged: 0, refreshed: 0, kept: 0, conflict: 0, removed: 0, refused: 0, conflicts: [], open: 0, refusals: {} }`
    const problem = `{ name: 'bans', level: 'loss', count: 1, message: '1 banned users could sign in: <b>use adminPlugin.', examples: ['eve@example.com'] }`
    const report = `{ users: 3, sessions: 4, source: 'better-auth', kinds: { passwords: ${counts} }, problems: [${problem}], before: { passwords: 1 },
      after: { passwords: 3 }, refused: accept.includes('bans') ? [] : ['bans'], applied: apply && accept.includes('bans'), notes: [] }`
    const taking = `async ({ apply, accept }: { apply: boolean; accept: string[] }) => (${report})`
    const uses = `.use({ name: 'other', setup: () => ({ betterAuth: { takeOver: ${taking}, compare: async () => [{ kind: 'passwords', there: 17, taken: 0 }] } }) })`
    const file = app('other', `session: { strategy: 'jwt' }, adapter: ${adapter}`, undefined, uses)
    const dry = await cli('migrate', file, '--from', 'better-auth', '--html', 'move.html')
    expect(dry.code).toBe(1)
    expect(dry.stdout).toMatch(
      /3 users and 4 sessions[\s\S]*passwords +2 +2 [\s\S]*passwords: 1 here before, 3 afterwards[\s\S]*stop 1 banned[\s\S]*--accept bans[\s\S]*eve@example\.com[\s\S]*What stops `--apply`: bans\./,
    )
    expect(readFileSync(join(folder, 'move.html'), 'utf8')).toMatch(
      /3 users and 4 sessions[\s\S]*<td>bans<\/td><td>stops<\/td><td>1<\/td><td>[^<]*&lt;b&gt;use adminPlugin/,
    )
    const refused = JSON.parse((await cli('migrate', file, '--from', 'better-auth', '--apply', '--json')).stdout)
    expect(refused).toMatchObject({ ok: false, applied: false, statements: expect.any(Array), from: { refused: ['bans'] } })
    const done = JSON.parse((await cli('migrate', file, '--from', 'better-auth', '--apply', '--accept', 'bans', '--json')).stdout)
    expect(done).toMatchObject({ ok: true, applied: true, from: { users: 3, refused: [] } })
    expect((await cli('migrate', file, '--accept', 'bans')).stderr).toContain('give --from')
    expect((await cli('migrate', file, '--from', 'better-auth', '--conflicts', 'mine')).stderr).toContain('here or source')
    const doctor = await cli('doctor', file)
    expect(doctor).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/17 of 17 passwords of better-auth[\s\S]*migrate --from better-auth --apply/),
    })
    expect(await cli('migrate', file, '--from', 'authjs')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--from knows better-auth'),
    })
    const without = app('without', `session: { strategy: 'jwt' }, adapter: ${adapter}`)
    expect((await cli('migrate', without, '--from', 'better-auth')).stderr).toContain('betterAuthCompatPlugin({ db })')
  })

  it('doctor sees what changed at better-auth, also where the counts are the same', async () => {
    const counts = '{ found: 2, new: 1, unchanged: 1, refreshed: 0, kept: 0, conflict: 0, removed: 1, refused: 0 }'
    const withCount = (there: number): string =>
      `.use({ name: 'other', setup: () => ({ betterAuth: { takeOver: async () => ({ kinds: { members: ${counts} } }), compare: async () => [{ kind: 'members', there: ${there}, taken: ${there} }] } }) })`
    const few = app('few', `session: { strategy: 'jwt' }, adapter: ${adapter}`, undefined, withCount(2))
    expect(await cli('doctor', few)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/2 members of better-auth changed[\s\S]*migrate --from better-auth --apply/),
    })
    const many = app('many', `session: { strategy: 'jwt' }, adapter: ${adapter}`, undefined, withCount(1_000_000))
    expect((await cli('doctor', many)).stdout).not.toContain('of better-auth')
  })

  it('finishes a move from better-auth, says what stays, and refuses a later run', async () => {
    const problems = `[{ name: 'sso-providers', level: 'loss', count: 2, message: '2 rows of ssoProvider' }, { name: 'left-factors', level: 'note', count: 1, message: '1 second factors stay' }]`
    const end = `accept.includes('sso-providers') ? { finished: true, at: new Date(0), problems: ${problems}, refused: [], statements: ['delete from "twoFactor"'] }
      : { finished: false, at: null, problems: ${problems}, refused: ['sso-providers'], statements: [] }`
    const over = `{ users: 0, sessions: 0, source: 'better-auth', kinds: {}, problems: [{ name: 'finished', level: 'note', count: 1, message: 'It was finished on a day.' }], before: {}, after: {}, refused: [], applied: false }`
    const uses = `.use({ name: 'other', setup: () => ({ betterAuth: { finish: async ({ accept }: any) => (${end}), takeOver: async () => (${over}) } }) })`
    const file = app('finish', `session: { strategy: 'jwt' }, adapter: ${adapter}`, undefined, uses)
    const move = ['migrate', file, '--from', 'better-auth'] as const
    expect(await cli(...move, '--finish')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /stop 2 rows of ssoProvider \(accept it: --accept sso-providers\)[\s\S]*The move goes on\. What stops `--finish`: sso-providers\./,
      ),
    })
    expect(await cli(...move, '--finish', '--accept', 'sso-providers')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/note 1 second factors stay[\s\S]*delete from "twoFactor";[\s\S]*finished since 1970-01-01/),
    })
    expect((await cli(...move, '--finish', '--apply')).stderr).toContain('--finish takes --accept alone')
    expect((await cli('migrate', file, '--finish')).stderr).toContain('--from better-auth')
    expect(await cli(...move, '--apply')).toMatchObject({ code: 1, stderr: expect.stringContaining('finished on a day') })
  })

  it('imports a service: reads the files in order, and tells how far it is on stderr', async () => {
    const report = `{ source: 'clerk', kinds: {}, problems: [], before: {}, after: {}, refused: [], applied: apply }`
    const run = `async ({ from, files, apply, accept, onProgress }: any) => {
      let text = ''
      for (const file of files()) for await (const chunk of file) text += Buffer.from(chunk).toString()
      onProgress(1500, apply ? 'write' : 'look')
      return { ...${report}, problems: [{ name: 'n', level: 'note', count: 1, message: from + ' ' + text + ' ' + accept.join() }] }
    }`
    const uses = `.use({ name: 'other', setup: () => ({ import: { sources: ['clerk'], run: ${run} } }) })`
    const file = app('service', `session: { strategy: 'jwt' }, adapter: ${adapter}`, undefined, uses)
    writeFileSync(join(folder, 'one.csv'), 'one')
    writeFileSync(join(folder, 'two.json.gz'), gzipSync('two'))
    const files = ['--from', 'clerk', '--file', 'one.csv,two.json.gz']
    const dry = await cli('migrate', file, ...files)
    expect(dry).toMatchObject({
      stdout: expect.stringMatching(/note clerk onetwo \n[\s\S]*--from clerk --file one\.csv,two\.json\.gz --apply/),
      stderr: expect.stringMatching(/^read 1,500 rows, [\d,]+ a second\n$/),
    })
    // What passed the look is not looked at again.
    expect(await cli('migrate', file, ...files, '--apply')).toMatchObject({
      stdout: expect.stringContaining('note clerk onetwo all'),
      stderr: expect.stringMatching(/read 1,500 rows[\s\S]*imported 1,500 rows/),
    })
    expect((await cli('migrate', file, '--from', 'clerk', '--file', 'three.csv')).stderr).toContain('There is no file')
    expect((await cli('migrate', file, '--from', 'clark')).stderr).toContain('--from knows better-auth, clerk, and not "clark"')
    expect((await cli('migrate', file, '--file', 'one.csv')).stderr).toContain('give --from')
  })

  it('says so when there is nothing to migrate', async () => {
    expect(await cli('migrate', app('none', ''))).toMatchObject({ code: 1, stderr: expect.stringContaining('no adapter that migrates') })
  })
})

describe('provider', () => {
  it('lists what the package brings and tells how to set one up', async () => {
    expect(JSON.parse((await cli('provider', '--json')).stdout).providers).toContain('github')
    const { stdout } = await cli('provider', 'github', '--origin', 'https://app.example', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'github',
      type: 'oauth',
      callbackUrl: 'https://app.example/auth/callback/github',
      variables: [
        { name: 'AUTH_GITHUB_ID', option: 'clientId' },
        { name: 'AUTH_GITHUB_SECRET', option: 'clientSecret' },
      ],
      code: expect.stringContaining(`from 'authkernel/providers/github'`),
    })
  })

  it('offers those that are alike for an unknown one', async () => {
    expect(await cli('provider', 'githb')).toMatchObject({ code: 1, stderr: expect.stringContaining('github') })
  })
})

describe('the command itself', () => {
  it('knows its version and its commands, and refuses others', async () => {
    expect((await cli('--version')).stdout.trim()).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version)
    expect((await cli()).stdout).toMatch(/secret[\s\S]*doctor[\s\S]*routes[\s\S]*migrate[\s\S]*provider/)
    expect(await cli('docter')).toMatchObject({ code: 1, stderr: expect.stringContaining('no command "docter"') })
    expect(await cli('routes', 'a.mjs', 'b.mjs')).toMatchObject({ code: 1, stderr: expect.stringContaining('Too many arguments') })
  })

  it('paints only where a person looks at a terminal and wants colours', () => {
    const text = (isTTY: boolean, env: Record<string, string>): string => createPaint({ isTTY }, env).bad('x')
    expect(text(true, {})).toBe('\u001B[31mx\u001B[39m')
    expect([text(false, {}), text(true, { NO_COLOR: '1' }), text(true, { TERM: 'dumb' })]).toEqual(['x', 'x', 'x'])
  })

  it('ends with the exit code of the command', async () => {
    expect(await spawned('docter')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no command "docter"') })
  })

  it('ends although the module of the app listens', async () => {
    const file = app(
      'listens',
      'providers: []',
      undefined,
      '',
      "import { createServer } from 'node:http'\ncreateServer().listen(0, '127.0.0.1')\n",
    )
    expect(await spawned('doctor', file, '--json')).toMatchObject({ code: 0, stdout: expect.stringContaining('"ok"') })
  })

  it('aligns columns', () => {
    expect(
      table([
        ['a', 'bb', 'c'],
        ['aaa', 'b', 'cc'],
      ]),
    ).toEqual(['a    bb  c', 'aaa  b   cc'])
  })
})

/** Writes a module that exports `auth` and returns its name. */
function app(name: string, options: string, secretCode = `'${secret}'`, uses = '', before = ''): string {
  writeFileSync(
    join(folder, `${name}.ts`),
    `import { createAuth } from 'authkernel'\n${before}export const auth = createAuth({ secret: ${secretCode}, ${options} })${uses}\n`,
  )
  return `${name}.ts`
}

/** Makes packages of this repository visible to the app. */
function linkPackages(...names: string[]): void {
  for (const name of names) {
    const link = join(folder, 'node_modules', name)
    if (!existsSync(link)) symlinkSync(join(root, 'node_modules', name), link, 'junction')
  }
}

function oidc(id: string, path: string): string {
  return `{ id: '${id}', name: 'Acme', type: 'oidc', issuer: '${issuerUrl}${path}', clientId: 'client', clientSecret: 'client secret' }`
}

/** Runs the command in the app's folder. A last argument that is an object is the environment. */
async function cli(...args: (string | Record<string, string>)[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env: Record<string, string> = Object.assign({ NODE_ENV: 'test' }, ...args.filter((arg) => typeof arg === 'object'))
  const before = { ...process.env }
  const written = { stdout: '', stderr: '' }
  const into = (name: 'stdout' | 'stderr') => ({ write: (text: string) => void (written[name] += text) })
  for (const name of Object.keys(process.env)) if (/^(?:AUTH|MY)_/.test(name)) delete process.env[name]
  Object.assign(process.env, env)
  const code = await runCli(
    args.filter((arg) => typeof arg === 'string'),
    { stdout: into('stdout'), stderr: into('stderr'), env, cwd: folder },
  )
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  Object.assign(process.env, before)
  return { code, ...written }
}

/** The same as a process of its own. */
function spawned(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'test/_cli.mjs'), ...args], { cwd: folder, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    )
  })
}

describe('sso test', () => {
  it('says what is wrong with a connection', async () => {
    const source = `import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { ssoPlugin } from 'authkernel/plugins/sso'
export const auth = createAuth({ secret: '${secret}', trustHost: true }).use(adapterPlugin(memoryAdapter())).use(ssoPlugin())
const connection = { name: 'Acme', issuer: 'https://127.0.0.1', clientId: 'app', clientSecret: 'x', domains: ['acme.example'] }
const { id } = await auth.sso.create({ system: true }, null, connection)
// The rows of this process alone have the connection: the test cannot know its id.
const { test } = auth.sso
auth.sso.test = (by, given) => test(by, given === 'mine' ? id : given)
`
    writeFileSync(join(folder, 'company.ts'), source)
    const found = await cli('sso', 'test', 'mine', 'company.ts')
    expect([found.code, found.stdout]).toEqual([
      1,
      expect.stringMatching(/ok enabled[\s\S]*ok domains: acme.example[\s\S]*fault discovery: .*no public address/),
    ])
    expect((await cli('sso', 'burn')).stderr).toContain('authkernel sso test <connection>')
    expect((await cli('sso', 'test', 'x', app('without-sso', 'trustHost: true'))).stderr).toContain('does not use ssoPlugin')
  }, 60_000)
})

describe('users', () => {
  it('exports the data of a user into a new file, says what an erasure would delete, and erases', async () => {
    const source = `import { createAuth } from 'authkernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { memoryAdapter } from 'authkernel/plugins/memory'
const adapter = memoryAdapter()
export const auth = createAuth({ secret: '${secret}', trustHost: true }).use(adapterPlugin(adapter)).use(accountsPlugin()).use(apiKeysPlugin())
await adapter.createUser({ id: 'ada', email: 'ada@example.com', emailVerified: null, name: 'Ada' })
await auth.apiKeys.create({ userId: 'ada' }, { name: 'script' })
`
    writeFileSync(join(folder, 'people.ts'), source)
    const shown = await cli('users', 'export', 'ada', 'people.ts')
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/"email": "ada@example.com"[\s\S]*"apiKey"/)])
    expect(await cli('users', 'export', 'ada', 'people.ts', '--out', 'ada.json')).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(join(folder, 'ada.json'), 'utf8'))).toMatchObject({ user: { id: 'ada' } })
    expect((await cli('users', 'export', 'ada', 'people.ts', '--out', 'ada.json')).stderr).toContain('could not be written')
    const planned = await cli('users', 'erase', 'ada', 'people.ts')
    expect([planned.code, planned.stdout]).toEqual([1, expect.stringMatching(/apiKey +1[\s\S]*Nothing was erased/)])
    const erased = await cli('users', 'erase', 'ada', 'people.ts', '--yes', '--json')
    expect([erased.code, JSON.parse(erased.stdout)]).toEqual([0, expect.objectContaining({ records: { apiKey: 1 }, left: {} })])
    expect((await cli('users', 'erase', 'none', 'people.ts', '--yes')).stderr).toContain('no user with the id "none"')
    expect((await cli('users', 'burn', 'ada', 'people.ts')).stderr).toContain('authkernel users export <user>')
    expect((await cli('users', 'export', 'x', app('without-accounts', 'trustHost: true'))).stderr).toContain('does not use accountsPlugin')
  }, 60_000)
})
