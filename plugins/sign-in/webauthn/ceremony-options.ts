/** `GET /webauthn-options/:provider`: what a browser needs to begin a ceremony. */
import {
  type AdapterAuthenticator,
  type Context,
  fromBase64,
  json,
  type ProviderOf,
  sha256,
  toAddress,
  toBase64Url,
  type User,
} from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'
import { mayCreateUser } from 'authkernel/kernel/users'
import { keepChallenge } from './challenge.ts'
import { descriptorOf } from './credential.ts'
import { readRecord } from './handles.ts'
import { loadWebAuthnLibrary } from './library.ts'
import type { Registration } from './pending.ts'
import { hasNewPasswordProof, isProofOld } from './proof-age.ts'
import { providerOptions, relyingParty } from './relying-party.ts'
import { authenticationDefaults, registrationDefaults } from './settings.ts'

type WebAuthn = ProviderOf<'webauthn'>

/** Seconds that the proof of a session may be old when a passkey is added. */
export const proofAge = 900

/** Who wants to register or sign in, as far as it is known. */
interface Visitor {
  user: User | null
  signedIn: boolean
  exists: boolean
}

/** Answers the options. */
export async function answerOptions(ctx: Context): Promise<Response> {
  const provider = await ctx.provider()
  if (provider.type !== 'webauthn')
    throw new InvalidProvider(`Provider "${provider.id}" is of type ${provider.type}: only webauthn has such options.`)
  const action = ctx.url.searchParams.get('action')
  if (action !== null && action !== 'register' && action !== 'authenticate') return json({ error: 'Invalid action' }, 400)
  const visitor = await readVisitor(ctx, provider)
  if (!visitor) return json({ error: 'Invalid request' }, 400)
  const decision = chooseCeremony(action, visitor)
  if (decision === 'authenticate') return json({ action: decision, options: await authenticationOptions(ctx, provider, visitor) })
  // A new user without an address could never be told apart from another.
  if (decision === 'register' && visitor.user && (visitor.signedIn || visitor.user.email)) {
    const account = { provider: provider.id, providerAccountId: '', type: 'webauthn' }
    // Else the device would keep a passkey that signs no user in.
    if (!visitor.signedIn && !(await mayCreateUser(ctx, { user: visitor.user, account, proved: false })))
      return json({ error: 'Access denied' }, 403)
    // A stolen or forgotten session must not add a lasting way to sign in.
    if (visitor.signedIn && (await isProofOld(ctx, proofAge))) return json({ error: 'StepUpRequired' }, 403)
    return json({ action: decision, options: await registrationOptions(ctx, provider, visitor, visitor.user) })
  }
  return json({ error: 'Invalid request' }, 400)
}

/** Which ceremony fits the action and the visitor (row 245); undefined: none does. */
function chooseCeremony(
  action: 'register' | 'authenticate' | null,
  { user, signedIn, exists }: Visitor,
): 'register' | 'authenticate' | undefined {
  if (action === 'authenticate') return action
  // A new user must not take over an existing one's address, hence "signed in" and "exists" have to agree (row 249).
  if (action === 'register') return user && signedIn === exists ? action : undefined
  if (signedIn) return undefined
  return user && !exists ? 'register' : 'authenticate'
}

// Undefined: an address that is none.
async function readVisitor(ctx: Context, provider: WebAuthn): Promise<Visitor | undefined> {
  const user = await ctx.session.user(ctx)
  if (user) return { user, signedIn: true, exists: true }
  if (provider.getUserInfo) {
    const info = await provider.getUserInfo(providerOptions(ctx, provider), ctx.request)
    return { user: info?.user ?? null, signedIn: false, exists: info?.exists ?? false }
  }
  const typed = ctx.url.searchParams.get('email')
  if (!typed) return { user: null, signedIn: false, exists: false }
  const email = toAddress(typed)
  if (email === undefined) return undefined
  const known = await ctx.store?.getUserByEmail(email)
  return { user: known ?? { email }, signedIn: false, exists: Boolean(known) }
}

async function authenticationOptions(ctx: Context, provider: WebAuthn, { user, signedIn, exists }: Visitor): Promise<object> {
  const { generateAuthenticationOptions } = await loadWebAuthnLibrary(provider)
  const party = await relyingParty(ctx, provider)
  const allowed = user && exists ? (await listOwn(ctx, user)).map(descriptorOf) : []
  const options = await generateAuthenticationOptions({
    ...authenticationDefaults(provider),
    rpID: party.id,
    challenge: ctx.runtime.random(32),
    // Without a user the browser offers the passkeys it has.
    ...(user && { allowCredentials: allowed.length > 0 || signedIn ? allowed : [await decoyCredential(ctx, provider, user)] }),
  })
  await keepChallenge(ctx, provider, options.challenge)
  return options
}

async function registrationOptions(ctx: Context, provider: WebAuthn, { signedIn }: Visitor, user: User): Promise<object> {
  const { generateRegistrationOptions } = await loadWebAuthnLibrary(provider)
  const party = await relyingParty(ctx, provider)
  const own = signedIn ? await listOwn(ctx, user) : []
  // One handle for all passkeys of a user: a password manager then shows one account, and can be told which of its passkeys are left.
  const userID = (await findHandle(ctx, own)) ?? ctx.runtime.random(32)
  const options = await generateRegistrationOptions({
    ...registrationDefaults(provider),
    rpID: party.id,
    rpName: party.name,
    challenge: ctx.runtime.random(32),
    // WebAuthn section 14.6.1: a user handle holds nothing personal.
    userID,
    userName: user.email ?? user.name ?? party.name,
    userDisplayName: user.name ?? user.email ?? party.name,
    excludeCredentials: own.map(descriptorOf),
  })
  const register: Registration = signedIn && user.id ? { userId: user.id } : { user }
  // Without a touch of the user a passkey is made for a password that was typed a moment ago, and for nothing else.
  const conditional = signedIn && ctx.url.searchParams.get('conditional') === '1' && (await hasNewPasswordProof(ctx))
  await keepChallenge(ctx, provider, options.challenge, {
    register,
    handle: toBase64Url(userID.slice()),
    ...(conditional && { conditional }),
  })
  return options
}

async function findHandle(ctx: Context, own: readonly AdapterAuthenticator[]): Promise<Uint8Array<ArrayBuffer> | undefined> {
  for (const { credentialID } of own) {
    const handle = (await readRecord(ctx, credentialID))?.userHandle
    if (handle) return fromBase64(handle)
  }
  return undefined
}

async function listOwn(ctx: Context, user: User): Promise<readonly AdapterAuthenticator[]> {
  return user.id ? ((await ctx.store?.listAuthenticatorsByUserId(user.id)) ?? []) : []
}

// WebAuthn section 14.6.2: without it an empty list would tell which users have no passkey. Always the same for one address, as real ones are.
async function decoyCredential(ctx: Context, provider: WebAuthn, user: User): Promise<{ id: string; transports: string[] }> {
  const digest = await ctx.digest('webauthn.decoy', `${provider.id} ${user.email ?? user.id ?? ''}`)
  return { id: toBase64Url(await sha256(digest)), transports: ['hybrid', 'internal'] }
}
