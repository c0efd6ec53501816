/** Options, checked once. */
import { assertOptions, AuthError, type Awaitable, type CompileView, isSecureUrl } from 'authkernel/kernel'

/** Options of one provider. */
export interface LogoutOfProvider {
  /**
   * Signs users out at the provider too, where it has an `end_session_endpoint`; a function is asked at each sign-out. Default true.
   */
  endSession?: boolean | ((signOut: { provider: string; callbackUrl: string; request: Request }) => Awaitable<boolean>) | undefined
  /**
   * Where the provider sends users afterwards, as registered there: a URL of the host, which gets `state` and leads on by itself. `false`: nowhere, the
   * provider shows its own page. Default: `<basePath>/signed-out`, which leads to the `callbackUrl` of the sign-out.
   */
  postLogoutRedirectUri?: string | false | undefined
  /** Takes its logout tokens. Default: the option `backChannel` of the plugin. */
  backChannel?: boolean | undefined
  /** Takes front-channel logouts: a page of the provider loads `<basePath>/frontchannel-logout/<id>` in a frame. Default false. */
  frontChannel?: boolean | undefined
  /** Accepts logout tokens without `exp`, and with the header `typ` absent or `JWT`, up to two minutes old. Default false. */
  legacyLogoutTokens?: boolean | undefined
}
/** Options of `singleLogoutPlugin`: whether it takes logout tokens, and what it does for each provider. */
export interface SingleLogoutOptions {
  /** Takes logout tokens at `POST <basePath>/backchannel-logout/<id>`. Default true. */
  backChannel?: boolean | undefined
  /** By provider id. Providers of type oauth and oidc that are not named have the defaults. */
  providers?: Readonly<Record<string, LogoutOfProvider>> | undefined
}
export interface ResolvedOptions {
  /** Whether any provider may end sessions from elsewhere. */
  readonly ends: boolean
  readonly frames: boolean
  readonly receives: boolean
  of(provider: string): LogoutOfProvider & { backChannel: boolean }
}

/** Throws AuthError that names the option. */
export function resolveOptions(given: SingleLogoutOptions): ResolvedOptions {
  assertOptions('Plugin "single-logout"', given, { backChannel: true, providers: true })
  const { backChannel = true, providers = {} } = given
  const all = Object.entries(providers)
  const wrong = (what: string): AuthError => new AuthError(`singleLogoutPlugin: ${what}`)
  if (typeof backChannel !== 'boolean') throw wrong('`backChannel` must be true or false.')
  for (const [id, options] of all) {
    assertOptions(
      'Plugin "single-logout"',
      options,
      { endSession: true, postLogoutRedirectUri: true, backChannel: true, frontChannel: true, legacyLogoutTokens: true },
      `providers.${id}`,
    )
    if (!['undefined', 'boolean', 'function'].includes(typeof options.endSession))
      throw wrong(`\`providers.${id}.endSession\` must be true, false or a function.`)
    for (const name of ['backChannel', 'frontChannel', 'legacyLogoutTokens'] as const)
      if (options[name] !== undefined && typeof options[name] !== 'boolean')
        throw wrong(`\`providers.${id}.${name}\` must be true or false.`)
    const { postLogoutRedirectUri: uri } = options
    if (uri !== undefined && uri !== false && !(URL.canParse(uri) && isSecureUrl(new URL(uri))))
      throw wrong(`\`providers.${id}.postLogoutRedirectUri\` must be an https URL, or false.`)
  }
  const receives = backChannel || all.some(([, options]) => options.backChannel === true)
  const frames = all.some(([, options]) => options.frontChannel === true)
  return {
    receives,
    frames,
    ends: receives || frames,
    of(id) {
      const options = Object.hasOwn(providers, id) ? providers[id] : undefined
      return { ...options, backChannel: options?.backChannel ?? backChannel }
    },
  }
}

/** Ids that no provider has are mistakes. */
export function checkProviders({ providers = {} }: SingleLogoutOptions, view: CompileView): void {
  for (const id of Object.keys(providers)) {
    const type = view.providers.get(id)?.type
    if (type !== 'oauth' && type !== 'oidc')
      throw new AuthError(
        `singleLogoutPlugin: \`providers.${id}\` names ${type ? `a provider of type ${type}` : 'no provider'}. Use the id of an oauth or oidc provider.`,
      )
  }
}
