/** A worker without `nodejs_compat`: one sign-in by each of the five types, under both strategies. Answers `type strategy: 'ok'` or an error. */
import { type AuthConfig, createAuth } from 'authkernel'
import { customFetch } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import passkey from 'authkernel/providers/passkey'
import { Client, locationOf } from '../../_client.ts'
import { createIssuer } from './issuer.ts'
import { createPasskey } from './passkey.ts'

type Strategy = 'jwt' | 'database'
/** The rest of the options, and the way in. */
interface Way {
  config: AuthConfig
  enter(client: Client): Promise<Response>
}

const origin = 'https://app.example'
const name = 'Alice Liddell'
const email = 'alice@example.com'

export default {
  async fetch(): Promise<Response> {
    const results: Record<string, string> = {}
    for (const [type, way] of Object.entries(ways)) {
      for (const strategy of ['jwt', 'database'] as const) {
        results[`${type} ${strategy}`] = await journey(await way(), strategy).catch((error: Error) => `${error.message}\n${error.stack}`)
      }
    }
    return Response.json({ ...results, process: typeof process, Buffer: typeof Buffer })
  },
}

async function journey({ config, enter }: Way, strategy: Strategy): Promise<string> {
  const errors: Error[] = []
  const options: AuthConfig = {
    secret: 'a secret of more than thirty-two characters',
    origin,
    session: { strategy },
    adapter: memoryAdapter(),
    logger: { error: (error) => void errors.push(error), warn: () => {} },
    ...config,
  }
  const auth = createAuth(options)
  const client = new Client(auth, { origin })
  const response = await enter(client)
  const session = await client.session()
  if (session?.user?.email !== email) {
    throw new Error(
      `${response.status} ${response.headers.get('location')} ${errors.map(({ stack, cause }) => `${stack} ${JSON.stringify(cause)}`).join('\n')}`,
    )
  }
  const cookie = [...client.cookies].map(([key, value]) => `${key}=${value}`).join('; ')
  const stranger = createAuth({ ...options, secret: 'another secret of thirty-two characters!', adapter: memoryAdapter() })
  if ((await stranger.session(new Request(origin, { headers: { cookie } }))) !== null) throw new Error('another app took the session')
  await client.post('/signout', { csrfToken: await client.csrfToken() })
  if ((await client.session()) !== null) throw new Error('still signed in after signing out')
  return 'ok'
}

const ways: Record<string, () => Promise<Way>> = {
  async credentials() {
    const adapter = memoryAdapter()
    // Under the database strategy the kernel takes no user who is not stored.
    const user = await adapter.createUser?.({ id: '1', name, email, emailVerified: null })
    return {
      config: {
        adapter,
        providers: [
          {
            id: 'own',
            type: 'credentials',
            name: 'Own',
            credentials: {},
            authorize: ({ code }) => (code === 'open' ? (user ?? null) : null),
          },
        ],
      },
      async enter(client) {
        return client.post('/callback/own', { csrfToken: await client.csrfToken(), code: 'open' })
      },
    }
  },

  async email() {
    let link = ''
    return {
      config: { providers: [{ id: 'mail', type: 'email', name: 'Mail', sendVerificationRequest: ({ url }) => void (link = url) }] },
      async enter(client) {
        await client.signIn('mail', { email })
        return client.get(link)
      },
    }
  },

  async oauth() {
    const op = await createIssuer({ sub: 'alice', name, email })
    return {
      config: {
        providers: [
          {
            id: 'acme',
            type: 'oauth',
            name: 'Acme',
            clientId: 'client-1',
            clientSecret: 'op-secret',
            authorization: `${op.issuer}/authorize`,
            token: `${op.issuer}/token`,
            userinfo: `${op.issuer}/userinfo`,
            profile: ({ sub, ...profile }: Record<string, unknown>) => ({ id: String(sub), ...profile }),
            [customFetch]: op.fetch,
          },
        ],
      },
      async enter(client) {
        return client.get(op.authorize(locationOf(await client.signIn('acme'))))
      },
    }
  },

  async oidc() {
    const op = await createIssuer({ sub: 'alice', name, email })
    return {
      config: {
        providers: [
          {
            id: 'acme',
            type: 'oidc',
            name: 'Acme',
            issuer: op.issuer,
            clientId: 'client-1',
            clientSecret: 'op-secret',
            [customFetch]: op.fetch,
          },
        ],
      },
      async enter(client) {
        return client.get(op.authorize(locationOf(await client.signIn('acme'))))
      },
    }
  },

  async webauthn() {
    const key = await createPasskey(origin)
    const options = async (client: Client, query: string): Promise<never> =>
      ((await (await client.get(`/webauthn-options/passkey?${query}`)).json()) as { options: never }).options
    return {
      config: { experimental: { enableWebAuthn: true }, providers: [passkey()] },
      async enter(client) {
        const post = async (fields: Record<string, string>): Promise<Response> =>
          client.post('/callback/passkey', { csrfToken: await client.csrfToken(), ...fields })
        await post({ action: 'register', data: await key.create(await options(client, `action=register&email=${email}`)) })
        await client.post('/signout', { csrfToken: await client.csrfToken() })
        if ((await client.session()) !== null) throw new Error('signing out did not work')
        return post({ action: 'authenticate', data: await key.get(await options(client, 'action=authenticate')) })
      },
    }
  },
}
