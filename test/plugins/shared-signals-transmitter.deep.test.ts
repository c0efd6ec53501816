/** The transmitter of shared signals, with the receiver of this package as counterpart: pushes over TLS, polls and streams over HTTP. */
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import { type AdminApi, adminPlugin } from 'authkernel/plugins/admin'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { sharedSignalsPlugin, type SignalStream, type TransmitterOptions } from 'authkernel/plugins/shared-signals'
import { breakRecords } from './_broken-records.ts'
import { createSignalsWorld, issuer, type SignalsWorld } from './_signals.ts'

const caep = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
const disabled = 'https://schemas.openid.net/secevent/risc/event-type/account-disabled'
const push = (endpoint: string, more: object = {}) => ({
  delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: endpoint, authorization_header: 'Bearer agreed', ...more },
  events_requested: [caep, disabled],
})
const poll = { delivery: { method: 'urn:ietf:rfc:8936' }, events_requested: [caep, disabled] }

let world: SignalsWorld | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
})

async function begin(stream: (endpoint: string) => object, options: Partial<TransmitterOptions> = {}, plugins: readonly Plugin[] = []) {
  const of = (world = await createSignalsWorld(options, plugins))
  const receiver = await of.auth.sharedSignals.receivers.create({ organizationId: of.acme, name: 'Receiver', audience: 'receiver' })
  const created = await of.ssf('POST', '/auth/ssf/streams', receiver.token, stream(of.endpoint))
  expect(created.status).toBe(201)
  const ids: Record<string, string> = {}
  for (const name of ['ann', 'bob']) ids[name] = (await of.createUser(name)).body.id
  const switchOff = async (name: string) => of.patch(`/Users/${ids[name]}`, { op: 'replace', path: 'active', value: false })
  const streamId = String(created.body['stream_id'])
  const pollNow = async (body: object = {}) =>
    (await of.ssf('POST', `/auth/ssf/poll/${streamId}`, receiver.token, { returnImmediately: true, ...body })).body as {
      sets: Record<string, string>
      moreAvailable: boolean
    }
  /** Until nothing is under way: the ending itself begins to push. */
  const settle = async (isSettled: (stream: SignalStream) => boolean = ({ due }) => due === null) =>
    vi.waitFor(async () => {
      await of.auth.sharedSignals.deliver()
      const [found] = await of.auth.sharedSignals.streams.list({ organizationId: of.acme })
      expect(isSettled(found!)).toBe(true)
    })
  return { ...of, settle, receiverId: receiver.id, receiverToken: receiver.token, created, streamId, ids, switchOff, pollNow }
}

