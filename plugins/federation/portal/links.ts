/** Links: made and revoked by owners, opened once, and bound to the browser that opened them. */
import {
  AccessDenied,
  type AnyContext,
  type Context,
  HttpError,
  MailNotSent,
  randomHex,
  type Row,
  type StampOfAccess,
  toAddress,
  withParams,
} from 'authkernel/kernel'
import { type Actor, assertRight } from './actor.ts'
import { PortalInput, PortalLinkInvalid } from './errors.ts'
import { listScopes } from './sections.ts'
import type { LinkRow } from './tables.ts'

/** A link as owners see it, without its token. */
export interface PortalLink {
  id: string
  /** Of the user whom it was made for. */
  email: string
  scopes: readonly string[]
  created: Date
  /** Null: it was not opened yet. */
  opened: Date | null
  expires: Date
}
/** What a link is made of. */
export interface NewPortalLink {
  /** Address of the one user whom it is for. */
  email: string
  /** Days until link and portal end; default 7. */
  days?: number | undefined
  /** What may be seen and changed: `domains`, `sso`, `policy`, `scim` and what plugins add. Default: all. */
  scopes?: readonly string[] | undefined
  /** Emails the link. Default false. */
  mail?: boolean | undefined
}
/** A new link with its address, which is returned this one time. */
export interface CreatedPortalLink extends PortalLink {
  url: string
}

const day = 86_400_000

/** Throws PortalInput, HttpError 429 after 30 links in an hour, and AccessEnded for a sender whose session ended meanwhile. */
export async function createLink(actor: Actor, organizationId: string, sent: unknown): Promise<CreatedPortalLink> {
  const stamp = await stampSender(actor)
  const { name } = await assertRight(actor, organizationId, true)
  const { ctx, options, base } = actor
  const { email, days, scopes, mail } = await readLink(actor, sent)
  const table = ctx.records('portalLink')
  if ((await table.count({ organizationId }, { max: options.maxLinks })) >= options.maxLinks)
    throw new PortalInput(`portal: the organization has ${options.maxLinks} links. Revoke one first.`)
  const { allowed, retryAfter } = await ctx.limit.take(`portal links ${organizationId}`, { max: 30, seconds: 3600 })
  if (!allowed) throw new HttpError(429, 'There were 30 links in the last hour.', { 'Retry-After': String(retryAfter) })
  const token = randomHex(ctx.runtime, 32)
  const link: LinkRow = {
    organizationId,
    token: await digestToken(ctx, 'link', token),
    session: null,
    state: 'sent',
    email,
    scopes,
    createdBy: actor.userId,
    created: ctx.now,
    opened: null,
    expires: new Date(ctx.now.getTime() + days * day),
  }
  // Its visitor decides who signs in as the users of the company: it is given as a key is.
  const row = stamp
    ? await ctx.access.grant(
        stamp,
        'portalLink',
        () => table.create(link),
        () => table.take({ token: link.token }),
      )
    : await table.create(link)
  const url = withParams(`${base}/portal/open`, { token })
  await note(ctx, 'created', row, actor.userId)
  if (mail) await mailLink(ctx, row, { url, organization: name })
  return { ...toLink(row), url }
}

/** Undefined for the host's own code. */
async function stampSender({ ctx, userId }: Actor): Promise<StampOfAccess | undefined> {
  if (userId === null || !ctx.request) return undefined
  const stamp = await ctx.access.stampSession()
  if (!stamp) throw new AccessDenied('portal: no user is signed in.')
  return stamp
}

/** Newest first. Those that are over are gone. */
export async function listLinks(actor: Actor, organizationId: string): Promise<PortalLink[]> {
  await assertRight(actor, organizationId, false)
  const { rows } = await actor.ctx.records('portalLink').find({ where: { organizationId }, order: 'desc', limit: 100 })
  return rows.map(toLink)
}

/** The link opens nothing more, and the browser that opened it sees nothing more. False: there is no such link. */
export async function revokeLink(actor: Actor, organizationId: string, id: string): Promise<boolean> {
  await assertRight(actor, organizationId, false)
  const row = /^[\w-]{1,64}$/.test(id) ? await actor.ctx.records('portalLink').take(id, { if: { organizationId } }) : null
  if (!row) return false
  await note(actor.ctx, 'revoked', row, actor.userId)
  return true
}

