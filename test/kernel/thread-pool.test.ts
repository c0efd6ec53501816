/** Reading a session hands nothing to the thread pool: a count that holds on any machine, where a duration would not (docs/speed.md). */
import { createHook } from 'node:async_hooks'
import { subtle } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAuth } from 'authkernel'
import { decode, encode, getToken } from 'authkernel/jwt'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'

const name = 'authkernel.session-token'
const providers = [{ id: 'credentials', name: 'Password', type: 'credentials' as const, authorize: () => ({ id: '1', name: 'Ann' }) }]

async function signedIn() {
  const auth = createAuth(baseConfig({ providers, logger: recordingLogger() }))
  const client = new Client(auth)
  await client.post('/callback/credentials')
  const cookie = client.cookieHeader()
  return { auth, request: (value = cookie) => new Request('http://localhost:3000/auth/session', { headers: { cookie: value } }) }
}

/** Crypto jobs that came back from the pool, by name: a synchronous job has a resource as well, but no callback. */
async function jobsOf(work: () => Promise<unknown>): Promise<string[]> {
  const requests = new Map<number, string>()
  const jobs: string[] = []
  const hook = createHook({
    init: (id, type) => void (/^(?!FSREQ).*REQUEST$/.test(type) && requests.set(id, type)),
    before(id) {
      const type = requests.get(id)
      if (type !== undefined) jobs.push(type)
    },
  })
  hook.enable()
  try {
    await work()
  } finally {
    hook.disable()
  }
  return jobs
}

afterEach(() => void vi.restoreAllMocks())

function forbidSubtle(): void {
  for (const method of ['decrypt', 'encrypt', 'digest', 'sign', 'verify', 'deriveBits', 'deriveKey', 'importKey'] as const) {
    vi.spyOn(subtle, method).mockImplementation(() => {
      throw new Error(`crypto.subtle.${method} on a session read`)
    })
  }
}

describe('on Node a jwt session is read without the thread pool', () => {
  it('through auth.session, auth.read and the handler', async () => {
    const { auth, request } = await signedIn()
    forbidSubtle()
    const jobs = await jobsOf(async () => {
      expect(await auth.session(request())).toMatchObject({ user: { name: 'Ann' } })
      expect((await auth.read(request())).session).toMatchObject({ user: { name: 'Ann' } })
      expect(await (await auth.handler(request())).json()).toMatchObject({ user: { name: 'Ann' } })
    })
    expect(jobs).toEqual([])
  })

  it('also the first time, when the keys are derived', async () => {
    const { request } = await signedIn()
    const fresh = createAuth(baseConfig({ providers, logger: recordingLogger() }))
    forbidSubtle()
    expect(await jobsOf(async () => expect(await fresh.session(request())).toMatchObject({ user: { name: 'Ann' } }))).toEqual([])
  })

  it('nor does a forged token cost a job', async () => {
    const { auth, request } = await signedIn()
    forbidSubtle()
    const header = Buffer.from('{"alg":"dir","enc":"A256CBC-HS512"}').toString('base64url')
    const { stackTraceLimit } = Error
    const forged = [
      'x',
      'x'.repeat(3_800),
      `${'x'.repeat(3_800)}.`,
      `${header}..AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA.${'A'.repeat(43)}`,
    ]
    for (const value of forged) {
      expect(await jobsOf(async () => expect(await auth.session(request(`${name}=${value}`))).toBeNull())).toEqual([])
    }
    expect(Error.stackTraceLimit).toBe(stackTraceLimit)
  })

  it('the count sees jobs where there are some: the same read through jose', async () => {
    const { getBuiltinModule } = process
    vi.spyOn(process, 'getBuiltinModule').mockImplementation((id: string) => {
      if (id === 'node:crypto') throw new Error('not here')
      return getBuiltinModule(id)
    })
    const { auth, request } = await signedIn()
    expect((await jobsOf(() => auth.session(request()))).length).toBeGreaterThan(0)
  })
})

describe('on Node nothing else that is cheap takes the thread pool', () => {
  it('encode, decode and getToken, with several secrets and the first time too', async () => {
    forbidSubtle()
    const secrets = Array.from({ length: 5 }, (_, i) => `secret-number-${i}-that-is-long-enough-for-this`)
    const jobs = await jobsOf(async () => {
      for (const secret of secrets) {
        const token = await encode({ token: { sub: '1' }, secret, salt: name })
        expect(await decode({ token, secret: secrets, salt: name })).toMatchObject({ sub: '1' })
        expect(await getToken({ req: { headers: { cookie: `${name}=${token}` } }, secret: secrets, cookieName: name })).toMatchObject({
          sub: '1',
        })
      }
    })
    expect(jobs).toEqual([])
  })

  it('GET /csrf with and without its cookie, and a sign-in by credentials', async () => {
    const auth = createAuth(baseConfig({ providers, logger: recordingLogger() }))
    forbidSubtle()
    const client = new Client(auth)
    const jobs = await jobsOf(async () => {
      expect((await client.get('/csrf')).status).toBe(200)
      expect((await client.get('/csrf')).status).toBe(200)
      await client.post('/callback/credentials')
    })
    expect(client.cookieHeader()).toContain(name)
    expect(jobs).toEqual([])
  })
})
