/** Signing keys: one signs at a time, the next is published before it signs, and former ones stay until the last of their tokens has ended. */
import { type AnyContext, AuthError, HttpError } from 'authkernel/kernel'
import type { ResolvedOptions } from './options.ts'
import { keyRecords, type PublicKey, type SigningKey } from './tables.ts'

// Shorter than others look for a first key, so that a process that dies with the lease does not hold up others for good.
const leaseSeconds = 5

// Milliseconds between two looks for a key that another process makes, and how many there are.
const pause = 50
const maxLooks = 200
const maxTries = 5

// Within the range that every database holds.
const never = new Date(Date.UTC(9999, 0, 1))

/** Live keys, newest first; makes the first one, and the next one when it is time. */
export async function signingKeys(ctx: AnyContext, options: ResolvedOptions): Promise<SigningKey[]> {
  for (let look = 0; look < maxLooks; look++) {
    const keys = await liveKeys(ctx)
    const [newest] = keys
    if (newest && !isDue(ctx, options, newest)) return keys
    if (await makeNext(ctx, options, newest)) continue
    // Another process makes it: the key that is there signs on meanwhile.
    if (newest) return keys
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  // The process with the lease does not get a key written: the store is away, and asking again helps.
  const reason = new AuthError('Plugin "jwt": no signing key could be stored. Look at the errors of the service "records".')
  throw new HttpError(503, reason.message, { 'Retry-After': '5' }, reason)
}

/** The key that signs now: the newest whose time has come. */
export function signerOf(ctx: AnyContext, keys: readonly SigningKey[]): SigningKey {
  const signer = keys.find(({ signsFrom }) => signsFrom <= ctx.now) ?? keys.at(-1)
  if (!signer) throw new AuthError('Plugin "jwt": there is no signing key.')
  return signer
}

/** For health: a text when the key that signs is older than it may get, because no process makes the next one. */
export async function keyAge(ctx: AnyContext, { rotateEvery }: ResolvedOptions): Promise<string | undefined> {
  const [newest] = await liveKeys(ctx)
  const days = newest ? (ctx.now.getTime() - newest.signsFrom.getTime()) / 86_400_000 : 0
  if (days * 86_400 <= rotateEvery * 1.1) return undefined
  return `The signing key is ${Math.floor(days)} days old; it is replaced after ${Math.floor(rotateEvery / 86_400)} when a token is issued.`
}

/** What `/.well-known/jwks.json` answers. */
export function keySet(keys: readonly SigningKey[]): { keys: PublicKey[] } {
  return { keys: keys.map(({ publicKey }) => publicKey) }
}

/** Publishes the next key now. With `compromised` all former keys end at once, and the new one signs at once. */
export async function rotateKeys(ctx: AnyContext, options: ResolvedOptions, compromised: boolean): Promise<SigningKey> {
  for (let tries = 0; tries < maxTries; tries++) {
    const keys = compromised ? await liveKeys(ctx) : await signingKeys(ctx, options)
    const [newest] = keys
    // Published and not signing yet: this is the rotation that was asked for.
    if (!compromised && newest && newest.signsFrom > ctx.now) return newest
    const next = await generateKey(ctx, options, newest, compromised)
    const writes = compromised ? keys.map(({ id }) => ({ record: 'jwtKey' as const, delete: id })) : retireKey(options, newest, next)
    if (await ctx.atomic([...writes, { record: 'jwtKey', create: next }])) {
      await emitRotation(ctx, next, compromised)
      return next
    }
  }
  throw new AuthError('Plugin "jwt": the keys were changed by others at the same moment. Rotate again.')
}

async function liveKeys(ctx: AnyContext): Promise<SigningKey[]> {
  const { rows: keys } = await keyRecords(ctx).find({ limit: 1000 })
  return keys.sort((a, b) => b.generation - a.generation)
}

function isDue(ctx: AnyContext, { algorithm, rotateEvery, jwksMaxAge }: ResolvedOptions, newest: SigningKey): boolean {
  const age = (ctx.now.getTime() - newest.signsFrom.getTime()) / 1000
  return age >= rotateEvery - 2 * jwksMaxAge || (age >= 0 && newest.alg !== algorithm)
}

/** False: another one makes it, or has made it. The unique generation decides, also when a lease ended too early. */
async function makeNext(ctx: AnyContext, options: ResolvedOptions, newest: SigningKey | undefined): Promise<boolean> {
  const lease = await ctx.lease('jwt.rotate', leaseSeconds)
  if (!lease) return false
  try {
    const next = await generateKey(ctx, options, newest, false)
    if (!(await ctx.atomic([...retireKey(options, newest, next), { record: 'jwtKey', create: next }]))) return false
    await emitRotation(ctx, next, false)
    return true
  } finally {
    await lease.release()
  }
}

async function emitRotation(ctx: AnyContext, { id: kid, alg, signsFrom }: SigningKey, compromised: boolean): Promise<void> {
  await ctx.emit('keyRotated', { kid, alg, signsFrom: signsFrom.toISOString(), compromised })
}

async function generateKey(
  ctx: AnyContext,
  { algorithm, jwksMaxAge }: ResolvedOptions,
  newest: SigningKey | undefined,
  atOnce: boolean,
): Promise<SigningKey> {
  const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import('jose')
  const pair = await generateKeyPair(algorithm, { extractable: true })
  const [bare, privateKey] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)])
  const kid = await calculateJwkThumbprint(bare)
  const wait = newest && !atOnce ? 2 * jwksMaxAge * 1000 : 0
  return {
    id: kid,
    generation: (newest?.generation ?? 0) + 1,
    alg: algorithm,
    publicKey: { ...bare, kty: bare.kty as string, kid, alg: algorithm, use: 'sig' },
    privateKey: { ...privateKey },
    created: ctx.now,
    signsFrom: new Date(ctx.now.getTime() + wait),
    expires: never,
  }
}

// In one write with the next key: a process that dies in between leaves either both or none.
function retireKey({ maxAge, jwksMaxAge }: ResolvedOptions, newest: SigningKey | undefined, next: SigningKey) {
  if (!newest) return []
  const expires = new Date(next.signsFrom.getTime() + (maxAge + jwksMaxAge) * 1000)
  return [{ record: 'jwtKey' as const, update: newest.id, change: { expires }, if: { generation: newest.generation } }]
}
