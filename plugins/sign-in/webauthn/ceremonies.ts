/** Both halves of a ceremony, in one place to import on demand: the options that it begins with, and its end. */
import { AuthError, type Context, type Identity, type ProviderOf } from 'authkernel/kernel'
import { authenticatePasskey } from './authenticate.ts'
import { useChallenge } from './challenge.ts'
import { challengeOf, readAnswer } from './credential.ts'
import { registerPasskey } from './register.ts'

export { answerOptions } from './ceremony-options.ts'
export { answerRelatedOrigins } from './relying-party.ts'

/** `POST /callback/:provider`: verifies what the browser brings back of a ceremony. Throws AuthError. */
export async function finishCeremony(ctx: Context, provider: ProviderOf<'webauthn'>): Promise<Identity | Response> {
  const { action, data } = await ctx.body()
  const answer = readAnswer(data)
  // Before anything is looked at: whatever is wrong with the rest, this challenge is spent (D12).
  const pending = await useChallenge(ctx, provider, answer && challengeOf(answer))
  // The redirect hook comes before all others.
  await ctx.callbackUrl()
  if (!answer) throw new AuthError(`The data posted to provider "${provider.id}" is not a credential as JSON.`)
  if (action === 'register') return registerPasskey(ctx, provider, answer, pending)
  if (action === 'authenticate') return authenticatePasskey(ctx, provider, answer, pending)
  throw new AuthError(`The action posted to provider "${provider.id}" must be "register" or "authenticate".`)
}
