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
  keyInfo?: KeyInfo | undefined
}
/** What `decode` needs. */
export interface DecodeParams {
  token?: string | undefined
  /** Any of them decrypts (row 99). */
  secret: string | readonly string[]
  salt: string
  keyInfo?: KeyInfo | undefined
}
