/** Keys by algorithm, and keys of a KMS: another process that signs, and never shows its private key. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'
import { createAuth } from 'authkernel'
import { verifyAccessToken } from 'authkernel/jwt'
import type { Kernel } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type ExternalKey, type JwtOptions, jwtPlugin, type SigningAlgorithm } from 'authkernel/plugins/jwt'
import { memoryAdapter, type MemoryData, memoryData } from 'authkernel/plugins/memory'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import * as openid from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'

const origin = 'http://localhost:3000'
const minute = 60_000

async function server(
  options: JwtOptions = {},
  { data = memoryData(), runtime }: { data?: MemoryData; runtime?: ReturnType<typeof baseConfig>['runtime'] } = {},
) {
  const base = baseConfig({ ...(runtime && { runtime }) })
  let kernel: Kernel | undefined
  const auth = createAuth(base)
    .use(adapterPlugin(memoryAdapter(data)))
    .use(jwtPlugin(options))
    .use({ name: 'probe', setup: (given) => void (kernel = given) })
  await auth.ready()
  const ctx = () => kernel!.contextOf(new Request(`${origin}/auth`))
  const jwks = () => auth.jwt.jwks(new Request(origin))
  const sign = async (algorithm?: string, typ = 'JWT') => {
    const one = await ctx()
    return one.service('signingKeys').sign(one, typ, { iss: origin, iat: Math.floor(one.now.getTime() / 1000) }, { algorithm })
  }
  /** The algorithm of a signature that the published keys verify. */
  const verify = async (text: string): Promise<string> => {
    const { protectedHeader } = await jwtVerify(text, createLocalJWKSet(await jwks()), { currentDate: new Date(base.runtime.now()) })
    return protectedHeader.alg
  }
  return { auth, data, jwks, sign, verify, ctx, runtime: base.runtime }
}

describe('keys of several algorithms', () => {
  it('each is made once, published in one set, and signs for its algorithm; the first is the default', async () => {
    const { sign, verify, jwks } = await server({ algorithms: ['EdDSA', 'RS256', 'PS256'] })
    for (const algorithm of ['ES256', 'EdDSA', 'RS256', 'PS256']) expect(await verify(await sign(algorithm))).toBe(algorithm)
    expect(await verify(await sign())).toBe('ES256')
    expect((await jwks()).keys.map(({ alg }) => alg).sort()).toEqual(['ES256', 'EdDSA', 'PS256', 'RS256'])
    await expect(sign('HS256')).rejects.toThrow('`algorithms`')
  })

  it('of many processes that begin at once each algorithm has one key', async () => {
    const data = memoryData()
    const servers = await Promise.all(Array.from({ length: 6 }, () => server({ algorithms: ['EdDSA'] }, { data })))
    await Promise.all(servers.map((one) => one.sign('EdDSA')))
    expect((await servers[0]!.jwks()).keys.map(({ alg }) => alg).sort()).toEqual(['ES256', 'EdDSA'])
  })

  it('rotate with overlap, each by itself; a leak ends all', async () => {
    const { auth, sign, verify, jwks, runtime } = await server({ algorithms: ['EdDSA'] })
    const before = await sign('EdDSA')
    const first = decodeProtectedHeader(before).kid
    await auth.jwt.rotate()
    expect((await jwks()).keys.length).toBe(4)
    // The former keys sign until every service can know the new ones.
    expect(decodeProtectedHeader(await sign('EdDSA')).kid).toBe(first)
    runtime.advance(21 * minute)
    const next = await sign('EdDSA')
    expect(decodeProtectedHeader(next).kid).not.toBe(first)
    expect([await verify(next), (await jwks()).keys.length >= 2]).toEqual(['EdDSA', true])
    await auth.jwt.rotate({ compromised: true })
    await expect(verify(next)).rejects.toThrow()
    expect((await jwks()).keys.map(({ alg }) => alg).sort()).toEqual(['ES256', 'EdDSA'])
    expect(await verify(await sign('EdDSA'))).toBe('EdDSA')
  })

  it('a first algorithm that changes leaves the former keys signing until the new one is known; a removed one stays published for its tokens', async () => {
    const data = memoryData()
    const old = await server({ algorithms: ['RS256'] }, { data })
    const [es, rs] = [await old.sign(), await old.sign('RS256')]
    const next = await server({ algorithm: 'EdDSA' }, { data, runtime: old.runtime })
    expect(await next.verify(await next.sign())).toMatch(/^(?:ES|RS)256$/)
    expect([await next.verify(es), await next.verify(rs)]).toEqual(['ES256', 'RS256'])
    next.runtime.advance(21 * minute)
    expect(await next.verify(await next.sign())).toBe('EdDSA')
    next.runtime.advance(60 * minute)
    expect((await next.jwks()).keys.map(({ alg }) => alg)).toEqual(['EdDSA'])
  })

  it('two versions of the app with other algorithms make no key for each token', async () => {
    const data = memoryData()
    const one = await server({ algorithms: ['RS256'] }, { data })
    const other = await server({}, { data, runtime: one.runtime })
    for (let round = 0; round < 5; round++) {
      await one.sign('RS256')
      await other.sign()
    }
    expect((await one.jwks()).keys.length).toBe(2)
  })
})

