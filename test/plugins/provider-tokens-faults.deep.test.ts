/** Each call of a refresh that fails before or after its effect, hangs, answers nonsense or comes late, at the real `oidc-provider`. */
import { memoryAdapter, memoryRecords } from 'authkernel/plugins/memory'
import { recordsPlugin } from 'authkernel/plugins/records'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RealOp } from '../_op/real.ts'
import { type FaultMode, faultModes, type FaultPlan, faulty } from './_faults.ts'
import { sampleCases } from '../_tier.ts'
import { tokenOp, tokenWorld, type World } from './_provider-tokens.ts'

let op: RealOp
beforeAll(async () => {
  op = await tokenOp()
})
afterAll(() => op.stop())

const minute = 60_000

/** Calls of the records alone are counted. */
function site(plan: FaultPlan = calm()): World {
  const made = tokenWorld(op, { wait: 3_000 }, { adapter: memoryAdapter(), deadlines: { store: 500 } } as never)
  made.auth.use(recordsPlugin(faulty(memoryRecords(), plan)))
  return made
}
function calm(): FaultPlan {
  return { armed: false, calls: [], at: -1, mode: 'hangs' }
}

/** The token, or the type of what was thrown, with its status. */
async function asked({ auth, person }: World): Promise<string> {
  try {
    return (await auth.tokens.get(person, 'acme')) ? 'token' : 'null'
  } catch (error) {
    const { type, status } = error as { type?: string; status?: number }
    return `${type} ${status}`
  }
}
const clean = ['token', 'TokensExpired 401', 'TokensBusy 503', 'AdapterError 503', 'AdapterError 500']

/** No refresh token twice that may have arrived, no end in something else than a token or a new sign-in, no token in a log. */
async function heals(world: World, answers: string[], arrived = true): Promise<void> {
  const { clock, sent, errors } = world
  for (let round = 0; round < 6 && !['token', 'TokensExpired 401'].includes(answers.at(-1) ?? ''); round++) {
    clock.ahead += 30_000
    answers.push(await asked(world))
  }
  expect(answers.filter((answer) => !clean.includes(answer))).toEqual([])
  expect(['token', 'TokensExpired 401'], answers.join()).toContain(answers.at(-1))
  if (arrived) expect(new Set(sent).size, 'a rotating token was sent twice').toBe(sent.length)
  expect(errors.filter((error) => sent.some((token) => `${error.message} ${JSON.stringify(error)}`.includes(token)))).toEqual([])
  clock.ahead = 0
  errors.length = 0
  await world.signIn()
  expect(await asked(world)).toBe('token')
}

describe('each call to the store', () => {
  const places = (count: number): [FaultMode, number][] =>
    faultModes.flatMap((mode) => [...Array(count).keys()].map((at): [FaultMode, number] => [mode, at]))

  it('a refresh without a fault takes a look, a lease and a commit', async () => {
    const plan = calm()
    const world = site(plan)
    await world.signIn()
    plan.armed = true
    world.clock.ahead = 10 * minute
    expect([await asked(world), plan.calls, world.sent.length]).toEqual(['token', ['find', 'write', 'write'], 1])
  })

  it.each(sampleCases(places(3), 2))('of a refresh: %s at call %d', async (mode, at) => {
    const plan = calm()
    const world = site(plan)
    await world.signIn()
    Object.assign(plan, { armed: true, mode, at })
    world.clock.ahead = 10 * minute
    const first = await asked(world)
    expect(plan.calls.length, 'the fault was not reached').toBeGreaterThan(at)
    plan.armed = false
    await heals(world, [first])
  })

  it.each(sampleCases(places(2), 2))('of a sign-in that keeps tokens: %s at call %d', async (mode, at) => {
    const plan = calm()
    const world = site(plan)
    Object.assign(plan, { armed: true, mode, at })
    // The sign-in may fail, but leaves no user with tokens that cannot be had.
    await world.signIn().catch(() => {})
    expect(plan.calls.length, 'the fault was not reached').toBeGreaterThan(at)
    plan.armed = false
    world.errors.length = 0
    await world.signIn()
    expect(await asked(world)).toBe('token')
  })
})