describe('a push', () => {
  it('ends the sessions of the user at the receiver, and those of no other user', async () => {
    const { enter, isIn, switchOff, auth, signals, pushes, settle, errors } = await begin(push)
    const [ann, bob] = [await enter('ann@acme.example'), await enter('bob@acme.example')]
    expect([await isIn(ann), await isIn(bob)]).toEqual([true, true])
    expect((await switchOff('ann')).status).toBe(200)
    await settle()
    expect([await isIn(ann), await isIn(bob)]).toEqual([false, true])
    expect(signals.map(({ kind }) => kind).sort()).toEqual(['account-disabled', 'session-revoked'])
    expect(signals.every(({ userId }) => userId !== undefined)).toBe(true)
    expect(pushes[0]?.headers.get('content-type')).toBe('application/secevent+jwt')
    const before = pushes.length
    await auth.sharedSignals.deliver()
    expect([pushes.length, errors]).toEqual([before, []])
  })

  it('is a token of RFC 8417 that the published keys verify', async () => {
    const { switchOff, pushes, ssf, store, settle } = await begin(push)
    await switchOff('ann')
    await settle()
    const { body } = await ssf('GET', '/.well-known/ssf-configuration/auth', '')
    expect(body).toMatchObject({ issuer, spec_version: '1_0', configuration_endpoint: `${issuer}/ssf/streams` })
    expect(body['jwks_uri']).toBe('http://localhost:3000/.well-known/jwks.json')
    const jwks = (await ssf('GET', '/.well-known/jwks.json', '')).body as unknown as JSONWebKeySet
    const wanted = { issuer, audience: 'receiver' }
    const { payload, protectedHeader } = await jwtVerify(pushes[0]!.body, createLocalJWKSet(jwks), wanted)
    const { id } = (await store.getUserByEmail('ann@acme.example'))!
    expect(protectedHeader.typ).toBe('secevent+jwt')
    expect(payload).toMatchObject({ sub_id: { format: 'iss_sub', iss: issuer, sub: id }, jti: expect.any(String) })
    expect([payload.exp, payload.sub]).toEqual([undefined, undefined])
  })

  it('that fails is sent again with growing pauses; none is lost, and none is sent twice, whatever pushes at once', async () => {
    const { switchOff, auth, answers, pushes, signals, runtime, acme, settle } = await begin(push)
    answers.push = async () => new Response('{"err":"access_denied","description":"secret words"}', { status: 400 })
    await switchOff('ann')
    await switchOff('bob')
    await settle(({ attempts }) => attempts === 1)
    await auth.sharedSignals.deliver()
    expect(pushes).toHaveLength(1)
    const [stream] = await auth.sharedSignals.streams.list({ organizationId: acme })
    expect(stream).toMatchObject({ attempts: 1, problem: 'The receiver answered 400 with access_denied.' })
    runtime!.advance(11_000)
    await auth.sharedSignals.deliver()
    expect(pushes).toHaveLength(2)
    runtime!.advance(11_000)
    await auth.sharedSignals.deliver()
    expect(pushes).toHaveLength(2)
    runtime!.advance(11_000)
    answers.push = undefined
    await Promise.all(Array.from({ length: 8 }, () => auth.sharedSignals.deliver()))
    await settle()
    expect(signals.map(({ kind }) => kind).sort()).toEqual(['account-disabled', 'account-disabled', 'session-revoked', 'session-revoked'])
    expect((await auth.sharedSignals.streams.list({ organizationId: acme }))[0]).toMatchObject({ attempts: 0, problem: null })
    expect(pushes).toHaveLength(2 + 4)
  })

  it('an answer that is lost is no answer: the receiver takes the same event twice, and acts once', async () => {
    const { switchOff, answers, pushes, signals, runtime, settle, receiver } = await begin(push)
    answers.push = async (request) => {
      await receiver.handler(request)
      return new Response(null, { status: 502 })
    }
    await switchOff('ann')
    await settle(({ attempts }) => attempts === 1)
    answers.push = undefined
    runtime!.advance(11_000)
    await settle()
    expect([pushes.length, signals.length]).toEqual([3, 2])
  })

  it('goes to no address of the own network, follows no redirect, and no list or log shows a secret', async () => {
    const { auth, acme, receiverToken, ssf, switchOff, streamId, settle, answers, endpoint, created, log } = await begin(push)
    const change = async (to: unknown) =>
      ssf('PATCH', '/auth/ssf/streams', receiverToken, { stream_id: streamId, delivery: { ...push('').delivery, endpoint_url: to } })
    for (const wrong of ['http://receiver.example/', 'https://user:pass@receiver.example/', 'ftp://x', 5, undefined, 'javascript:1'])
      expect([wrong, (await change(wrong)).status]).toEqual([wrong, 400])
    expect((await change('https://169.254.169.254/latest')).status).toBe(200)
    await switchOff('ann')
    await settle(({ problem }) => problem !== null)
    const [inside] = await auth.sharedSignals.streams.list({ organizationId: acme })
    expect(inside?.problem).toContain('no public address')
    answers.push = async () => new Response(null, { status: 307, headers: { location: 'https://169.254.169.254/' } })
    expect((await change(endpoint)).status).toBe(200)
    await settle(({ problem }) => problem?.includes('redirect') === true)
    expect(JSON.stringify([inside, created.body, log.errors.map(String), log.warnings, log.debugs])).not.toMatch(/agreed|ssf_[\da-f]{64}/)
  })
})

