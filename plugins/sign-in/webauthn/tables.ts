/** The record of what is known of a passkey beside its key, and whether the host has its table. */
import type { CompileView, RecordSpec } from 'authkernel/kernel'

/** A passkey; its id is the SHA-256 of the credential id. */
export interface PasskeyHandleRow {
  userId: string
  /** SHA-256 of the user handle in base64url; '' for a passkey from before these records. */
  handle: string
  /** The user handle in base64url, by which a password manager learns of changes: random, and the same for all passkeys of a user. Null: not known. */
  userHandle: string | null
  /** The name that the user chose; null: none. */
  name: string | null
  /** Which authenticator made it (WebAuthn section 6.5.1); null: not known. */
  aaguid: string | null
  /** When it was added; null: before these records. */
  created: Date | null
  /** Null: not since these records are kept. */
  lastUsed: Date | null
}

declare module 'authkernel/kernel' {
  interface Records {
    passkeyHandle: PasskeyHandleRow
  }
}

export const handleTable: RecordSpec<PasskeyHandleRow> = {
  id: 'given',
  fields: {
    userId: { type: 'string', max: 255 },
    handle: { type: 'string', max: 64, secret: true },
    userHandle: { type: 'string', max: 128, optional: true, secret: true },
    name: { type: 'string', max: 255, optional: true },
    aaguid: { type: 'string', max: 36, optional: true },
    created: { type: 'date', optional: true },
    lastUsed: { type: 'date', optional: true },
  },
  owner: { field: 'userId', of: 'user' },
}

/** Where it is remembered. */
export const cacheName = 'passkey-handles'

/** Remembers whether the table is declared. */
export function noteHandles({ records, shared: state }: CompileView): object {
  state.cache<boolean>(cacheName).set('kept', records.has('passkeyHandle'))
  return {}
}
