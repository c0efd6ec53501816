/** The record of user handles, and whether the host has its table. */
import type { CompileView, RecordSpec } from 'authkernel/kernel'

/** A passkey; its id is the SHA-256 of the credential id. */
export interface PasskeyHandleRow {
  userId: string
  /** SHA-256 of the handle in base64url. */
  handle: string
}

declare module 'authkernel/kernel' {
  interface Records {
    passkeyHandle: PasskeyHandleRow
  }
}

export const handleTable: RecordSpec<PasskeyHandleRow> = {
  id: 'given',
  fields: { userId: { type: 'string', max: 255 }, handle: { type: 'string', max: 64, secret: true } },
  owner: { field: 'userId', of: 'user' },
}

/** Where it is remembered. */
export const cacheName = 'passkey-handles'

/** Remembers whether the table is declared. */
export function noteHandles({ records, shared: state }: CompileView): object {
  state.cache<boolean>(cacheName).set('kept', records.has('passkeyHandle'))
  return {}
}
