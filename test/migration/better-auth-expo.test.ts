/** `@better-auth/expo` over HTTP, against better-auth and against authkernel. The phone is played by stand-ins: its modules run on phones alone. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BetterAuthApi, betterAuthCompatPlugin } from 'authkernel/plugins/better-auth-compat'
import type { SqlAdapter } from 'authkernel/plugins/sql'
import { build } from 'esbuild'
import { Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dialectOf, dropStore, newDatabase, type SqlSpec } from '../adapters/_stores.ts'
import { type RealOp, realOp } from '../_op/real.ts'
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
  signIn: { email(fields: object): Answer; social(fields: object): Answer }
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
  'expo-web-browser': `export const openAuthSessionAsync = (url, to) => globalThis.openAuthSession(url, to)`,
}

type OpenAuthSession = (url: string, to: string) => Promise<{ type: string; url?: string }>
// What the stand-in of expo-web-browser calls.
const phoneBrowser = globalThis as { openAuthSession?: OpenAuthSession }

describe.skipIf(!process.env.CI && !existsSync(join(folder, 'node_modules/@better-auth/expo')))('@better-auth/expo', () => {
  const work = mkdtempSync(join(root, 'test/migration/.better-auth-'))
  const mails: { to: string; text: string }[] = []
  let front: Front
  let op: RealOp
  let spec: SqlSpec
  let db: Kysely<object>
  let before: RequestListener
  let after: RequestListener
  let close: () => Promise<void>
  let packages: Packages
  let totpSecret = ''

  beforeAll(async () => {
    packages = await bundle(work)
    front = await startFront('')
    op = await realOp([
      { client_id: 'app', client_secret: 'app-secret-app-secret-app-secret', redirect_uris: [`${front.origin}/api/auth/callback/acme`] },
    ])
    spec = await newDatabase('libsql')
    db = new Kysely<object>({ dialect: dialectOf(spec).dialect as never })
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
    const fresh = rewrite('after.ts', (text) =>
      text.replace('betterAuthCompatPlugin({ db', "betterAuthCompatPlugin({ routes: true, apps: ['acme'], db"),
    )
    const setting = () => {
      const { dialect } = dialectOf(spec)
      const provider = { issuer: op.issuer, clientId: 'app', clientSecret: 'app-secret-app-secret-app-secret' }
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
    await op?.stop()
    delete phoneBrowser.openAuthSession
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

  /** The browser of a phone: it follows redirects, keeps cookies, and hands the address of an app over. */
  function browserOf(cookies: Map<string, string>, visited: string[] = []): OpenAuthSession {
    return async (url, to) => {
      let target = url
      for (let hop = 0; hop < 12; hop++) {
        visited.push(target)
        if (target.startsWith(to)) return { type: 'success', url: target }
        if (target.startsWith(op.issuer)) {
          target = await op.visit(target, { login: 'dora' })
          continue
        }
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
        const response = await fetch(target, { redirect: 'manual', headers: { cookie } })
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          if (value === '' || /max-age=0/i.test(line)) cookies.delete(name)
          else cookies.set(name, value)
        }
        const location = response.headers.get('location')
        if (location === null) return { type: 'cancel' }
        target = new URL(location, target).href
      }
      return { type: 'cancel' }
    }
  }
  const sessionCookie = 'better-auth.session_token'
  const signInWith = async (client: AuthClient, openAuthSession: OpenAuthSession) => {
    phoneBrowser.openAuthSession = openAuthSession
    return client.signIn.social({ provider: 'acme', callbackURL: '/welcome' })
  }

  it('signs in at a provider: the session is in no address, leaves the browser, and reaches this app alone', async () => {
    front.answerWith(after)
    const [own, other] = [phone(), phone()]
    const cookies = new Map<string, string>()
    const visited: string[] = []
    expect((await signInWith(own.client, browserOf(cookies, visited))).error).toBeNull()
    expect(visited.at(-1)).toMatch(/^acme:\/\/welcome\?cookie=/)
    expect(cookies.has(sessionCookie)).toBe(false)
    expect(visited.join(' ')).not.toContain('session_token')
    // Another app with the same scheme reads the address, and begins a sign-in of its own.
    const stolen = new URL(visited.at(-1)!).searchParams.get('cookie')!
    await signInWith(other.client, async () => ({ type: 'success', url: `acme://welcome?cookie=${encodeURIComponent(stolen)}` }))
    expect(await nameOf(other.client)).toBeUndefined()
    // The provider says no name.
    expect(await nameOf(own.client)).toBe('')
    expect(await own.client.getCookie()).toContain(`${sessionCookie}=`)
    // better-auth knows the session, too.
    front.answerWith(before)
    expect(await nameOf(own.client)).toBe('')
    front.answerWith(after)
    expect((await own.client.signOut()).error).toBeNull()
    expect(await nameOf(own.client)).toBeUndefined()
  })

  it('a ticket counts once, for thirty requests at once, and not after the session ended', async () => {
    front.answerWith(after)
    const take = async (end: boolean) => {
      let line = ''
      const { client } = phone()
      await signInWith(client, async (url, to) => {
        const { url: back = '' } = await browserOf(new Map())(url, to)
        line = new URL(back).searchParams.get('cookie') ?? ''
        return { type: 'cancel' }
      })
      const held = await client.getCookie()
      expect(held).toContain('expo_verifier=')
      const cookie = `${held}; ${line.slice(0, line.indexOf(';'))}`
      // As an administrator ends all sessions of the user.
      if (end) await sql`delete from session`.execute(db)
      const answers = await Promise.all(
        Array.from({ length: 30 }, async () => (await fetch(`${front.origin}/api/auth/get-session`, { headers: { cookie } })).json()),
      )
      return answers.filter((answer) => answer !== null).length
    }
    expect(await take(false)).toBe(1)
    expect(await take(true)).toBe(0)
  })

  it('a session that was in the browser before is handed to no app, and no foreign address begins or ends a sign-in', async () => {
    front.answerWith(after)
    const { client } = phone()
    const cookies = new Map<string, string>()
    let proxy = ''
    await signInWith(client, async (url) => {
      proxy = url
      return { type: 'cancel' }
    })
    // The browser is signed in, and the app leads it to the end without the provider.
    const signedIn = await fetch(`${front.origin}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: front.origin },
      body: JSON.stringify(ann),
    })
    for (const line of signedIn.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value !== '') cookies.set(name, value)
    }
    expect(cookies.has(sessionCookie)).toBe(true)
    const flow = new URL(new URL(proxy).searchParams.get('authorizationURL')!).searchParams.get('flow')!
    const finish = `${front.origin}/api/auth/expo/finish?flow=${flow}`
    const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const visit = (url: string) => fetch(url, { redirect: 'manual', headers: { cookie: cookie() } })
    expect((await visit(finish)).status).toBe(400)
    // Neither after the beginning of a sign-in that was not completed.
    await sql`update session set "createdAt" = '2026-01-01T00:00:00.000Z'`.execute(db)
    for (const line of (await visit(proxy)).headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value !== '') cookies.set(name, value)
    }
    expect((await visit(finish)).headers.get('location')).toBe('acme://welcome?error=sign_in_failed')
    const base = `${front.origin}/api/auth/expo-authorization-proxy?authorizationURL=`
    for (const target of ['https://evil.example/?state=x', `${front.origin}/api/auth/expo/start?flow=x`, '']) {
      const answer = await visit(base + encodeURIComponent(target))
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    }
    const foreign = await fetch(`${front.origin}/api/auth/sign-in/social`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'expo-origin': 'evil://' },
      body: JSON.stringify({ provider: 'acme', callbackURL: 'evil://welcome' }),
    })
    expect([foreign.status, await foreign.json()]).toEqual([403, expect.objectContaining({ code: 'INVALID_CALLBACK_URL' })])
  })

  it.each(['http', 'javascript', 'Acme', 'acme://'])('%s is no scheme of an app', (scheme) => {
    expect(() => betterAuthCompatPlugin({ routes: true, apps: [scheme] })).toThrow('`apps` has')
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
