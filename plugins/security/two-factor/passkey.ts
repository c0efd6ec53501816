/** A passkey or a security key as a second factor (WebAuthn Level 3). Keys are asked for by id, after the first factor only. */
import {
  AuthError,
  type Context,
  createPending,
  fromBase64,
  type PendingList,
  type Row,
  sha256,
  type StampOfAccess,
  toBase64Url,
} from 'authkernel/kernel'
import { confirmedFactors, type FactorProof } from './factors.ts'
import type { Person } from './person.ts'
import { type FactorRow, never } from './tables.ts'

/** What a challenge was made for. */
interface Ceremony {
  person: string
  purpose: 'add' | 'ask'
}
/** What is stored of a key. */
interface Key {
  /** Base64url. */
  id: string
  publicKey: string
  transports: string[]
  /** `hwk`: it stays on its device; `swk`: it may be copied. */
  method: 'hwk' | 'swk'
}

const seconds = 600
const perPerson = 10
export const factorChallenges: PendingList<Ceremony> = /* @__PURE__ */ createPending<Ceremony>('two-factor-challenge', { seconds })

/** Options of the ceremony that adds a key. Null: the user has enough of them. */
export async function beginAdd(ctx: Context, person: Person): Promise<object | null> {
  const { generateRegistrationOptions } = await loadSimpleWebAuthn()
  const keys = await findPasskeys(ctx, person)
  if (keys.length >= perPerson) return null
  const name = person.user.email ?? person.user.name ?? new URL(ctx.origin).host
  const options = await generateRegistrationOptions({
    rpID: ctx.url.hostname,
    rpName: ctx.app.config.appName || ctx.url.host,
    challenge: ctx.runtime.random(32).slice(),
    // Nothing personal (WebAuthn section 14.6.1), and the same for all keys of the person.
    userID: (await handleOf(person)).slice(),
    userName: name,
    userDisplayName: person.user.name ?? name,
    excludeCredentials: keys.map(({ key }) => ({ id: key.id })),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
  })
  await factorChallenges.add(ctx, options.challenge, { person: person.key, purpose: 'add' })
  return options
}

/** Options of the ceremony that asks for a key of this user. */
export async function beginAsk(ctx: Context, person: Person): Promise<object> {
  const { generateAuthenticationOptions } = await loadSimpleWebAuthn()
  // The library lists transports. Browsers may know more, and what they said is stored as text.
  const allowCredentials = (await findPasskeys(ctx, person)).map(({ key }) => ({ id: key.id, transports: key.transports as never }))
  const options = await generateAuthenticationOptions({
    rpID: ctx.url.hostname,
    challenge: ctx.runtime.random(32).slice(),
    allowCredentials,
    userVerification: 'preferred',
  })
  await factorChallenges.add(ctx, options.challenge, { person: person.key, purpose: 'ask' })
  return options
}

/** Stores the key that the browser brings, for a user whose access holds. False: the answer does not fit. Throws AccessEnded. */
export async function addPasskey(ctx: Context, person: Person, data: unknown, stamp: StampOfAccess): Promise<boolean> {
  const found = await readAnswer(ctx, person, data, 'add')
  if (!found) return false
  const { verifyRegistrationResponse } = await loadSimpleWebAuthn()
  // The answer of the browser is unchecked input. The library checks its form.
  const result = await verifyRegistrationResponse({ ...found.expected, response: found.answer as never }).catch(() => undefined)
  if (!result?.verified) return false
  const { credential, credentialDeviceType } = result.registrationInfo
  if ((await findPasskeys(ctx, person)).some(({ key }) => key.id === credential.id)) return false
  const key: Key = {
    id: credential.id,
    publicKey: toBase64Url(credential.publicKey),
    transports: [...(credential.transports ?? [])].slice(0, 8),
    method: methodOf(credentialDeviceType),
  }
  const factors = ctx.records('twoFactor')
  const row = {
    person: person.key,
    userId: person.userId,
    kind: 'passkey',
    secret: JSON.stringify(key),
    confirmed: true,
    step: credential.counter,
    created: ctx.now,
    expires: never,
  }
  await ctx.access.grant(
    stamp,
    'credential',
    () => factors.create(row),
    async (written) => {
      // Its id is not known where the answer of the write was lost.
      const found = written ? [written] : (await factors.find({ where: { person: person.key } })).rows
      for (const { id, secret } of found) if (secret === row.secret) await factors.delete(id)
    },
  )
  return true
}

