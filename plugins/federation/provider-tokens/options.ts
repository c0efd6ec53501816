/** Options, checked once. */
import { assertOptions, AuthError, type CompileView, isSecureUrl } from 'authkernel/kernel'

/** Options of one provider. */
export interface TokensOfProvider {
  /** `false`: refresh tokens may be used more than once. A refresh whose answer was lost is then tried once more. Default: found out. */
  rotation?: boolean | undefined
  /** Origins that `tokens.fetch` may send the access token to, `https://api.example` for example. Default: none. */
  resources?: readonly string[] | undefined
}
/** Options of `providerTokensPlugin`: the resources of each provider, how long a token must be good for, and how long a caller waits. */
export interface ProviderTokensOptions {
  /** By provider id. */
  providers?: Readonly<Record<string, TokensOfProvider>> | undefined
  /** Seconds that an access token must be good for; default 60. */
  minValid?: number | undefined
  /** Milliseconds that a caller waits for a refresh; default 10000. The refresh goes on for up to 45 seconds. */
  wait?: number | undefined
  /** What happens to the sessions of the user when the provider has ended the tokens; default `keep`. */
  onExpired?: 'keep' | 'endSessions' | undefined
}
const enoughKept = 2
export interface ResolvedOptions {
  /** Providers under the FAPI 2.0 Security Profile. */
  readonly fapi: Set<string>
  minValid: number
  wait: number
  endSessions: boolean
  of(provider: string): TokensOfProvider
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: ProviderTokensOptions): ResolvedOptions {
  assertOptions('Plugin "provider-tokens"', options, { providers: true, minValid: true, wait: true, onExpired: true })
  const { providers = {}, minValid = 60, wait = 10_000, onExpired = 'keep' } = options
  for (const [id, own] of Object.entries(providers))
    assertOptions('Plugin "provider-tokens"', own, { rotation: true, resources: true }, `providers.${id}`)
  const wrong = (what: string): AuthError => new AuthError(`providerTokensPlugin: ${what}`)
  if (!(minValid >= 0 && minValid <= 86_400)) throw wrong('`minValid` must be a number of seconds between 0 and 86400.')
  if (!(wait > 0 && wait <= 45_000)) throw wrong('`wait` must be a number of milliseconds between 1 and 45000.')
  if (onExpired !== 'keep' && onExpired !== 'endSessions') throw wrong('`onExpired` must be "keep" or "endSessions".')
  for (const [id, { resources = [] }] of Object.entries(providers)) {
    for (const origin of resources)
      if (!URL.canParse(origin) || new URL(origin).origin !== origin || !isSecureUrl(new URL(origin)))
        throw wrong(`\`providers.${id}.resources\` has ${JSON.stringify(origin)}: write an origin such as "https://api.example".`)
  }
  const fapi = new Set<string>()
  return {
    fapi,
    minValid,
    wait,
    endSessions: onExpired === 'endSessions',
    of(id) {
      const said = (Object.hasOwn(providers, id) ? providers[id] : undefined) ?? {}
      // FAPI 2.0 section 5.3.2.1: servers do not rotate, and a retry with the former token works.
      return fapi.has(id) ? { rotation: false, ...said } : said
    },
  }
}

/** Ids that no provider has are mistakes. Learns which providers follow FAPI 2.0. */
export function checkProviders({ providers = {} }: ProviderTokensOptions, { fapi }: ResolvedOptions, view: CompileView): void {
  fapi.clear()
  for (const [id, { profile, securityProfile }] of view.providers as ReadonlyMap<string, { profile?: unknown; securityProfile?: unknown }>)
    if (profile === 'fapi2' || securityProfile === 'fapi2') fapi.add(id)
  for (const id of Object.keys(providers)) {
    const type = view.providers.get(id)?.type
    if (type !== 'oauth' && type !== 'oidc')
      throw new AuthError(
        `providerTokensPlugin: \`providers.${id}\` names ${type ? `a provider of type ${type}` : 'no provider'}. Use the id of an oauth or oidc provider.`,
      )
  }
}

/** Whether a refresh token may be sent once more: the host says so, or the provider kept it at the last two refreshes. */
export function keepsToken({ rotation }: TokensOfProvider, { kept }: { kept: number }): boolean {
  return rotation === false || (rotation === undefined && kept >= enoughKept)
}

/** Rejected at compile: an option that would do nothing. */
export function checkEnds({ endSessions }: ResolvedOptions, view: CompileView): void {
  if (!endSessions || view.service('session')?.abilities?.has('revoke:user') !== false) return
  throw new AuthError(
    'providerTokensPlugin: `onExpired: "endSessions"` needs sessions that can be ended from elsewhere. Use `session.revocable: true` with jwt sessions, or the database strategy.',
  )
}