describe('each call to the provider', () => {
  const reset = (): never => {
    throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })
  }
  const html = (): Response => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } })
  it.each<[string, (send: () => Promise<Response>) => Promise<Response>, string]>([
    ['refuses the connection', () => Promise.reject(Object.assign(new TypeError('x'), { cause: { code: 'ECONNREFUSED' } })), 'token'],
    [
      'answers 503 with an OAuth error',
      () => Promise.resolve(Response.json({ error: 'temporarily_unavailable' }, { status: 503 })),
      'token',
    ],
    ['answers 429', () => Promise.resolve(new Response('slow down', { status: 429 })), 'token'],
    ['is cut off before it answers', async () => reset(), 'TokensExpired 401'],
    ['is cut off after it acted', async (send) => (await send(), reset()), 'TokensExpired 401'],
    ['answers a page', async (send) => (await send(), html()), 'TokensExpired 401'],
    ['answers nothing', async (send) => (await send(), new Response('')), 'TokensExpired 401'],
    ['answers JSON without a token', async (send) => (await send(), Response.json({ hello: 1 })), 'TokensExpired 401'],
    ['answers `expires_in` as a text', async (send) => Response.json({ ...(await (await send()).json()), expires_in: '300' }), 'token'],
    ['answers `expires_in` 0', async (send) => Response.json({ ...(await (await send()).json()), expires_in: 0 }), 'token'],
    ['answers `expires_in` 1e12', async (send) => Response.json({ ...(await (await send()).json()), expires_in: 1e12 }), 'token'],
  ])('%s', async (name, answer, end) => {
    const world = site()
    await world.signIn()
    world.clock.ahead = 10 * minute
    world.answers.push(answer)
    const answers = [await asked(world)]
    await heals(world, answers, !/^(refuses|answers 503|answers 429)/.test(name))
    expect(answers.at(-1)).toBe(end)
  })

  it('`expires_in` below zero, or no number at all: clean, and nothing is sent twice', async () => {
    for (const value of [-1, 'soon', null, {}, '1e400']) {
      const world = site()
      await world.signIn()
      world.clock.ahead = 10 * minute
      world.answers.push(async (send) => Response.json({ ...(await (await send()).json()), expires_in: value }))
      await heals(world, [await asked(world)])
    }
  })

  it('hangs: the caller is told to come back, and after the lease no process sends the token again', async () => {
    const world = tokenWorld(op, { wait: 300 })
    await world.signIn()
    world.clock.ahead = 10 * minute
    world.answers.push(() => new Promise(() => {}))
    expect([await asked(world), await asked(world)]).toEqual(['TokensBusy 503', 'TokensBusy 503'])
    world.clock.ahead += 61_000
    expect([await asked(world), await asked(world)]).toEqual(['TokensExpired 401', 'TokensExpired 401'])
    expect([world.sent.length, world.events.length]).toEqual([1, 1])
  })

  it('comes later than the lease: what it brings is not kept, and is ended at the provider', async () => {
    const world = tokenWorld(op, { wait: 300 })
    await world.signIn()
    world.clock.ahead = 10 * minute
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    let late = ''
    world.answers.push(async (send) => {
      const answer = await send()
      late = ((await answer.clone().json()) as { access_token: string }).access_token
      await gate
      return answer
    })
    expect(await asked(world)).toBe('TokensBusy 503')
    await expect.poll(() => late).not.toBe('')
    world.clock.ahead += 61_000
    expect(await asked(world)).toBe('TokensExpired 401')
    open()
    const alive = async (): Promise<number> => (await fetch(`${op.issuer}/me`, { headers: { authorization: `Bearer ${late}` } })).status
    await expect.poll(alive).toBe(401)
    expect([await asked(world), world.sent.length]).toEqual(['TokensExpired 401', 1])
  })

  it('the discovery document cannot be had: nothing was sent, so the token is not lost', async () => {
    const world = site()
    await world.signIn()
    // A document counts for an hour.
    world.clock.ahead = 70 * minute
    for (const answer of [reset, html, () => new Response('{}')]) {
      world.elsewhere.answer = (url) => (url.includes('/.well-known/') ? Promise.resolve().then(answer) : undefined)
      expect(await asked(world)).toBe('TokensBusy 503')
      world.clock.ahead += 6_000
    }
    expect(world.sent).toEqual([])
    world.elsewhere.answer = undefined
    await heals(world, [await asked(world)])
  })

  it('the keys cannot be had after the token was used: the fresh tokens count, without the ID token', async () => {
    const world = site()
    await world.signIn()
    world.clock.ahead = 11 * minute
    for (const answer of [reset, html]) {
      const before = world.sent.length
      world.elsewhere.answer = (url) => (url.includes('/jwks') ? Promise.resolve().then(answer) : undefined)
      expect([await asked(world), world.sent.length]).toEqual(['token', before + 1])
      world.clock.ahead += 11 * minute
    }
    world.elsewhere.answer = undefined
    await heals(world, [await asked(world)])
  })

  it('an ID token of another person in the answer is an error, also where the keys cannot be had', async () => {
    const world = site()
    await world.signIn()
    world.clock.ahead = 11 * minute
    world.elsewhere.answer = (url) => (url.includes('/jwks') ? Promise.resolve(html()) : undefined)
    world.answers.push(async (send) => {
      const body = (await (await send()).json()) as { id_token: string }
      const [header, claims = '', signature] = body.id_token.split('.')
      const other = { ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as object), sub: 'bob' }
      const forged = [header, Buffer.from(JSON.stringify(other)).toString('base64url'), signature].join('.')
      return Response.json({ ...body, id_token: forged })
    })
    expect(await asked(world)).toBe('TokensExpired 401')
  })
})