/** What a key proved; undefined: it is none of this user, or the answer does not fit. */
export async function acceptPasskey(ctx: Context, person: Person, data: unknown): Promise<FactorProof | undefined> {
  const found = await readAnswer(ctx, person, data, 'ask')
  const known = found && (await findPasskeys(ctx, person)).find(({ key }) => key.id === found.answer.id)
  if (!known) return undefined
  const handle = found.answer.response['userHandle']
  if (typeof handle === 'string' && handle !== '' && handle !== toBase64Url(await handleOf(person))) return undefined
  const { verifyAuthenticationResponse } = await loadSimpleWebAuthn()
  const { key, row } = known
  // Counter 0: the library would judge it before the signature.
  const credential = { id: key.id, publicKey: fromBase64(key.publicKey), counter: 0, transports: key.transports as never }
  // The answer of the browser is unchecked input. The library checks its form.
  const result = await verifyAuthenticationResponse({ ...found.expected, response: found.answer as never, credential }).catch(
    () => undefined,
  )
  if (!result?.verified) return undefined
  const { newCounter, credentialDeviceType } = result.authenticationInfo
  // WebAuthn section 7.2: whether a key may be backed up never changes.
  if (key.method !== methodOf(credentialDeviceType)) return undefined
  // A counter that does not grow is the sign of a cloned key. Synced ones always say 0.
  if (newCounter <= row.step && !(newCounter === 0 && row.step === 0)) return undefined
  if (newCounter > row.step && !(await ctx.records('twoFactor').update(row.id, { step: newCounter }, { if: { step: row.step } })))
    return undefined
  return { amr: [key.method, 'mfa'], factors: 2 }
}

interface Answer {
  id: string
  response: Record<string, unknown>
}

/** An answer to a challenge of this user; the challenge is spent by this call. */
async function readAnswer(ctx: Context, person: Person, data: unknown, purpose: Ceremony['purpose']) {
  const answer = parseAnswer(data)
  const challenge = answer && challengeOf(answer)
  const ceremony = challenge ? await factorChallenges.take(ctx, challenge) : null
  if (!answer || !challenge || ceremony?.person !== person.key || ceremony.purpose !== purpose) return undefined
  const expected = {
    expectedChallenge: challenge,
    expectedOrigin: ctx.origin,
    expectedRPID: ctx.url.hostname,
    // Preferred: the first factor is there already.
    requireUserVerification: false,
  }
  return { answer, expected }
}

function parseAnswer(data: unknown): Answer | undefined {
  if (typeof data !== 'string' || data.length > 65_536) return undefined
  try {
    const { id, response } = Object(JSON.parse(data)) as Partial<Answer>
    return typeof id === 'string' && typeof response === 'object' && response !== null ? (JSON.parse(data) as Answer) : undefined
  } catch {
    return undefined
  }
}

function challengeOf({ response }: Answer): string | undefined {
  try {
    const { challenge } = Object(JSON.parse(new TextDecoder().decode(fromBase64(String(response['clientDataJSON']))))) as {
      challenge?: unknown
    }
    return typeof challenge === 'string' ? challenge : undefined
  } catch {
    return undefined
  }
}

async function findPasskeys(ctx: Context, person: Person): Promise<{ row: Row<FactorRow>; key: Key }[]> {
  const rows = (await confirmedFactors(ctx, person)).filter(({ kind, secret }) => kind === 'passkey' && secret !== null)
  return rows.map((row) => ({ row, key: JSON.parse(row.secret as string) as Key }))
}

function methodOf(credentialDeviceType: string): 'hwk' | 'swk' {
  return credentialDeviceType === 'multiDevice' ? 'swk' : 'hwk'
}

function handleOf({ key }: Person): Promise<Uint8Array> {
  return sha256(`two-factor ${key}`)
}

async function loadSimpleWebAuthn() {
  try {
    return await import('@simplewebauthn/server')
  } catch (error) {
    throw new AuthError('Plugin "two-factor": passkeys need the package @simplewebauthn/server: npm install @simplewebauthn/server', {
      cause: { err: error as Error },
    })
  }
}
