/** What is done by a clean-up: policies whose grace is over, and mails before certificates end. */
import { type AnyContext, AuthError, type Kernel, RecordConflict, type Row } from 'authkernel/kernel'
import { applyDuePolicies } from './apply.ts'
import { type ConnectionCertificate, readCertificatesOf } from './certificates.ts'
import { organizationsOf } from './organizations.ts'
import type { ConnectionRow } from './tables.ts'

const day = 86_400_000
/** Days before the end of the last certificate at which a mail is sent, once each. */
const warningDays = [7, 30] as const
const pageSize = 200

/** After each clean-up, by whatever started it, in each tenant that the hook `tenants` names. */
export function addUpkeep(kernel: Kernel): void {
  kernel.mailTemplate('sso.certificate', {
    subject: 'sso.mail.certificate.subject',
    lines: ['sso.mail.certificate.text', 'sso.mail.certificate.next'],
    note: 'sso.mail.certificate.why',
  })
  kernel.on('tenantCleanedUp', async ({ ctx }) => {
    await applyDuePolicies(ctx)
    await warnOfCertificates(ctx)
  })
}

/**
 * Mails owners and the contact of each SAML connection whose last certificate ends within 30 and within 7 days. Each is sent once, by one process. Answers how
 * many mails were sent; a mail that fails is logged and tried again by the next call.
 */
export async function warnOfCertificates(ctx: AnyContext): Promise<number> {
  if (!ctx.app.services.mail || !ctx.app.services.mailTransport) return 0
  let sent = 0
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await ctx.records('ssoConnection').find({ limit: pageSize, cursor })
    for (const row of page.rows) if (row.type === 'saml' && row.enabled) sent += await warnOf(ctx, row)
    cursor = page.cursor
  }
  return sent
}

async function warnOf(ctx: AnyContext, row: Row<ConnectionRow>): Promise<number> {
  const last = await findLast(ctx, row)
  const left = last ? last.notAfter.getTime() - ctx.now.getTime() : Number.POSITIVE_INFINITY
  const threshold = warningDays.find((days) => left <= days * day)
  if (!last || threshold === undefined) return 0
  const id = `${row.id}.${last.fingerprint.slice(0, 16)}.${threshold}`
  try {
    await ctx.records('ssoNotice').create({ id, at: ctx.now, expires: new Date(ctx.now.getTime() + 400 * day) })
  } catch (error) {
    // It was sent before, or another process sends it.
    if (error instanceof RecordConflict) return 0
    throw error
  }
  const recipients = await listRecipients(ctx, row)
  const results = await Promise.all(recipients.map((to) => sendWarning(ctx, to, row, last)))
  const count = results.filter(Boolean).length
  if (count === 0) await ctx.records('ssoNotice').delete(id)
  return count
}

/** The certificate that ends last; undefined where the metadata cannot be read now. */
async function findLast(ctx: AnyContext, row: Row<ConnectionRow>): Promise<ConnectionCertificate | undefined> {
  try {
    return (await readCertificatesOf(ctx, row))[0]
  } catch (error) {
    if (error instanceof AuthError && error.status < 500) return undefined
    throw error
  }
}

/** Owners in force with an address, at most 20, and the contact. */
async function listRecipients(ctx: AnyContext, { organizationId, contact }: Row<ConnectionRow>): Promise<string[]> {
  const search = { organizationId, role: 'owner', limit: 20 }
  const members = organizationId === '' ? [] : ((await organizationsOf(ctx)?.listMembers(ctx, search))?.members ?? [])
  const ids = members.filter(({ suspended }) => !suspended).map(({ userId }) => userId)
  const owners = (await ctx.store?.getUsers(ids)) ?? []
  return [...new Set([...owners.map(({ email }) => email), contact].flatMap((to) => (to ? [to] : [])))]
}

async function sendWarning(
  ctx: AnyContext,
  to: string,
  { name, organizationId }: Row<ConnectionRow>,
  { notAfter }: ConnectionCertificate,
): Promise<boolean> {
  const organization = (organizationId === '' ? null : await organizationsOf(ctx)?.get(ctx, organizationId))?.name ?? name
  try {
    await ctx.service('mail').send(ctx, to, 'sso.certificate', { connection: name, organization, date: notAfter })
    return true
  } catch (error) {
    ctx.logger.error(error instanceof Error ? error : new AuthError(String(error)))
    return false
  }
}
