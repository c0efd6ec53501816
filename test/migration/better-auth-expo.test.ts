/** `@better-auth/expo` over HTTP, against better-auth and against authkernel. The phone is played by stand-ins: its modules run on phones alone. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BetterAuthApi } from 'authkernel/plugins/better-auth-compat'
import type { SqlAdapter } from 'authkernel/plugins/sql'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dialectOf, dropStore, newDatabase, type SqlSpec } from '../adapters/_stores.ts'
import { root } from '../_sources.ts'
import { totpAt } from '../_totp.ts'
import { type Front, listenWith, startFront } from './_front.ts'

interface App {
  handler(request: Request): Promise<Response>
}
interface Moved extends App {
  adapter: SqlAdapter
  auth: BetterAuthApi & { ready(): Promise<void>; close(): Promise<void> }
}
type Answer = Promise<{ data: Record<string, unknown> | null; error: { status: number; code?: string } | null }>
interface AuthClient {
  getSession(): Answer
  getCookie(): Promise<string>
  signIn: { email(fields: object): Answer }
  signUp: { email(fields: object): Answer }
  signOut(): Answer
  twoFactor: { verifyTotp(fields: object): Answer; enable(fields: object): Answer }
}
interface Packages {
  createAuthClient(options: object): AuthClient
  expoClient(options: object): object
  twoFactorClient(): object
}

const folder = join(root, 'test/migration/passkeys-1.7')
const secret = 'a secret that both apps have, of 44 letters..'
const people = { ann: 'seven purple otters sing', cleo: 'nine yellow llamas dance' }
const platform: Readonly<Record<string, string>> = {
  'react-native': `export const Platform = { OS: 'ios' }; export const AppState = { addEventListener: () => ({ remove() {} }) }`,
  'expo-constants': `export default { expoConfig: { scheme: 'acme' } }`,
  'expo-linking': `export const createURL = (path, { scheme = 'acme' } = {}) => scheme + '://' + path.replace(/^\\//, '')`,
  'expo-network': `export const addNetworkStateListener = () => ({ remove() {} })`,
  'expo-web-browser': `export const openAuthSessionAsync = async () => { throw new Error('no browser is opened in this test') }`,
}

describe.skipIf(!process.env.CI && !existsSync(join(folder, 'node_modules/@better-auth/expo')))('@better-auth/expo', () => {
  const work = mkdtempSync(join(root, 'test/migration/.better-auth-'))
  const mails: { to: string; text: string }[] = []
  let front: Front
  let spec: SqlSpec
  let before: RequestListener
  let after: RequestListener
  let close: () => Promise<void>
  let packages: Packages
  let totpSecret = ''

  beforeAll(async () => {
    packages = await bundle(work)
    front = await startFront('')
    spec = await newDatabase('libsql')
    cpSync(join(root, 'test/migration/apps/better-auth'), work, { recursive: true })
    const rewrite = (name: string, change: (text: string) => string): string => {
      const file = join(work, name)
      writeFileSync(file, change(readFileSync(file, 'utf8')))
      return file
    }
    // The phone sends its scheme as origin: better-auth must know it.
    const old = rewrite('before.ts', (text) =>
      text
        .replaceAll(/'better-auth(?=['/])/g, `'better-auth-1.7`)
        .replace('baseURL: origin,', "baseURL: origin, trustedOrigins: ['acme://'],"),
    )
    const fresh = rewrite('after.ts', (text) => text.replace('betterAuthCompatPlugin({ db', 'betterAuthCompatPlugin({ routes: true, db'))
    const setting = () => {
      const { dialect } = dialectOf(spec)
      const provider = { issuer: 'http://127.0.0.1:9', clientId: 'app', clientSecret: 'app-secret' }
      return { database: { dialect, type: 'sqlite' }, origin: front.origin, secret, provider, mails }
    }
    const theirs = await ((await import(/* @vite-ignore */ old)) as { start(setting: object): Promise<App> }).start(setting())
    const ours = await ((await import(/* @vite-ignore */ fresh)) as { start(setting: object): Promise<Moved> }).start(setting())
    before = listenWith(front.origin, (request) => theirs.handler(request))
    after = listenWith(front.origin, (request) => ours.handler(request))
    close = () => ours.auth.close()
    front.answerWith(before)
    for (const [name, password] of Object.entries(people)) {
      const { client } = phone()
      expect((await client.signUp.email({ name, email: `${name}@example.com`, password })).error).toBeNull()
      await vi.waitFor(() => expect(mails.at(-1)?.to).toBe(`${name}@example.com`))
      await fetch(mails.pop()!.text, { redirect: 'manual' })
      if (name !== 'cleo') continue
      const { data } = await client.twoFactor.enable({ password })
      totpSecret = new URL(String(data?.['totpURI'])).searchParams.get('secret') ?? ''
      expect((await client.twoFactor.verifyTotp({ code: totpAt(totpSecret, Date.now()) })).error).toBeNull()
    }
    await expect(ours.auth.ready()).rejects.toThrow('migrate --apply')
    await ours.adapter.migrate({ apply: true })
    await ours.auth.betterAuth.takeOver({ apply: true })
  }, 120_000)
  afterAll(async () => {
    await close?.()
    await front?.close()
    if (spec) await dropStore(spec)
    rmSync(work, { recursive: true, force: true })
  })

  /** With what its secure store keeps. */
  function phone(): { client: AuthClient; kept: Map<string, string> } {
    const kept = new Map<string, string>()
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      getItemAsync: async (key: string) => kept.get(key) ?? null,
      setItemAsync: async (key: string, value: string) => void kept.set(key, value),
    }
    const plugins = [packages.expoClient({ scheme: 'acme', storage }), packages.twoFactorClient()]
    return { client: packages.createAuthClient({ baseURL: `${front.origin}/api/auth`, plugins }), kept }
  }
  const nameOf = async (client: AuthClient): Promise<unknown> =>
    ((await client.getSession()).data?.['user'] as { name?: unknown } | undefined)?.name
  const ann = { email: 'ann@example.com', password: people.ann }

  it('an app that was signed in before the move still is, signs out and in, and is known after going back', async () => {
    front.answerWith(before)
    const { client } = phone()
    await client.signIn.email(ann)
    expect(await nameOf(client)).toBe('ann')
    front.answerWith(after)
    expect(await nameOf(client)).toBe('ann')
    expect((await client.signOut()).error).toBeNull()
    expect(await nameOf(client)).toBeUndefined()
    expect((await client.signIn.email({ ...ann, password: 'something else entirely' })).error).toMatchObject({
      status: 401,
      code: 'INVALID_EMAIL_OR_PASSWORD',
    })
    expect((await client.signIn.email(ann)).error).toBeNull()
    expect(await client.getCookie()).toContain('better-auth.session_token=')
    expect(await nameOf(client)).toBe('ann')
    front.answerWith(before)
    expect(await nameOf(client)).toBe('ann')
  })

  it('the second factor is asked for', async () => {
    front.answerWith(after)
    const { client } = phone()
    expect((await client.signIn.email({ email: 'cleo@example.com', password: people.cleo })).data).toMatchObject({
      twoFactorRedirect: true,
    })
    expect(await nameOf(client)).toBeUndefined()
    expect((await client.twoFactor.verifyTotp({ code: '000000' })).error?.code).toBe('INVALID_CODE')
    expect((await client.twoFactor.verifyTotp({ code: totpAt(totpSecret, Date.now()) })).error).toBeNull()
    expect(await nameOf(client)).toBe('cleo')
    front.answerWith(before)
    expect(await nameOf(client)).toBe('cleo')
  })
})

async function bundle(work: string): Promise<Packages> {
  const file = join(work, 'packages.mjs')
  const source = `
    export { createAuthClient } from 'better-auth/client'
    export { twoFactorClient } from 'better-auth/client/plugins'
    export { expoClient } from '@better-auth/expo/client'
  `
  await build({
    stdin: { contents: source, resolveDir: folder, loader: 'js' },
    bundle: true,
    outfile: file,
    format: 'esm',
    platform: 'node',
    plugins: [
      {
        name: 'phone',
        setup(esbuild) {
          esbuild.onResolve({ filter: /^(?:react-native|expo-[a-z-]+)$/ }, ({ path }) => ({ path, namespace: 'phone' }))
          esbuild.onLoad({ filter: /.*/, namespace: 'phone' }, ({ path }) => ({ contents: platform[path] ?? '', loader: 'js' }))
        },
      },
    ],
  })
  return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Packages
}
