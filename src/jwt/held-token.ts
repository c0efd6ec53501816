/** Whether whoever sends an access token has the key that the token is bound to (RFC 9449 section 7). */
import { InvalidProof, verifyProof } from './dpop-proof.ts'
import { InvalidAccessToken } from './invalid-access-token.ts'

/** A request with a token, as the client sent it. */
export interface ProofGiven {
  /** Its method, and its headers `Authorization` and `DPoP`. */
  request: Pick<Request, 'method' | 'url'> & { headers: Pick<Headers, 'get'> }
  /** URL as the client knows it, behind a proxy that changes it; default: that of the request. */
  url?: string | URL | undefined
  /** Returns true to exactly one caller of a key within `seconds`. Default: a memory of this process. With several processes give a shared one. */
  once?: ((key: string, seconds: number) => boolean | PromiseLike<boolean>) | undefined
}

const maxAge = 60
const maxKept = 100_000

/** Throws InvalidAccessToken. `cnf`: the claim of the token. */
export async function assertHeld(
  token: string,
  cnf: unknown,
  { proof: given, now = Date.now }: { proof?: ProofGiven | undefined; now?: (() => number) | undefined },
): Promise<void> {
  const scheme = /^(\S+) /.exec(given?.request.headers.get('authorization') ?? '')?.[1]?.toLowerCase()
  if (cnf === undefined) {
    if (scheme === 'dpop') throw new InvalidAccessToken('The access token is bound to no key, and was sent with the scheme DPoP.')
    return
  }
  const { jkt } = (typeof cnf === 'object' && cnf !== null ? cnf : {}) as { jkt?: unknown }
  if (typeof jkt !== 'string') throw new InvalidAccessToken('The access token is bound in a way that is not known here (`cnf`).')
  if (!given)
    throw new InvalidAccessToken('The access token is bound to a key. Give verifyAccessToken the request: { proof: { request } }.')
  // RFC 9449 section 7.2: a token that somebody copied must not pass as a bearer token.
  if (scheme !== 'dpop') throw new InvalidAccessToken('The access token is bound to a key, and was sent without the scheme DPoP.')
  const { method, url, headers } = given.request
  const options = { method, url: given.url ?? url, accessToken: token, maxAge, now }
  const shown = await verifyProof(headers.get('dpop') ?? '', options).catch((error: unknown) => {
    throw error instanceof InvalidProof ? new InvalidAccessToken(error.message, 'invalid_dpop_proof', error) : error
  })
  if (shown.jkt !== jkt) throw new InvalidAccessToken('The DPoP proof is of another key than that of the access token.')
  const once = given.once ?? ((key, seconds) => takenHere(key, seconds, now()))
  if (!(await once(`dpop ${shown.id}`, 2 * maxAge))) throw new InvalidAccessToken('The DPoP proof was used before.', 'invalid_dpop_proof')
}

const kept = new Map<string, number>()

function takenHere(key: string, seconds: number, now: number): boolean {
  if ((kept.get(key) ?? 0) > now) return false
  for (const [old, until] of kept) {
    if (until > now && kept.size < maxKept) break
    kept.delete(old)
  }
  kept.set(key, now + seconds * 1000)
  return true
}
