/** A host that keeps provider tokens: the same in the test and in each of its processes. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth } from 'authkernel/kernel'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { providerTokensPlugin, type ProviderTokensApi } from 'authkernel/plugins/provider-tokens'

/** Where the tokens come from. */
export interface TokenProvider {
  issuer: string
  /** Its token endpoint, by another way. */
  token: string
  clientId: string
  clientSecret: string
}
/** Asks `times` at once; answers access tokens and the types of errors. */
export interface TokenTask {
  do: 'tokens'
  provider: TokenProvider
  userId: string
  times: number
  /** Milliseconds that this process believes to be later. */
  ahead: number
}

export function tokenHost(adapter: Adapter, { issuer, token, clientId, clientSecret }: TokenProvider, ahead = 0): Auth<ProviderTokensApi> {
  return createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    adapter,
    session: { strategy: 'database' },
    runtime: { now: () => Date.now() + ahead },
  })
    .use(
      oidcPlugin({
        id: 'acme',
        issuer,
        token,
        clientId,
        clientSecret,
        scope: 'openid email offline_access',
        authorization: { params: { prompt: 'consent' } },
      }),
    )
    .use(providerTokensPlugin({ wait: 5_000 }))
}

const hosts = new Map<number, Auth<ProviderTokensApi>>()

export async function askForTokens(
  adapter: Adapter,
  { provider, userId, times, ahead }: TokenTask,
): Promise<PromiseSettledResult<unknown>[]> {
  const auth = hosts.get(ahead) ?? tokenHost(adapter, provider, ahead)
  hosts.set(ahead, auth)
  return Promise.allSettled(
    [...Array(times).keys()].map(() =>
      auth.tokens.get({ userId }, 'acme').then(
        (token) => token?.accessToken,
        (error: { type?: string }) => error.type ?? String(error),
      ),
    ),
  )
}
