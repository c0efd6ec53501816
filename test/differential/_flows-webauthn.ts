/** Passkeys. The library that verifies them is another version on each side (9 and 14), so both get a stand-in that believes everything. */
import type { Browser } from './_browser.ts'
import type { Flow, Kit } from './_flow.ts'
import { ann, form } from './_hosts.ts'

type Options = Record<string, unknown>

const user = { ...ann, emailVerified: null }
const bob = { id: 'bob', name: 'Bob', email: 'bob@example.com', image: null, emailVerified: null }
/** Of the credential with the bytes 1, 2, 3. */
const stored = {
  credentialID: 'AQID',
  providerAccountId: 'AQID',
  credentialPublicKey: 'BAUG',
  counter: 1,
  credentialBackedUp: false,
  credentialDeviceType: 'singleDevice',
  transports: 'internal,usb',
  userId: 'ann',
}
const known = {
  users: [user],
  accounts: [{ provider: 'passkey', providerAccountId: 'AQID', type: 'webauthn', userId: 'ann' }],
  authenticators: [stored],
}
const answer = JSON.stringify({
  id: 'AQID',
  rawId: 'AQID',
  type: 'public-key',
  response: { clientDataJSON: 'e30', transports: ['internal', 'usb'] },
})

interface Faults {
  verified?: boolean
  throws?: boolean
  counter?: number
}

/** What both versions of the library have in common. */
function library(kit: Kit, { verified = true, throws = false, counter = 2 }: Faults): Options {
  const ids = (list: unknown): unknown => {
    const given = (list ?? []) as { id: string | Uint8Array; transports?: string[] }[]
    return given.map(({ id, transports }) => [typeof id === 'string' ? id : Buffer.from(id).toString('base64url'), transports ?? []])
  }
  const check = (): void => {
    if (throws) throw new Error('host: forged')
  }
  const bytes = new Uint8Array([1, 2, 3])
  const publicKey = new Uint8Array([4, 5, 6])
  return {
    generateRegistrationOptions: async ({ rpID, rpName, userName, timeout, excludeCredentials }: Options) => ({
      challenge: 'challenge',
      rpID,
      rpName,
      userName,
      timeout,
      exclude: ids(excludeCredentials),
    }),
    generateAuthenticationOptions: async ({ rpID, timeout, allowCredentials }: Options) => ({
      challenge: 'challenge',
      rpID,
      timeout,
      allow: ids(allowCredentials),
    }),
    async verifyRegistrationResponse({ expectedChallenge, expectedOrigin, expectedRPID }: Options) {
      kit.recorder.note('host', 'verifyRegistration', { expectedChallenge, origin: [expectedOrigin].flat(), id: [expectedRPID].flat() })
      check()
      const flags = { credentialDeviceType: 'singleDevice', credentialBackedUp: false }
      const ours = { credential: { id: 'AQID', publicKey, counter: 0 }, ...flags }
      return {
        verified,
        registrationInfo: kit.library === 'ours' ? ours : { credentialID: bytes, credentialPublicKey: publicKey, counter: 0, ...flags },
      }
    },
    async verifyAuthenticationResponse({ expectedChallenge, expectedOrigin, expectedRPID }: Options) {
      kit.recorder.note('host', 'verifyAuthentication', { expectedChallenge, origin: [expectedOrigin].flat(), id: [expectedRPID].flat() })
      check()
      return { verified, authenticationInfo: { newCounter: counter } }
    },
  }
}

function flow(
  name: string,
  rows: Parameters<Kit['adapter']>[0],
  run: Flow['run'],
  {
    strategy = 'database',
    faults = {},
    more = () => ({}),
    over = {},
  }: { strategy?: string; faults?: Faults; more?: (kit: Kit) => Options; over?: Options } = {},
): Flow {
  return {
    name: `${strategy}: ${name}`,
    config: (kit) => ({
      providers: [
        kit.passkey({
          ...(kit.library === 'ours' ? { lib: () => library(kit, faults) } : { simpleWebAuthn: library(kit, faults) }),
          ...over,
        }),
        form(kit),
      ],
      adapter: kit.adapter(rows),
      experimental: { enableWebAuthn: true },
      session: { strategy },
      callbacks: kit.watch('signIn', 'jwt', 'redirect'),
      ...more(kit),
    }),
    run,
  }
}

const options = (b: Browser, query: Record<string, string> = {}): Promise<unknown> => b.get('/webauthn-options/passkey', { query })
const finish = (b: Browser, action: string, data: string = answer): Promise<unknown> =>
  b.post('/callback/passkey', { action, data, callbackUrl: '/app' })
const register: Flow['run'] = async (b) => {
  await options(b, { action: 'register', email: 'ann@example.com' })
  await finish(b, 'register')
  await b.get('/session')
}
const authenticate: Flow['run'] = async (b) => {
  await options(b, { action: 'authenticate' })
  await finish(b, 'authenticate')
  await b.get('/session')
}
/** As a user who is signed in by a token. */
const signedIn =
  (run: Flow['run'], sub = 'ann'): Flow['run'] =>
  async (b, kit) => {
    b.cookies.set('authjs.session-token', await kit.token({ sub, name: 'Ann', email: 'ann@example.com', picture: null }))
    await run(b, kit)
  }
/** A further passkey needs a fresh proof, where sessions say when their user signed in. */
const staleProof = { hook: 'D27', ours: { answer: { status: 403, body: { error: 'StepUpRequired' } } } }
const down = (): never => {
  throw new Error('host: the store is down')
}

