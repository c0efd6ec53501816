/** Columns of users that a host declares, and the id that sessions show. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@libsql/client'
import { Kysely, sql } from 'kysely'
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import {
  createAuth,
  type Adapter,
  type AdapterTables,
  type AdditionalFields,
  type AuthConfig,
  type FieldsOf,
  type Provider,
} from 'authkernel'
import { authjsCompatPlugin } from 'authkernel/plugins/authjs-compat'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { baseConfig, Client } from '../_setup.ts'

const fields = {
  role: { type: 'string', default: "it's member", session: true },
  active: { type: 'boolean', default: true, session: true },
  score: { type: 'number', default: 7 },
  note: { type: 'text' },
} as const satisfies AdditionalFields

const folders: string[] = []
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })))

function database(): Kysely<never> {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-fields-'))
  folders.push(folder)
  return new Kysely({ dialect: libsqlDialect({ client: createClient({ url: `file:${join(folder, 'app.db')}` }) }) })
}

const walker = { id: 'walk', name: 'Walk', type: 'walk' } as unknown as Provider

/** An app where `POST /callback/walk` signs in a person of the store. */
function host(config: AuthConfig, compat = false) {
  const auth = createAuth(baseConfig({ providers: [walker], ...config })).use({
    name: 'walk',
    setup(kernel) {
      kernel.providerType(
        'walk' as never,
        {
          finish: async () => ({
            user: { name: 'Ada', email: 'ada@example.com' },
            account: { type: 'walk' as never, provider: 'walk', providerAccountId: 'ada' },
            match: 'account',
          }),
        } as never,
      )
    },
  })
  return compat ? auth.use(authjsCompatPlugin()) : auth
}

async function signedIn(auth: ReturnType<typeof host>) {
  const client = new Client(auth)
  const answer = await client.post('/callback/walk', {})
  expect(answer.status).toBe(302)
  return { client, user: async () => ((await (await client.get('/session')).json()) as { user: Record<string, unknown> }).user }
}

describe.each(['jwt', 'database'] as const)('D60: session.user.id with the strategy %s', (strategy) => {
  it('is there by default, and is the id of the stored user', async () => {
    const adapter = memoryAdapter()
    const { user } = await signedIn(host({ adapter, session: { strategy } }))
    const stored = await adapter.getUserByEmail('ada@example.com')
    expect(await user()).toEqual({ id: stored!.id, name: 'Ada', email: 'ada@example.com' })
  })

  it('is left out under the compat plugin', async () => {
    const { user } = await signedIn(host({ adapter: memoryAdapter(), session: { strategy } }, true))
    expect(await user()).toEqual({ name: 'Ada', email: 'ada@example.com' })
  })

  it('the session hook gets it', async () => {
    const auth = host({ adapter: memoryAdapter(), session: { strategy } })
    const seen: unknown[] = []
    auth.hook('session', ({ session }) => void seen.push(session.user?.id))
    await (await signedIn(auth)).user()
    expect(seen).toEqual([expect.stringMatching(/.{10}/)])
  })

  it('additional fields: defaults for new users, shown where they say so, types as declared', async () => {
    const db = database()
    const adapter = sqlAdapter(db, { additionalFields: fields })
    await adapter.migrate({ apply: true })
    const { client, user } = await signedIn(host({ adapter, session: { strategy } }))
    const stored = await adapter.getUserByEmail('ada@example.com')
    expect(await user()).toEqual({ id: stored!.id, name: 'Ada', email: 'ada@example.com', image: null, role: "it's member", active: true })
    expect(stored).toMatchObject({ score: 7, note: null })
    await adapter.updateUser({ id: stored!.id, role: 'admin', active: false } as never)
    const updated = await client.send('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ csrfToken: await client.csrfToken(), data: {} }),
    })
    expect(updated.status).toBe(200)
    expect(await user()).toMatchObject({ role: 'admin', active: false })
    await db.destroy()
  })
})

describe('migrate', () => {
  it('adds missing columns with their default for existing users, once', async () => {
    const db = database()
    const plain = sqlAdapter(db)
    await plain.migrate({ apply: true })
    await plain.createUser({ id: 'old', name: null, email: 'old@example.com', emailVerified: null })
    const adapter = sqlAdapter(db, { additionalFields: fields })
    const auth = createAuth(baseConfig({ providers: [], adapter }))
    await expect(auth.ready()).rejects.toThrow(
      /lacks users\.role, users\.active, users\.score, users\.note\..*npx authkernel migrate --apply/,
    )
    const dry = await adapter.migrate()
    expect(dry.statements).toEqual([
      expect.stringMatching(/alter table "users" add column "role" text default 'it''s member'/),
      expect.stringMatching(/add column "active" integer default 1/),
      expect.stringMatching(/add column "score" integer default 7/),
      expect.stringMatching(/add column "note" text$/),
    ])
    expect((await adapter.migrate({ apply: true })).statements).toEqual(dry.statements)
    expect((await adapter.migrate()).statements).toEqual([])
    await auth.ready()
    const { rows } = await sql<object>`select role, active, score, note from users`.execute(db)
    expect(rows).toEqual([{ role: "it's member", active: 1, score: 7, note: null }])
    await db.destroy()
  })

  it.each<[AdditionalFields, RegExp]>([
    [{ email: { type: 'string' } }, /"email" cannot be the name of a field/],
    [{ sub: { type: 'string' } }, /"sub" cannot be/],
    [{ 'a-b': { type: 'string' } }, /"a-b" cannot be/],
    [{ role: { type: 'date' as never } }, /"role" has the type "date": use string, text, number, boolean/],
    [{ role: { type: 'string', default: 1 } }, /"role" has a default that is no string/],
    [{ role: { type: 'text', default: 'x' } }, /which has no default/],
  ])('refuses %j', (additionalFields, message) => {
    const adapter: Adapter & AdapterTables = { ...memoryAdapter(), additionalFields }
    expect(() => createAuth(baseConfig({ providers: [], adapter }))).toThrow(message)
  })
})

it('types: FieldsOf makes the members of User', () => {
  expectTypeOf<FieldsOf<typeof fields>>().toEqualTypeOf<{
    role?: string | null
    active?: boolean | null
    score?: number | null
    note?: string | null
  }>()
})
