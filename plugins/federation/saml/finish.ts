/** `POST /saml/:provider/acs`: the response of an identity provider, checked and mapped (SAML Profiles section 4.1.4.3). */
import { type AuthError, type Context, type Identity, InvalidCheck, isCallbackUrl, sha256, toHex } from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'
import type { SamlAnswer } from './answer.ts'
import { checkAssertion, maxAge } from './assertion.ts'
import { Refusal, type SamlRefusalFacts, SamlResponseRefused, XmlError } from './errors.ts'
import { completeStepUp, type HeldAnswer, identityOf } from './identity.ts'
import { idpOf, refreshIdp } from './idp.ts'
import { acsOf, entityIdOf } from './metadata.ts'
import { decryptionOf, type SamlConfig, type SamlIdp } from './options.ts'
import { drawConfirmation, drawReturn } from './pages.ts'
import { type PendingRequest, requestLifetime, requests } from './pending.ts'
import { openResponse, type OpenResponse, verifyResponse, withXmlRefusal } from './response.ts'
import { bringsSession } from './start.ts'
import { statusError } from './status.ts'
import { acceptSha1 } from './symbols.ts'

/** Purpose of an answer that goes through the browser once more, and the seconds that it may take. */
const heldPurpose = 'saml-answer'
const heldLifetime = 300

/** Answers a page where the user confirms or goes on, or the identity. Throws SamlResponseRefused, SamlStatusError, InvalidCheck. */
export async function finishSamlSignIn(ctx: Context): Promise<Response> {
  const provider = await samlProviderOf(ctx)
  const form = await ctx.form()
  const [encoded = '', ...more] = form.getAll('SAMLResponse')
  const response = withRefusal(provider, () => {
    if (encoded === '' || more.length > 0) throw new Refusal('The request does not have exactly one `SAMLResponse`.', { check: 'form' })
    return openResponse(encoded)
  })
  const request = await takeRequest(ctx, provider, response)
  if (request) ctx.useCallbackUrl(request.callbackUrl)
  if (response.status) throw statusError(provider.id, response.status)
  const answer = await readAnswer(ctx, provider, response, request?.stepUp?.acr ?? provider.authnContext ?? [])
  const held: HeldAnswer = { provider: provider.id, answer, ...(request && { request }) }
  if (!request) {
    const target = form.getAll('RelayState').at(-1) ?? ''
    // Only a target of this site; the hook `redirect` is asked about it.
    if (isCallbackUrl(target, ctx.origin, ctx.app.config.limits.callbackUrl)) held.callbackUrl = target
    return drawConfirmation(ctx, provider, answer, await hold(ctx, held))
  }
  // The session is known only to a request of this site.
  if (request.session && !bringsSession(ctx)) return drawReturn(ctx, provider, await hold(ctx, held))
  return complete(ctx, provider, held)
}

/** `POST /saml/:provider/continue`: an answer that was checked, sent by this site itself. Throws InvalidCheck. */
export async function continueSamlSignIn(ctx: Context): Promise<Response> {
  const provider = await samlProviderOf(ctx)
  const sealed = (await ctx.form()).getAll('answer')
  const held = sealed.length === 1 ? await ctx.open<HeldAnswer & { id: string }>(heldPurpose, sealed[0] ?? '') : null
  if (held?.provider !== provider.id || !(await ctx.once.take(`saml-answer ${held.id}`, heldLifetime)))
    throw new InvalidCheck(`The answer of provider "${provider.id}" was used before, or is older than ${heldLifetime} seconds.`, {
      cause: { provider: provider.id },
    })
  ctx.useCallbackUrl(held.request?.callbackUrl ?? held.callbackUrl)
  return complete(ctx, provider, held)
}

/** The provider of the path. Throws InvalidProvider for one of another type. */
export async function samlProviderOf(ctx: Context): Promise<SamlConfig> {
  const provider = await ctx.provider()
  if (provider.type !== 'saml')
    throw new InvalidProvider(`Provider "${provider.id}" is of type ${provider.type}. This address is for SAML.`)
  return provider
}

