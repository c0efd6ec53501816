/** `oathtool` of Debian as the other side of TOTP: its codes count here, and codes of other times do not. */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { baseConfig, Client } from '../_setup.ts'
import { totpAt } from '../_totp.ts'

const there = isThere()

function isThere(): boolean {
  try {
    return execFileSync('oathtool', ['--version'], { encoding: 'utf8' }).includes('oathtool')
  } catch (error) {
    if (process.env['CI']) throw new Error('oathtool is not installed: .ci/services.sh installs it.', { cause: error })
    return false
  }
}

/** A code of another implementation; `now` in milliseconds. */
function oathtool(secret: string, now: number): string {
  const at = new Date(now).toISOString().replace('T', ' ').slice(0, 19)
  return execFileSync('oathtool', ['--totp=sha1', '--base32', '--digits=6', '--time-step-size=30s', '--now', `${at} UTC`, secret], {
    encoding: 'utf8',
  }).trim()
}

describe.skipIf(!there)('oathtool', () => {
  it('computes the codes that we accept, for 200 moments and secrets', async () => {
    const base = baseConfig({
      providers: [
        { id: 'credentials', name: 'Password', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) },
      ],
    })
    const adapter = memoryAdapter(memoryData())
    const auth = createAuth(base).use(adapterPlugin(adapter)).use(twoFactorPlugin())
    await adapter.createUser!({ id: 'ada', name: 'ada', email: 'ada@example.com', emailVerified: null })
    const signIn = async () => {
      const client = new Client(auth)
      await client.post('/callback/credentials', { user: 'ada', callbackUrl: '/app' })
      return client
    }
    const client = await signIn()
    const page = await (await client.post('/two-factor/setup', { action: 'totp' })).text()
    const secret = /<code>([A-Z2-7 ]{32,})<\/code>/.exec(page)![1]!.replaceAll(' ', '')
    const id = /name="id" value="([^"]+)"/.exec(page)![1]!
    const now = () => base.runtime.now()
    const done = await (await client.post('/two-factor/setup', { action: 'confirm', id, code: oathtool(secret, now()) })).text()
    expect(done.match(/<li><code>/g)).toHaveLength(10)
    for (const [offset, accepted] of [
      [90_000, false],
      [-90_000, false],
      [30_000, true],
      [-30_000, true],
      [0, true],
    ] as const) {
      // Beyond the window of every code that was used before.
      base.runtime.advance(300_000)
      const waiting = await signIn()
      await waiting.post('/two-factor', { code: oathtool(secret, now() + offset) })
      expect([offset, (await waiting.session()) !== null]).toEqual([offset, accepted])
    }
    for (let i = 0; i < 200; i++) {
      const at = now() + i * 7_777_777_777
      expect(oathtool(secret, at)).toBe(totpAt(secret, at))
    }
  })
})
