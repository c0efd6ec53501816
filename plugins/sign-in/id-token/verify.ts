/** From an ID token of a platform to the identity that the kernel completes. Loaded with the first token. */
import { type Context, equal, type Identity, type Profile, sha256, subjectOf, toHex } from 'authkernel/kernel'
import { isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import type { AuthorizationServer } from 'oauth4webapi'
import { clientSecretOf } from '../oauth/client.ts'
import { Refusal, type Secrets, TokenRefusal } from '../oauth/errors.ts'
import { failedRequest } from '../oauth/failure.ts'
import { checkSubject } from '../oauth/id-token.ts'
import { verifyToken } from '../oauth/other-tokens.ts'
import { identityOf } from '../oauth/profile.ts'
import type { OAuthProvider } from '../oauth/provider.ts'
import { serverOf } from '../oauth/server.ts'
import { InvalidIdToken } from './errors.ts'
import { nonceLifetime } from './nonce.ts'
import type { ResolvedProvider } from './options.ts'

/** What an app sent. */
export interface SentToken {
  idToken: string
  nonce: string
  clientId: string
  /** What the app got beside the token, such as the name that Apple tells once: parameters for `callback` of the provider. */
  parameters: Readonly<Record<string, string>>
}

/** Throws InvalidIdToken for the token, OAuthRequestError when the keys of the provider cannot be had, and what `profile` of the provider throws. */
export async function identifyByToken(
  ctx: Context,
  provider: OAuthProvider,
  options: ResolvedProvider,
  sent: SentToken,
): Promise<Identity> {
  const { idToken, parameters } = sent
  const secrets: Secrets = new Set([idToken, sent.nonce])
  const claims = await verifyIdToken(ctx, provider, options, sent, secrets)
  const profile = await addParameters(provider, claims as Profile, parameters)
  const source = options.profile ? withProfile(provider, options.profile) : provider
  const identity = await identityOf({ ctx, provider: source, tokens: { id_token: idToken }, secrets, claims }, profile)
  // The sign-in began and ended with this request.
  identity.startedBy = await subjectOf(ctx)
  // Stored access and refresh tokens are those of another sign-in.
  identity.refreshTokens = false
  return identity
}

async function verifyIdToken(
  ctx: Context,
  provider: OAuthProvider,
  options: ResolvedProvider,
  { idToken, nonce, clientId }: SentToken,
  secrets: Secrets,
): Promise<JsonObject> {
  try {
    const { claims } = await verifyToken(ctx, { ctx, provider, ...(await findSigner(ctx, provider, options, secrets)) }, idToken, {
      // RFC 8725 section 3.11: an access token or a logout token of the same issuer is no sign-in.
      typ: ['JWT', 'id_token+jwt', undefined],
      claims: ['sub', 'iat', 'exp', 'nonce'],
      audience: clientId,
    })
    await checkClaims(claims, { nonce, clientId, parties: options.authorizedParties, now: Math.floor(ctx.runtime.now() / 1000) })
    return claims
  } catch (error) {
    const failure = failedRequest(provider, error, secrets)
    if (failure.invalidToken || (error instanceof Refusal && error.status === undefined))
      throw new InvalidIdToken(`An ID token of provider "${provider.id}" was rejected: ${failure.message}`, {
        cause: { err: failure, provider: provider.id },
      })
    throw failure
  }
}

async function findSigner(
  ctx: Context,
  provider: OAuthProvider,
  { issuer, jwks }: ResolvedProvider,
  secrets: Secrets,
): Promise<{ server: AuthorizationServer; clientSecret: string | undefined }> {
  if (issuer !== undefined) return { server: { issuer, jwks_uri: jwks as string }, clientSecret: undefined }
  const [server, clientSecret] = [await serverOf(ctx, provider), await clientSecretOf(ctx, provider)]
  if (clientSecret !== undefined) secrets.add(clientSecret)
  return { server, clientSecret }
}

interface ExpectedClaims {
  nonce: string
  clientId: string
  parties: readonly string[]
  /** Seconds. */
  now: number
}

/** Beyond signature, `iss`, `aud`, `exp` and `nbf`. Throws `Refusal`. */
async function checkClaims(claims: JsonObject, { nonce, clientId, parties, now }: ExpectedClaims): Promise<void> {
  const { nonce: claimed, azp, iat, events, sub } = claims
  // Sign in with Apple and some wrappers hash what the app gives them.
  const forms = [nonce, toHex(await sha256(nonce))]
  if (typeof claimed !== 'string' || !forms.some((form) => equal(form, claimed)))
    throw new TokenRefusal('The ID token was made for another nonce (`nonce`).')
  if (azp !== undefined && azp !== clientId && !parties.includes(azp as string))
    throw new TokenRefusal('The ID token was given to another client (`azp`).')
  if ((iat as number) < now - nonceLifetime) throw new TokenRefusal(`The ID token is older than ${nonceLifetime} seconds (\`iat\`).`)
  if (events !== undefined) throw new TokenRefusal('The token is a logout or security event token.')
  checkSubject(sub)
}

async function addParameters(provider: OAuthProvider, claims: Profile, parameters: Readonly<Record<string, string>>): Promise<Profile> {
  if (!provider.callback) return claims
  const folded: unknown = await provider.callback({ ...parameters }, claims)
  if (isJsonObject(folded) && folded['sub'] === claims['sub']) return folded
  throw new Refusal(`\`callback\` of provider "${provider.id}" must return the claims it was given, \`sub\` unchanged.`)
}

const mappedProviders = new WeakMap<OAuthProvider, OAuthProvider>()

function withProfile(provider: OAuthProvider, profile: NonNullable<ResolvedProvider['profile']>): OAuthProvider {
  let known = mappedProviders.get(provider)
  if (!known) mappedProviders.set(provider, (known = { ...provider, profile } as OAuthProvider))
  return known
}
