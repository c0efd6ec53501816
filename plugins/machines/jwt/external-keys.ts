/** Keys outside of this server: a KMS or an HSM signs, and never gives the private key out. */
import { type AnyContext, AuthError, type Awaitable, setBounded, toBase64Url } from 'authkernel/kernel'
import type { PublicKey, SigningAlgorithm } from './tables.ts'

/** A key of a KMS. */
export interface ExternalKey {
  /** The public half (RFC 7517), with `kid` and `alg`: `ES256`, `EdDSA`, `RS256` or `PS256`. It is published. */
  publicKey: Readonly<Record<string, unknown>> & { kid: string; alg: SigningAlgorithm }
  /** Signs the bytes by `alg`. Called once for each token. */
  sign(data: Uint8Array, ctx: AnyContext): Awaitable<Uint8Array>
  /** Form of `ES256` signatures: `raw` has 64 bytes (default), `der` is what most KMS return. */
  format?: 'raw' | 'der' | undefined
  /** From then on it signs; until then it is published only. Default: at once. */
  signsFrom?: Date | undefined
}
/** Newest first. Of an algorithm the first key whose time has come signs, the others are published. A function is called for each use: keep what it reads. */
export type ExternalKeys = readonly ExternalKey[] | ((ctx: AnyContext) => Awaitable<readonly ExternalKey[]>)

const kinds: Readonly<Record<SigningAlgorithm, string>> = { ES256: 'EC', EdDSA: 'OKP', RS256: 'RSA', PS256: 'RSA' }
const maxKeys = 100
const goodLists = new WeakSet<readonly ExternalKey[]>()

/** The keys of the option, checked. Throws AuthError for a key that could not be published. */
export async function readExternalKeys(ctx: AnyContext, given: ExternalKeys | undefined): Promise<readonly ExternalKey[]> {
  const keys = typeof given === 'function' ? await given(ctx) : (given ?? [])
  if (!goodLists.has(keys)) assertExternalKeys(keys)
  goodLists.add(keys)
  return keys
}

/** Throws AuthError that names the key. */
export function assertExternalKeys(keys: readonly ExternalKey[]): void {
  const ids = new Set<string>()
  if (!Array.isArray(keys) || keys.length > maxKeys) refuse(`must be a list of at most ${maxKeys} keys.`)
  for (const { publicKey, sign, format = 'raw', signsFrom } of keys as readonly ExternalKey[]) {
    const { kid, alg, kty } = publicKey ?? {}
    if (typeof kid !== 'string' || kid === '') refuse('has a key without `publicKey.kid`.')
    if (ids.has(kid)) refuse(`has the \`kid\` "${kid}" twice.`)
    ids.add(kid)
    if (!Object.hasOwn(kinds, alg) || kinds[alg] !== kty)
      refuse(`"${kid}": \`alg\` and \`kty\` must be those of ES256, EdDSA, RS256 or PS256.`)
    // What is published must open nothing.
    if (['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].some((name) => name in publicKey)) refuse(`"${kid}": \`publicKey\` has a private part.`)
    if (typeof sign !== 'function') refuse(`"${kid}" needs \`sign\`.`)
    if (format !== 'raw' && format !== 'der') refuse(`"${kid}": \`format\` must be "raw" or "der".`)
    if (signsFrom !== undefined && !(signsFrom instanceof Date)) refuse(`"${kid}": \`signsFrom\` must be a Date.`)
  }
}

/** As it is published. */
export function publishExternalKey({ publicKey }: ExternalKey): PublicKey {
  return { ...publicKey, kty: String(publicKey['kty']), use: 'sig' }
}

/** The signature of a text, in the form of JWS. The first of each key in a process is verified: a wrong key or form is an error here, and not at every client. */
export async function signOutside(ctx: AnyContext, key: ExternalKey, text: string): Promise<string> {
  const data = new TextEncoder().encode(text)
  const given = await key.sign(data, ctx)
  const { kid, alg } = key.publicKey
  const signature = alg === 'ES256' && key.format === 'der' ? fromDer(given, kid) : given
  if (alg === 'ES256' && signature.length !== 64) throw wrongSignature(kid, 'An ES256 signature has 64 bytes; set `format: "der"` for DER.')
  const compact = `${text}.${toBase64Url(signature)}`
  const verified = ctx.app.shared.cache<boolean>('jwt.external-keys')
  const id = `${kid} ${alg}`
  if (!verified.get(id)) {
    await assertOwn(key, compact)
    setBounded(verified, id, true, maxKeys)
  }
  return compact
}

async function assertOwn({ publicKey }: ExternalKey, compact: string): Promise<void> {
  const { compactVerify, importJWK } = await import('jose')
  try {
    await compactVerify(compact, await importJWK({ ...publicKey }, publicKey.alg), { algorithms: [publicKey.alg] })
  } catch (error) {
    throw wrongSignature(publicKey.kid, 'It does not fit `publicKey`.', error)
  }
}

/** SEQUENCE of two INTEGERs (RFC 3279 section 2.2.3) to the two numbers in 32 bytes each (RFC 7518 section 3.4). */
function fromDer(der: Uint8Array, kid: string): Uint8Array {
  const signature = new Uint8Array(64)
  let at = 2
  if (der[0] !== 0x30 || der[1] !== der.length - 2) throw wrongSignature(kid, 'It is no DER.')
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0
    const number = der.subarray(at + 2, at + 2 + length)
    const bare = number[0] === 0 ? number.subarray(1) : number
    if (der[at] !== 0x02 || number.length !== length || bare.length > 32) throw wrongSignature(kid, 'It is no DER.')
    signature.set(bare, end - bare.length)
    at += 2 + length
  }
  if (at !== der.length) throw wrongSignature(kid, 'It is no DER.')
  return signature
}

function wrongSignature(kid: string, why: string, err?: unknown): AuthError {
  const message = `Plugin "jwt": \`sign\` of the external key "${kid}" returned a wrong signature. ${why}`
  return new AuthError(message, err instanceof Error ? { cause: { err } } : undefined)
}

function refuse(what: string): never {
  throw new AuthError(`Plugin "jwt": \`externalKeys\` ${what}`)
}
