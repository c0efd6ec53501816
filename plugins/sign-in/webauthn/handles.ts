/**
 * The user handle of each passkey, as a hash: WebAuthn section 7.2, step 6. A handle is random and holds nothing personal, so only a record tells whose
 * it is. Passkeys from before these records, and stores without records, have none.
 */
import { type AnyContext, sha256, toHex } from 'authkernel/kernel'
import { cacheName } from './tables.ts'

/** Remembers the handle that a passkey was made with. */
export async function keepHandle(ctx: AnyContext, credentialID: string, userId: string, handle: string | undefined): Promise<void> {
  if (handle === undefined || !isKept(ctx)) return
  await ctx.records('passkeyHandle').put({ id: await hashHandle(credentialID), userId, handle: await hashHandle(handle) })
}

/** False: the authenticator names another user than the one whose passkey it is. */
export async function isOwnHandle(ctx: AnyContext, credentialID: string, given: unknown): Promise<boolean> {
  // Keys that were asked for by id need not name a user.
  if (given === undefined || given === null || given === '') return true
  if (typeof given !== 'string') return false
  const row = isKept(ctx) ? await ctx.records('passkeyHandle').get(await hashHandle(credentialID)) : null
  return row === null || row.handle === (await hashHandle(given.replace(/={1,2}$/, '')))
}

function isKept({ app }: AnyContext): boolean {
  return app.services.records !== undefined && app.shared.cache<boolean>(cacheName).get('kept') === true
}

async function hashHandle(text: string): Promise<string> {
  return toHex(await sha256(text))
}
