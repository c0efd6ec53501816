/** `POST /signin/:provider`: sends the user to the provider (RFC 6749 section 4.1.1). */
import { AuthError, type Context, type OIDCCheck, redirectTo, subjectOf, toBase64Url } from 'authkernel/kernel'
import { OAuthSignInError } from 'authkernel/errors'
import type { AuthorizationServer } from 'oauth4webapi'
import { configuredRequest, type ConfiguredRequest, demandStepUp, forwardParameters, maxAgeOf, withValues } from './authorization-url.ts'
import { bringsSession, sealOrigin } from './callback-parameters.ts'
import { checksOf, hashText, storeFlow } from './checks.ts'
import { Refusal } from './errors.ts'
import { withoutSecrets } from './failure.ts'
import type { StepUp } from './pending-flows.ts'
import { authorizationOf, fillTemplate, isFormPost, templateNames, type OAuthProvider, proxyOf } from './provider.ts'
import { isPushed, pushRequest, signRequest } from './request-object.ts'
import { needsDiscovery, serverOf } from './server.ts'

/** A step-up, and where it leads. */
type StepUpRequest = StepUp & { callbackUrl: string; loginHint?: string }

/** Redirects to the authorization endpoint and remembers the flow. Throws OAuthSignInError. */
export async function startOAuthSignIn(ctx: Context, provider: OAuthProvider): Promise<Response> {
  try {
    return redirectTo((await authorizationUrl(ctx, provider)).href)
  } catch (error) {
    if (error instanceof AuthError) throw error
    throw new OAuthSignInError(`The sign-in at provider "${provider.id}" could not be started.`, {
      cause: { err: withoutSecrets(error, new Set()), provider: provider.id },
    })
  }
}

/** The redirect_uri of requests and of the code exchange, which must repeat it exactly (RFC 6749 section 4.1.3). */
export function redirectUriOf(ctx: Context, provider: OAuthProvider): string {
  const written = authorizationOf(provider).params?.['redirect_uri']
  return typeof written === 'string'
    ? fillTemplate(written, templateNames(provider))
    : `${proxyOf(ctx, provider) ?? ctx.base}${provider.callbackPath ?? `/callback/${provider.id}`}`
}

/** Where the user is sent. `again`: the session that is here is proved again. */
export async function authorizationUrl(ctx: Context, provider: OAuthProvider, again?: StepUpRequest): Promise<URL> {
  // Asked before anything is fetched.
  const callbackUrl = again?.callbackUrl ?? (await ctx.callbackUrl())
  const server = await serverOf(ctx, provider)
  const same = configuredRequest(provider, server, redirectUriOf(ctx, provider))
  const proxied = proxyOf(ctx, provider) !== undefined
  const checks = withoutDowngrade(provider, server, checksOf(provider, proxied))
  const random = (): string => toBase64Url(ctx.runtime.random(32))
  const state = checks.includes('none') ? undefined : proxied ? await sealOrigin(ctx, provider, random()) : random()
  const verifier = checks.includes('pkce') ? random() : undefined
  const nonce = checks.includes('nonce') ? random() : undefined

  const other = await alterRequest(ctx, provider, server, same, again)
  const url = withValues(other ?? same, {
    state,
    code_challenge: verifier === undefined ? undefined : await hashText(verifier),
    code_challenge_method: verifier === undefined ? undefined : 'S256',
    nonce,
  })
  const maxAge = other ? maxAgeOf(other) : same.maxAge
  await storeFlow(ctx, provider, {
    state,
    verifier,
    nonce,
    callbackUrl,
    maxAge,
    stepUp: again && stepUpOf(again),
    post: isFormPost(provider),
    session: bringsSession(ctx),
    startedBy: state !== undefined && (ctx.store || again) ? await subjectOf(ctx) : null,
  })
  const complete = (await authorizationOf(provider).request?.({ url, provider })) ?? url
  const request = provider.signedRequest ? await signRequest(ctx, provider, server, complete) : complete
  return isPushed(provider, server) ? pushRequest(ctx, provider, server, request) : request
}

/** The request with what this visit changes; undefined: nothing. */
async function alterRequest(
  ctx: Context,
  provider: OAuthProvider,
  server: AuthorizationServer,
  { href }: ConfiguredRequest,
  again: StepUpRequest | undefined,
): Promise<URL | undefined> {
  // The query of the page that asks for a step-up is none for the provider.
  const forwards = !again && ctx.request.url.includes('?')
  const asks = ctx.has('hook', 'authorizationRequest')
  if (!forwards && !asks && !again) return undefined
  const url = new URL(href)
  if (forwards) forwardParameters(url, ctx, provider)
  if (asks) {
    const parameters = await ctx.ask('authorizationRequest', { provider, parameters: new URLSearchParams(url.searchParams) })
    if (parameters) url.search = parameters.toString()
  }
  if (again) demandStepUp(url.searchParams, again, server.claims_parameter_supported === true)
  return url
}

function stepUpOf({ sub, maxAge, acr }: StepUpRequest): StepUp {
  return { sub, maxAge, ...(acr && { acr }) }
}

// D13: without S256 in the metadata, PKCE may be ignored; the nonce binds the code to this browser as well (RFC 9700 section 2.1.1).
function withoutDowngrade(provider: OAuthProvider, server: AuthorizationServer, checks: readonly OIDCCheck[]): readonly OIDCCheck[] {
  if (!checks.includes('pkce') || checks.includes('nonce') || !needsDiscovery(provider)) return checks
  if (server.code_challenge_methods_supported?.includes('S256')) return checks
  if (provider.type === 'oidc') return [...checks, 'nonce']
  if (provider.checks?.includes('state')) return checks
  throw new Refusal(
    `The discovery document of provider "${provider.id}" does not say that it supports PKCE with S256. ` +
      "If it is known to, or state alone shall do, say so: `checks: ['pkce', 'state']` or `checks: ['state']`.",
  )
}
