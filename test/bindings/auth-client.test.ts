/** `createAuthClient<typeof auth>()`: methods that a plugin declares, through the real kernel, in a browser made of stubs; and what gets into a bundle. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { createAuth } from 'authkernel'
import { createAuthClient } from 'authkernel/client'
import { clientMethod, clientMethods } from 'authkernel/kernel'
import { build } from 'esbuild'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { auth } from './_two-step.ts'

const origin = 'https://app.example'
let cookies: Map<string, string>
let requests: Request[]

beforeEach(() => {
  cookies = new Map()
  requests = []
  vi.stubGlobal('location', { href: `${origin}/page` })
  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    if (init.method === 'POST') headers.set('origin', origin)
    const request = new Request(origin + path, { ...init, headers } as RequestInit)
    requests.push(request)
    const response = await auth.handler(request.clone())
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.slice(0, cookie.indexOf(';')).split('=')
      cookies.set(name, value)
    }
    return response
  })
})
afterEach(() => vi.unstubAllGlobals())

const client = createAuthClient<typeof auth>()
const paths = (): string[] => requests.map(({ method, url }) => `${method} ${url.slice(origin.length)}`)

describe('methods of plugins', () => {
  it('a method is a POST with the CSRF token; its answer comes as JSON, dates as text', async () => {
    const { verifiedAt, codes } = await client.twoStep.verify({ code: '123456' })
    expect([verifiedAt.slice(0, 10), codes]).toEqual(['1970-01-01', ['a', 'b']])
    expect(paths()).toEqual(['GET /auth/csrf', 'POST /auth/two-step/verify'])
    expect(await requests[1]?.json()).toMatchObject({ code: '123456', csrfToken: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  it('names that begin with get, list, is or has are GETs, with their input in the address', async () => {
    expect(await client.twoStep.getStatus()).toEqual({ on: true, who: null })
    await client.signIn('pw', { redirect: false })
    expect((await client.twoStep.getStatus()).who).toBe('Ada')
    requests = []
    expect(await client.twoStep.listNotes({ text: 'hello', stars: 2 })).toEqual([{ text: 'hello', stars: 2 }])
    expect(paths()).toEqual([`GET /auth/two-step/list-notes?${new URLSearchParams({ input: '{"text":"hello","stars":2}' })}`])
  })

  it('what the schema of a method refuses is 400 with its issues, and the handler does not run', async () => {
    expect(await client.twoStep.findNote({ text: 'hello', stars: 2 })).toEqual({ text: 'hello', stars: 3 })
    await expect(client.twoStep.findNote({ text: 1 } as never)).rejects.toMatchObject({
      status: 400,
      error: 'InvalidInput',
      issues: [{ message: 'Write a text.', path: ['text'] }],
    })
    await expect(client.twoStep.verify({ code: 'x' })).rejects.toMatchObject({ status: 400, error: 'InvalidInput', issues: [] })
    for (const input of ['{', 'null', '1', '"x"']) {
      const response = await auth.handler(new Request(`${origin}/auth/two-step/list-notes?input=${encodeURIComponent(input)}`))
      expect(response.status).toBe(400)
    }
  })

  it('an error tells its type and code, and nothing of what only the server may know', async () => {
    await expect(client.twoStep.verify({ code: '000000' })).rejects.toMatchObject({
      name: 'AuthClientError',
      status: 401,
      error: 'CredentialsSignin',
      code: 'wrong_code',
    })
    await expect(client.twoStep.fail()).rejects.toMatchObject({ status: 500, error: 'Configuration', code: undefined })
  })

  it('a redirect comes as its address, nothing as null, a Response as it is', async () => {
    expect(await client.twoStep.leave()).toEqual({ url: `${origin}/bye` })
    expect(await client.twoStep.forget()).toBeNull()
    expect(await client.twoStep.raw()).toEqual({ any: 'thing' })
  })

  it('watched sessions are read again after a method that changes something', async () => {
    vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }))
    vi.stubGlobal('addEventListener', () => {})
    const stop = client.createSession({ initial: null }).subscribe(() => {})
    await client.twoStep.getStatus()
    expect(paths()).not.toContain('GET /auth/session')
    await client.twoStep.forget()
    expect(paths()).toContain('GET /auth/session')
    stop()
  })

  it('a POST from another site, without a token, or with a form is refused', async () => {
    const post = (headers: Record<string, string>, body: string) =>
      auth.handler(new Request(`${origin}/auth/two-step/forget`, { method: 'POST', body, headers }))
    const json = { 'content-type': 'application/json' }
    expect((await post({ ...json, origin: 'https://evil.example' }, '{}')).status).toBe(403)
    expect((await post({ ...json, origin }, '{}')).status).toBe(403)
    expect((await post({ 'content-type': 'application/x-www-form-urlencoded', origin }, 'a=b')).status).toBe(415)
  })

  it('members are the same object each time, and a client is no promise', async () => {
    expect(client.twoStep).toBe(client.twoStep)
    expect(client.twoStep.verify).toBe(client.twoStep.verify)
    expect(await Promise.resolve(client)).toBe(client)
    expect(JSON.stringify(client)).toContain('{')
  })

  it.each(['signIn', 'then', 'two-step', 'TwoStep', ''])('a namespace %j is refused at start', async (namespace) => {
    const broken = (): unknown =>
      createAuth({ env: false }).use({ name: 'x', setup: (kernel) => clientMethods(kernel, namespace, { go: clientMethod(() => 1) }) })
    expect(broken).toThrow('clientMethods')
  })
})

describe('bundle', () => {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const bundle = async (contents: string): Promise<{ text: string; gzipped: number }> => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: here, loader: 'ts' },
      bundle: true,
      minify: true,
      splitting: true,
      format: 'esm',
      platform: 'browser',
      outdir: '/out',
      write: false,
      alias: { 'authkernel/client': fileURLToPath(new URL('../../src/client/index.ts', import.meta.url)) },
    })
    // Loaded at first use alone: what no code calls is a file that no page asks for.
    const first = outputFiles.filter(({ path }) => !/passkey|app-flow/.test(path))
    return {
      text: outputFiles.map(({ text }) => text).join('\n'),
      gzipped: first.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0),
    }
  }
  const start = `import { createAuthClient } from 'authkernel/client'; import type { auth } from './_two-step.ts'; export const client = createAuthClient<typeof auth>()`

  it('nothing of the server is in it, the core is under 3 KB gzipped, and a plugin adds only the names that are called', async () => {
    const bare = await bundle(start)
    expect(bare.text).not.toMatch(/server-only|two-?step|jose|node:|clientMethods|createKernel/i)
    expect(bare.gzipped).toBeLessThan(3 * 1024)
    const used = await bundle(
      `${start}; client.twoStep.verify({ code: '1' }); client.twoStep.getStatus(); client.twoStep.listNotes({ text: '', stars: 1 })`,
    )
    expect(used.text).not.toMatch(/server-only/)
    expect(used.gzipped - bare.gzipped).toBeLessThan(200)
  })

  it('each plugin of this package adds less than 1 KB gzipped when every method is called, and no code of the server', async () => {
    const bare = await bundle(start.replace('./_two-step.ts', './_all-methods.ts'))
    const source = readFileSync(new URL('./_all-methods.ts', import.meta.url), 'utf8')
    const calls = [...source.matchAll(/^ {4}client\.(\w+)\.(\w+)/gm)].map(([, namespace = '', name = '']) => ({ namespace, name }))
    const namespaces = [...new Set(calls.map(({ namespace }) => namespace))]
    expect(namespaces.length).toBeGreaterThan(9)
    for (const namespace of namespaces) {
      const used = calls.filter((call) => call.namespace === namespace).map(({ name }) => `client.${namespace}.${name}({} as never)`)
      const { text, gzipped } = await bundle(`${start.replace('./_two-step.ts', './_all-methods.ts')}; ${used.join(';')}`)
      expect([namespace, gzipped - bare.gzipped < 1024]).toEqual([namespace, true])
      expect(text).not.toMatch(/createAuth\b|clientMethod|kernel\.|otpauth|jose|node:/)
    }
  })
})