/** Runs `work`. A Rejection becomes the error that is logged. */
export function withRefusal<T>(provider: SamlConfig, work: () => T): T {
  const translate = (error: unknown): never => {
    if (!(error instanceof Refusal || error instanceof XmlError)) throw error
    const facts: SamlRefusalFacts = error instanceof Refusal ? error.facts : { check: 'xml' }
    const advice = facts.fix === undefined ? '' : ` ${facts.fix}`
    throw new SamlResponseRefused(`A message of provider "${provider.id}" was rejected. ${error.message}${advice}`, {
      provider: provider.id,
      ...facts,
    })
  }
  try {
    const result = work()
    return result instanceof Promise ? (result.catch(translate) as T) : result
  } catch (error) {
    return translate(error)
  }
}

async function complete(ctx: Context, provider: SamlConfig, held: HeldAnswer): Promise<Response> {
  if (held.request?.stepUp) return completeStepUp(ctx, provider, held.answer, held.request)
  const identity: Identity = await identityOf(ctx, provider, held)
  return ctx.complete(identity)
}

async function hold(ctx: Context, held: HeldAnswer): Promise<string> {
  return ctx.seal(heldPurpose, { ...held, id: toHex(ctx.runtime.random(16)) }, heldLifetime)
}

/** Ours, of this browser and this connection, and used up whatever comes of it. Undefined: the provider may begin sign-ins, and this one answers no request. */
async function takeRequest(ctx: Context, provider: SamlConfig, { inResponseTo: id }: OpenResponse): Promise<PendingRequest | undefined> {
  if (id === undefined) {
    if (provider.idpInitiated) return undefined
    throw invalidAnswer(provider, 'answers no request. To take sign-ins that begin at the identity provider, set `idpInitiated: true`')
  }
  const entry = await requests.take(ctx, id)
  if (!entry)
    throw invalidAnswer(
      provider,
      `belongs to no sign-in of the last ${requestLifetime} seconds in this browser: it was used before, or opened elsewhere`,
    )
  if (entry.provider !== provider.id) throw invalidAnswer(provider, `answers a sign-in at provider "${entry.provider}"`)
  return entry
}

function invalidAnswer(provider: SamlConfig, what: string): AuthError {
  return new InvalidCheck(`The response of provider "${provider.id}" ${what}.`, { cause: { provider: provider.id, check: 'request' } })
}

async function readAnswer(ctx: Context, provider: SamlConfig, response: OpenResponse, contexts: readonly string[]): Promise<SamlAnswer> {
  return withRefusal(provider, async () => {
    const idp = await idpOf(ctx, provider)
    const read = (from: SamlIdp): ReturnType<typeof verifyResponse> =>
      verifyResponse(
        response,
        { certificates: from.certificates, sha1: provider[acceptSha1] === true },
        decryptionOf(provider).map(({ privateKey }) => privateKey),
      )
    const signed = await read(idp).catch(async (error: unknown) => {
      const newer = error instanceof Refusal && error.facts.check === 'signature' ? await refreshIdp(ctx, provider, idp) : undefined
      if (!newer) throw error
      return read(newer)
    })
    const skew = (provider.clockSkew ?? 60) * 1000
    const answer = withXmlRefusal(() =>
      checkAssertion(signed, {
        issuer: idp.entityId,
        audience: entityIdOf(ctx, provider),
        acs: acsOf(ctx, provider),
        request: response.inResponseTo,
        contexts,
        subject: provider.subject,
        clock: { now: ctx.runtime.now(), skew },
      }),
    )
    const key = toHex(await sha256(JSON.stringify([idp.entityId, answer.assertionId])))
    if (!(await ctx.once.take(`saml-assertion ${key}`, Math.ceil((maxAge + 2 * skew) / 1000) + 60)))
      throw new Refusal('The assertion was used before.', { check: 'replay' })
    return answer
  })
}
