/** Every record of the catalogue has a producer in the package, and its event becomes that record. */
import { readdirSync, readFileSync } from 'node:fs'
import { createAuth } from 'authkernel'
import { AccessDenied, AdapterError, AuthError, HttpError, MissingCSRF, SignOutError } from 'authkernel/kernel'
import { auditPlugin, type AuditRecord } from 'authkernel/plugins/audit'
import { WrongSecondFactor } from 'authkernel/plugins/two-factor'
import { SignalRefused } from 'authkernel/plugins/shared-signals'
import { describe, expect, it, vi } from 'vitest'
import { root } from '../_sources.ts'
import { byName } from '../rows/_ground.ts'
import { baseConfig } from '../_setup.ts'

const user = { id: 'ada', email: 'ada@example.com', emailVerified: null }
const account = { provider: 'credentials', providerAccountId: 'ada', type: 'credentials' }
const login = { user, account, session: 'new', isNewUser: true, proof: { amr: ['pwd'], factors: 1 }, passed: [] }
const admin = { id: 'root' }
const credential = (kind: string, action: string): [string, object] => ['credentialChanged', { user, kind, action, id: '1' }]
const noted = (outcome: 'success' | 'failure' | 'denied' = 'success'): [string, object] => ['noted', { outcome, reason: 'why', user }]
const organization = (act: string): [string, object] => ['organizationChanged', { act, organizationId: 'o1', by: 'ada' }]
const failed = (error: Error): [string, object] => ['signInFailed', { provider: 'credentials', error }]
const refusedBy = (error: Error): [string, object] => ['refused', { reason: (error as AuthError).type, route: undefined, error }]
const ofKind = (reason: string): [string, object] => ['refused', { reason, route: undefined, error: new HttpError(400, reason) }]
const away = new AdapterError('getUser() failed', { cause: { err: new Error('away'), method: 'getUser' } })

