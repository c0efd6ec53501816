/** The text of an invitation: `K7QX-2MPD-9HVB-T4RC`, 80 bits, in letters that are not mistaken for each other. Only a keyed hash of it is stored. */
import { type AnyContext, type Context, createPending, HttpError, type PendingList, type Row } from 'authkernel/kernel'
import type { InvitationRow } from './tables.ts'

// Crockford's alphabet: without I, L, O and U.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const length = 16
const purpose = 'admission invitation'

/** The code that a browser has shown. It is kept sealed, because addresses of pages are written to logs. */
export const codeCookie: PendingList<{ code: string }> = /* @__PURE__ */ createPending('admission-invitation', { seconds: 86_400, max: 1 })

/** A new code: 16 characters without dashes. */
export function drawCode({ runtime }: AnyContext): string {
  // 32 letters divide 256, so each is as likely as the others.
  return [...runtime.random(length)].map((byte) => alphabet[byte % alphabet.length]).join('')
}

/** With dashes, as users see and type it. */
export function formatCode(code: string): string {
  return code.match(/.{4}/g)?.join('-') ?? code
}

/** What is stored of a code. */
export function digestCode(ctx: AnyContext, code: string): Promise<string> {
  return ctx.digest(purpose, code)
}

/** The 16 characters of a typed code; undefined for what is none. */
export function readCode(typed: unknown): string | undefined {
  if (typeof typed !== 'string' || typed.length > 64) return undefined
  const code = typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  return code.length === length && [...code].every((letter) => alphabet.includes(letter)) ? code : undefined
}

/** The live invitation of a code. Null: wrong, revoked, too old or used up. */
export async function findByCode(ctx: AnyContext, code: string): Promise<Row<InvitationRow> | null> {
  for (const digest of await ctx.digests(purpose, code)) {
    const row = await ctx.records('admissionInvitation').get({ code: digest })
    if (row) return row.left > 0 ? row : null
  }
  return null
}

/** The invitation whose code this browser has shown. Its use is not counted yet. */
export async function findShownInvitation(ctx: AnyContext): Promise<Row<InvitationRow> | null> {
  if (!ctx.request) return null
  const [entry] = await codeCookie.all(ctx)
  return entry ? findByCode(ctx, entry.code) : null
}

/** Keeps a typed code in the browser. False: it is wrong. Throws HttpError 429 for too many tries from one client address. */
export async function keepCode(ctx: Context, typed: unknown): Promise<boolean> {
  const { allowed, retryAfter } = await ctx.limit.take(`admission code ${ctx.clientAddress ?? 'unknown'}`, { max: 30, seconds: 600 })
  if (!allowed) throw new HttpError(429, 'Too many invitation codes came from this address.', { 'Retry-After': String(retryAfter) })
  const code = readCode(typed)
  if (code === undefined || !(await findByCode(ctx, code))) return false
  await codeCookie.add(ctx, 'invitation', { code })
  return true
}