export const webauthnFlows: Flow[] = [
  ...['jwt', 'database'].flatMap((strategy) => [
    flow('a new person registers', {}, register, { strategy }),
    flow('a new person registers, pages.newUser', {}, register, { strategy, more: () => ({ pages: { newUser: '/welcome' } }) }),
    flow('a user signs in', known, authenticate, { strategy }),
    flow('a user signs in, silent', known, authenticate, { strategy, more: () => ({ callbacks: {} }) }),
    flow('verification says no to a registration', {}, register, { strategy, faults: { verified: false } }),
    flow('verification says no to a sign-in', known, authenticate, { strategy, faults: { verified: false } }),
    flow('verification throws at a registration', {}, register, { strategy, faults: { throws: true } }),
    flow('verification throws at a sign-in', known, authenticate, { strategy, faults: { throws: true } }),
    flow('signIn says no', known, authenticate, { strategy, more: (kit) => ({ callbacks: kit.watch({ signIn: () => false }) }) }),
    flow('signIn throws', {}, register, {
      strategy,
      more: (kit) => ({ callbacks: kit.watch({ signIn: () => Promise.reject(new Error('host: no')) }) }),
    }),
  ]),
  {
    ...flow(
      'signed in: one more passkey',
      { users: [user] },
      async (b) => {
        await b.post('/callback/credentials', { username: 'ann', password: 'right' })
        await options(b, { action: 'register' })
        await finish(b, 'register')
        await b.get('/session')
      },
      { strategy: 'jwt' },
    ),
    decided: { 4: { hook: 'ROWS 248', ours: { answer: { location: { url: 'http://localhost:3000/app' } } } } },
  },
  flow('signed in: signs in again', known, signedIn(authenticate), { strategy: 'jwt' }),
  flow('signed in: as another', { ...known, users: [user, bob] }, signedIn(authenticate, 'bob'), { strategy: 'jwt' }),
  ...asked(),
  ...wrong(),
  ...['getAuthenticator', 'updateAuthenticatorCounter', 'getAccount', 'getUser', 'createSession'].map((method) =>
    flow(`${method} fails`, { ...known, replace: { [method]: down } }, async (b) => {
      await options(b, { action: 'authenticate' })
      await finish(b, 'authenticate')
    }),
  ),
  ...['getUserByAccount', 'createUser', 'linkAccount'].map((method) =>
    flow(`${method} fails`, { replace: { [method]: down } }, async (b) => {
      await options(b, { action: 'register', email: 'ann@example.com' })
      await finish(b, 'register')
    }),
  ),
  {
    ...flow('createAuthenticator fails', { replace: { createAuthenticator: down } }, async (b) => {
      await options(b, { action: 'register', email: 'ann@example.com' })
      await finish(b, 'register')
    }),
    decided: { 2: { hook: 'D32', ours: { answer: { location: { params: { error: 'Configuration' } } } } } },
  },
  flow('the sign-in page', {}, async (b) => void (await b.get('/signin'))),
]

/** The options route: who asks for what (WIRE section 10). */
function asked(): Flow[] {
  const queries: Record<string, string>[] = [
    {},
    { action: 'authenticate' },
    { action: 'register' },
    { action: 'other' },
    { action: '' },
    { email: 'new@example.com' },
    { action: 'authenticate', email: 'new@example.com' },
    { action: 'register', email: 'new@example.com' },
    { email: 'ann@example.com' },
    { action: 'authenticate', email: 'ann@example.com' },
    { action: 'register', email: 'ann@example.com' },
  ]
  return queries.flatMap((query) => [
    flow(`options ${JSON.stringify(query)}`, known, async (b) => void (await options(b, query))),
    {
      ...flow(
        `options ${JSON.stringify(query)}, signed in`,
        known,
        signedIn(async (b) => void (await options(b, query))),
        { strategy: 'jwt' },
      ),
      // The token does not say when its user signed in.
      ...(query['action'] === 'register' && { decided: { 0: staleProof } }),
    },
  ])
}

/** Posts that do not fit. */
function wrong(): Flow[] {
  const before = async (b: Browser): Promise<void> => void (await options(b, { action: 'authenticate' }))
  return [
    ...['other', ''].map((action) =>
      flow(`action "${action}"`, known, async (b) => {
        await before(b)
        await finish(b, action)
      }),
    ),
    ...['[]', '{}', '{"id":1}', 'null'].map((data) =>
      flow(`data ${data}`, known, async (b) => {
        await before(b)
        await finish(b, 'authenticate', data)
      }),
    ),
    ...['', '{'].map((data) => ({
      ...flow(`data ${data || 'empty'}`, known, async (b) => {
        await before(b)
        await finish(b, 'authenticate', data)
      }),
      // Like other data that is none.
      decided: {
        2: {
          hook: 'WIRE 9.11',
          ours: {
            logs: [{ level: 'error', type: 'AuthError', details: { kind: 'error' } }],
            answer: { location: { params: { error: 'Configuration' } } },
          },
        },
      },
    })),
    flow('an unknown credential', {}, authenticate),
    flow('no challenge', known, async (b) => void (await finish(b, 'authenticate'))),
    flow('a challenge for another ceremony', known, async (b) => {
      await before(b)
      await finish(b, 'register')
    }),
    flow('the challenge twice', known, async (b) => {
      await before(b)
      await finish(b, 'authenticate')
      await finish(b, 'authenticate')
    }),
    flow('too late', known, async (b, kit) => {
      await before(b)
      kit.wait(16 * 60)
      await finish(b, 'authenticate')
    }),
    flow('by GET', known, async (b) => void (await b.get('/callback/passkey'))),
    flow('return-redirect', known, async (b) => {
      await before(b)
      await b.post('/callback/passkey', { action: 'authenticate', data: answer }, { headers: { 'x-auth-return-redirect': '1' } })
    }),
    flow('a relying party', known, authenticate, {
      over: { relayingParty: { id: 'example.com', name: 'Example', origin: 'https://example.com' } },
    }),
  ]
}
