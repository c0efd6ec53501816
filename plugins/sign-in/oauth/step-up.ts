/**
 * Step-up at the provider (RFC 9470, OpenID Connect Core section 3.1.2.1): the user who signed in there proves it again, with `max_age` and `acr_values`.
 * The response must be about the same account and say when and how the user was authenticated; else nothing changes.
 */
import { AccessDenied, AuthError, type Context, redirectTo, type StepUpDemand, subjectOf } from 'authkernel/kernel'
import { OAuthSignInError } from 'authkernel/errors'
import { Refusal } from './errors.ts'
import { withoutSecrets } from './failure.ts'
import { proofOfClaims, providerNames } from './id-token.ts'
import type { StepUp } from './pending-flows.ts'
import type { OAuthProvider } from './provider.ts'
import { authorizationUrl } from './start.ts'
import type { TokenExchange } from './tokens.ts'

/** Seconds that clocks may differ. */
const skew = 30

/** Leads to a provider. Undefined: it cannot prove what is demanded. */
export async function startStepUp(
  ctx: Context,
  provider: OAuthProvider,
  { login, sub, level, maxAge, acr }: StepUpDemand,
): Promise<Response | undefined> {
  if (provider.type !== 'oidc') return undefined
  // Two factors are believed of a trusted provider alone.
  if (level === 'mfa' && !provider.trustAssurance) return undefined
  const stepUp: StepUp = { sub, maxAge: Math.floor(maxAge), ...(acr && { acr }) }
  try {
    const { email } = login.user
    const url = await authorizationUrl(ctx, provider, { ...stepUp, callbackUrl: login.callbackUrl, ...(email && { loginHint: email }) })
    return redirectTo(url.href)
  } catch (error) {
    throw new OAuthSignInError(`The step-up at provider "${provider.id}" could not be started.`, {
      cause: { err: withoutSecrets(error, new Set()), provider: provider.id },
    })
  }
}

/** Renews the session that is here. Throws `Refusal` and AccessDenied: nothing has changed then. */
export async function completeStepUp(exchanged: TokenExchange, demand: StepUp): Promise<Response> {
  try {
    return await renewSession(exchanged, demand)
  } catch (error) {
    const { ctx, provider } = exchanged
    const reason = error instanceof AuthError ? error.type : 'Refusal'
    await ctx.emit('noted', { name: 'stepUp.failed', outcome: 'failure', reason, provider: provider.id })
    throw error
  }
}

async function renewSession({ ctx, provider, claims = {}, flow }: TokenExchange, { sub, maxAge, acr }: StepUp): Promise<Response> {
  const { auth_time: authTime, acr: received } = claims
  const names = providerNames(provider, claims)
  const now = Math.floor(ctx.now.getTime() / 1000)
  if (names.sub !== sub) throw new Refusal('The step-up was answered for another account than the one of the session.')
  if (!Number.isSafeInteger(authTime)) throw new Refusal('The answer to a step-up has no `auth_time`: the provider ignored `max_age`.')
  const at = authTime as number
  if (now - at > maxAge + skew) throw new Refusal('The provider ignored `max_age`: its `auth_time` is too long ago.')
  if (at > now + skew) throw new Refusal('The `auth_time` of the provider is in the future.')
  if (acr && !acr.includes(received as string))
    throw new Refusal('The provider answered with another `acr` than those that were asked for.')
  if (flow.startedBy !== (await subjectOf(ctx))) throw new AccessDenied('Another user is signed in than when the step-up began.')
  const login = await ctx.loginAgain({ callbackUrl: await ctx.callbackUrl() })
  const attributes = await ctx.session.attributes?.(ctx)
  if (!login || attributes?.provider !== provider.id || attributes.sub !== sub)
    throw new AccessDenied('The session is another one than when the step-up began.')
  const trusted = proofOfClaims(provider, claims)
  // `fed`: proved there, and the provider does not say how.
  const amr = trusted && trusted.amr.length > 0 ? trusted.amr : ['fed']
  return ctx.resume(login, {
    proof: {
      amr,
      authTime: at,
      factors: trusted?.factors ?? 1,
      ...(acr && { acr: received as string }),
      ...(names.sid !== undefined && { sid: names.sid }),
    },
  })
}
