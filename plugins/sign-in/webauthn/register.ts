/** A new passkey: WebAuthn section 7.1. */
import {
  type AdapterAuthenticator,
  AuthError,
  type Context,
  type Identity,
  InvalidCheck,
  type ProviderOf,
  toBase64,
  type User,
} from 'authkernel/kernel'
import { WebAuthnVerificationError } from 'authkernel/errors'
import type { PendingChallenge } from './challenge.ts'
import { type CredentialAnswer, toStored, transportsOf } from './credential.ts'
import { keepHandle } from './handles.ts'
import { loadWebAuthnLibrary, proofOfPasskey, type RegistrationInfo } from './library.ts'
import type { Registration } from './pending.ts'
import { relyingParty } from './relying-party.ts'
import { registrationVerification } from './settings.ts'

type WebAuthn = ProviderOf<'webauthn'>

/**
 * Verifies an attestation; the kernel then finds or makes the user. The authenticator is stored before the session (D44).
 * Throws InvalidCheck, WebAuthnVerificationError, AccountNotLinked.
 */
export async function registerPasskey(
  ctx: Context,
  provider: WebAuthn,
  answer: CredentialAnswer,
  pending: PendingChallenge,
): Promise<Identity> {
  if (!pending.register) throw new InvalidCheck(`The challenge of provider "${provider.id}" was made for signing in, not for registering.`)
  const user = await registeringUser(ctx, provider, pending.register)
  const { credential, credentialDeviceType, credentialBackedUp, userVerified, aaguid } = await verifyAttestation(
    ctx,
    provider,
    answer,
    pending,
  )
  const credentialID = toStored(credential.id)
  const account = { provider: provider.id, providerAccountId: credentialID, type: 'webauthn' as const }
  return {
    user,
    account,
    match: 'account',
    ownerAfterSignIn: true,
    // A new user's credential must be new (WebAuthn section 7.1, step 26).
    isRegistration: true,
    // Made without a question, it proves nothing of who is there.
    proof: pending.conditional ? { amr: [], factors: 1 as const } : proofOfPasskey(userVerified, credentialDeviceType),
    onLinked: async (owner) => {
      if (!owner.id) throw new AuthError(`The adapter gave no id to the new user of provider "${provider.id}": a passkey needs an owner.`)
      await storeAuthenticator(ctx, {
        credentialID,
        userId: owner.id,
        providerAccountId: credentialID,
        credentialPublicKey: toBase64(credential.publicKey),
        counter: credential.counter,
        credentialDeviceType,
        credentialBackedUp,
        transports: transportsOf(answer),
      })
      await keepHandle(ctx, { credentialID, userId: owner.id, handle: pending.handle, aaguid })
      await ctx.emit('credentialChanged', { user: owner, kind: 'passkey', action: 'added', id: credentialID })
    },
  }
}

/** Throws unless the very same row is there: a write whose answer was lost is done, and a row without its account would bar the device for good. */
async function storeAuthenticator(ctx: Context, authenticator: AdapterAuthenticator): Promise<void> {
  const rows = ctx.service('store')
  try {
    await rows.createAuthenticator(authenticator)
  } catch (error) {
    const row = await Promise.resolve(rows.getAuthenticator(authenticator.credentialID)).catch(() => null)
    if (row?.userId !== authenticator.userId || row.credentialPublicKey !== authenticator.credentialPublicKey) throw error
    ctx.logger.warn('store-fault-healed', { message: (error as Error).message })
  }
}

// The browser may have changed hands since the options were made: the passkey of one user must not end up with another.
async function registeringUser(ctx: Context, provider: WebAuthn, registration: Registration): Promise<User> {
  const current = await ctx.session.user(ctx)
  if ('userId' in registration) {
    if (current?.id === registration.userId) return current
  } else if (!current) return registration.user
  throw new InvalidCheck(`The registration at provider "${provider.id}" was begun by another user than the one who is signed in now.`)
}

async function verifyAttestation(
  ctx: Context,
  provider: WebAuthn,
  answer: CredentialAnswer,
  { challenge, conditional }: PendingChallenge,
): Promise<RegistrationInfo> {
  const { verifyRegistrationResponse } = await loadWebAuthnLibrary(provider)
  const party = await relyingParty(ctx, provider)
  // WebAuthn section 7.1, steps 15 and 16: a conditional creation sets neither flag.
  const flags = conditional ? { requireUserPresence: false, requireUserVerification: false } : {}
  const asked = { requireUserVerification: registrationVerification(provider).require, ...provider.verifyRegistrationOptions }
  const options = {
    ...asked,
    ...flags,
    response: answer,
    expectedChallenge: challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.ids,
  }
  const result = await verifyRegistrationResponse(options).catch((error: unknown) => {
    throw new WebAuthnVerificationError(`A registration at provider "${provider.id}" failed verification.`, { cause: error })
  })
  if (result.verified && result.registrationInfo) return result.registrationInfo
  throw new WebAuthnVerificationError(`A registration at provider "${provider.id}" failed verification.`)
}