describe('a poll', () => {
  it('gives events until they are acknowledged, to their receiver alone', async () => {
    const { switchOff, pollNow, auth, acme, streamId, ssf, globex } = await begin(() => poll)
    expect(await pollNow()).toEqual({ sets: {}, moreAvailable: false })
    await switchOff('ann')
    const first = await pollNow({ maxEvents: 1 })
    expect([Object.keys(first.sets).length, first.moreAvailable]).toEqual([1, true])
    const all = await pollNow({ returnImmediately: true })
    expect(Object.keys(all.sets)).toHaveLength(2)
    const other = await auth.sharedSignals.receivers.create({ organizationId: acme, name: 'Other', audience: 'other' })
    const foreign = await auth.sharedSignals.receivers.create({ organizationId: globex, name: 'Foreign', audience: 'foreign' })
    for (const { token } of [other, foreign])
      for (const [method, path, body] of [
        ['POST', `/auth/ssf/poll/${streamId}`, { ack: Object.keys(all.sets) }],
        ['GET', `/auth/ssf/streams?stream_id=${streamId}`, undefined],
        ['PATCH', '/auth/ssf/streams', { stream_id: streamId, description: 'x' }],
        ['DELETE', `/auth/ssf/streams?stream_id=${streamId}`, undefined],
        ['POST', '/auth/ssf/status', { stream_id: streamId, status: 'disabled' }],
        ['POST', '/auth/ssf/verify', { stream_id: streamId }],
      ] as const)
        expect([method, (await ssf(method, path, token, body)).status]).toEqual([method, 404])
    const [one, two] = Object.keys(all.sets)
    expect(Object.keys((await pollNow({ ack: [one] })).sets)).toEqual([two])
    expect((await pollNow({ setErrs: { [two!]: { err: 'invalid_request', description: 'x' } } })).sets).toEqual({})
  })

  it('refuses bodies that are wrong', async () => {
    const { ssf, streamId, receiverToken } = await begin(() => poll)
    const path = `/auth/ssf/poll/${streamId}`
    for (const body of [
      '[]',
      '{',
      { ack: 'x' },
      { ack: [{}] },
      { ack: ['../x'] },
      { maxEvents: -1 },
      { setErrs: [] },
      { returnImmediately: 'yes' },
      { ack: Array(501).fill('a') },
    ])
      expect([body, (await ssf('POST', path, receiverToken, body)).status]).toEqual([body, 400])
    expect((await ssf('POST', path, receiverToken, `{"ack":["${'x'.repeat(70_000)}"]}`)).status).toBe(413)
    expect((await ssf('POST', path, 'ssf_none', {})).status).toBe(401)
  })
})

