/** Health: against a real SMTP server, an issuer whose clock differs, and a store that goes and comes back. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { type AuthConfig, createAuth } from 'authkernel'
import { healthPlugin, type HealthOptions } from 'authkernel/plugins/health'
import { memoryAdapter } from 'authkernel/plugins/memory'
import nodemailer from 'authkernel/providers/nodemailer'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { baseConfig, fakeRuntime } from '../_setup.ts'

let issuer: Server
let url: string
let wrong = false
let asked = 0
beforeEach(async () => {
  ;[wrong, asked] = [false, 0]
  issuer = createServer((_req, res) => {
    asked++
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer: wrong ? 'https://evil.example' : url }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => issuer.once('listening', resolve))
  url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
})
afterEach(() => new Promise((resolve) => issuer.close(resolve)))

function createHost(options: HealthOptions = {}, config: AuthConfig = {}) {
  let down = false
  const adapter = memoryAdapter()
  const { getUserByEmail } = adapter
  adapter.getUserByEmail = (email) => {
    if (down) throw new Error('connect ECONNREFUSED postgres://user:hunter2@db')
    return getUserByEmail(email)
  }
  let ahead = 0
  const runtime = { ...fakeRuntime(globalThis.fetch), now: () => Date.now() + ahead }
  const settings = baseConfig({
    adapter,
    runtime,
    deadlines: { network: 1_000 },
    providers: [{ id: 'acme', name: 'Acme', type: 'oidc', issuer: url, clientId: 'x', clientSecret: 'y' }],
    ...config,
  })
  const auth = createAuth(settings).use(healthPlugin({ cache: 0, ...options }))
  const get = async (path = '/health') => {
    const answer = await auth.handler(new Request(`http://localhost:3000/auth${path}`))
    return {
      status: answer.status,
      body: (await answer.json()) as { status: string; checks?: { name: string; status: string; message?: string }[] },
    }
  }
  return { auth, get, fail: (fails: boolean) => void (down = fails), moveClock: (ms: number) => void (ahead = ms) }
}

describe('healthPlugin', () => {
  it('passes, and tells details only to whom the host allows', async () => {
    expect(await createHost().get()).toEqual({ status: 200, body: { status: 'pass' } })
    const { body } = await createHost({ details: () => true }).get()
    expect(body.checks!.map(({ name, status }) => `${name} ${status}`)).toEqual(['store pass', 'issuer:acme pass', 'clock pass'])
    expect((await createHost({ details: () => Promise.resolve(false) }).get()).body).toEqual({ status: 'pass' })
  })

  it('a store that is away is 503, without its secrets, and liveness goes on', async () => {
    const { get, fail } = createHost({ details: () => true })
    fail(true)
    const { status, body } = await get()
    expect([status, body.status]).toEqual([503, 'fail'])
    expect(body.checks!.find(({ name }) => name === 'store')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('getUserByEmail() failed'),
    })
    expect(JSON.stringify(body)).not.toContain('hunter2')
    expect(await get('/health/live')).toEqual({ status: 200, body: { status: 'pass' } })
    fail(false)
    expect((await get()).status).toBe(200)
  })

  it('an issuer that calls itself otherwise fails, a clock that is off warns', async () => {
    const { get, moveClock } = createHost({ details: () => true })
    wrong = true
    expect((await get()).body.checks!.find(({ name }) => name === 'issuer:acme')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('calls itself "https://evil.example"'),
    })
    wrong = false
    moveClock(300_000)
    const { status, body } = await get()
    expect([status, body.status]).toEqual([200, 'warn'])
    expect(body.checks!.find(({ name }) => name === 'clock')!.message).toMatch(/differs by (299|300|301) s/)
  })

  it('asks the mail server, with its password, and sends nothing', async () => {
    let mails = 0
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) => done(password === 'right' ? null : new Error('no'), { user: username }),
      onData: (stream, _session, done) => (mails++, stream.resume().on('end', done)),
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.server.address() as AddressInfo
    const host = (password: string) =>
      createHost(
        { details: () => true },
        { providers: [nodemailer({ server: `smtp://me:${password}@127.0.0.1:${port}`, from: 'a@b.example' })] },
      )
    const mailOf = async (password: string) => (await host(password).get()).body.checks!.find(({ name }) => name === 'mail')
    expect(await mailOf('right')).toMatchObject({ status: 'pass' })
    const refused = await mailOf('wrong-hunter2')
    expect(refused).toMatchObject({ status: 'fail' })
    expect(refused!.message).not.toContain('hunter2')
    await new Promise<void>((resolve) => server.close(() => resolve()))
    expect(await mailOf('right')).toMatchObject({ status: 'fail' })
    expect(mails).toBe(0)
  })

  it('answers of the last seconds are good enough: probes make no work, and many at once look once', async () => {
    const { get } = createHost({ cache: 60 })
    await Promise.all(Array.from({ length: 20 }, () => get()))
    await get()
    expect(asked).toBe(1)
  })

  it('checks of the host, and waiting until nothing fails', async () => {
    let tries = 0
    const checks = { queue: () => 'slow', other: () => (++tries < 3 ? Promise.reject(new Error('not yet')) : undefined) }
    const { auth } = createHost({ checks })
    await expect(auth.health.ready({ seconds: 0 })).rejects.toThrow('other: not yet')
    const seen: string[] = []
    expect((await auth.health.ready({ seconds: 10, onProgress: ({ status }) => seen.push(status) })).status).toBe('warn')
    expect(seen).toEqual(['fail', 'warn'])
    expect((await auth.health.check()).checks.find(({ name }) => name === 'queue')).toMatchObject({ status: 'warn', message: 'slow' })
  })
})
