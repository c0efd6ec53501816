/** Signing keys: of each algorithm one signs at a time, the next is published before it signs, and former ones stay until the last of their tokens has ended. */
import { type AnyContext, type AtomicWrite, AuthError, HttpError } from 'authkernel/kernel'
import { type ExternalKey, publishExternalKey, readExternalKeys } from './external-keys.ts'
import type { ResolvedOptions } from './options.ts'
import { keyRecords, type PublicKey, type SigningAlgorithm, type SigningKey } from './tables.ts'

// Shorter than others look for a first key, so that a process that dies with the lease does not hold up others for good.
const leaseSeconds = 5

// Milliseconds between two looks for a key that another process makes, and how many there are.
const pause = 50
const maxLooks = 200
const maxTries = 5

// Within the range that every database holds.
const never = new Date(Date.UTC(9999, 0, 1))

/** A key that is published, and signs by a private half that is stored here or kept elsewhere. */
export type LiveKey = Pick<SigningKey, 'id' | 'alg' | 'publicKey' | 'signsFrom'> & ({ stored: SigningKey } | { external: ExternalKey })

/** Live keys, newest first; makes the first one of each algorithm, and the next one when it is time. */
export async function signingKeys(ctx: AnyContext, options: ResolvedOptions): Promise<LiveKey[]> {
  const external = await readExternalKeys(ctx, options.externalKeys)
  const algorithms = storedAlgorithms(options, external)
  for (let look = 0; look < maxLooks; look++) {
    const keys = await liveKeys(ctx)
    const lines = algorithms.map((algorithm) => lineOf(options, keys, algorithm))
    const due = lines.find((line) => isDue(ctx, options, line))
    if (!due) {
      await retireStrays(ctx, options, keys, algorithms)
      return [...external.map(fromExternal), ...keys.map(fromStored)]
    }
    if (await makeNext(ctx, options, due.algorithm)) continue
    // Another process makes it: the keys that are there sign on meanwhile.
    if (lines.every(({ own, former }) => own ?? former)) return [...external.map(fromExternal), ...keys.map(fromStored)]
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  // The process with the lease does not get a key written: the store is away, and asking again helps.
  const reason = new AuthError('Plugin "jwt": no signing key could be stored. Look at the errors of the service "records".')
  throw new HttpError(503, reason.message, { 'Retry-After': '5' }, reason)
}

/** The key that signs now: the newest of the algorithm whose time has come; while there is none, a former key of another one. */
export function signerOf(
  ctx: AnyContext,
  options: ResolvedOptions,
  keys: readonly LiveKey[],
  algorithm: string = options.algorithm,
): LiveKey {
  if (!options.algorithms.includes(algorithm as SigningAlgorithm))
    throw new AuthError(`Plugin "jwt": ${algorithm} is not among \`algorithms\` (${options.algorithms.join(', ')}).`)
  const own = keys.filter(({ alg }) => alg === algorithm)
  const isReady = ({ signsFrom }: LiveKey): boolean => signsFrom <= ctx.now
  const signer = own.find(isReady) ?? (algorithm === options.algorithm ? keys.find(isReady) : undefined) ?? own.at(-1)
  if (!signer) throw new AuthError(`Plugin "jwt": there is no signing key for ${algorithm}.`)
  return signer
}

/** For health: a text when a key that signs is older than it may get, because no process makes the next one. */
export async function keyAge(ctx: AnyContext, options: ResolvedOptions): Promise<string | undefined> {
  const keys = await liveKeys(ctx)
  const algorithms = storedAlgorithms(options, await readExternalKeys(ctx, options.externalKeys))
  for (const algorithm of algorithms) {
    const { own: newest } = lineOf(options, keys, algorithm)
    const days = newest ? (ctx.now.getTime() - newest.signsFrom.getTime()) / 86_400_000 : 0
    if (days * 86_400 > options.rotateEvery * 1.1)
      return `The signing key is ${Math.floor(days)} days old; it is replaced after ${Math.floor(options.rotateEvery / 86_400)} when a token is issued.`
  }
  return undefined
}

/** What `/.well-known/jwks.json` answers. */
export function keySet(keys: readonly LiveKey[]): { keys: PublicKey[] } {
  return { keys: keys.map(({ publicKey }) => publicKey) }
}

/**
 * Publishes the next key of each algorithm now. With `compromised` all former keys end at once, and the new ones sign at once. Answers the one of the first
 * algorithm. Throws AuthError where all keys are kept elsewhere.
 */
export async function rotateKeys(ctx: AnyContext, options: ResolvedOptions, compromised: boolean): Promise<SigningKey> {
  const algorithms = storedAlgorithms(options, await readExternalKeys(ctx, options.externalKeys))
  if (algorithms.length === 0) throw new AuthError('Plugin "jwt": the keys are in `externalKeys`: rotate them there.')
  for (let tries = 0; tries < maxTries; tries++) {
    if (!compromised) await signingKeys(ctx, options)
    const keys = await liveKeys(ctx)
    const made: SigningKey[] = []
    const writes: AtomicWrite[] = compromised ? keys.map(({ id }) => ({ record: 'jwtKey' as const, delete: id })) : []
    for (const algorithm of algorithms) {
      const { own } = lineOf(options, keys, algorithm)
      // Published and not signing yet: this is the rotation that was asked for.
      if (!compromised && own && own.signsFrom > ctx.now) {
        made.push(own)
        continue
      }
      const generation = (keys[0]?.generation ?? 0) + made.length + 1
      const next = await generateKey(ctx, options, { algorithm, generation, wait: !compromised && own !== undefined })
      if (!compromised) writes.push(...retireKey(options, own, next))
      writes.push({ record: 'jwtKey', create: next })
      made.push(next)
    }
    if (writes.length > 0 && !(await ctx.atomic(writes))) continue
    for (const next of made) if (!keys.some(({ id }) => id === next.id)) await emitRotation(ctx, next, compromised)
    return made[0] as SigningKey
  }
  throw new AuthError('Plugin "jwt": the keys were changed by others at the same moment. Rotate again.')
}

/** Algorithms whose keys are stored here. */
function storedAlgorithms({ algorithms }: ResolvedOptions, external: readonly ExternalKey[]): SigningAlgorithm[] {
  return algorithms.filter((algorithm) => !external.some(({ publicKey }) => publicKey.alg === algorithm))
}

function fromStored(stored: SigningKey): LiveKey {
  const { id, alg, publicKey, signsFrom } = stored
  return { id, alg, publicKey, signsFrom, stored }
}

function fromExternal(external: ExternalKey): LiveKey {
  const { kid: id, alg } = external.publicKey
  return { id, alg, publicKey: publishExternalKey(external), signsFrom: external.signsFrom ?? new Date(0), external }
}

/** The keys of one algorithm. */
interface Line {
  algorithm: SigningAlgorithm
  /** The newest of them. */
  own: SigningKey | undefined
  /** For the first algorithm, while it has no key: the newest of another one, which signs until the new key is known to all. */
  former: SigningKey | undefined
}

function lineOf({ algorithms }: ResolvedOptions, keys: readonly SigningKey[], algorithm: SigningAlgorithm): Line {
  const own = keys.find(({ alg }) => alg === algorithm)
  return { algorithm, own, former: own || algorithm !== algorithms[0] ? undefined : keys[0] }
}

async function liveKeys(ctx: AnyContext): Promise<SigningKey[]> {
  const { rows: keys } = await keyRecords(ctx).find({ limit: 1000 })
  return keys.sort((a, b) => b.generation - a.generation)
}

function isDue(ctx: AnyContext, { rotateEvery, jwksMaxAge, maxAge }: ResolvedOptions, { own }: Line): boolean {
  if (!own) return true
  const now = ctx.now.getTime()
  // Another process that does not have the algorithm in its options may have retired it: tokens must not outlive the key.
  return now - own.signsFrom.getTime() >= (rotateEvery - 2 * jwksMaxAge) * 1000 || own.expires.getTime() - now <= maxAge * 1000
}

/** False: another one makes it, or has made it. The unique generation decides, also when a lease ended too early. */
async function makeNext(ctx: AnyContext, options: ResolvedOptions, algorithm: SigningAlgorithm): Promise<boolean> {
  const lease = await ctx.lease('jwt.rotate', leaseSeconds)
  if (!lease) return false
  try {
    const keys = await liveKeys(ctx)
    const line = lineOf(options, keys, algorithm)
    // Made by another process since.
    if (!isDue(ctx, options, line)) return true
    const before = line.own ?? line.former
    const next = await generateKey(ctx, options, { algorithm, generation: (keys[0]?.generation ?? 0) + 1, wait: before !== undefined })
    const isLeft = before !== undefined && (before === line.own || !options.algorithms.includes(before.alg as SigningAlgorithm))
    if (!(await ctx.atomic([...retireKey(options, isLeft ? before : undefined, next), { record: 'jwtKey', create: next }]))) return false
    await emitRotation(ctx, next, false)
    return true
  } finally {
    await lease.release()
  }
}

/** Keys of an algorithm that the options no longer have, or that a KMS has now: they sign no more, and stay until their tokens have ended. */
async function retireStrays(
  ctx: AnyContext,
  options: ResolvedOptions,
  keys: readonly SigningKey[],
  algorithms: readonly SigningAlgorithm[],
): Promise<void> {
  const strays = keys.filter(({ alg, expires }) => !algorithms.includes(alg as SigningAlgorithm) && expires >= never)
  const expires = new Date(ctx.now.getTime() + (options.maxAge + options.jwksMaxAge) * 1000)
  for (const { id, generation } of strays) await keyRecords(ctx).update(id, { expires }, { if: { generation } })
}

async function emitRotation(ctx: AnyContext, { id: kid, alg, signsFrom }: SigningKey, compromised: boolean): Promise<void> {
  await ctx.emit('keyRotated', { kid, alg, signsFrom: signsFrom.toISOString(), compromised })
}

async function generateKey(
  ctx: AnyContext,
  { jwksMaxAge }: ResolvedOptions,
  { algorithm, generation, wait }: { algorithm: SigningAlgorithm; generation: number; wait: boolean },
): Promise<SigningKey> {
  const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import('jose')
  const pair = await generateKeyPair(algorithm, { extractable: true })
  const [bare, privateKey] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)])
  const kid = await calculateJwkThumbprint(bare)
  return {
    id: kid,
    generation,
    alg: algorithm,
    publicKey: { ...bare, kty: bare.kty as string, kid, alg: algorithm, use: 'sig' },
    privateKey: { ...privateKey },
    created: ctx.now,
    signsFrom: new Date(ctx.now.getTime() + (wait ? 2 * jwksMaxAge * 1000 : 0)),
    expires: never,
  }
}

// In one write with the next key: a process that dies in between leaves either both or none.
function retireKey({ maxAge, jwksMaxAge }: ResolvedOptions, newest: SigningKey | undefined, next: SigningKey) {
  if (!newest) return []
  const expires = new Date(next.signsFrom.getTime() + (maxAge + jwksMaxAge) * 1000)
  return [{ record: 'jwtKey' as const, update: newest.id, change: { expires }, if: { generation: newest.generation } }]
}
