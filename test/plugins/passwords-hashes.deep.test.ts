/** Hashes of passwords: those of other products are replaced at the first sign-in, and a crowd waits in a line. */
import { pbkdf2Sync, scryptSync } from 'node:crypto'
import bcrypt from 'bcryptjs'
import { describe, expect, it } from 'vitest'
import type { AuthConfig } from 'authkernel/kernel'
import { bcryptHash, betterAuthHash, firebaseScrypt, pbkdf2Hash } from 'authkernel/plugins/passwords'
import { ada, good, other, world } from './_passwords.ts'

describe('hashes', () => {
  const firebase = {
    signerKey: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
    saltSeparator: 'Bw==',
  }
  const salt = '000102030405060708090a0b0c0d0e0f'
  const taken: [string, string, string][] = [
    ['better-auth', good, `${salt}:${scryptSync(good, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 67_108_864 }).toString('hex')}`],
    ['bcrypt', good, bcrypt.hashSync(good, 4)],
    // The example of the Firebase scrypt repository.
    [
      'firebase',
      'user1password',
      'firebase:42xEC+ixf3L2lw==:lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
    ],
    ['Django', good, `pbkdf2_sha256$1000$pepper$${pbkdf2Sync(good, 'pepper', 1000, 32, 'sha256').toString('base64')}`],
  ]
  const verify = [betterAuthHash(), bcryptHash(), firebaseScrypt(firebase), pbkdf2Hash()]

  it.each(taken)('of %s are read, and re-hashed at the first sign-in', async (_name, password, hash) => {
    const { auth, user, signIn } = await world({ verify, secondFactor: () => true })
    await user()
    expect(await auth.passwords.import([{ userId: 'ada', hash }])).toBe(1)
    expect((await signIn(`${password}x`)).session).toBeNull()
    expect((await signIn(password)).session?.user?.email).toBe(ada)
    expect((await signIn(password)).session?.user?.email).toBe(ada)
  })

  it('after the first sign-in a bcrypt password counts whole', async () => {
    const { auth, user, signIn } = await world({ verify })
    await user()
    const long = 'a lengthy phrase of otters '.repeat(3)
    await auth.passwords.import([{ userId: 'ada', hash: bcrypt.hashSync(long, 4) }])
    expect((await signIn(long)).session).not.toBeNull()
    expect((await signIn(`${long.slice(0, 72)} differs`)).session).toBeNull()
  })

  it('an imported password in another normal form signs in before and after', async () => {
    const { auth, user, signIn } = await world({ verify })
    await user()
    const typed = 'ﬁve otters in a ﬁeld'
    await auth.passwords.import([{ userId: 'ada', hash: bcrypt.hashSync(typed, 4) }])
    expect((await signIn(typed)).session).not.toBeNull()
    expect((await signIn(typed.normalize('NFKC'))).session).not.toBeNull()
  })

  it('a change while an old hash is checked wins over the re-hash', async () => {
    let release = (): void => {}
    const slow = {
      name: 'slow',
      owns: (stored: string) => stored === 'old',
      verify: () => new Promise<boolean>((resolve) => (release = () => resolve(true))),
    }
    const { auth, user, signIn, reset, settle } = await world({ verify: [slow] })
    await user()
    await auth.passwords.import([{ userId: 'ada', hash: 'old' }])
    const late = signIn(good)
    await settle()
    const { client, token } = await reset()
    await client.post('/passwords/new', { token, password: other })
    release()
    expect((await late).session).toBeNull()
    expect([(await signIn(good)).session, (await signIn(other)).session?.user?.email]).toEqual([null, ada])
  })

  it('absurd parameters are refused at the import', async () => {
    const { auth } = await world({ verify })
    const bad = `pbkdf2_sha256$9000000$pepper$${'A'.repeat(44)}`
    await expect(auth.passwords.import([{ userId: 'ada', hash: bad }])).rejects.toThrow('of no format')
    await expect(auth.passwords.import([{ userId: 'ada', hash: 'plain text' }])).rejects.toThrow('of no format')
  })

  it('scrypt of the runtime stands in for argon2id', async () => {
    const { own, signIn } = await world({ algorithm: 'scrypt' })
    await own()
    expect([(await signIn(good)).session?.user?.email, (await signIn(other)).session]).toEqual([ada, null])
  })

  it('of 100 sign-ins at once the line takes some, and the others are told when to come back', async () => {
    const { own, signIn } = await world({}, { throttle: { credentials: false } } as AuthConfig)
    await own()
    const answers = await Promise.all(Array.from({ length: 100 }, async () => (await signIn(good)).response))
    const full = answers.filter((response) => response.status === 503)
    expect(full.length).toBeGreaterThan(0)
    expect(full.every((response) => response.headers.get('retry-after') === '2')).toBe(true)
    expect((await signIn(good)).session).not.toBeNull()
  })
})