/** By name: the event that becomes it, with what it says. */
const catalogue: Readonly<Record<string, [event: string, message: object]>> = {
  'signIn.succeeded': ['signedIn', { login, session: { id: 's1' } }],
  'signIn.failed': failed(new AccessDenied('no')),
  'signIn.parked': ['loginParked', { login, by: 'two-factor', expires: new Date() }],
  'signIn.resumed': ['loginResumed', { login, by: 'two-factor' }],
  'session.created': ['signedIn', { login, session: { id: 's1' } }],
  'session.rotated': noted(),
  'session.revoked': ['sessionsEnded', { which: { userId: 'ada' }, count: 2, by: 'admin' }],
  'session.expired': noted(),
  'session.refused': noted('denied'),
  'signOut.completed': ['signOut', { session: { userId: 'ada' } }],
  'signOut.failed': refusedBy(new SignOutError(away)),
  'signOut.remote': ['providerLogout', { provider: 'acme', sub: 's', sid: 'i', channel: 'back' }],
  'user.created': ['createUser', { user }],
  'user.deleted': ['deleteUser', { userId: 'ada' }],
  'user.banned': ['adminAct', { admin, act: 'ban', user, reason: 'spam' }],
  'user.unbanned': ['adminAct', { admin, act: 'unban', user, reason: 'appeal' }],
  'address.proofRequested': noted(),
  'address.proved': ['updateUser', { user: { ...user, emailVerified: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)) } }],
  'address.changed': credential('address', 'changed'),
  'registration.evicted': noted(),
  'password.set': credential('password', 'added'),
  'password.changed': credential('password', 'changed'),
  'password.reset.requested': noted(),
  'password.reset.completed': noted(),
  'password.rehashed': noted(),
  'password.breached': noted('denied'),
  'factor.enrolled': credential('factor', 'added'),
  'factor.removed': credential('factor', 'removed'),
  'factor.failed': failed(new WrongSecondFactor('wrong')),
  'factor.replayed': noted('denied'),
  'factor.reset': ['factorsReset', { user, admin, reason: 'lost' }],
  'backupCodes.renewed': noted(),
  'backupCodes.used': ['backupCodeUsed', { user, left: 3 }],
  'device.trusted': noted(),
  'device.untrusted': noted(),
  'device.new': ['deviceNew', { user, address: null, userAgent: null }],
  'stepUp.required': noted('denied'),
  'stepUp.completed': noted(),
  'stepUp.failed': noted('failure'),
  'account.linked': ['linkAccount', { user, account, profile: user }],
  'account.unlinked': ['unlinkAccount', { userId: 'ada', account }],
  'account.linkRefused': failed(Object.assign(new AuthError('no'), { type: 'AccountNotLinked' })),
  'passkey.added': credential('passkey', 'added'),
  'passkey.removed': credential('passkey', 'removed'),
  'passkey.counterFault': noted('denied'),
  'tokens.refreshed': ['tokensRefreshed', { userId: 'ada', provider: 'acme' }],
  'tokens.expired': ['tokensExpired', { userId: 'ada', provider: 'acme', reason: 'lost' }],
  'tokens.revoked': noted(),
  'tokens.unknownOutcome': noted('failure'),
  'signal.received': ['signalReceived', { provider: 'acme', kind: 'session-revoked', count: 1 }],
  'signal.ignored': noted(),
  'signal.refused': refusedBy(new SignalRefused('invalid_key', 'no')),
  'apiKey.created': credential('apiKey', 'added'),
  'apiKey.rotated': credential('apiKey', 'changed'),
  'apiKey.revoked': credential('apiKey', 'removed'),
  'apiKey.refused': noted('denied'),
  'bearer.issued': ['appSignedIn', { id: 'a1', user, clientId: 'app', by: 'code' }],
  'bearer.refreshed': ['appTokensRefreshed', { id: 'a1', user, clientId: 'app' }],
  'bearer.refused': noted('denied'),
  'bearer.reuseDetected': ['appTokenReused', { id: 'a1', user, clientId: 'app' }],
  'deviceFlow.started': ['deviceFlowStarted', { clientId: 'tv' }],
  'deviceFlow.approved': ['deviceFlowApproved', { user, clientId: 'tv' }],
  'deviceFlow.denied': ['deviceFlowDenied', { user, clientId: 'tv' }],
  ...Object.fromEntries(
    ['created', 'changed', 'rotated', 'renewed', 'stopped', 'started', 'deleted'].map((act) => [
      `agent.${act}`,
      ['agentChanged', { user, agentId: 'a1', act, by: 'owner', reason: '' }] as [string, object],
    ]),
  ),
  ...Object.fromEntries(
    ['requested', 'approved', 'denied', 'used'].map((what) => [
      `agent.approval.${what}`,
      ['agentApproval', { user, agentId: 'a1', approvalId: 'p1', what, scopes: ['pay'], task: 'Pay 20 EUR' }] as [string, object],
    ]),
  ),
  ...Object.fromEntries(
    ['created', 'updated', 'rotated', 'disabled', 'enabled', 'deleted'].map((act) => [
      `client.${act}`,
      ['clientChanged', { clientId: 'c1', name: 'Shop', act, by: 'admin', user: admin, members: [], reason: 'ticket 7' }] as [
        string,
        object,
      ],
    ]),
  ),
  'agent.acted': ['agentActed', { user, agentId: 'a1', scopes: ['read'], task: '' }],
  'agent.refused': noted('denied'),
  'client.authorized': ['clientAuthorized', { user, clientId: 'partner', scopes: ['read'] }],
  'client.granted': ['clientGranted', { id: 'g1', user, clientId: 'partner' }],
  'client.reuseDetected': ['clientTokenReused', { id: 'g1', user, clientId: 'partner' }],
  'client.organization.allowed': [
    'organizationAllowedClient',
    { user, organizationId: 'o1', clientId: 'partner', scopes: ['read'], what: 'allowed' },
  ],
  'client.organization.revoked': [
    'organizationAllowedClient',
    { user, organizationId: 'o1', clientId: 'partner', scopes: ['read'], what: 'revoked' },
  ],
  'client.asserted': ['identityAsserted', { user, clientId: 'partner', audience: 'https://other.example', scopes: [] }],
  'client.exchanged': ['clientTokenExchanged', { id: 'g2', user, clientId: 'gateway', from: 'partner', actor: 'gateway' }],
  'client.revoked': ['clientGrantEnded', { id: 'g1', user, clientId: 'partner', by: 'user' }],
  'client.registered': ['clientRegistered', { clientId: 'c1', name: 'Agent' }],
  'key.rotated': ['keyRotated', { kid: 'k', alg: 'ES256', compromised: false }],
  'dbsc.registered': ['deviceBinding', { what: 'registered', sessionId: 's1', userId: 'ada' }],
  'dbsc.refreshed': ['deviceBinding', { what: 'refreshed', sessionId: 's1', userId: 'ada' }],
  'dbsc.failed': ['deviceBinding', { what: 'failed', reason: 'signature', sessionId: 's1', userId: 'ada' }],
  'impersonation.started': ['impersonationStarted', { admin, user, reason: 'ticket' }],
  'impersonation.ended': ['impersonationEnded', { admin, user, reason: 'ticket' }],
  'impersonation.denied': ['impersonationDenied', { admin, user, reason: 'ticket' }],
  'guest.created': ['guestCreated', { user }],
  'guest.converted': ['guestConverted', { guest: { id: 'g' }, user }],
  'org.created': organization('created'),
  'org.deleted': organization('deleted'),
  'org.member.added': organization('member.added'),
  'org.member.removed': organization('member.removed'),
  'org.member.role': organization('member.role'),
  'org.invitation.created': organization('invitation.created'),
  'org.invitation.accepted': organization('invitation.accepted'),
  'org.domain.claimed': organization('domain.claimed'),
  'org.domain.proved': organization('domain.proved'),
  'scim.read': noted(),
  'scim.bulk': noted(),
  'request.refused csrf': refusedBy(new MissingCSRF('no token')),
  'request.refused host': ofKind('UntrustedHost'),
  'request.refused path': ofKind('path'),
  'request.refused body': ofKind('body'),
  'request.refused limit': ['refused', { reason: 'limit', error: Object.assign(new AuthError('slow down'), { type: 'TooManyRequests' }) }],
  'request.refused captcha': [
    'refused',
    { reason: 'captcha', error: Object.assign(new AuthError('solve it'), { type: 'CaptchaRequired' }) },
  ],
  'config.fault': ['configurationFault', { error: new AuthError('no secret') }],
  'store.fault': failed(away),
  'audit.pruned': ['cleanedUp', { report: { records: { audit: 3 } } }],
}
/** Not told as events. */
const ofTheLog = ['store.healed', 'audit.dropped', 'audit.flushed']
/** Nothing in the package does it; hosts that do tell it by an event of the kernel. */
const ofHosts: Readonly<Record<string, [event: string, message: object]>> = {
  'user.merged': noted(),
}