/** A process with keys of its own: it writes public keys, and a signature for each line of base64. */
const program = `
const { createInterface } = require('node:readline')
const { constants, generateKeyPairSync, sign } = require('node:crypto')
const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
}
pairs.PS256 = pairs.RS256
const keys = Object.entries(pairs).map(([alg, { publicKey }]) => ({ ...publicKey.export({ format: 'jwk' }), alg, kid: 'kms-' + alg }))
process.stdout.write(JSON.stringify(keys) + '\\n')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, alg, data } = JSON.parse(line)
  const key = pairs[alg].privateKey
  const options = alg === 'PS256' ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } : key
  const signature = sign(alg === 'EdDSA' ? null : 'sha256', Buffer.from(data, 'base64'), options)
  process.stdout.write(JSON.stringify({ id, signature: signature.toString('base64') }) + '\\n')
})`

describe('keys of a KMS', () => {
  let kms: ChildProcess
  let lines: Interface
  let published: ExternalKey['publicKey'][]
  const waiting = new Map<number, (signature: Uint8Array) => void>()
  let calls = 0

  beforeAll(async () => {
    kms = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
    lines = createInterface({ input: kms.stdout! })
    published = await new Promise((resolve) => lines.once('line', (line) => resolve(JSON.parse(line) as ExternalKey['publicKey'][])))
    lines.on('line', (line) => {
      const { id, signature } = JSON.parse(line) as { id: number; signature: string }
      waiting.get(id)?.(new Uint8Array(Buffer.from(signature, 'base64')))
    })
  })
  afterAll(() => {
    lines.close()
    kms.kill()
  })

  function keyOf(alg: SigningAlgorithm, more: Partial<ExternalKey> = {}): ExternalKey {
    const publicKey = published.find((key) => key.alg === alg)!
    return {
      publicKey,
      format: alg === 'ES256' ? 'der' : 'raw',
      sign: (data) =>
        new Promise((resolve) => {
          const id = ++calls
          waiting.set(id, resolve)
          kms.stdin!.write(`${JSON.stringify({ id, alg, data: Buffer.from(data).toString('base64') })}\n`)
        }),
      ...more,
    }
  }

  it('sign tokens of each algorithm that services verify, and no private key is stored', async () => {
    for (const algorithm of ['ES256', 'EdDSA', 'RS256', 'PS256'] as const) {
      const { sign, verify, jwks, ctx, auth } = await server({ algorithm, externalKeys: [keyOf(algorithm)] })
      expect(await verify(await sign())).toBe(algorithm)
      expect((await jwks()).keys).toEqual([{ ...published.find(({ alg }) => alg === algorithm), use: 'sig' }])
      const one = await ctx()
      expect(await one.records('jwtKey').count()).toBe(0)
      const claims = { sub: 'ada', aud: 'https://api.example', client_id: 'app', exp: Math.floor(one.now.getTime() / 1000) + 60 }
      const token = await one.service('accessTokens').sign(one, claims)
      const checks = { issuer: origin, audience: claims.aud, algorithms: [algorithm], jwks: await jwks(), now: () => one.now.getTime() }
      expect(await verifyAccessToken(token, checks)).toMatchObject({ sub: 'ada' })
      expect(await one.service('signingKeys').open(one, 'JWT', await sign())).toMatchObject({ iss: origin })
      await expect(auth.jwt.rotate()).rejects.toThrow('`externalKeys`')
    }
  })

  it('many signatures at once, of every length that DER has', async () => {
    const { sign, verify } = await server({ externalKeys: [keyOf('ES256')] })
    const texts = await Promise.all(Array.from({ length: 300 }, () => sign()))
    for (const text of texts) expect(await verify(text)).toBe('ES256')
  })

  it('rotate by the list: one that is not due is published only, and a former one stays', async () => {
    const base = baseConfig()
    const later = keyOf('EdDSA', { signsFrom: new Date(base.runtime.now() + 10 * minute) })
    let keys: ExternalKey[] = [later]
    const { sign, jwks, runtime } = await server({ algorithm: 'EdDSA', externalKeys: () => keys }, { runtime: base.runtime })
    const former = { ...keyOf('EdDSA'), publicKey: { ...keyOf('EdDSA').publicKey, kid: 'kms-former' } }
    keys = [later, former]
    expect(decodeProtectedHeader(await sign()).kid).toBe('kms-former')
    expect((await jwks()).keys.map(({ kid }) => kid)).toEqual(['kms-EdDSA', 'kms-former'])
    runtime.advance(11 * minute)
    expect(decodeProtectedHeader(await sign()).kid).toBe('kms-EdDSA')
  })

  it('take over from stored keys, which stay published until their tokens have ended', async () => {
    const data = memoryData()
    const before = await server({}, { data })
    const token = await before.sign()
    const after = await server({ externalKeys: [keyOf('ES256')] }, { data, runtime: before.runtime })
    expect(decodeProtectedHeader(await after.sign()).kid).toBe('kms-ES256')
    expect(await after.verify(token)).toBe('ES256')
    after.runtime.advance(25 * minute)
    expect((await after.jwks()).keys.map(({ kid }) => kid)).toEqual(['kms-ES256'])
  })

  it('a wrong signature, a wrong form and a KMS that is away are errors, and no token', async () => {
    const wrong = await server({ externalKeys: [keyOf('ES256', { sign: () => new Uint8Array(64), format: 'raw' })] })
    await expect(wrong.sign()).rejects.toThrow('wrong signature')
    const form = await server({ externalKeys: [keyOf('ES256', { format: 'raw' })] })
    await expect(form.sign()).rejects.toThrow('format: "der"')
    for (const bytes of [[], [0x30], [0x30, 2, 2, 0], [0x30, 6, 2, 1, 1, 2, 200, 1], [0x30, 7, 2, 1, 1, 2, 1, 1, 9]]) {
      const broken = await server({ externalKeys: [keyOf('ES256', { sign: () => new Uint8Array(bytes) })] })
      await expect(broken.sign(), JSON.stringify(bytes)).rejects.toThrow('wrong signature')
    }
    const away = await server({ externalKeys: [keyOf('ES256', { sign: () => Promise.reject(new Error('KMS is away')) })] })
    await expect(away.sign()).rejects.toThrow('KMS is away')
  })

  it('keys that must not be published are an error at start', () => {
    const publicKey = published[0]!
    for (const [key, text] of [
      [{ ...keyOf('ES256'), publicKey: { ...publicKey, d: 'secret' } }, 'private part'],
      [{ ...keyOf('ES256'), publicKey: { ...publicKey, alg: 'HS256' } }, '`alg`'],
      [{ ...keyOf('ES256'), publicKey: { ...publicKey, kid: '' } }, '`publicKey.kid`'],
      [{ publicKey }, '`sign`'],
    ] as const)
      expect(() => jwtPlugin({ externalKeys: [key as ExternalKey] })).toThrow(text)
    expect(() => jwtPlugin({ externalKeys: [keyOf('ES256'), keyOf('ES256')] })).toThrow('twice')
    expect(() => jwtPlugin({ algorithms: ['HS256' as 'ES256'] })).toThrow('`algorithms`')
  })
})

