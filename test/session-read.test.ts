/** A session read is the hottest path: how many functions and files it runs through is a budget. */
import { describe, expect, it } from 'vitest'
import { callsOf } from './_calls.ts'

const secret = 'a secret of at least thirty-two characters'
const expires = "new Date('2030-01-01T00:00:00Z')"
const clock = "runtime: { now: () => Date.parse('2029-12-31T00:00:00Z') }"

const revocable = `
    import { createKernel } from 'authkernel/kernel'
    import { encode } from 'authkernel/jwt'
    import { memoryRecords } from 'authkernel/plugins/memory'
    import { recordsPlugin } from 'authkernel/plugins/records'
    import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
    let now = Date.now()
    const records = memoryRecords()
    let reads = 0
    const auth = createKernel({ secret: '${secret}', trustHost: true, session: { revocable: true }, runtime: { now: () => now } })
      .use(recordsPlugin({ ...records, get: (...asked) => (reads++, records.get(...asked)) })).use(jwtSessionPlugin())
    let kernel
    auth.use({ name: 'inner', setup: (inner) => void (kernel = inner) })
    const ses = { id: 's', started: now, provider: 'acme', sub: '1', sid: 'x', authTime: 1, methods: {}, factors: 1 }
    const token = await encode({ token: { name: 'Ada', sub: '1', ses }, secret: '${secret}', salt: 'authkernel.session-token', maxAge: 86400 })
    const headers = { cookie: 'authkernel.session-token=' + token }
    await kernel.job({ job: 'test' }, (ctx) => ctx.service('session').revoke(ctx, { userId: 'somebody else' }))
    // The first read of a process looks at the revocations once; later ones do not, until they are stale.
    await auth.session(new Request('http://localhost/', { headers }))
    export async function work() {
      const before = reads
      const session = await auth.session(new Request('http://localhost/', { headers }))
      if (session?.user?.name !== 'Ada' || reads !== before) throw new Error('no session, or a read of the store')
    }`
const programs = {
  'revocable jwt': revocable,
  database: `
    import { createKernel } from 'authkernel/kernel'
    import { adapterPlugin } from 'authkernel/plugins/adapter'
    import { databaseSessionPlugin } from 'authkernel/plugins/session-database'
    // The store is the host's: a plain object, so that the count is of ours alone.
    const found = { session: { sessionToken: 'token', userId: '1', expires: ${expires} }, user: { id: '1', name: 'Ada', email: 'ada@example.com', emailVerified: null } }
    const never = () => { throw new Error('not in a read') }
    const names = ['createUser', 'getUser', 'getUserByEmail', 'getUserByAccount', 'updateUser', 'linkAccount', 'createSession', 'updateSession', 'deleteSession']
    const adapter = { ...Object.fromEntries(names.map((name) => [name, never])), getSessionAndUser: () => found }
    const auth = createKernel({ secret: '${secret}', trustHost: true, ${clock}, session: { maxAge: 86400 } }).use(adapterPlugin(adapter)).use(databaseSessionPlugin())
    auth.hook('session', ({ session }) => session)
    const headers = { cookie: 'authkernel.session-token=token' }
    export async function work() {
      const session = await auth.session(new Request('http://localhost/', { headers }))
      if (session?.user?.name !== 'Ada') throw new Error('no session')
    }`,
  jwt: `
    import { createKernel } from 'authkernel/kernel'
    import { encode } from 'authkernel/jwt'
    import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
    const auth = createKernel({ secret: '${secret}', trustHost: true }).use(jwtSessionPlugin())
    const token = await encode({ token: { name: 'Ada', sub: '1' }, secret: '${secret}', salt: 'authkernel.session-token', maxAge: 86400 })
    const headers = { cookie: 'authkernel.session-token=' + token }
    export async function work() {
      const session = await auth.session(new Request('http://localhost/', { headers }))
      if (session?.user?.name !== 'Ada') throw new Error('no session')
    }`,
}

describe.each(Object.entries(programs))('a session read with the %s strategy', (_, program) => {
  it('touches at most 25 functions in at most 6 files of ours', async () => {
    const calls = await callsOf(program)
    const ours = calls.filter(({ file }) => /^(?:src|plugins|bindings)\//.test(file))
    const said = ours.map(({ file, name, times }) => `${file} ${name} ${times}`).join('\n')
    expect(ours.length, said).toBeGreaterThan(3)
    expect(ours.length, said).toBeLessThanOrEqual(25)
    expect(new Set(ours.map(({ file }) => file)).size, said).toBeLessThanOrEqual(6)
  })
})
