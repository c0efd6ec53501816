/** Grants: how one begins, and how it ends. */
import { AccessDenied, type AnyContext, type AtomicWrite, type Context, randomHex, type StampOfAccess } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { indexedName } from 'authkernel/kernel/strategies'
import { AccessEnded } from 'authkernel/kernel/users'
import type { FamilyKind, TokenFamily } from '../bearer/rotation.ts'
import { hashRefreshToken, makeFirstRefresh } from '../bearer/tokens.ts'
import { type Client, isStanding } from './clients.ts'
import { noteEndedGrant } from './ended-grants.ts'
import type { ResolvedOptions } from './options.ts'
import type { OAuthCodeRow, OAuthGrant } from './tables.ts'

/** A grant with its present refresh token. */
export type Family = TokenFamily<OAuthGrant>

/** What a grant is made of. */
export type GrantSource = Pick<OAuthCodeRow, 'scopes' | 'audiences' | 'attributes' | 'session'> &
  Partial<Pick<OAuthCodeRow, 'details' | 'claims'>> & { userId: string | null }

/** Who gets a grant: the client, and the keys that it proved. */
export interface GrantMaker {
  readonly ctx: Context
  readonly options: ResolvedOptions
  readonly client: Client
  readonly jkt: string | null
  readonly x5t: string | null
}

/** Grants as families of refresh tokens. `x5t`: the certificate that the next tokens are bound to. */
export function grantFamilies(ctx: AnyContext, { idle }: Pick<ResolvedOptions, 'idle'>, x5t?: string | null): FamilyKind<OAuthGrant> {
  return {
    table: ctx.records('oauthGrant'),
    idle,
    ...(x5t !== undefined && { also: { x5t } }),
    async noteTheft(grant) {
      await noteEndedGrant(ctx, grant)
      await endDerived(ctx, grant.id, 'revoked')
      await ctx.emit('clientTokenReused', describeGrant(grant))
    },
  }
}

/** A row to create, and its first refresh token. */
export async function createGrant({ ctx, options, client, jkt, x5t }: GrantMaker, source: GrantSource): Promise<Family> {
  const { attributes, session, userId, scopes, audiences, details = [], claims = null } = source
  const now = ctx.now.getTime()
  const refreshes = userId !== null && client.metadata.grant_types.includes('refresh_token')
  const ends = new Date(now + (refreshes ? options.maxAge : options.tokenAge) * 1000)
  const id = randomHex(ctx.runtime, 16)
  const refresh = await makeFirstRefresh(ctx, id)
  const grant: OAuthGrant = {
    id,
    userId,
    clientId: client.id,
    scopes: [...scopes],
    audiences: [...audiences],
    details: [...details],
    claims,
    issuer: ctx.base,
    key: randomHex(ctx.runtime, 32),
    signed: [...options.resources.values()].some(({ resource, format }) => format === 'jwt' && audiences.includes(resource)),
    generation: 1,
    hash: await hashRefreshToken(refresh),
    jkt,
    rotated: ctx.now,
    session,
    provider: attributes?.provider ?? '',
    sub: attributes?.sub === undefined ? null : await indexedName(attributes.sub),
    sid: attributes?.sid === undefined ? null : await indexedName(attributes.sid),
    attributes,
    // The token names both: the owner, and the agent that acts.
    act: client.agent ? { sub: client.id } : null,
    organizationId: client.organization?.id ?? null,
    x5t,
    mayAct: client.metadata.may_act ?? null,
    parent: null,
    actor: null,
    started: ctx.now,
    ends,
    expires: refreshes ? new Date(Math.min(ends.getTime(), now + options.idle * 1000)) : ends,
  }
  return { session: grant, refresh }
}

/**
 * Writes a grant with what is used up for it. False: one of the writes found nothing, or the access of the user ended since the code was given. Also where the
 * client, its organization or the membership in it ended at the same moment.
 */
export async function writeGrant(
  ctx: Context,
  client: Client,
  grant: OAuthGrant,
  access: StampOfAccess | null,
  writes: readonly AtomicWrite[],
): Promise<boolean> {
  const isWritten = grant.userId === null ? (await ctx.atomic(writes)) !== false : await writeForUser(ctx, grant, access, writes)
  if (!isWritten) return false
  if (await isStanding(ctx, client, grant.userId)) return true
  await endGrant(ctx, grant.id, 'client')
  return false
}

async function writeForUser(
  ctx: Context,
  grant: OAuthGrant,
  access: StampOfAccess | null,
  writes: readonly AtomicWrite[],
): Promise<boolean> {
  try {
    const stamp = access ?? (await ctx.access.stamp(`user:${grant.userId}`))
    const undo = async (written: boolean | undefined): Promise<void> => {
      if (written !== false) await endGrant(ctx, grant.id, 'revoked')
    }
    return await ctx.access.grant(stamp, 'appToken', async () => (await ctx.atomic(writes)) !== false, undo)
  } catch (error) {
    if (error instanceof AccessEnded || error instanceof AccessDenied) return false
    throw error
  }
}

/** False: it had ended. One of several callers emits the event. */
export async function endGrant(ctx: AnyContext, id: string, by: string): Promise<boolean> {
  const grants = ctx.records('oauthGrant')
  const before = await grants.get(id)
  if (before) await noteEndedGrant(ctx, before)
  const grant = await grants.take(id)
  // Also where the row is gone: an ending that a fault stopped half-way is finished by the next one.
  await endDerived(ctx, id, by)
  if (grant) await ctx.emit('clientGrantEnded', { ...describeGrant(grant), by })
  return grant !== null
}

/** Ends the grants that were made from one by token exchange. */
async function endDerived(ctx: AnyContext, id: string, by: string): Promise<void> {
  const grants = ctx.records('oauthGrant')
  const derived = [...(await listRows(grants, { where: { parent: id } })), ...(await listRows(grants, { where: { actor: id } }))]
  for (const one of new Set(derived.map((grant) => grant.id))) await endGrant(ctx, one, by)
}

/** What events say of a grant. */
export function describeGrant({ id, userId, clientId }: OAuthGrant): { id: string; user: { id: string } | null; clientId: string } {
  return { id, user: userId === null ? null : { id: userId }, clientId }
}