describe('clocks', () => {
  // The provider lives in the present: its ID token has ended by a clock that is ahead.
  const withoutIdToken = async (send: () => Promise<Response>): Promise<Response> => {
    const { id_token: _ended, ...body } = (await (await send()).json()) as Record<string, unknown>
    return Response.json(body)
  }
  it('a clock that goes back by a year after a refresh: the tokens are read, nothing is sent, and all is well when it is right again', async () => {
    const world = site()
    await world.signIn()
    world.clock.ahead = 365 * 24 * 60 * minute
    world.answers.push(withoutIdToken)
    expect(await asked(world)).toBe('token')
    const { length } = world.sent
    world.clock.ahead = -2 * 24 * 60 * minute
    expect([await asked(world), world.sent.length]).toEqual(['token', length])
    world.clock.ahead = 365 * 24 * 60 * minute
    expect([await asked(world), world.sent.length]).toEqual(['token', length])
    world.clock.ahead = 0
    expect(await world.auth.tokens.revoke(world.person, 'acme')).toBe(true)
    await world.signIn()
    expect(await asked(world)).toBe('token')
  })

  it('sealed tokens whose secret is gone end in a new sign-in, and nothing is sent', async () => {
    const records = memoryRecords()
    const adapter = memoryAdapter()
    const [former, world] = ['the-former-secret-of-this-host-has-40-letters', 'the-present-secret-of-this-host-has-40-letters'].map(
      (secret) => {
        const made = tokenWorld(op, {}, { adapter, secret })
        made.auth.use(recordsPlugin(records))
        return made
      },
    ) as [World, World]
    await former.signIn()
    world.person.userId = former.person.userId
    expect([await asked(world), await asked(world), world.sent.length]).toEqual(['TokensExpired 401', 'TokensExpired 401', 0])
    expect(await world.auth.tokens.revoke(world.person, 'acme')).toBe(true)
    await world.signIn()
    expect(await asked(world)).toBe('token')
  })

  it('a lease and a pause from a clock that was ahead delay no caller', async () => {
    const world = tokenWorld(op, { wait: 300 })
    await world.signIn()
    const year = 365 * 24 * 60 * minute
    world.clock.ahead = year
    world.answers.push(() => Promise.resolve(Response.json({ error: 'temporarily_unavailable' }, { status: 503 })))
    expect(await asked(world)).toBe('TokensBusy 503')
    world.clock.ahead = 10 * minute
    expect(await world.auth.tokens.get(world.person, 'acme')).not.toBeNull()
    world.clock.ahead = year
    world.answers.push(() => new Promise(() => {}))
    expect(await asked(world)).toBe('TokensBusy 503')
    world.clock.ahead = 20 * minute
    await expect(world.auth.tokens.get(world.person, 'acme')).rejects.toMatchObject({ type: 'TokensExpired' })
  })
})
