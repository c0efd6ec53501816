/** `POST /signin/:provider`: an AuthnRequest (SAML Core section 3.4.1, Profiles section 4.1.4.1). */
import { type Context, redirectTo, type StepUpDemand, subjectOf } from 'authkernel/kernel'
import { idpOf } from './idp.ts'
import { createId, deliver, writeMessage } from './messages-out.ts'
import { acsOf, entityIdOf } from './metadata.ts'
import type { SamlConfig } from './options.ts'
import { drawDelivery } from './pages.ts'
import { type PendingRequest, requests, type StepUp } from './pending.ts'
import { ns } from './tree.ts'
import { escapeXml } from './xml.ts'

const postBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'

/** Sends the user to the identity provider. Throws SamlMetadataError, and NetworkError where its metadata cannot be read. */
export async function startSamlSignIn(ctx: Context, provider: SamlConfig): Promise<Response> {
  return sendRequest(ctx, provider, await ctx.callbackUrl())
}

/** Leads the user of a session to the identity provider, which must prove the user again. Undefined: it cannot prove what is demanded. */
export async function startStepUp(
  ctx: Context,
  provider: SamlConfig,
  { login, sub, level, maxAge, acr }: StepUpDemand,
): Promise<Response | undefined> {
  // Two factors are believed of a provider alone that says which classes mean them.
  const classes = acr ?? (level === 'mfa' ? provider.mfaContexts : undefined)
  if (level === 'mfa' && !provider.mfaContexts?.length) return undefined
  return sendRequest(ctx, provider, login.callbackUrl, { sub, maxAge: Math.floor(maxAge), ...(classes && { acr: classes }) })
}

async function sendRequest(ctx: Context, provider: SamlConfig, callbackUrl: string, stepUp?: StepUp): Promise<Response> {
  const idp = await idpOf(ctx, provider)
  const id = createId(ctx)
  const xml = writeRequest(ctx, provider, {
    id,
    destination: idp.signInUrl,
    contexts: stepUp?.acr ?? provider.authnContext ?? [],
    anew: stepUp !== undefined,
  })
  const by = ctx.store || stepUp ? await subjectOf(ctx) : null
  const entry: PendingRequest = { provider: provider.id, callbackUrl }
  if (by !== null) entry.by = by
  if (bringsSession(ctx)) entry.session = true
  if (stepUp) entry.stepUp = stepUp
  await requests.add(ctx, id, entry)
  const delivery = await deliver(provider, { parameter: 'SAMLRequest', xml, url: idp.signInUrl, binding: idp.binding ?? 'redirect' })
  return delivery.fields ? drawDelivery(ctx, delivery) : redirectTo(delivery.url)
}

/** Whether the browser brought a session along; whose it is does not matter here. */
export function bringsSession(ctx: Context): boolean {
  const { name } = ctx.cookies.sessionToken
  return ctx.cookie(name) !== undefined || ctx.cookie(`${name}.0`) !== undefined
}

interface Request {
  id: string
  destination: string
  contexts: readonly string[]
  /** A step-up. */
  anew: boolean
}

function writeRequest(ctx: Context, provider: SamlConfig, { id, destination, contexts, anew }: Request): string {
  const { nameIdFormat, forceAuthn } = provider
  const policy = `<samlp:NameIDPolicy AllowCreate="true"${nameIdFormat === undefined ? '' : ` Format="${escapeXml(nameIdFormat)}"`}/>`
  const classes = contexts.map(
    (one) => `<saml:AuthnContextClassRef xmlns:saml="${ns.assertion}">${escapeXml(one)}</saml:AuthnContextClassRef>`,
  )
  const demanded =
    classes.length > 0 ? `<samlp:RequestedAuthnContext Comparison="exact">${classes.join('')}</samlp:RequestedAuthnContext>` : ''
  return writeMessage(ctx, 'AuthnRequest', {
    id,
    destination,
    issuer: entityIdOf(ctx, provider),
    attributes: {
      ...((forceAuthn || anew) && { ForceAuthn: 'true' }),
      ProtocolBinding: postBinding,
      AssertionConsumerServiceURL: acsOf(ctx, provider),
    },
    body: policy + demanded,
  })
}
