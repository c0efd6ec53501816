/** A sign-in with one preset, step by step, against a `fetch` of the test. */
import { createAuth, type Account, type AuthConfig, type Profile, type Provider, type User } from 'authkernel'
import { Client, locationOf } from '../_client.ts'
import { baseConfig } from '../_setup.ts'

export const origin = 'https://app.example'

export interface Host {
  client: Client
  /** What was logged, messages and causes. */
  errors: Error[]
  now(): number
  /** Moves the clock, in seconds. */
  advance(seconds: number): void
  /** Starts a sign-in: the provider's authorization URL. */
  start(): Promise<URL>
  /** Comes back from the provider: the response of the callback. */
  back(authorization: URL, extra?: Record<string, string>): Promise<Response>
  /** What the signIn callback was asked, last. */
  asked(): { user: User; account: Account; profile: Profile }
}

export function createHost(provider: Provider, fetch: typeof globalThis.fetch, more: AuthConfig = {}): Host {
  const config = baseConfig(more)
  config.runtime.fetch = fetch
  let asked: ReturnType<Host['asked']> | undefined
  const auth = createAuth({
    ...config,
    providers: [provider],
    callbacks: {
      signIn: ({ user, account, profile }) => {
        asked = { user, account: account!, profile: profile! }
        return true
      },
    },
  })
  const client = new Client(auth, { origin })
  return {
    client,
    errors: config.logger.errors,
    now: () => Math.floor(config.runtime.now() / 1000),
    advance: (seconds) => config.runtime.advance(seconds * 1000),
    start: async () => new URL(locationOf(await client.signIn(provider.id))),
    back(authorization, extra = {}) {
      const answer = { code: 'code-1', state: authorization.searchParams.get('state') ?? '', ...extra }
      return authorization.searchParams.get('response_mode') === 'form_post'
        ? client.post(`/callback/${provider.id}`, answer, { origin: authorization.origin })
        : client.get(`/callback/${provider.id}?${new URLSearchParams(answer)}`)
    },
    asked() {
      if (!asked) throw new Error('the signIn callback was not asked')
      return asked
    },
  }
}

/** Why a sign-in failed: the innermost message that was logged. */
export function reason(errors: readonly Error[]): string {
  let error: unknown = errors.at(-1)
  for (;;) {
    const cause = (error as { cause?: { err?: unknown } } | undefined)?.cause?.err
    if (cause === undefined) return error instanceof Error ? error.message : String(error)
    error = cause
  }
}
