/** Refused app tokens leave a record: why, of which app session and app, a few a minute, and never the token. */
import { createAuth } from 'authkernel'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { auditPlugin, type AuditRecord } from 'authkernel/plugins/audit'
import { type BearerOptions, bearerPlugin } from 'authkernel/plugins/bearer'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig, Client } from '../_setup.ts'
import { discover, origin, signIn } from './_app.ts'

const apps = [
  { id: 'desktop', name: 'Desktop', redirectUris: ['http://127.0.0.1/cb'], scopes: ['read', 'write'] },
  { id: 'phone', name: 'Phone', redirectUris: ['https://app.example/signed-in'], scopes: ['read'] },
]

async function world(options: Partial<BearerOptions> = {}) {
  const base = baseConfig({
    session: { strategy: 'database' },
    providers: [{ id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user) }) }],
  })
  const store = memoryAdapter()
  const state = { banned: false }
  const records: AuditRecord[] = []
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use(accountsPlugin())
    .use(auditPlugin({ sink: (some) => void records.push(...some), pause: 1 }))
    .use(jwtPlugin({}))
    .use(bearerPlugin({ apps, ...options }))
    .use({ name: 'bans', setup: (kernel) => kernel.hook('appSession', () => !state.banned) })
  await auth.ready()
  await store.createUser!({ id: 'ada', email: 'ada@example.com', name: 'ada', emailVerified: null })
  const client = new Client(auth)
  await client.post('/callback/credentials', { user: 'ada' })
  const tokens = await signIn(await discover(auth), client)
  const use = (token: string, by = 'Bearer') => auth.session(new Request(`${origin}/`, { headers: { authorization: `${by} ${token}` } }))
  const call = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    (await auth.handler(new Request(`${origin}/auth/oauth/${path}`, { method: 'POST', body: new URLSearchParams(fields), headers }))).status
  const refused = async () => {
    await auth.audit.flush()
    return records.filter(({ name }) => name === 'bearer.refused')
  }
  /** The records since the last call. */
  let seen = 0
  const next = async () => {
    const all = await refused()
    return all.slice(seen, (seen = all.length)).map(({ reason }) => reason)
  }
  const refresh = (token: string, more: Record<string, string> = {}) =>
    call('token', { grant_type: 'refresh_token', client_id: 'desktop', refresh_token: token, ...more })
  return { auth, state, tokens, use, call, refresh, refused, next, records, runtime: base.runtime }
}

describe.each(['opaque', 'jwt'] as const)('a refused access token of the format %s', (format) => {
  it('leaves a record with its reason: invented, changed, without its key, expired, ended, of a user who is gone', async () => {
    const { auth, state, tokens, use, next, refused, runtime } = await world({ accessToken: { format } })
    const { access_token: token } = tokens
    const changed = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`
    expect((await use(token))?.user?.id).toBe('ada')
    expect(await next()).toEqual([])
    expect([await use(`at.${'0'.repeat(32)}`), await next()]).toEqual([null, ['unknown']])
    expect([await use(changed), await next()]).toEqual([null, ['unknown']])
    expect([await use(token, 'DPoP'), await next()]).toEqual([null, ['key']])
    state.banned = true
    expect([await use(token), await next()]).toEqual([null, ['access']])
    state.banned = false
    runtime.advance(700_000)
    const expired = await use(token)
    expect([expired, await next()]).toEqual([null, ['expired']])
    runtime.advance(-700_000)
    const [session] = await auth.bearer.list({ userId: 'ada' })
    expect((await refused()).find(({ reason }) => reason === 'key')).toMatchObject({
      outcome: 'denied',
      subject: { type: 'user', id: 'ada' },
      target: { id: session!.id },
    })
    await auth.bearer.revoke({ userId: 'ada' }, session!.id)
    expect([await use(token), await next()]).toEqual([null, ['ended']])
    expect(JSON.stringify(await refused())).not.toContain(token.slice(-20))
  })
})

it('a token that is signed for another audience', async () => {
  const { tokens, use, next, auth } = await world({ accessToken: { format: 'jwt' } })
  const [head, body = ''] = tokens.access_token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object
  const other = Buffer.from(JSON.stringify({ ...claims, aud: 'https://else.example' })).toString('base64url')
  expect([await use(`${head}.${other}.AAAA`), await next()]).toEqual([null, ['audience']])
  await auth.close()
})

it('refused requests for tokens, and revocations by another app', async () => {
  const { tokens, call, refresh, next, refused, auth, records } = await world()
  const token = tokens.refresh_token!
  expect([await refresh(token, { scope: 'root' }), await next()]).toEqual([400, ['invalid_scope']])
  expect([await refresh('rt.x'), await next()]).toEqual([400, ['invalid_grant']])
  expect([await refresh(token, { client_id: 'nobody' }), await next()]).toEqual([401, ['client']])
  expect([await call('token', { grant_type: 'password', client_id: 'phone' }), await next()]).toEqual([400, ['unsupported_grant_type']])
  expect([await call('revoke', { client_id: 'phone', token: tokens.access_token }), await next()]).toEqual([400, ['client']])
  expect([await refresh(token, {}), await next()]).toEqual([200, []])
  const dpop = await call('token', { grant_type: 'refresh_token', client_id: 'phone', refresh_token: token }, { dpop: 'no proof' })
  expect([dpop, await next()]).toEqual([400, ['proof']])
  const [session] = await auth.bearer.list({ userId: 'ada' })
  await auth.bearer.revoke({ userId: 'ada' }, session!.id)
  expect([await refresh(token), await next()]).toEqual([400, ['invalid_grant']])
  expect((await refused()).at(-1)).toMatchObject({ target: { id: session!.id, client: 'desktop' } })
  expect(JSON.stringify(records)).not.toContain(token.slice(-30))
})

it('a flood leaves a few records a minute, of one token and of invented ones, and then some again', async () => {
  const { tokens, use, refused, runtime } = await world()
  for (let times = 0; times < 50; times++) {
    await use(tokens.access_token, 'DPoP')
    await use(`at.${times.toString(16).padStart(32, '0')}.9999999999.1.${'A'.repeat(43)}`)
  }
  const counted = async (reason: string) => (await refused()).filter((record) => record.reason === reason).length
  expect([await counted('key'), await counted('ended')]).toEqual([5, 5])
  runtime.advance(61_000)
  await use(tokens.access_token, 'DPoP')
  expect(await counted('key')).toBe(6)
})
