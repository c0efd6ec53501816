/** `migrate --from better-auth --apply` is killed in the middle: nothing is open meanwhile, and the next run ends with the rows of a run that was not. */
import { fork } from 'node:child_process'
import { on, once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reachable } from '../adapters/_servers.ts'
import { dialectOf, dropStore, newDatabase, openOutside, type SqlSpec } from '../adapters/_stores.ts'
import { Client, locationOf } from '../_client.ts'
import { root } from '../_sources.ts'
import { totpAt } from '../_totp.ts'
import { origin, secret, startMoved } from './_interrupted-move.ts'

interface App {
  handler(request: Request): Promise<Response>
}
const password = 'seven purple otters sing'
const copies = 3_000
const whole = {
  auth_password: copies + 1,
  auth_two_factor: copies / 2 + 1,
  // A ban ends what a user has trusted.
  auth_two_factor_state: copies / 2 + 1 + copies / 50,
  auth_user_ban: copies / 50,
  auth_user_name: copies + 1,
}

describe.runIf((await reachable('postgres')) || process.env.CI)('a move of better-auth 1.7.25 on PostgreSQL', () => {
  const work = mkdtempSync(join(root, 'test/migration/passkeys-1.7/.interrupted-'))
  const pools: { end(): Promise<void> }[] = []
  let spec: SqlSpec
  let totpSecret = ''

  beforeAll(async () => {
    spec = await newDatabase('postgres')
    cpSync(join(root, 'test/migration/apps/better-auth-full'), work, { recursive: true })
    const { dialect, pool } = dialectOf(spec)
    if (pool) pools.push(pool.on('error', () => {}))
    const start = ((await import(/* @vite-ignore */ join(work, 'before.ts'))) as { start(setting: object): Promise<App> }).start
    const before = await start({ database: { dialect, type: 'postgres' }, origin, secret })
    const ann = new Client(before, { origin, basePath: '/api/auth' })
    const json = async (path: string, fields: object): Promise<Record<string, unknown>> => {
      const response = await ann.request('POST', path, {
        body: JSON.stringify(fields),
        headers: { 'content-type': 'application/json', origin },
      })
      expect([path, response.status]).toEqual([path, 200])
      return (await response.json()) as Record<string, unknown>
    }
    await json('/sign-up/email', { name: 'ann', email: 'ann@example.com', password, username: 'ann_smith' })
    const { totpURI } = await json('/two-factor/enable', { password })
    totpSecret = new URL(String(totpURI)).searchParams.get('secret') ?? ''
    await json('/two-factor/verify-totp', { code: totpAt(totpSecret, Date.now()) })
    // Users with the hash and the factor that better-auth made. Every second one has the factor, every fiftieth is banned.
    const db = openOutside(spec)
    await sql`update "user" set "emailVerified" = true`.execute(db)
    await sql`insert into "user" (id, name, email, "emailVerified", "createdAt", "updatedAt", "twoFactorEnabled", username, banned)
      select 'u' || lpad(n::text, 5, '0'), 'User', 'u' || n || '@example.com', true, now(), now(), n % 2 = 0, 'user_' || n, n % 50 = 7
      from generate_series(1, ${sql.lit(copies)}) n`.execute(db)
    await sql`insert into account (id, "accountId", "providerId", "userId", password, "createdAt", "updatedAt")
      select 'a' || u.id, u.id, 'credential', u.id, (select password from account limit 1), now(), now() from "user" u where u.id like 'u_____'`.execute(
      db,
    )
    await sql`insert into "twoFactor" (id, secret, "backupCodes", "userId", verified)
      select 't' || u.id, f.secret, f."backupCodes", u.id, true from "user" u, (select * from "twoFactor" limit 1) f
      where u.id like 'u_____' and u."twoFactorEnabled"`.execute(db)
    await db.destroy()
  }, 120_000)
  afterAll(async () => {
    await Promise.allSettled(pools.map((pool) => pool.end()))
    if (spec) await dropStore(spec)
    rmSync(work, { recursive: true, force: true })
  })

  async function countRows(): Promise<Record<string, number>> {
    const db = openOutside(spec)
    const counts: Record<string, number> = {}
    for (const table of Object.keys(whole)) {
      const { rows } = await sql<{ n: string }>`select count(*) as n from ${sql.table(table)}`.execute(db)
      counts[table] = Number(rows[0]!.n)
    }
    await db.destroy()
    return counts
  }

  it('kill -9: users with a second factor and banned users are not let in, and the next run ends as one that was not killed', async () => {
    const child = fork('scripts/dev.mjs', ['test/migration/_interrupted-move.ts'], {
      cwd: root,
      env: { ...process.env, INTERRUPTED_MOVE: spec.name },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    // Four pages are under way at once: by then the first is stored, and the last is not.
    for await (const [rows] of on(child, 'message')) if (Number(rows) >= 2_500) break
    child.kill('SIGKILL')
    await once(child, 'exit')
    const half = await countRows()
    expect(half['auth_password']).toBeGreaterThanOrEqual(500)
    expect(half['auth_password']).toBeLessThan(whole.auth_password)
    expect(half).toMatchObject({ auth_two_factor: 0, auth_user_ban: 0 })

    const { auth, close } = await startMoved(spec)
    const signIn = async (n: number): Promise<{ who: Client; to: string }> => {
      const who = new Client(auth, { origin, basePath: '/api/auth' })
      const fields = { csrfToken: await who.csrfToken(), email: `u${n}@example.com`, password, callbackUrl: '/' }
      return { who, to: locationOf(await who.post('/callback/passwords', fields)) }
    }
    const userOf = async (who: Client): Promise<string | undefined> => ((await who.session())?.user as { id?: string } | undefined)?.id
    // The first ones have their passwords, and the last ones have nothing yet.
    for (const n of [2, copies]) {
      const { who, to } = await signIn(n)
      expect([n, to]).toEqual([n, expect.stringContaining('/two-factor')])
      expect(await userOf(who)).toBeUndefined()
      await who.post('/two-factor', { csrfToken: await who.csrfToken(), code: totpAt(totpSecret, Date.now()) })
      expect(await userOf(who)).toBe(`u${String(n).padStart(5, '0')}`)
    }
    for (const n of [7, copies - 43]) expect([n, await userOf((await signIn(n)).who)]).toEqual([n, undefined])
    expect(await userOf((await signIn(1)).who)).toBe('u00001')
    expect((await auth.betterAuth.compare()).some(({ there, taken }) => there > taken)).toBe(true)

    const report = await auth.betterAuth.takeOver({ apply: true })
    expect(report).toMatchObject({ applied: true, refused: [] })
    expect(await countRows()).toEqual(whole)
    const { kinds } = await auth.betterAuth.takeOver({ apply: true })
    expect(await countRows()).toEqual(whole)
    for (const [kind, { found, unchanged, kept }] of Object.entries(kinds)) expect([kind, unchanged + kept]).toEqual([kind, found])
    expect((await auth.betterAuth.compare()).filter(({ there, taken }) => there > taken)).toEqual([])
    await close()
  }, 180_000)
})
