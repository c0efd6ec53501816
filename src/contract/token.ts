/** What the token functions take. Types only. */
import type { JWT } from './data.ts'
import type { KeyInfo } from './settings.ts'

/** What `encode` needs. */
export interface EncodeParams<Payload = JWT> {
  /** Default: empty. */
  token?: Payload | undefined
  /** The first one encrypts (row 99). */
  secret: string | readonly string[]
  /** The name of the session cookie, for session tokens. */
  salt: string
  /** Seconds; default 2592000 (30 days). */
  maxAge?: number | undefined
  /** HKDF info of the key by `salt`; default: that of authkernel. Give the same one to `decode`. */
  keyInfo?: KeyInfo | undefined
}
/** What `decode` needs. */
export interface DecodeParams {
  /** What `encode` returned. Without one the answer is null. */
  token?: string | undefined
  /** Any of them decrypts (row 99). */
  secret: string | readonly string[]
  /** The one that `encode` got. */
  salt: string
  /** The one that `encode` got. */
  keyInfo?: KeyInfo | undefined
}