/** Uses the token up and answers the one of the browser, with the seconds that it lasts. Throws PortalLinkInvalid. */
export async function openLink(ctx: Context, token: string): Promise<{ session: string; seconds: number }> {
  const row = await findSentLink(ctx, token)
  const session = randomHex(ctx.runtime, 32)
  const change = { session: await digestToken(ctx, 'session', session), state: 'open' as const, opened: ctx.now }
  const opened = row && (await ctx.records('portalLink').update(row.id, change, { if: { state: 'sent', token: row.token } }))
  if (!opened) throw new PortalLinkInvalid('portal: the link was opened before, was revoked or is over.')
  await note(ctx, 'opened', opened, null)
  return { session, seconds: Math.max(1, Math.floor((opened.expires.getTime() - ctx.now.getTime()) / 1000)) }
}

/** The link of a token that was not opened yet. */
export async function findSentLink(ctx: AnyContext, token: string): Promise<Row<LinkRow> | null> {
  const row = await findByDigest(ctx, 'link', token)
  return row?.state === 'sent' ? row : null
}

/** The link that a browser has opened. */
export async function findOpenLink(ctx: AnyContext, session: string): Promise<Row<LinkRow> | null> {
  const row = await findByDigest(ctx, 'session', session)
  return row?.state === 'open' ? row : null
}

async function findByDigest(ctx: AnyContext, what: 'link' | 'session', text: string): Promise<Row<LinkRow> | null> {
  if (!/^[0-9a-f]{64}$/.test(text)) return null
  for (const digest of await ctx.digests(`portal ${what}`, text)) {
    const row = await ctx.records('portalLink').get(what === 'link' ? { token: digest } : { session: digest })
    if (row) return row
  }
  return null
}

async function digestToken(ctx: AnyContext, what: 'link' | 'session', text: string): Promise<string> {
  return ctx.digest(`portal ${what}`, text)
}

async function readLink(
  { ctx, options, sections }: Actor,
  sent: unknown,
): Promise<Required<Omit<NewPortalLink, 'scopes' | 'days' | 'mail'>> & { days: number; scopes: string[]; mail: boolean }> {
  const { email, days = 7, scopes, mail = false, ...rest } = Object(sent) as Record<string, unknown>
  const [other] = Object.keys(rest)
  if (other !== undefined) throw new PortalInput(`portal: a link has no \`${other}\`.`)
  const address = toAddress(email)
  if (address === undefined || address === null || address.length > 254) throw new PortalInput('portal: `email` must be one email address.')
  if (typeof days !== 'number' || !Number.isInteger(days) || days < 1 || days > options.maxDays)
    throw new PortalInput(`portal: \`days\` must be a whole number from 1 to ${options.maxDays}.`)
  if (typeof mail !== 'boolean') throw new PortalInput('portal: `mail` must be true or false.')
  const known = await listScopes(ctx, sections)
  const wanted = scopes ?? known
  if (!Array.isArray(wanted) || wanted.length === 0 || !wanted.every((one) => known.includes(one as string)))
    throw new PortalInput(`portal: \`scopes\` must be a list of ${known.join(', ')}.`)
  return { email: address, days, scopes: [...new Set(wanted as string[])], mail }
}

/** A mail that cannot be sent takes the link back: its owner would wait for an answer. */
async function mailLink(ctx: AnyContext, row: Row<LinkRow>, { url, organization }: { url: string; organization: string }): Promise<void> {
  try {
    await ctx.service('mail').send(ctx, row.email, 'portal.link', { url, organization, until: row.expires })
  } catch (error) {
    await ctx.records('portalLink').delete(row.id)
    throw error instanceof MailNotSent
      ? new PortalInput('portal: the mail could not be sent. Make a link without mail, and send it yourself.')
      : error
  }
}

function toLink({ id, email, scopes, created, opened, expires }: Row<LinkRow>): PortalLink {
  return { id, email, scopes, created, opened, expires }
}

async function note(ctx: AnyContext, act: 'created' | 'opened' | 'revoked', row: Row<LinkRow>, userId: string | null): Promise<void> {
  await ctx.emit('noted', {
    name: `portal.link.${act}`,
    outcome: 'success',
    user: userId === null ? null : { id: userId },
    details: { link: row.id, organization: row.organizationId },
  })
}
