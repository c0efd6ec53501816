/** `/callback/:provider`: the provider's answer, checked, exchanged and mapped (RFC 6749 section 4.1.2). */
import { type Context, type Identity, InvalidCheck } from 'authkernel/kernel'
import { bounce, bounced } from './bounce.ts'
import { proxyInUse, take } from './checks.ts'
import { secretOf } from './client.ts'
import { isFormPost } from './endpoints.ts'
import { callbackFailure, Refusal, refusedByProvider } from './failure.ts'
import { identityOf } from './profile.ts'
import { forwardCallback } from './proxy.ts'
import { serverOf } from './server.ts'
import { provedAgain } from './step-up.ts'
import { exchange } from './tokens.ts'
import { isFapi } from './strength.ts'
import type { OAuthProvider, Secrets } from './types.ts'
import { profileOf } from './userinfo.ts'

// D36: two values, and nobody knows which one the next reader takes.
const single = ['state', 'code', 'iss', 'error', 'error_description', 'response', 'id_token']
const maxCode = 8_192

/** Ends a sign-in. Throws InvalidCheck, OAuthCallbackError, OAuthProfileParseError, CallbackRouteError. */
export async function finish(ctx: Context, provider: OAuthProvider): Promise<Identity | Response> {
  const params = await parametersOf(ctx, provider)
  const again = await bounce(ctx, provider, params)
  if (again) return again
  const forwarded = proxyInUse(ctx, provider) ? await forwardCallback(ctx, provider, params) : undefined
  if (forwarded) return forwarded
  const flow = await take(ctx, provider, params)
  const names = [...params.keys()]
  const repeated = single.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (repeated !== undefined) {
    throw new InvalidCheck(`The callback of provider "${provider.id}" repeats the parameter \`${repeated}\`.`, {
      cause: { provider: provider.id },
    })
  }
  await ctx.callbackUrl()
  const secrets: Secrets = new Set()
  for (const value of [params.get('code'), flow.state, flow.verifier, flow.nonce]) if (typeof value === 'string') secrets.add(value)
  try {
    const server = await serverOf(ctx, provider)
    checkParameters(params, provider, secrets)
    const clientSecret = await secretOf(ctx, provider)
    if (clientSecret !== undefined) secrets.add(clientSecret)
    const exchanged = await exchange({ ctx, provider, server, params, flow, secrets, clientSecret })
    if (flow.stepUp) return await provedAgain(exchanged, flow.stepUp)
    const identity = await identityOf(exchanged, await profileOf(exchanged))
    identity.startedBy = flow.startedBy
    return identity
  } catch (error) {
    throw callbackFailure(provider, error, secrets)
  }
}

// The place that was asked for, and no other: the query of a POST is not what the provider posted (row 206).
async function parametersOf(ctx: Context, provider: OAuthProvider): Promise<URLSearchParams> {
  const posted = ctx.request.method === 'POST'
  if (posted !== isFormPost(provider)) return posted ? new URLSearchParams() : bounced(ctx, provider)
  return posted ? ctx.form() : ctx.url.searchParams
}

function checkParameters(params: URLSearchParams, provider: OAuthProvider, secrets: Secrets): void {
  // The library reads an empty parameter as none.
  if (params.get('error') === '') throw refusedByProvider(provider, params, secrets)
  if (params.get('iss') === '') throw new Refusal('The callback carries an empty `iss`.')
  if (isFapi(provider) && !params.has('iss')) throw new Refusal('The callback carries no `iss`, which FAPI 2.0 needs.')
  // A code flow was asked for: what a hybrid flow or JARM adds was put there by somebody else.
  for (const name of ['response', 'id_token', 'access_token']) {
    if (params.has(name)) throw new Refusal(`The callback carries the parameter \`${name}\`, which was not asked for.`)
  }
  const code = params.get('code') ?? ''
  if (!params.has('error') && (code === '' || code.length > maxCode)) throw new Refusal('The callback carries no usable code.')
}
