/** Two people and every way in, for tests of who ends up with whose user. */
import { type Adapter, type AuthConfig, createAuth, type Session } from 'authkernel'
import type { VerificationRequest } from 'authkernel/kernel'
import passkey from 'authkernel/providers/passkey'
import { Authenticator, type CreationOptions, type RequestOptions } from '../plugins/_authenticator.ts'
import { baseConfig, Client } from '../_setup.ts'
import { LocalOp } from './_op.ts'

const origin = 'http://localhost:3000'
export const address = 'victim@example.com'
/** Ways in with an address. `checked` is a provider that is trusted, `rogue` one that is not, whatever it says. */
export type Move = 'passkey' | 'link' | 'checked' | 'denied' | 'rogue'
export const moves: readonly Move[] = ['passkey', 'link', 'checked', 'denied', 'rogue']
export const proofs: readonly Move[] = ['link', 'checked']

export interface People {
  person(name: string): Person
  mails: VerificationRequest[]
  errors: Error[]
}

/** A person with a browser, a passkey and an account at the provider. */
export interface Person {
  /** Comes in by typing or claiming the address. Mail is read by its owner: `reader` opens the link. */
  come(move: Move, reader?: Person): Promise<string>
  /** Registers the passkey of another device. */
  more(): Promise<string>
  /** A way in that was made before, in a fresh browser; the id of the user, or null. */
  again(move: Move): Promise<string | null>
  /** Id of the user who is signed in in this person's browser. */
  who(): Promise<string | null>
  client: Client
}

export function people(strategy: 'jwt' | 'database', adapter: Adapter, config: AuthConfig = {}): People {
  const mails: VerificationRequest[] = []
  const options = baseConfig()
  // Stores that expire entries by themselves look at the real clock.
  options.runtime.now = Date.now
  const op = new LocalOp()
  options.runtime.fetch = op.fetch
  const sendVerificationRequest = (request: VerificationRequest): void => void mails.push(request)
  const auth = createAuth({
    ...options,
    adapter,
    session: { strategy },
    throttle: false,
    experimental: { enableWebAuthn: true },
    providers: [
      { ...op.provider('oidc', 'checked'), trustEmail: ['example.com'] },
      { ...op.provider('oidc', 'rogue'), trustEmail: false },
      { id: 'mail', name: 'Mail', type: 'email', sendVerificationRequest },
      passkey(),
    ] as never[],
    callbacks: { session: ({ session, token, user }) => ({ ...session, who: user?.id ?? token?.sub }) as Session },
    ...config,
  } as AuthConfig)
  return { person, mails, errors: options.logger.errors }

  function person(name: string): Person {
    const client = new Client(auth)
    const key = new Authenticator(origin)
    const more = (): Promise<string> => ceremony(client, new Authenticator(origin), 'register')
    const self: Person = { client, come, more, again, who: () => idOf(client) }
    return self

    async function come(move: Move, reader: Person = self): Promise<string> {
      if (move === 'passkey') return ceremony(client, key, 'register')
      if (move !== 'link') return atProvider(client, move)
      await client.post('/signin/mail', { email: address })
      return place(await reader.client.get(mails.at(-1)?.url ?? ''))
    }
    async function again(move: Move): Promise<string | null> {
      const fresh = new Client(auth)
      if (move === 'passkey') await ceremony(fresh, key, 'authenticate')
      else if (move !== 'link') await atProvider(fresh, move)
      return idOf(fresh)
    }
    async function atProvider(from: Client, move: Move): Promise<string> {
      const sub = `${name} at ${move}`
      op.person = { sub, name, email: address, email_verified: move !== 'denied' }
      const started = await from.post(`/signin/${move === 'denied' ? 'checked' : move}`, {})
      return place(await from.get(op.authorize(started.headers.get('location') ?? '')))
    }
  }
}

async function ceremony(client: Client, key: Authenticator, action: 'register' | 'authenticate'): Promise<string> {
  // A signed-in user gets own options; the typed address does not count.
  const answer = await client.get(`/webauthn-options/passkey?action=${action}${action === 'register' ? `&email=${address}` : ''}`)
  if (answer.status !== 200) return `options ${answer.status}`
  const { options } = (await answer.json()) as { options: CreationOptions & RequestOptions }
  const data = action === 'register' ? key.create(options) : key.get(options)
  return place(await client.post('/callback/passkey', { action, data }))
}

async function idOf(client: Client): Promise<string | null> {
  const session = (await client.session()) as (Session & { who?: string }) | null
  return session?.who ?? null
}

function place(response: Response): string {
  return (response.headers.get('location') ?? String(response.status)).replace(origin, '') || '/'
}
