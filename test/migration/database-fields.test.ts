/** One callback, in @auth/core and after the move, over the same rows of @auth/pg-adapter: what the page says of each field of a database session. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuth } from 'authkernel'
import { authjsCompatPlugin } from 'authkernel/plugins/authjs-compat'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeDatabase, pgSchema } from '../adapters/_schemas.ts'
import { reachable, servers } from '../adapters/_servers.ts'
import { dropStore, openOutside, type SqlSpec } from '../adapters/_stores.ts'
import { root } from '../_sources.ts'

type Fields = Record<string, unknown>
type Callback = (given: { session: Fields; user: Fields }) => unknown
interface AuthJs {
  Auth(request: Request, config: object): Promise<Response>
}

const origin = 'http://localhost:3000'
const secret = 'a secret that both apps have, of 44 letters..'
const quiet = { error: () => {}, warn: () => {}, debug: () => {} }
const token = '0b7a9c54-5f0e-4c8e-9a29-0f4ed0a2c9a1'

describe.skipIf(!(await reachable('postgres')))('fields of database sessions, as docs/migrating-from-authjs.md says them', () => {
  let spec: SqlSpec
  let pool: pg.Pool
  let adapter: object
  let authjs: AuthJs
  beforeAll(async () => {
    spec = await makeDatabase(pgSchema)
    const db = openOutside(spec)
    await sql`alter table users add column plan text`.execute(db)
    await sql`alter table sessions add column ip text`.execute(db)
    await sql`insert into users (name, email, "emailVerified", image, plan) values ('Ann', 'ann@example.com', now(), 'https://a.example/a.png', 'gold')`.execute(
      db,
    )
    await sql`insert into sessions ("userId", expires, "sessionToken", ip) values (1, now() + interval '9 days', ${token}, '192.0.2.7')`.execute(
      db,
    )
    await db.destroy()
    pool = new pg.Pool({ connectionString: new URL(`/${spec.name}`, servers.postgres).href })
    const home = join(root, 'test/migration/node_modules/@auth')
    const version = (name: string): string =>
      (JSON.parse(readFileSync(join(home, name, 'package.json'), 'utf8')) as { version: string }).version
    expect(version('core')).toBe('0.41.3')
    authjs = (await import(/* @vite-ignore */ join(home, 'core/index.js'))) as AuthJs
    const { default: PostgresAdapter } = (await import(/* @vite-ignore */ join(home, 'pg-adapter/index.js'))) as {
      default(of: pg.Pool): object
    }
    adapter = PostgresAdapter(pool)
  })
  afterAll(async () => {
    await pool?.end()
    if (spec) await dropStore(spec)
  })

  const products = {
    authjs: (config: object, request: Request) => authjs.Auth(request, { ...config, trustHost: true }),
    authkernel: (config: object, request: Request) =>
      createAuth({ ...config, env: false, trustHost: true, logger: quiet })
        .use(authjsCompatPlugin())
        .handler(request),
  }
  /** What the callback got, and what the browser gets. */
  async function ask(product: keyof typeof products, callback?: Callback): Promise<{ session?: Fields; user?: Fields; body: Fields }> {
    let given: { session?: Fields; user?: Fields } = {}
    const session: Callback = ({ session: of, user }) => {
      given = structuredClone({ session: of, user })
      return callback!({ session: of, user })
    }
    const config = {
      adapter,
      secret,
      basePath: '/auth',
      session: { strategy: 'database' },
      providers: [],
      callbacks: callback ? { session } : {},
    }
    const request = new Request(`${origin}/auth/session`, { headers: { cookie: `authjs.session-token=${token}` } })
    const response = await products[product](config, request)
    expect(response.status).toBe(200)
    return { ...given, body: (await response.json()) as Fields }
  }
  const whole: Callback = ({ session }) => session

  it('the token is in the argument of Auth.js alone, and reaches no browser from here', async () => {
    const [before, after] = [await ask('authjs', whole), await ask('authkernel', whole)]
    expect([before.session?.['sessionToken'], after.session?.['sessionToken']]).toEqual([token, undefined])
    expect(JSON.stringify(before.body)).toContain(token)
    expect(JSON.stringify(after.body)).not.toContain(token)
  })

  it('other columns of the session are there in both; the end is a Date in Auth.js, and a text here', async () => {
    const columns = async (product: keyof typeof products): Promise<Fields> => {
      const { user: _user, sessionToken: _token, ...others } = (await ask(product, whole)).session!
      return others
    }
    const [before, after] = [await columns('authjs'), await columns('authkernel')]
    expect(before).toEqual({ id: 1, userId: 1, ip: '192.0.2.7', expires: expect.any(Date) })
    // Text of a moment that the read may have moved.
    expect(after).toEqual({ ...before, id: expect.anything(), userId: '1', expires: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) })
  })

  it('name, email and image of the user are there in both; id, emailVerified and custom columns in Auth.js alone', async () => {
    const shown = { name: 'Ann', email: 'ann@example.com', image: 'https://a.example/a.png' }
    const [before, after] = [await ask('authjs', whole), await ask('authkernel', whole)]
    expect(before.session?.['user']).toEqual({ id: 1, ...shown, emailVerified: expect.any(Date), plan: 'gold' })
    expect(after.session?.['user']).toEqual(shown)
    expect(after.body['user']).toEqual(shown)
  })

  it('the argument `user` is the whole row in both; a number is a text here', async () => {
    const row = { name: 'Ann', email: 'ann@example.com', image: 'https://a.example/a.png', emailVerified: expect.any(Date), plan: 'gold' }
    expect((await ask('authjs', whole)).user).toEqual({ id: 1, ...row })
    expect((await ask('authkernel', whole)).user).toEqual({ id: '1', ...row })
  })

  it('a callback that copies from `user` gives the page what it had', async () => {
    const copying: Callback = ({ session, user }) => {
      const { id, plan } = user
      Object.assign(session['user'] as Fields, { id: Number(id), plan })
      return { user: session['user'], expires: session['expires'] }
    }
    const [before, after] = [await ask('authjs', copying), await ask('authkernel', copying)]
    expect(after.body['user']).toMatchObject({ id: 1, plan: 'gold', name: 'Ann' })
    const { emailVerified, ...same } = before.body['user'] as Fields
    expect(emailVerified).toEqual(expect.any(String))
    expect(after.body['user']).toEqual(same)
  })

  it('without a callback both send name, email, image and expires', async () => {
    const [before, after] = [await ask('authjs'), await ask('authkernel')]
    expect(before.body).toEqual({
      user: { name: 'Ann', email: 'ann@example.com', image: 'https://a.example/a.png' },
      expires: expect.any(String),
    })
    expect(after.body).toEqual(before.body)
  })

  it('the page says so, row by row', () => {
    const page = readFileSync(join(root, 'docs/migrating-from-authjs.md'), 'utf8')
    const [, section = ''] = page.split('## Fields of database sessions')
    const rows = section
      .split('\n## ')[0]!
      .split('\n')
      .filter((line) => line.startsWith('| `') || line.startsWith('| other') || line.startsWith('| the argument'))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      )
    expect(rows.map(([field, before, after]) => [field, before, after?.split(/[:.] /)[0]])).toEqual([
      ['`session.sessionToken`', 'the token', 'absent'],
      ['`session.expires`', 'a `Date`', 'a text'],
      ['other columns of the session', 'there', 'there'],
      ['`session.user.name`, `.email`, `.image`', 'there', 'there'],
      ['`session.user.id`, `.emailVerified`, your own columns', 'there', 'absent'],
      ['the argument `user`', 'the whole row', 'the whole row'],
    ])
  })
})