const sources = ['src', 'plugins'].flatMap((folder) =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('evidence/audit/') && !path.startsWith('contract/'))
    .map((path) => readFileSync(`${root}${folder}/${path}`, 'utf8')),
)
/** Names of events that are emitted, and names of notes in files that emit notes. */
const emitted = new Set(
  sources.flatMap((text) =>
    [...text.matchAll(/\bemit\(([^,]*),/g)].flatMap(([, first]) => [...first!.matchAll(/'(\w+)'/g)].map(([, name]) => name!)),
  ),
)
const notes = new Set(
  sources
    .filter((text) => text.includes("emit('noted'"))
    .flatMap((text) => [...text.matchAll(/'(\w+(?:\.\w+)+)'/g)].map(([, name]) => name!)),
)
const quoted = new Set(sources.flatMap((text) => [...text.matchAll(/'([\w.]+)'/g)].map(([, name]) => name!)))

/** Tells the events in a request, and hears what was recorded; each event has plain facts of who asked. */
async function recorded(entries: [string, [string, object]][], inOrder = true): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  const facts: unknown[] = []
  const auth = createAuth(baseConfig({ providers: [byName as never] }))
    .use(auditPlugin({ sink: (some) => void records.push(...some), pause: 1 }))
    .use({
      name: 'teller',
      setup(kernel) {
        kernel.on('*', ({ message }) => void facts.push(message.facts))
        kernel.route({
          method: 'GET',
          path: '/tell',
          async handler(ctx) {
            for (const [name, [event, message]] of entries)
              await ctx.emit(event as never, { name: name.split(' ')[0], ...message } as never)
            return new Response(null, { status: 204 })
          },
        })
      },
    })
  const request = new Request('http://localhost:3000/auth/tell', { headers: { 'user-agent': 'Browser/1' } })
  expect((await auth.handler(request, { clientAddress: '203.0.113.7', requestId: 'r1' })).status).toBe(204)
  await auth.audit.flush()
  const plain = { requestId: 'r1', address: '203.0.113.7', userAgent: 'Browser/1', namespace: '', at: expect.any(Number), job: undefined }
  if (inOrder) expect(facts).toEqual(entries.map(() => plain))
  expect(structuredClone(facts)).toEqual(facts)
  return records
}

