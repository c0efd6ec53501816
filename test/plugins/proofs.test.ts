/** What each provider type says of how a user signed in: `login.proof`. */
import type { Auth, Proof } from 'authkernel/kernel'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import passkey from 'authkernel/providers/passkey'
import { describe, expect, it } from 'vitest'
import { createWorld, type World } from '../rows/_world.ts'
import { Authenticator, type Bend } from './_authenticator.ts'
import { createApp, origin } from './_webauthn.ts'

function watched(auth: Auth): () => Proof | undefined {
  let seen: Proof | undefined
  auth.hook('login', ({ login }) => void (seen = login.proof))
  return () => seen
}

describe('passkeys', () => {
  const lax = {
    registrationOptions: { authenticatorSelection: { userVerification: 'preferred' } },
    authenticationOptions: { userVerification: 'preferred' },
  }
  const open = {
    verifyRegistrationOptions: { requireUserVerification: false },
    verifyAuthenticationOptions: { requireUserVerification: false },
  }

  it.each<[string, Bend, Proof]>([
    ['verified, of one device', {}, { amr: ['hwk', 'user', 'mfa'], factors: 2 }],
    ['verified, synced', { backedUp: true }, { amr: ['swk', 'user', 'mfa'], factors: 2 }],
    ['present only', { verified: false }, { amr: ['hwk', 'user'], factors: 1 }],
  ])('%s', async (_name, bend, proof) => {
    const seen: (Proof | undefined)[] = []
    const app = createApp({
      providers: [passkey({ ...lax, ...open })],
      callbacks: { login: ({ login }: { login: { proof: Proof } }) => void seen.push(login.proof) } as never,
    })
    const key = new Authenticator(origin)
    await app.browser().register(key, 'email=ada@example.com', bend)
    await app.browser().authenticate(key, '', bend)
    expect(seen).toEqual([proof, proof])
  })
})

describe('an OpenID Provider', () => {
  async function signIn(claims: Record<string, unknown>, provider: object = { trustAssurance: true }): Promise<Proof | undefined> {
    const world: World = createWorld('jwt', 'none')
    world.auth.use(oidcPlugin({ ...world.op.provider('oidc', 'assured'), ...provider } as never))
    const proof = watched(world.auth)
    world.op.person = { ...world.op.person, ...claims }
    await world.client.get(await world.toProvider('assured'))
    return proof()
  }
  const said = { amr: ['pwd', 'mfa'], acr: 'gold', auth_time: 1_767_000_000 }

  it.each<[string, Record<string, unknown>, Proof]>([
    ['what it says', said, { amr: ['pwd', 'mfa'], acr: 'gold', authTime: 1_767_000_000, factors: 2 }],
    ['no second factor', { amr: ['pwd'] }, { amr: ['pwd'], factors: 1 }],
    ['nothing', {}, { amr: [], factors: 1 }],
    ['a text instead of a list', { amr: 'mfa', acr: 3 }, { amr: [], factors: 1 }],
    ['a list in a list', { amr: [['mfa'], null, 7] }, { amr: [], factors: 1 }],
    ['an endless list', { amr: Array(21).fill('x').with(20, 'mfa') }, { amr: Array<string>(20).fill('x'), factors: 1 }],
  ])('trusted, says %s', async (_name, claims, proof) => {
    expect(await signIn(claims)).toEqual(proof)
  })

  it('is one factor when it is not trusted', async () => {
    expect(await signIn(said, {})).toEqual({ amr: [], factors: 1 })
  })

  it('is asked in the ID token: neither userinfo nor profile() count', async () => {
    const world: World = createWorld('jwt', 'none')
    const profile = (): object => ({ id: '1', name: 'Ann', amr: ['mfa'] })
    world.auth.use(oidcPlugin({ ...world.op.provider('oidc', 'assured'), trustAssurance: true, idToken: false, profile } as never))
    world.op.answers = { '/userinfo': () => ({ ...world.op.person, amr: ['mfa'], acr: 'gold' }) }
    const proof = watched(world.auth)
    await world.client.get(await world.toProvider('assured'))
    expect(proof()).toEqual({ amr: [], factors: 1 })
  })
})

it('a password and a magic link are one factor each', async () => {
  const world = createWorld('jwt')
  const proof = watched(world.auth)
  await world.client.post('/callback/password', { password: 'right' })
  expect(proof()).toEqual({ amr: ['pwd'], factors: 1 })
  await world.client.post('/signin/mail', { email: 'ann@example.com' })
  await world.client.get(world.mails.at(-1)?.url ?? '')
  expect(proof()).toEqual({ amr: ['email'], factors: 1 })
})