describe('a poll that waits', () => {
  const began = performance.now.bind(performance)

  it('is answered as soon as an event is there, and once', async () => {
    const { ssf, streamId, receiverToken, switchOff, pollNow } = await begin(() => poll)
    // The default of RFC 8936.
    const waiting = ssf('POST', `/auth/ssf/poll/${streamId}`, receiverToken, {})
    const start = began()
    await new Promise((resolve) => setTimeout(resolve, 300))
    await switchOff('ann')
    const { body } = await waiting
    const ids = Object.keys(body['sets'] as object)
    expect(ids.length).toBeGreaterThan(0)
    expect(began() - start).toBeLessThan(5000)
    await pollNow({ ack: Object.keys((await pollNow()).sets) })
    expect((await pollNow()).sets).toEqual({})
  })

  it('ends without an event after its time, and is not waited for by acknowledgements or by a third one', async () => {
    const { ssf, streamId, receiverToken } = await begin(() => poll, { longPoll: 1 })
    const ask = (body: object) => ssf('POST', `/auth/ssf/poll/${streamId}`, receiverToken, body)
    const start = began()
    expect((await ask({ maxEvents: 0 })).body).toEqual({ sets: {}, moreAvailable: false })
    expect((await ask({ returnImmediately: true })).body).toEqual({ sets: {}, moreAvailable: false })
    expect(began() - start).toBeLessThan(900)
    const times = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const at = began()
        expect((await ask({})).body).toEqual({ sets: {}, moreAvailable: false })
        return began() - at
      }),
    )
    expect(times.filter((time) => time > 900)).toHaveLength(2)
  })

  it('gives nothing to a receiver that was removed or whose token was changed meanwhile, and ends with the stream', async () => {
    const { ssf, streamId, receiverToken, switchOff, auth, receiverId } = await begin(() => poll)
    const ask = () => ssf('POST', `/auth/ssf/poll/${streamId}`, receiverToken, {})
    const first = ask()
    await new Promise((resolve) => setTimeout(resolve, 300))
    await auth.sharedSignals.receivers.rotate({ id: receiverId })
    await switchOff('ann')
    expect((await first).body).toEqual({ sets: {}, moreAvailable: false })
    const { token } = (await auth.sharedSignals.receivers.rotate({ id: receiverId }))!
    const list = Object.keys((await ssf('POST', `/auth/ssf/poll/${streamId}`, token, {})).body['sets'] as object)
    await ssf('POST', `/auth/ssf/poll/${streamId}`, token, { ack: list, maxEvents: 0 })
    const start = began()
    const second = ssf('POST', `/auth/ssf/poll/${streamId}`, token, {})
    await new Promise((resolve) => setTimeout(resolve, 300))
    await auth.sharedSignals.receivers.remove({ id: receiverId })
    expect((await second).body).toEqual({ sets: {}, moreAvailable: false })
    expect(began() - start).toBeLessThan(5000)
  })

  it('ends when the app closes', async () => {
    const { ssf, streamId, receiverToken, auth } = await begin(() => poll)
    const waiting = ssf('POST', `/auth/ssf/poll/${streamId}`, receiverToken, {})
    await new Promise((resolve) => setTimeout(resolve, 300))
    const start = began()
    await auth.close()
    expect((await waiting).body).toEqual({ sets: {}, moreAvailable: false })
    expect(began() - start).toBeLessThan(2000)
  })
})

describe('subjects of a stream', () => {
  const add = '/auth/ssf/subjects/add'
  const remove = '/auth/ssf/subjects/remove'

  it('are all users of the organization, without those that the receiver removed, until it adds them again', async () => {
    const { ssf, streamId, receiverToken, switchOff, pollNow, ids, patch, store } = await begin(() => poll)
    const configuration = (await ssf('GET', '/.well-known/ssf-configuration/auth', '')).body
    expect(configuration).toMatchObject({
      default_subjects: 'ALL',
      add_subject_endpoint: `${issuer}/ssf/subjects/add`,
      remove_subject_endpoint: `${issuer}/ssf/subjects/remove`,
    })
    const ann = { format: 'email', email: 'ann@acme.example' }
    const tell = async (path: string, subject: unknown) => (await ssf('POST', path, receiverToken, { stream_id: streamId, subject })).status
    expect(await tell(remove, ann)).toBe(204)
    await switchOff('ann')
    expect((await pollNow()).sets).toEqual({})
    await patch(`/Users/${ids['ann']}`, { op: 'replace', path: 'active', value: true })
    const { id } = (await store.getUserByEmail('ann@acme.example'))!
    expect(await tell(add, { format: 'iss_sub', iss: issuer, sub: id })).toBe(200)
    await switchOff('ann')
    expect(Object.keys((await pollNow()).sets)).toHaveLength(2)
    for (const subject of [
      { format: 'opaque', id },
      { format: 'aliases', identifiers: [{ format: 'email', email: 'none@acme.example' }, ann] },
      {
        format: 'aliases',
        identifiers: [
          { format: 'opaque', id: 'an-id-of-the-receiver' },
          { format: 'opaque', id },
        ],
      },
      { format: 'complex', user: ann, tenant: { format: 'opaque', id: 'x' } },
      { format: 'email', email: 'ＡＮＮ@acme.example' },
    ])
      expect([subject, await tell(remove, subject)]).toEqual([subject, 204])
  })

  it('are those that the receiver added, with `subjects: none`', async () => {
    const { ssf, streamId, receiverToken, switchOff, pollNow } = await begin(() => poll, { subjects: 'none' })
    expect((await ssf('GET', '/.well-known/ssf-configuration/auth', '')).body['default_subjects']).toBe('NONE')
    const subject = { format: 'email', email: 'ann@acme.example' }
    expect((await ssf('POST', add, receiverToken, { stream_id: streamId, subject, verified: true })).status).toBe(200)
    await switchOff('bob')
    expect((await pollNow()).sets).toEqual({})
    await switchOff('ann')
    expect(Object.keys((await pollNow()).sets)).toHaveLength(2)
  })

  it('are no users of other organizations, in the same words as those who do not exist; streams of others are absent', async () => {
    const { ssf, streamId, receiverToken, auth, globex, store } = await begin(() => poll)
    const tell = (path: string, token: string, subject: unknown, id = streamId) => ssf('POST', path, token, { stream_id: id, subject })
    const foreign = await auth.sharedSignals.receivers.create({ organizationId: globex, name: 'Foreign', audience: 'f' })
    const stranger = (await store.getUserByEmail('owner@globex.example'))!
    for (const path of [add, remove]) {
      const answers = [
        await tell(path, receiverToken, { format: 'email', email: 'owner@globex.example' }),
        await tell(path, receiverToken, { format: 'opaque', id: stranger.id }),
        await tell(path, receiverToken, { format: 'email', email: 'none@acme.example' }),
        await tell(path, receiverToken, { format: 'iss_sub', iss: 'https://other.example', sub: stranger.id }),
        await tell(path, receiverToken, { format: 'phone_number', phone_number: '+1' }),
      ]
      for (const { status, body } of answers) expect([status, body['description']]).toEqual([404, 'There is no such subject.'])
      expect((await tell(path, foreign.token, { format: 'email', email: 'ann@acme.example' })).status).toBe(404)
      for (const wrong of [
        undefined,
        'ann',
        [],
        {},
        { format: 'email' },
        { format: 'none' },
        { format: 'opaque', id: '' },
        { format: 'aliases', identifiers: [{ format: 'aliases', identifiers: [{ format: 'aliases', identifiers: [] }] }] },
      ])
        expect([wrong, (await tell(path, receiverToken, wrong)).status]).toEqual([wrong, 400])
      expect(
        (await ssf('POST', path, receiverToken, { stream_id: streamId, subject: { format: 'opaque', id: 'x' }, verified: 'yes' })).status,
      ).toBe(400)
    }
  })
})

