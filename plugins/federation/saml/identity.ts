/** From an answer to the `Identity` that the kernel completes, and the end of a step-up. */
import {
  AccessDenied,
  type Context,
  type Identity,
  type Proof,
  randomUUID,
  sha256,
  subjectOf,
  toAddress,
  toHex,
  type User,
} from 'authkernel/kernel'
import type { SamlAnswer } from './answer.ts'
import { defaultProfile } from './attributes.ts'
import { Refusal, SamlResponseRefused } from './errors.ts'
import { type SamlConfig, trustsAddress } from './options.ts'
import { type PendingRequest, sessionName, type SessionName, type StepUp } from './pending.ts'

/** An answer that was checked, and what it answers. */
export interface HeldAnswer {
  [field: string]: unknown
  provider: string
  answer: SamlAnswer
  /** Absent: the identity provider began the sign-in. */
  request?: PendingRequest
  /** Target that the identity provider named. */
  callbackUrl?: string
}

/** Seconds that clocks may differ in a step-up. */
const leeway = 60
const cookieLifetime = 30 * 86_400
// What a column of accounts holds everywhere.
const maxAccountId = 255

/** Maps an answer. Throws SamlResponseRefused where the provider's `profile` returns no usable user. */
export async function identityOf(ctx: Context, provider: SamlConfig, { answer, request }: HeldAnswer): Promise<Identity> {
  const described = await (provider.profile ?? defaultProfile)(answer)
  const { id, email: written, ...rest } = Object(described) as { id?: unknown; email?: unknown }
  if (typeof id !== 'string' || id === '') throw unusable(provider, '`profile` returned no `id`.')
  const providerAccountId = id.length <= maxAccountId ? id : `sha256:${toHex(await sha256(id))}`
  const email = readEmail(provider, written)
  const user: User = { ...rest, id: randomUUID(ctx.runtime), ...(email !== undefined && { email }) }
  await keepName(ctx, provider, answer)
  const account = { provider: provider.id, type: 'saml' as const, providerAccountId }
  return {
    user,
    account,
    profile: { ...answer.attributes, sub: answer.nameId },
    record: account,
    match: 'account',
    trustsEmail: provider.allowDangerousEmailAccountLinking === true,
    provesEmail: email !== undefined && trustsAddress(provider, email),
    startedBy: request?.by ?? null,
    proof: proofOf(provider, answer),
  }
}

/** Renews the session that is here. Throws SamlResponseRefused and AccessDenied: nothing has changed then. */
export async function completeStepUp(ctx: Context, provider: SamlConfig, answer: SamlAnswer, request: PendingRequest): Promise<Response> {
  try {
    return await renewSession(ctx, provider, answer, request)
  } catch (error) {
    await ctx.emit('noted', {
      name: 'stepUp.failed',
      outcome: 'failure',
      reason: (error as { type?: string }).type ?? 'Refusal',
      provider: provider.id,
    })
    throw error
  }
}

async function renewSession(ctx: Context, provider: SamlConfig, answer: SamlAnswer, { by, stepUp }: PendingRequest): Promise<Response> {
  const { sub, maxAge } = stepUp as StepUp // The caller has looked.
  const now = Math.floor(ctx.runtime.now() / 1000)
  if (answer.subject !== sub) throw unusable(provider, 'The step-up was answered for another account than the one of the session.')
  if (now - answer.authTime > maxAge + leeway)
    throw unusable(provider, 'The identity provider ignored `ForceAuthn`: its `AuthnInstant` is too long ago.')
  if (by === undefined || by !== (await subjectOf(ctx))) throw new AccessDenied('Another user is signed in than when the step-up began.')
  const login = await ctx.loginAgain({ callbackUrl: await ctx.callbackUrl() })
  const attributes = await ctx.session.attributes?.(ctx)
  if (!login || attributes?.provider !== provider.id || attributes.sub !== sub)
    throw new AccessDenied('The session is another one than when the step-up began.')
  await keepName(ctx, provider, answer)
  return ctx.resume(login, { proof: proofOf(provider, answer) })
}

function proofOf({ mfaContexts = [] }: SamlConfig, { subject, sessionIndex, authTime, authnContext }: SamlAnswer): Proof {
  return {
    // Proved there, and how is known only from the class.
    amr: ['fed'],
    authTime,
    factors: mfaContexts.includes(authnContext ?? '') ? 2 : 1,
    ...(authnContext !== undefined && { acr: authnContext }),
    sub: subject,
    ...(sessionIndex !== undefined && { sid: sessionIndex }),
  }
}

/** A logout request must repeat format and qualifiers of the NameID, which no table has. */
async function keepName(
  ctx: Context,
  provider: SamlConfig,
  { subject, nameId, nameIdFormat, qualifiers, sessionIndex }: SamlAnswer,
): Promise<void> {
  if (!provider.signing) return
  const name: SessionName = {
    provider: provider.id,
    sub: subject,
    nameId,
    format: nameIdFormat,
    ...qualifiers,
    ...(sessionIndex !== undefined && { index: sessionIndex }),
  }
  sessionName.set(ctx, await sessionName.seal(ctx, { ...name }, cookieLifetime))
}

function readEmail(provider: SamlConfig, written: unknown): string | undefined {
  if (written === undefined || written === null || written === '') return undefined
  const email = typeof written === 'string' ? toAddress(written) : undefined
  if (email === undefined || email === null) throw unusable(provider, 'The email of the user is no address.')
  return email
}

function unusable(provider: SamlConfig, what: string): SamlResponseRefused {
  const { facts } = new Refusal(what, { check: 'subject' })
  return new SamlResponseRefused(`The answer of provider "${provider.id}" could not be used. ${what}`, { provider: provider.id, ...facts })
}
