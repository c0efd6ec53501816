/** Invitations: codes for any visitor, and links for one address. */
import { type AnyContext, AuthError, type Row, toAddress } from 'authkernel/kernel'
import type { Actor } from './actor.ts'
import { digestCode, drawCode, formatCode } from './codes.ts'
import { AdmissionInput } from './errors.ts'
import { sendInBackground } from './mails.ts'
import { type Invitation, type InvitationRow, toInvitation } from './tables.ts'

/** A new invitation. */
export interface NewInvitation {
  /** The only address that it applies to; default: any. It admits one user, and its link is emailed. */
  email?: string | undefined
  /** How many users it lets in, 1 to 100000; default 1. */
  uses?: number | undefined
  /** Seconds, 60 to 31536000; default: the option `invitationAge`. */
  expiresIn?: number | undefined
  /** For administrators: at most 200 characters. */
  note?: string | undefined
  /** Language of the mail; default: that of the request. */
  lang?: string | undefined
  /** False: no mail is sent, and you pass the link on; default true for an invitation with an address. */
  mail?: boolean | undefined
}
/** An invitation with what opens it: returned once. */
export interface CreatedInvitation extends Invitation {
  /** `K7QX-2MPD-9HVB-T4RC`. */
  code: string
  /** The page of the app that takes the code. */
  url: string
}

/** Throws AdmissionInput for values that no invitation may have. */
export async function createInvitation(actor: Actor, wanted: NewInvitation): Promise<CreatedInvitation> {
  const { ctx } = actor
  const { row, code } = await newInvitation(actor, wanted)
  const url = linkTo(ctx, code)
  const stored = await ctx.records('admissionInvitation').create(row)
  if (row.email !== null && wanted.mail !== false)
    sendInBackground(ctx, row.email, 'admission.invited', { url, left: { seconds: secondsLeft(ctx, row) } }, wanted.lang)
  await ctx.emit('noted', {
    name: 'admission.invited',
    outcome: 'success',
    user: actor.user,
    details: { invitation: stored.id, uses: row.uses },
  })
  return { ...toInvitation(stored), code: formatCode(code), url }
}

/** The row of an invitation that is about to be stored, and its code. Throws AdmissionInput. */
export async function newInvitation(
  { ctx, options, user }: Actor,
  { email, uses = 1, expiresIn = options.invitationAge, note }: NewInvitation,
): Promise<{ row: InvitationRow; code: string }> {
  const address = email === undefined ? null : toAddress(email)
  if (address === undefined) throw new AdmissionInput('admission.invite: `email` is no mail address.')
  if (!Number.isInteger(uses) || uses < 1 || uses > 100_000) throw new AdmissionInput('admission.invite: `uses` must be 1 to 100000.')
  if (address !== null && uses !== 1) throw new AdmissionInput('admission.invite: an invitation for one address lets one user in.')
  if (!(Number.isFinite(expiresIn) && expiresIn >= 60 && expiresIn <= 31_536_000))
    throw new AdmissionInput('admission.invite: `expiresIn` must be 60 to 31536000 seconds.')
  if (note !== undefined && (typeof note !== 'string' || note.length > 200))
    throw new AdmissionInput('admission.invite: `note` must be a text of at most 200 characters.')
  const code = drawCode(ctx)
  const expires = new Date(ctx.now.getTime() + expiresIn * 1000)
  const row = {
    code: await digestCode(ctx, code),
    email: address,
    note: note ?? null,
    uses,
    left: uses,
    by: user?.id ?? null,
    created: ctx.now,
    expires,
  }
  return { row, code }
}

/** Where the code of a mail leads. Throws AuthError for a job of an app without an origin. */
export function linkTo(ctx: AnyContext, code: string): string {
  return `${baseOf(ctx)}/admission/invitation?code=${formatCode(code)}`
}

/** Newest first, a page at a time. */
export async function listInvitations(
  { ctx }: Actor,
  { cursor, limit = 50 }: { cursor?: string | undefined; limit?: number | undefined },
): Promise<{ invitations: Invitation[]; next: string | undefined }> {
  const { rows, cursor: next } = await ctx
    .records('admissionInvitation')
    .find({ order: 'desc', ...readPage('listInvitations', cursor, limit) })
  return { invitations: rows.map(toInvitation), next }
}

/** It lets no user in from now on. False: there is no such invitation. */
export async function revokeInvitation({ ctx, user }: Actor, id: unknown): Promise<boolean> {
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id)) return false
  if (!(await ctx.records('admissionInvitation').delete(id))) return false
  await ctx.emit('noted', { name: 'admission.revoked', outcome: 'success', user, details: { invitation: id } })
  return true
}

/** Seconds until an invitation ends. */
export function secondsLeft({ now }: AnyContext, { expires }: Pick<Row<InvitationRow>, 'expires'>): number {
  return Math.round((expires.getTime() - now.getTime()) / 1000)
}

/** Limit and cursor of a query. Throws AdmissionInput. */
export function readPage(what: string, cursor: unknown, limit: unknown): { limit: number; cursor?: string } {
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > 200)
    throw new AdmissionInput(`admission.${what}: \`limit\` must be a whole number from 1 to 200.`)
  if (cursor !== undefined && typeof cursor !== 'string') throw new AdmissionInput(`admission.${what}: \`cursor\` must be a text.`)
  return { limit: limit as number, ...(cursor !== undefined && { cursor }) }
}

function baseOf(ctx: AnyContext): string {
  if (ctx.request) return ctx.base
  const { origin, basePath } = ctx.settings
  if (!origin) throw new AuthError('admission: without a request the origin must be set: `origin` of the options, or AUTH_URL.')
  return origin + (basePath === '/' ? '' : basePath)
}