describe('what is sent', () => {
  it('only to organizations of the user, and by the reason of the ending', async () => {
    const { auth, acme, globex, pollNow, store, ssf, patch, ids, send } = await begin(() => poll)
    const foreign = await auth.sharedSignals.receivers.create({ organizationId: globex, name: 'Foreign', audience: 'f', subject: 'email' })
    const stream = await auth.sharedSignals.streams.create({ receiverId: foreign.id, issuer })
    const kinds = async (sets: Record<string, string>) =>
      Object.values(sets)
        .flatMap((jwt) => Object.keys((JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()) as { events: object }).events))
        .map((uri) => uri.split('/').at(-1))
        .sort()
    await patch(`/Users/${ids['ann']}`, { op: 'replace', path: 'active', value: false })
    expect(await kinds((await pollNow()).sets)).toEqual(['account-disabled', 'session-revoked'])
    const atGlobex = async () =>
      (await ssf('POST', `/auth/ssf/poll/${stream.id}`, foreign.token, { returnImmediately: true })).body as {
        sets: Record<string, string>
      }
    expect((await atGlobex()).sets).toEqual({})
    // Of both organizations: the membership of one ends, and only that one learns of it.
    await auth.organizations.add({ system: true }, globex, (await store.getUserByEmail('bob@acme.example'))!.id)
    await send('DELETE', `/Users/${ids['bob']}`)
    expect((await atGlobex()).sets).toEqual({})
    await auth.organizations.remove({ system: true }, globex, (await store.getUserByEmail('bob@acme.example'))!.id)
    const sets = Object.values((await atGlobex()).sets)
    expect(sets).toHaveLength(2)
    expect(JSON.parse(Buffer.from(sets[0]!.split('.')[1]!, 'base64url').toString())).toMatchObject({
      sub_id: { format: 'email', email: 'bob@acme.example' },
    })
    expect(acme).not.toBe(globex)
  })

  it('last is what holds, also when a user is switched off and on several times within a second', async () => {
    const { switchOff, patch, ids, pollNow } = await begin(() => ({
      ...poll,
      events_requested: [caep, disabled, disabled.replace('disabled', 'enabled')],
    }))
    const switchOn = () => patch(`/Users/${ids['ann']}`, { op: 'replace', path: 'active', value: true })
    const kinds = async () =>
      Object.values((await pollNow()).sets)
        .map((jwt) => Object.keys((JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()) as { events: object }).events)[0])
        .map((type) => type?.split('/').at(-1))
        .sort()
    await switchOff('ann')
    await switchOn()
    expect(await kinds()).toEqual(['account-enabled', 'session-revoked'])
    await switchOff('ann')
    expect(await kinds()).toEqual(['account-disabled', 'session-revoked'])
    await switchOn()
    expect(await kinds()).toEqual(['account-enabled', 'session-revoked'])
  })

  it('each end and each return of access is told by its event, and no return while something else rejects the user', async () => {
    const of = await begin(
      () => ({
        ...poll,
        events_requested: ['enabled', 'purged', 'disabled'].map((what) => disabled.replace('disabled', what)).concat(caep),
      }),
      {},
      [adminPlugin({ can: () => true })],
    )
    const { acme, store, patch, ids, switchOff, runtime } = of
    const auth = of.auth as typeof of.auth & AdminApi
    const { id: userId } = (await store.getUserByEmail('ann@acme.example'))!
    const by = { userId: (await store.getUserByEmail('owner@globex.example'))!.id }
    const order = { reason: 'Ticket 1' }
    const told = async () => {
      const { sets } = await of.pollNow()
      await of.pollNow({ ack: Object.keys(sets) })
      runtime!.advance(1000)
      return Object.values(sets)
        .flatMap((jwt) => Object.keys((JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()) as { events: object }).events))
        .map((uri) => uri.split('/').at(-1))
        .sort()
    }
    const switchOn = () => patch(`/Users/${ids['ann']}`, { op: 'replace', path: 'active', value: true })
    const ended = ['account-disabled', 'session-revoked']
    const after = async (work: () => Promise<unknown>) => (await work(), told())

    expect(await after(() => auth.sessions.revokeAll({ userId }))).toEqual(['session-revoked'])
    expect(await after(() => auth.admin.signOut(by, userId, order))).toEqual(['session-revoked'])
    const address = { op: 'replace', path: 'emails[type eq "work"].value', value: 'ann.doe@acme.example' }
    expect(await after(() => patch(`/Users/${ids['ann']}`, address))).toEqual(['session-revoked'])

    expect(await after(() => auth.admin.ban(by, userId, order))).toEqual(ended)
    expect(await after(() => auth.admin.unban(by, userId, order))).toEqual(['account-enabled'])
    expect(await after(() => auth.organizations.suspend({ system: true }, acme, userId))).toEqual(ended)
    expect(await after(() => auth.organizations.restore({ system: true }, acme, userId))).toEqual(['account-enabled'])
    expect(await after(() => switchOff('ann'))).toEqual(ended)
    expect(await after(switchOn)).toEqual(['account-enabled'])

    // Banned and switched off: the last of both that is lifted tells.
    expect(await after(() => auth.admin.ban(by, userId, order))).toEqual(ended)
    expect(await after(() => switchOff('ann'))).toEqual(ended)
    expect(await after(switchOn)).toEqual([])
    expect(await after(() => auth.admin.unban(by, userId, order))).toEqual(['account-enabled'])
    await after(async () => (await switchOff('ann'), await auth.admin.ban(by, userId, order)))
    expect(await after(() => auth.admin.unban(by, userId, order))).toEqual([])
    expect(await after(switchOn)).toEqual(['account-enabled'])

    expect(await after(() => auth.admin.deleteUser(by, userId, order))).toEqual(['account-purged', 'session-revoked'])
  })

  it('of the last owner, whom a directory switches off and on, is told too', async () => {
    const { createUser, patch, pollNow } = await begin(() => ({
      ...poll,
      events_requested: [disabled, disabled.replace('disabled', 'enabled')],
    }))
    const { body } = await createUser('owner')
    const setActive = (value: boolean) => patch(`/Users/${body.id}`, { op: 'replace', path: 'active', value })
    for (const [value, event] of [
      [false, 'account-disabled'],
      [true, 'account-enabled'],
    ] as const) {
      expect((await setActive(value)).status).toBe(200)
      const [jwt = ''] = Object.values((await pollNow()).sets)
      expect(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()).toContain(event)
    }
  })

  it('of a deleted user outlives the user', async () => {
    const { auth, pollNow, store, streamId, ssf, receiverToken } = await begin(() => ({
      ...poll,
      events_requested: ['https://schemas.openid.net/secevent/risc/event-type/account-purged'],
    }))
    expect((await ssf('GET', `/auth/ssf/streams?stream_id=${streamId}`, receiverToken)).body['events_delivered']).toHaveLength(1)
    const ann = (await store.getUserByEmail('ann@acme.example'))!
    await auth.users.delete({ userId: ann.id })
    expect(await store.getUser(ann.id)).toBeNull()
    expect(Object.keys((await pollNow()).sets)).toHaveLength(1)
  })
})

