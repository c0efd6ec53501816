/**
 * What is kept of each passkey beside its key: a name, the authenticator, when it was used, and the user handle. The hash of the handle is compared at a sign-in:
 * WebAuthn section 7.2, step 6. A handle is random and holds nothing personal, so only a record tells whose it is. Stores without records keep nothing of this.
 */
import { type AnyContext, type NewRow, type Row, sha256, toHex } from 'authkernel/kernel'
import { cacheName, type PasskeyHandleRow } from './tables.ts'

/** What is known of a new passkey. */
export interface NewPasskey {
  credentialID: string
  userId: string
  /** In base64url; undefined: the registration was begun by an earlier version. */
  handle: string | undefined
  aaguid: string | undefined
}

/** Remembers what a passkey was made with. */
export async function keepHandle(ctx: AnyContext, { credentialID, userId, handle, aaguid }: NewPasskey): Promise<void> {
  if (!isKept(ctx)) return
  await ctx.records('passkeyHandle').put({
    id: await hashHandle(credentialID),
    userId,
    handle: handle === undefined ? '' : await hashHandle(handle),
    userHandle: handle ?? null,
    aaguid: aaguid ?? null,
    created: ctx.now,
  })
}

/** False: the authenticator names another user than the one whose passkey it is. */
export async function isOwnHandle(ctx: AnyContext, credentialID: string, given: unknown): Promise<boolean> {
  // Keys that were asked for by id need not name a user.
  if (given === undefined || given === null || given === '') return true
  if (typeof given !== 'string') return false
  const row = await readRecord(ctx, credentialID)
  return row === null || row.handle === '' || row.handle === (await hashHandle(given.replace(/={1,2}$/, '')))
}

/** Remembers that a passkey of the user signed in. The sign-in goes on when that fails: it is a fact to show, and no more. */
export async function noteUse(ctx: AnyContext, credentialID: string, userId: string): Promise<void> {
  await changeRecord(ctx, credentialID, userId, { lastUsed: ctx.now }).catch((error: unknown) => ctx.logger.error(error as Error))
}

/** Changes the record of a passkey of the user; one from before these records gets one. False: no records are kept. */
export async function changeRecord(
  ctx: AnyContext,
  credentialID: string,
  userId: string,
  change: Partial<Pick<PasskeyHandleRow, 'name' | 'lastUsed'>>,
): Promise<boolean> {
  if (!isKept(ctx)) return false
  const table = ctx.records('passkeyHandle')
  const id = await hashHandle(credentialID)
  if (await table.update(id, change, { if: { userId } })) return true
  const row: NewRow<PasskeyHandleRow> & { id: string } = { id, userId, handle: '', ...change }
  // Another request may have made it meanwhile, with the handle.
  if (!(await table.get(id))) await table.create(row).catch(() => table.update(id, change, { if: { userId } }))
  return true
}

/** Null: there is none, or no records are kept. */
export async function readRecord(ctx: AnyContext, credentialID: string): Promise<Row<PasskeyHandleRow> | null> {
  return isKept(ctx) ? ctx.records('passkeyHandle').get(await hashHandle(credentialID)) : null
}

/** Forgets a passkey that was removed. */
export async function dropRecord(ctx: AnyContext, credentialID: string): Promise<void> {
  if (isKept(ctx)) await ctx.records('passkeyHandle').delete(await hashHandle(credentialID))
}

/** Whether the host has the table. */
export function isKept({ app }: AnyContext): boolean {
  return app.services.records !== undefined && app.shared.cache<boolean>(cacheName).get('kept') === true
}

async function hashHandle(text: string): Promise<string> {
  return toHex(await sha256(text))
}