describe('algorithms of a client', () => {
  it('are those that it registered: ID token with its hash, userinfo, logout token, introspection', async () => {
    const { begin, clients, discover, finish, secret, visit, world } = await import('./_authorization-server.ts')
    for (const algorithm of ['RS256', 'PS256', 'EdDSA', 'ES256'] as const) {
      const metadata = {
        id_token_signed_response_alg: algorithm,
        userinfo_signed_response_alg: algorithm,
        introspection_signed_response_alg: algorithm,
      }
      const host = await world({ clients: clients!.map((one) => (one.client_id === 'partner' ? { ...one, ...metadata } : one)) }, {}, [
        jwtPlugin({ algorithms: ['RS256', 'PS256', 'EdDSA'] }),
      ])
      const server = await discover(host.auth)
      expect(server.serverMetadata()['id_token_signing_alg_values_supported']).toEqual(['ES256', 'RS256', 'PS256', 'EdDSA'])
      const config = new openid.Configuration(server.serverMetadata(), 'partner', { ...metadata }, openid.ClientSecretBasic(secret))
      openid.allowInsecureRequests(config)
      config[openid.customFetch] = server[openid.customFetch]!
      // Checks signature and at_hash.
      openid.enableNonRepudiationChecks(config)
      const browser = await host.browser()
      const begun = await begin(config)
      const tokens = await finish(config, begun, await visit(browser, begun.url))
      expect(decodeProtectedHeader(tokens.id_token!).alg).toBe(algorithm)
      expect(await openid.fetchUserInfo(config, tokens.access_token, 'ada')).toMatchObject({ sub: 'ada' })
      const authorization = `Basic ${btoa(`partner:${secret}`)}`
      const headers = { authorization, accept: 'application/token-introspection+jwt' }
      const introspection = await host.post('/oauth2/introspect', { token: tokens.access_token }, headers)
      expect(decodeProtectedHeader(await introspection.text()).alg).toBe(algorithm)
      await browser.post('/signout')
      const logout = host.posts.find(({ url }) => url.includes('back-channel'))!
      expect(decodeProtectedHeader(new URLSearchParams(logout.body).get('logout_token')!).alg).toBe(algorithm)
    }
  })

  it('that the server has no key for are an error for the host, and are replaced for a client that registers itself', async () => {
    const { clients, issuer, world } = await import('./_authorization-server.ts')
    const host = await world({ registration: {} })
    const wrong = { client_name: 'A', redirect_uris: ['https://a.example/cb'], id_token_signed_response_alg: 'RS256' }
    await expect(host.auth.authorizationServer.clients.create(wrong)).rejects.toMatchObject({ status: 400 })
    await expect(world({ clients: [{ client_id: 'a', ...wrong }, ...clients!] })).rejects.toThrow('`algorithms` of jwtPlugin')
    const register = async (algorithm: string) => {
      const body = JSON.stringify({ redirect_uris: ['https://a.example/cb'], id_token_signed_response_alg: algorithm })
      const headers = { 'content-type': 'application/json' }
      const made = await host.auth.handler(new Request(`${issuer}/oauth2/register`, { method: 'POST', headers, body }))
      return ((await made.json()) as Record<string, string>)['id_token_signed_response_alg']
    }
    expect([await register('RS256'), await register('HS256'), await register('none')]).toEqual(['ES256', 'ES256', 'ES256'])
  })
})