describe('streams', () => {
  it('are created, read, changed, paused, verified and removed by their receiver', async () => {
    const { ssf, receiverToken, created, streamId, switchOff, pollNow, auth, runtime } = await begin(() => poll)
    expect(created.body).toMatchObject({ iss: issuer, aud: 'receiver', events_delivered: [caep, disabled] })
    expect((await ssf('GET', '/auth/ssf/streams', receiverToken)).body).toHaveLength(1)
    const patched = await ssf('PATCH', '/auth/ssf/streams', receiverToken, { stream_id: streamId, description: 'Ours' })
    expect(patched.body).toMatchObject({ description: 'Ours', events_requested: [caep, disabled] })
    const put = await ssf('PUT', '/auth/ssf/streams', receiverToken, { stream_id: streamId, events_requested: [caep, 'urn:unknown'] })
    expect([put.body['description'], put.body['events_delivered']]).toEqual([undefined, [caep]])
    const status = async (value?: string) =>
      value === undefined
        ? (await ssf('GET', `/auth/ssf/status?stream_id=${streamId}`, receiverToken)).body['status']
        : (await ssf('POST', '/auth/ssf/status', receiverToken, { stream_id: streamId, status: value })).status
    expect([await status(), await status('paused'), await status('wrong'), await status()]).toEqual(['enabled', 200, 400, 'paused'])
    await switchOff('ann')
    expect((await pollNow()).sets).toEqual({})
    await status('enabled')
    expect(Object.keys((await pollNow()).sets)).toHaveLength(1)
    await status('disabled')
    await switchOff('bob')
    await status('enabled')
    expect((await pollNow()).sets).toEqual({})
    const verify = async (state?: unknown) => (await ssf('POST', '/auth/ssf/verify', receiverToken, { stream_id: streamId, state })).status
    expect([await verify(5), await verify('abc'), await verify('abc')]).toEqual([400, 204, 429])
    runtime!.advance(61_000)
    const [jwt = ''] = Object.values((await pollNow()).sets)
    expect(JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString())).toMatchObject({
      sub_id: { format: 'opaque', id: streamId },
      events: { 'https://schemas.openid.net/secevent/ssf/event-type/verification': { state: 'abc' } },
    })
    for (let at = 1; at < 5; at++) expect((await ssf('POST', '/auth/ssf/streams', receiverToken, poll)).status).toBe(201)
    expect((await ssf('POST', '/auth/ssf/streams', receiverToken, poll)).status).toBe(409)
    expect((await ssf('DELETE', `/auth/ssf/streams?stream_id=${streamId}`, receiverToken)).status).toBe(204)
    expect((await ssf('GET', `/auth/ssf/streams?stream_id=${streamId}`, receiverToken)).status).toBe(404)
    expect(auth.sharedSignals).toBeDefined()
  })

  it('end with the token, the receiver and the organization', async () => {
    const { auth, acme, receiverId, receiverToken, ssf, switchOff } = await begin(() => poll)
    const next = (await auth.sharedSignals.receivers.rotate({ id: receiverId }))!
    expect((await ssf('GET', '/auth/ssf/streams', receiverToken)).status).toBe(401)
    expect((await ssf('GET', '/auth/ssf/streams', next.token)).status).toBe(200)
    const [listed] = await auth.sharedSignals.receivers.list({ organizationId: acme })
    expect(JSON.stringify(listed)).not.toContain(next.token)
    expect(listed).toMatchObject({ shown: `ssf_…${next.token.slice(-4)}`, lastUsed: expect.any(Date) })
    await auth.sharedSignals.receivers.remove({ id: receiverId })
    expect((await ssf('GET', '/auth/ssf/streams', next.token)).status).toBe(401)
    expect(await auth.sharedSignals.streams.list({ organizationId: acme })).toEqual([])
    expect((await switchOff('ann')).status).toBe(200)
    const again = await auth.sharedSignals.receivers.create({ organizationId: acme, name: 'R', audience: 'r' })
    await auth.organizations.delete({ system: true }, acme)
    expect((await ssf('GET', '/auth/ssf/streams', again.token)).status).toBe(401)
  })

  it('of an organization that is deleted while the store fails give nothing more, and go with the next clean-up', async () => {
    const broken = breakRecords(/^signal/)
    const { auth, acme, receiverToken, streamId, ssf, switchOff, pushes, answers, pollNow } = await begin(push, {}, [broken.plugin])
    // The receiver is away: an event waits.
    answers.push = async () => new Response(null, { status: 503 })
    await switchOff('ann')
    await vi.waitFor(() => expect(pushes.length).toBeGreaterThan(0))
    broken.isBroken = true
    await auth.organizations.delete({ system: true }, acme)
    expect(broken.failures).toBeGreaterThan(0)
    expect(await auth.sharedSignals.streams.list({ organizationId: acme })).toHaveLength(1)
    answers.push = undefined
    const before = pushes.length
    world!.runtime!.advance(3_600_000)
    await auth.sharedSignals.deliver().catch(() => 0)
    expect(pushes).toHaveLength(before)
    expect((await ssf('GET', '/auth/ssf/streams', receiverToken)).status).toBe(403)
    expect((await pollNow()).sets).toBeUndefined()
    broken.isBroken = false
    await auth.cleanup()
    expect(await auth.sharedSignals.streams.list({ organizationId: acme })).toEqual([])
    expect((await ssf('GET', `/auth/ssf/streams?stream_id=${streamId}`, receiverToken)).status).toBe(401)
  })
})

