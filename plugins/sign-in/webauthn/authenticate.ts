/** Signing in with a passkey: WebAuthn section 7.2. */
import {
  type AdapterAuthenticator,
  AuthError,
  type Context,
  fromBase64,
  type Identity,
  InvalidCheck,
  type ProviderOf,
} from 'authkernel/kernel'
import { WebAuthnVerificationError } from 'authkernel/errors'
import type { PendingChallenge } from './challenge.ts'
import { challengeOf, type CredentialAnswer, descriptorOf, toStored } from './credential.ts'
import { UnknownPasskey } from './errors.ts'
import { isOwnHandle, noteUse } from './handles.ts'
import { type AuthenticationInfo, loadWebAuthnLibrary, proofOfPasskey } from './library.ts'
import { relyingParty } from './relying-party.ts'
import { authenticationVerification } from './settings.ts'

type WebAuthn = ProviderOf<'webauthn'>

/**
 * Verifies an assertion and answers its stored owner.
 * Throws InvalidCheck, WebAuthnVerificationError, UnknownPasskey for a credential that is not stored, and AuthError for one without an account or a user.
 */
export async function authenticatePasskey(
  ctx: Context,
  provider: WebAuthn,
  answer: CredentialAnswer,
  pending: PendingChallenge,
): Promise<Identity> {
  if (pending.register) throw new InvalidCheck(`The challenge of provider "${provider.id}" was made for registering, not for signing in.`)
  const store = ctx.service('store')
  const credentialID = toStored(answer.id)
  const authenticator = await store.getAuthenticator(credentialID)
  if (!authenticator) {
    // Only for an answer to the challenge: garbage is no passkey that a password manager should forget.
    const Refusal = challengeOf(answer) === pending.challenge ? UnknownPasskey : AuthError
    throw new Refusal(`No user has registered the credential presented to provider "${provider.id}": ${credentialID}.`)
  }
  const {
    newCounter: counter,
    userVerified,
    credentialDeviceType,
  } = await verifyAssertion(ctx, provider, answer, pending.challenge, authenticator)
  // Section 7.2, step 19: whether a passkey may be backed up never changes; a flip is another key, or a broken one.
  if (credentialDeviceType !== undefined && credentialDeviceType !== authenticator.credentialDeviceType)
    throw new WebAuthnVerificationError(`The backup flag of a credential of provider "${provider.id}" changed. The sign-in was rejected.`)
  if (!(await isOwnHandle(ctx, credentialID, answer.response.userHandle)))
    throw new WebAuthnVerificationError(
      `A credential of provider "${provider.id}" names another user than its owner. The sign-in was rejected.`,
    )
  await assertForward(ctx, provider, authenticator, counter)
  await store.updateAuthenticatorCounter(authenticator.credentialID, counter)
  const account = await store.getAccount(authenticator.providerAccountId, provider.id)
  if (!account || account.userId !== authenticator.userId) {
    throw new AuthError(`The credential ${credentialID} has no account of its owner at provider "${provider.id}".`)
  }
  const user = await store.getUser(account.userId)
  if (!user) throw new AuthError(`The user ${account.userId} of the credential ${credentialID} of provider "${provider.id}" is not stored.`)
  await noteUse(ctx, credentialID, user.id)
  return {
    user,
    account,
    match: 'account',
    ownerAfterSignIn: true,
    proof: proofOfPasskey(userVerified, authenticator.credentialDeviceType),
  }
}

async function verifyAssertion(
  ctx: Context,
  provider: WebAuthn,
  answer: CredentialAnswer,
  challenge: string,
  authenticator: AdapterAuthenticator,
): Promise<AuthenticationInfo> {
  const { verifyAuthenticationResponse } = await loadWebAuthnLibrary(provider)
  const party = await relyingParty(ctx, provider)
  const options = {
    requireUserVerification: authenticationVerification(provider).require,
    ...provider.verifyAuthenticationOptions,
    response: answer,
    expectedChallenge: challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.ids,
    // Counter 0: the library would judge it before the signature, and an attacker could then raise the alarm of a cloned key.
    credential: { ...descriptorOf(authenticator), publicKey: fromBase64(authenticator.credentialPublicKey), counter: 0 },
  }
  const result = await verifyAuthenticationResponse(options).catch((error: unknown) => {
    throw new WebAuthnVerificationError(`A sign-in at provider "${provider.id}" failed verification.`, { cause: error })
  })
  if (result.verified) return result.authenticationInfo
  throw new WebAuthnVerificationError(`A sign-in at provider "${provider.id}" failed verification.`)
}

// WebAuthn section 6.1.1: a counter that does not grow is the sign of a cloned key. Synced passkeys always say 0.
async function assertForward(
  ctx: Context,
  provider: WebAuthn,
  { credentialID, userId, counter: stored }: AdapterAuthenticator,
  received: number,
): Promise<void> {
  if (received > stored || (received === 0 && stored === 0)) return
  const details = { id: credentialID, stored, received }
  await ctx.emit('noted', {
    name: 'passkey.counterFault',
    outcome: 'denied',
    reason: 'counter',
    user: { id: userId },
    provider: provider.id,
    details,
  })
  throw new WebAuthnVerificationError(
    `The counter of a credential of provider "${provider.id}" went from ${stored} to ${received}: it may be a cloned key. The sign-in was rejected.`,
    { cause: { provider: provider.id, credentialID, userId, stored, received } },
  )
}