describe('the catalogue', () => {
  it.each(Object.entries(catalogue))('%s', async (name, entry) => {
    const [record, kind] = name.split(' ')
    const [event, message] = entry
    const producer = event === 'noted' ? notes.has(name) : emitted.has(event)
    expect([event, producer]).toEqual([event, true])
    // What is told by one event with many acts is told with this one.
    const { act, action, what } = message as { act?: string; action?: string; what?: string }
    for (const told of [act, action, what]) if (told !== undefined) expect([told, quoted.has(told)]).toEqual([told, true])
    const found = (await recorded([[name, entry]])).find((one) => one.name === record)
    expect(found).toMatchObject({ name: record, requestId: 'r1', address: '203.0.113.7', userAgent: 'Browser/1', tenant: '' })
    if (found?.outcome !== 'success') expect(found?.reason).toMatch(/^(?!unspecified$)[A-Za-z][\w.-]*$/)
    if (kind) expect(found?.target?.['kind']).toBe(kind)
  })

  it.each(ofTheLog)('%s comes from the log itself', (name) => {
    const own = readdirSync(`${root}plugins/evidence/audit`).map((path) => readFileSync(`${root}plugins/evidence/audit/${path}`, 'utf8'))
    expect(own.some((text) => text.includes(`'${name}'`))).toBe(true)
  })

  it.each(Object.entries(ofHosts))('%s is told by hosts', async (name, entry) => {
    expect(notes.has(name)).toBe(false)
    expect((await recorded([[name, entry]])).map((record) => record.name)).toContain(name)
  })

  it('a signal that ends the process: what waits is written, with how much it was', async () => {
    const records: AuditRecord[] = []
    const stay = (): void => {}
    process.on('SIGTERM', stay)
    const auth = createAuth(baseConfig({ providers: [byName as never] })).use(
      auditPlugin({ sink: (some) => void records.push(...some), pause: 60_000, signals: true }),
    )
    await auth.ready()
    await auth.audit.note({ tenant: null }, { name: 'waits', outcome: 'success' })
    process.emit('SIGTERM', 'SIGTERM')
    await vi.waitFor(() => expect(records.map(({ name }) => name)).toEqual(['waits', 'audit.flushed']))
    expect(records[1]).toMatchObject({ actor: { type: 'system' }, target: { count: 1 } })
    process.off('SIGTERM', stay)
    await auth.close()
  })

  it('every event that the package emits: what did not succeed has a reason', async () => {
    const error = new AccessDenied('no')
    const told = { user, admin, account, login, session: { id: 's1' }, provider: 'acme', error, message: 'no' }
    const whole = { ...told, reason: 'why', what: 'failed', act: 'ban', userId: 'ada', report: { records: { audit: 1 } } }
    const asked = [...emitted].flatMap((event) =>
      ['failure', 'denied'].map((outcome): [string, [string, object]] => ['x.y', [event, { ...whole, outcome }]]),
    )
    const failures = (await recorded(asked, false)).filter(({ outcome }) => outcome !== 'success')
    expect(new Set(failures.map(({ name }) => name)).size).toBeGreaterThan(8)
    expect(failures.filter(({ reason }) => !reason || reason === 'unspecified').map(({ name }) => name)).toEqual([])
  })

  it('a note of a host that names no reason has one', async () => {
    const records: AuditRecord[] = []
    const auth = createAuth(baseConfig({ providers: [byName as never] })).use(auditPlugin({ sink: (some) => void records.push(...some) }))
    await auth.audit.note({ tenant: null }, { name: 'export.refused', outcome: 'denied' })
    await auth.audit.note({ tenant: null }, { name: 'export.refused', outcome: 'failure', reason: 'quota' })
    await auth.close()
    expect(records.map(({ reason }) => reason)).toEqual(['unspecified', 'quota'])
  })

  it('all notes of the package stand in the paper', () => {
    const paper = readFileSync(`${root}docs/plugins/audit.md`, 'utf8')
    const names = new Set(Object.keys(catalogue).map((name) => name.split(' ')[0]!))
    const missing = [...names, ...ofTheLog].filter((name) => !paper.includes(`\`${name}\``) && !name.startsWith('org.'))
    expect(missing).toEqual([])
  })
})
