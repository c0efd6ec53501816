/** Options of `idTokenPlugin`, and their checks. */
import { assertOptions, AuthError, type Awaitable, type Profile, type ProviderUser } from 'authkernel/kernel'

/** Which ID tokens of one provider sign users in. */
export interface IdTokenProvider {
  /** Client ids that `aud` may name: those of your apps. The first is taken where the app names none. */
  audiences: readonly string[]
  /** Client ids that `azp` may name beside the audience: Android gives a token for the server that names the app here. Default: `audiences`. */
  authorizedParties?: readonly string[] | undefined
  /** `iss` of these tokens; default: the issuer of the provider. Together with `jwks`. */
  issuer?: string | undefined
  /** Address of the keys of `issuer`. */
  jwks?: string | undefined
  /** Maps the claims; default: `profile` of the provider. */
  profile?: ((claims: Profile) => Awaitable<ProviderUser>) | undefined
}

/** What `idTokenPlugin` takes. */
export interface IdTokenOptions {
  /** By the id of a provider that the app has, of type `oidc`, or of type `oauth` with `issuer` and `jwks`. */
  providers: Readonly<Record<string, IdTokenProvider>>
}

/**
 * ID tokens of Facebook Limited Login on iOS: `providers: { facebook: facebookLimitedLogin('<app id>') }`. The token is of the same account as a sign-in
 * by facebook() in a browser.
 * @see https://developers.facebook.com/docs/facebook-login/limited-login/token
 */
export function facebookLimitedLogin(appId: string): IdTokenProvider {
  return {
    audiences: [appId],
    issuer: 'https://www.facebook.com',
    jwks: 'https://limited.facebook.com/.well-known/oauth/openid/jwks/',
    profile: toUser,
  }
}

/** By id of the provider, with the defaults in place. */
export type ResolvedProviders = ReadonlyMap<string, ResolvedProvider>

/** Options of one provider with the defaults in place. */
export interface ResolvedProvider extends IdTokenProvider {
  authorizedParties: readonly string[]
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: IdTokenOptions): ResolvedProviders {
  assertOptions('Plugin "id-token"', options, { providers: true })
  const entries = Object.entries(options?.providers ?? {})
  if (entries.length === 0)
    throw new AuthError('Plugin "id-token": `providers` is empty. Name the providers: `{ google: { audiences: [\'<client id>\'] } }`.')
  return new Map(entries.map(([id, given]) => [id, resolveProvider(id, given)]))
}

function resolveProvider(id: string, given: IdTokenProvider): ResolvedProvider {
  const where = `providers.${id}`
  assertOptions('Plugin "id-token"', given, { audiences: true, authorizedParties: true, issuer: true, jwks: true, profile: true }, where)
  const { audiences, authorizedParties = audiences, issuer, jwks } = given
  const refuse = (what: string): never => {
    throw new AuthError(`Plugin "id-token": \`${where}.${what}`)
  }
  if (!isList(audiences)) refuse('audiences` must be a list of the client ids of your apps. Without it, tokens of any app would count.')
  if (!isList(authorizedParties)) refuse('authorizedParties` must be a list of client ids.')
  if ((issuer === undefined) !== (jwks === undefined)) refuse('issuer` and `jwks` belong together: give both, or none.')
  if (
    jwks !== undefined &&
    !(URL.canParse(jwks) && new URL(jwks).protocol === 'https:') &&
    !/^http:\/\/(?:localhost|127\.0\.0\.1)[:/]/.test(jwks)
  )
    refuse('jwks` must be an https address.')
  return { ...given, authorizedParties }
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '')
}

function toUser({ sub, name, email, picture }: Profile): ProviderUser {
  return { id: sub as string, name, email, image: picture } as ProviderUser
}
