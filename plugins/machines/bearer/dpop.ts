/** Which key the sender of a request has (RFC 9449). A proof is good once, for one request. */
import { InvalidProof, verifyProof } from 'authkernel/jwt'
import { type Context, equal, hostRequestOf, HttpError, networksOf } from 'authkernel/kernel'

/** Whether proofs must have a nonce of this server. One object for all requests: proofs are remembered by it. */
export type NonceOptions = Readonly<{ nonces: boolean }>
/** The thumbprint of the key; null: the request has no proof. `error`: the code of RFC 9449, with the answer's headers. */
type ProofKey = { readonly jkt: string | null } | ProofRefused
interface ProofRefused {
  readonly error: 'invalid_dpop_proof' | 'use_dpop_nonce' | 'temporarily_unavailable'
  readonly description: string
  /** Seconds until the next proof of this network counts. */
  readonly retryAfter?: number
}

/** Seconds that the time of a proof may differ, and that a nonce is given out for. */
const maxAge = 60
const nonceSeconds = 300
const purpose = 'bearer.dpop-nonce'
/** Proofs without a token, of one network in a minute: every client can make one, and each that counts is a row of the store. */
const perNetwork = { max: 300, seconds: 60 }
/** Where no binding says where requests come from. */
const unknownNetwork = { max: 3_000, seconds: 60 }

// A host reads the session of one request several times, and bindings make a web request for each: the proof is used up by the request that came, and not by the
// reading. The same proof in another request is a replay.
const proofKeys = new WeakMap<NonceOptions, WeakMap<object, Map<string, Promise<ProofKey>>>>()

/** Of this request. `accessToken`: the token that the proof must be for; not given at the token endpoint. */
export function readProofKey(ctx: Context, options: NonceOptions, accessToken?: string): Promise<ProofKey> {
  const requests = proofKeys.get(options) ?? new WeakMap<object, Map<string, Promise<ProofKey>>>()
  proofKeys.set(options, requests)
  const host = hostRequestOf(ctx.request)
  const known = requests.get(host) ?? new Map<string, Promise<ProofKey>>()
  requests.set(host, known)
  const { method, headers } = ctx.request
  const { origin, pathname } = ctx.url
  // What the proof was compared with: a web request with another method or URL is judged by itself.
  const id = JSON.stringify([ctx.settings.namespace, method, origin + pathname, headers.get('dpop'), accessToken])
  const work = known.get(id) ?? checkProof(ctx, options, accessToken)
  known.set(id, work)
  return work
}

/** A fresh nonce, for the header `DPoP-Nonce` (RFC 9449 section 8). Undefined: the option is off. */
async function nonceOf(ctx: Context, { nonces }: NonceOptions): Promise<string | undefined> {
  return nonces ? ctx.digest(purpose, String(windowOf(ctx))) : undefined
}

/** Headers of an answer to a request with a proof: scripts of other origins may read them. */
export async function nonceHeaders(ctx: Context, options: NonceOptions): Promise<Record<string, string>> {
  const nonce = await nonceOf(ctx, options)
  return nonce === undefined ? {} : { 'DPoP-Nonce': nonce, 'Access-Control-Expose-Headers': 'DPoP-Nonce, WWW-Authenticate' }
}

/** Thrown where a session is read: the app asks again with the nonce of the answer. */
export async function nonceDemand(ctx: Context, options: NonceOptions): Promise<HttpError> {
  const challenge = 'DPoP error="use_dpop_nonce", error_description="Send a proof with the nonce of this answer."'
  return new HttpError(401, 'Send a DPoP proof with the nonce of this answer.', {
    ...(await nonceHeaders(ctx, options)),
    'WWW-Authenticate': challenge,
  })
}

async function checkProof(ctx: Context, options: NonceOptions, accessToken: string | undefined): Promise<ProofKey> {
  const text = ctx.request.headers.get('dpop')
  if (text === null) return { jkt: null }
  const { origin, pathname } = ctx.url
  try {
    const proof = await verifyProof(text, {
      method: ctx.request.method,
      url: origin + pathname,
      accessToken,
      // The clock of a phone may be wrong: with a nonce of ours it does not matter.
      maxAge: options.nonces ? 'nonce' : maxAge,
      now: () => ctx.now.getTime(),
    })
    if (options.nonces && !(await isOurs(ctx, proof.nonce)))
      return { error: 'use_dpop_nonce', description: 'A nonce of this server is needed.' }
    const busy = accessToken === undefined ? await secondsToWait(ctx) : undefined
    if (busy !== undefined)
      return { error: 'temporarily_unavailable', description: 'Too many DPoP proofs of this network.', retryAfter: busy }
    const kept = options.nonces ? 2 * nonceSeconds : 2 * maxAge
    if (await ctx.once.take(`bearer.dpop ${proof.id}`, kept)) return { jkt: proof.jkt }
    return invalidProof('The DPoP proof was used before.')
  } catch (error) {
    if (error instanceof InvalidProof) return invalidProof(error.message)
    throw error
  }
}

/** Seconds to wait; undefined: the proof may count. */
async function secondsToWait(ctx: Context): Promise<number | undefined> {
  const network = ctx.clientAddress === undefined ? undefined : networksOf(ctx.clientAddress)[0]?.key
  const { allowed, retryAfter } = await ctx.limit.take(`bearer.dpop ${network ?? ''}`, network === undefined ? unknownNetwork : perNetwork)
  return allowed ? undefined : retryAfter
}

async function isOurs(ctx: Context, nonce: string | undefined): Promise<boolean> {
  if (nonce === undefined) return false
  const known = [0, 1].map((windows) => ctx.digests(purpose, String(windowOf(ctx) - windows)))
  return (await Promise.all(known)).flat().some((own) => equal(own, nonce))
}

function windowOf(ctx: Context): number {
  return Math.floor(ctx.now.getTime() / 1000 / nonceSeconds)
}

function invalidProof(description: string): ProofRefused {
  return { error: 'invalid_dpop_proof', description }
}
