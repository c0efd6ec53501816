/** Hashes of other products, each computed by the algorithm that made it: read, bounded, and replaced at the first sign-in. */
import { pbkdf2Sync, scryptSync } from 'node:crypto'
import { hashSync } from '@node-rs/argon2'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { bcryptHash, luciaHash, passwordsPlugin, pbkdf2Hash } from 'authkernel/plugins/passwords'
import { baseConfig, Client } from '../_setup.ts'

const typed = 'nine ﬁne yellow llamas'
const lucia = (salt: string, r: number): string =>
  scryptSync(typed.normalize('NFKC'), salt, 64, { N: 16_384, r, p: 1, maxmem: 67_108_864 }).toString('hex')
const unpadded = (data: Buffer): string => data.toString('base64').replace(/=+$/, '')

async function world() {
  const adapter = memoryAdapter()
  const auth = createAuth(baseConfig({ session: { strategy: 'jwt', revocable: true } }))
    .use(adapterPlugin(adapter))
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
    .use(passwordsPlugin({ breached: false, verify: [bcryptHash(), luciaHash(), pbkdf2Hash()] }))
  await auth.ready()
  await adapter.createUser({ id: 'ada', email: 'ada@example.com', emailVerified: new Date() })
  const signIn = async (password: string): Promise<boolean> => {
    const client = new Client(auth)
    await client.post('/callback/passwords', { email: 'ada@example.com', password })
    return (await client.session()) !== null
  }
  return { auth, signIn }
}

describe('hashes', () => {
  const [short, hex] = ['k3jd92ka01mz7xq4', '00112233445566778899aabbccddeeff']
  const scrypt = scryptSync(typed, 'pepper and salt', 64, { N: 32_768, r: 8, p: 1, maxmem: 67_108_864 })
  it.each([
    ['Lucia 3', `${hex}:${lucia(hex, 16)}`],
    ['Lucia 2', `s2:${short}:${lucia(short, 16)}`],
    ['Lucia 1', `${short}:${lucia(short, 8)}`],
    ['argon2id of other parameters', hashSync(typed, { algorithm: 2, memoryCost: 7168, timeCost: 5, parallelism: 1 })],
    ['argon2i', hashSync(typed, { algorithm: 1, memoryCost: 4096, timeCost: 3, parallelism: 1 })],
    ['scrypt of Werkzeug, as PHC', `$scrypt$ln=15,r=8,p=1$${unpadded(Buffer.from('pepper and salt'))}$${unpadded(scrypt)}`],
    [
      'PBKDF2 of Keycloak, as PHC',
      `$pbkdf2-sha512$i=21000,l=64$${unpadded(Buffer.from(hex, 'hex'))}$${unpadded(pbkdf2Sync(typed, Buffer.from(hex, 'hex'), 21_000, 64, 'sha512'))}`,
    ],
  ])('%s: the password as it was typed signs in, before and after the hash is replaced', async (_, hash) => {
    const { auth, signIn } = await world()
    expect(await auth.passwords.import([{ userId: 'ada', hash }])).toBe(1)
    expect([await signIn(`${typed}.`), await signIn(typed), await signIn(typed), await signIn(typed.normalize('NFKC'))]).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  it.each([
    [
      'argon2i of much memory',
      '$argon2i$v=19$m=999999,t=3,p=1$4t6CL3P7YiHBtwESXawI8Hm20zJj4cs7$m7RQFczcKr5bIR0IIxbpO2P0tyrLjf3eUW3M3QSwnLc',
    ],
    [
      'argon2id of many passes',
      '$argon2id$v=19$m=4096,t=99,p=1$4t6CL3P7YiHBtwESXawI8Hm20zJj4cs7$m7RQFczcKr5bIR0IIxbpO2P0tyrLjf3eUW3M3QSwnLc',
    ],
    ['argon2d', '$argon2d$v=19$m=4096,t=3,p=1$4t6CL3P7YiHBtwESXawI8Hm20zJj4cs7$m7RQFczcKr5bIR0IIxbpO2P0tyrLjf3eUW3M3QSwnLc'],
    ['scrypt of much memory', `$scrypt$ln=30,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`],
    ['PBKDF2 of many iterations', `$pbkdf2-sha256$i=9000000$${'A'.repeat(22)}$${'A'.repeat(43)}`],
    ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99'],
  ])('%s is refused at the import', async (_, hash) => {
    const { auth } = await world()
    await expect(auth.passwords.import([{ userId: 'ada', hash }])).rejects.toThrow('of no format')
  })
})
