/** The record of signing keys. */
import type { AnyContext, RecordSpec, RecordTable, Row } from 'authkernel/kernel'

/** Algorithms that tokens may be signed with. */
export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'PS256'
/** A key as resource servers see it (RFC 7517). */
export interface PublicKey {
  kty: string
  kid: string
  alg: string
  use: 'sig'
  [parameter: string]: unknown
}
/** A row of `jwtKey`; its id is the `kid`. */
export interface SigningKeyRow {
  /** Counts up; unique, so that of several processes one makes the next key. */
  generation: number
  alg: string
  publicKey: PublicKey
  privateKey: Record<string, unknown>
  created: Date
  /** From then on it signs, until the next one does. */
  signsFrom: Date
  /** Set when the next key is published: until then the tokens of this one are valid somewhere. */
  expires: Date
}
export type SigningKey = Row<SigningKeyRow>

declare module 'authkernel/kernel' {
  interface Records {
    jwtKey: SigningKeyRow
  }
}

export const jwtKeyTable: RecordSpec<SigningKeyRow> = {
  id: 'given',
  fields: {
    generation: { type: 'integer' },
    alg: { type: 'string', max: 16 },
    publicKey: { type: 'json' },
    privateKey: { type: 'json', sealed: true, unreadable: 'absent' },
    created: { type: 'date' },
    signsFrom: { type: 'date' },
    expires: { type: 'date' },
  },
  unique: [['generation']],
  expires: 'expires',
}

export function keyRecords(ctx: AnyContext): RecordTable<SigningKeyRow> {
  return ctx.records('jwtKey')
}
