/** `/callback/:provider`: the provider's response, checked, exchanged and mapped (RFC 6749 section 4.1.2). */
import { type Context, type Identity, InvalidCheck } from 'authkernel/kernel'
import { forwardCallback, readParameters, repeatAsGet } from './callback-parameters.ts'
import { takeFlow } from './checks.ts'
import { clientSecretOf } from './client.ts'
import { Refusal, type Secrets } from './errors.ts'
import { callbackFailure, refusedByProvider } from './failure.ts'
import { identityOf } from './profile.ts'
import { isFapi, type OAuthProvider, proxyOf } from './provider.ts'
import { serverOf } from './server.ts'
import { completeStepUp } from './step-up.ts'
import { exchangeCode } from './tokens.ts'
import { profileOf } from './userinfo.ts'

// D36: of two values it is unknown which one the next reader takes.
const singleParameters = ['state', 'code', 'iss', 'error', 'error_description', 'response', 'id_token']
const maxCode = 8_192

/** Ends a sign-in. Throws InvalidCheck, OAuthCallbackError, OAuthProfileParseError, CallbackRouteError. */
export async function finishOAuthSignIn(ctx: Context, provider: OAuthProvider): Promise<Identity | Response> {
  const params = await readParameters(ctx, provider)
  const again = await repeatAsGet(ctx, provider, params)
  if (again) return again
  const proxied = proxyOf(ctx, provider) !== undefined
  const forwarded = proxied ? await forwardCallback(ctx, provider, params) : undefined
  if (forwarded) return forwarded
  const flow = await takeFlow(ctx, provider, params, proxied)
  const names = [...params.keys()]
  const repeated = singleParameters.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
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
    const clientSecret = await clientSecretOf(ctx, provider)
    if (clientSecret !== undefined) secrets.add(clientSecret)
    const exchanged = await exchangeCode({ ctx, provider, server, params, flow, secrets, clientSecret })
    if (flow.stepUp) return await completeStepUp(exchanged, flow.stepUp)
    const identity = await identityOf(exchanged, await profileOf(exchanged))
    identity.startedBy = flow.startedBy
    return identity
  } catch (error) {
    throw callbackFailure(provider, error, secrets)
  }
}

function checkParameters(params: URLSearchParams, provider: OAuthProvider, secrets: Secrets): void {
  // The library reads an empty parameter as none.
  if (params.get('error') === '') throw refusedByProvider(provider, params, secrets)
  if (params.get('iss') === '') throw new Refusal('The callback carries an empty `iss`.')
  if (isFapi(provider) && !params.has('iss')) throw new Refusal('The callback carries no `iss`, which FAPI 2.0 needs.')
  // A code flow was asked for: what a hybrid flow or JARM adds was put there by another party.
  for (const name of ['response', 'id_token', 'access_token']) {
    if (params.has(name)) throw new Refusal(`The callback carries the parameter \`${name}\`, which was not asked for.`)
  }
  const code = params.get('code') ?? ''
  if (!params.has('error') && (code === '' || code.length > maxCode)) throw new Refusal('The callback carries no usable code.')
}