it('refuses wrong receivers, options and missing plugins', async () => {
  const { auth, acme } = await begin(() => poll)
  const create = (more: object) => auth.sharedSignals.receivers.create({ organizationId: acme, name: 'R', audience: 'r', ...more } as never)
  await expect(create({ name: '' })).rejects.toThrow('`name`')
  await expect(create({ audience: 5 })).rejects.toThrow('`audience`')
  await expect(create({ subject: 'phone' })).rejects.toThrow('`subject`')
  await expect(create({ organizationId: 'none' })).rejects.toThrow('no such organization')
  expect(() => sharedSignalsPlugin({ transmitter: { every: -1 } })).toThrow('`transmitter.every`')
  expect(() => sharedSignalsPlugin({ transmitter: { longPoll: 51 } })).toThrow('`transmitter.longPoll`')
  expect(() => sharedSignalsPlugin({ transmitter: { subjects: 'some' as never } })).toThrow('`transmitter.subjects`')
  expect(() => sharedSignalsPlugin({ transmitter: { often: 1 } as never })).toThrow('often')
  expect(() => sharedSignalsPlugin({})).toThrow('`providers` is empty')
  const alone = createAuth({ secret: 's'.repeat(40), env: false, adapter: memoryAdapter(memoryData()) }).use(
    sharedSignalsPlugin({ transmitter: {} }),
  )
  await expect(alone.ready()).rejects.toThrow(/shared-signals/)
})
