/** Policies: an organization demands its connections of its users, from a date on, with exceptions. */
import { type AnyContext, type Row, toAddress } from 'authkernel/kernel'
import { type Actor, assertRight } from './actor.ts'
import { applyPolicy } from './apply.ts'
import { SsoInput } from './errors.ts'
import { listServedDomains, organizationsOf } from './organizations.ts'
import { isOwner, policyIdOf } from './policy-rules.ts'
import { listEnabled } from './routing.ts'
import type { PolicyRow } from './tables.ts'

/** What an organization demands. */
export interface NewPolicy {
  /** Users with an address in a proved domain of the organization must sign in with its connections. */
  domains: boolean
  /** All members must, whatever their address. */
  members: boolean
  /** Grace: until then all sign-in methods work. Default: now; a policy that holds already for the same users keeps its date. */
  from?: Date | string | undefined
  /** Ids of owners who may also sign in with other methods, so that they can fix a broken connection; at most 5. Default: none. */
  breakGlass?: readonly string[] | undefined
  /** Ids or addresses of users who may also sign in with other methods: a service account; at most 100. Default: none. */
  exceptions?: readonly string[] | undefined
  /** `keep`: API keys that these users made before stay. Default `end`: they end with the sessions, because each is a way in that the connection does not know. */
  keys?: 'end' | 'keep' | undefined
}
/** A policy as it is stored. */
export type Policy = Omit<PolicyRow, 'applied' | 'keepsKeys' | 'reductions'> & {
  /** What becomes of API keys of before. */
  keys: 'end' | 'keep'
  /** Sessions that it forbids were ended. False while the grace lasts. */
  applied: boolean
}
/** What setting a policy did. */
export interface PolicyReport {
  policy: Policy
  /** Users whose access was ended; undefined while the grace lasts. */
  ended: number | undefined
}

export async function getPolicy(actor: Actor, organizationId: string | null): Promise<Policy | null> {
  await assertRight(actor, organizationId ?? '', false)
  const row = await actor.ctx.records('ssoPolicy').get(policyIdOf(organizationId ?? ''))
  return row && toPolicy(row)
}

/** Without a grace it ends the sessions that it forbids before it returns. Throws SsoInput, and MissingSessionAbility where sessions cannot be ended. */
export async function setPolicy(actor: Actor, organizationId: string | null, sent: unknown): Promise<PolicyReport> {
  const owner = organizationId ?? ''
  await assertRight(actor, owner, true)
  const { ctx } = actor
  const fields = readPolicy(ctx, sent)
  if (owner === '' && fields.members) throw new SsoInput('sso: a policy of the host has no `members`.')
  if ((await listEnabled(ctx, owner)).length === 0)
    throw new SsoInput('sso: there is no connection that is switched on. Users would be locked out.')
  if (fields.domains) {
    // Else sessions of before would go on, and the report would say that all have ended.
    if (!ctx.store?.supports('searchUsers'))
      throw new SsoInput('sso: the adapter has no `searchUsers`, so users of a domain cannot be found. Use `members` alone.')
    await assertServed(ctx, owner)
  }
  for (const userId of fields.breakGlass) await assertOwner(ctx, owner, userId)
  const former = await ctx.records('ssoPolicy').get(policyIdOf(owner))
  const isGiven = (Object(sent) as NewPolicy).from !== undefined
  // Else a new exception would end API keys that the policy itself has permitted.
  const from = !isGiven && former && former.from <= ctx.now && coversAll(former, fields) ? former.from : fields.from
  const row = await ctx
    .records('ssoPolicy')
    .put({ id: policyIdOf(owner), ...fields, from, applied: false, reductions: (former?.reductions ?? 0) + 1 })
  await note(actor, owner, 'set')
  const ended = from <= ctx.now ? await applyPolicy(ctx, row) : undefined
  return { policy: toPolicy({ ...row, applied: ended !== undefined }), ended }
}

/** False: there was none. */
export async function removePolicy(actor: Actor, organizationId: string | null): Promise<boolean> {
  const owner = organizationId ?? ''
  await assertRight(actor, owner, true)
  const removed = await actor.ctx.records('ssoPolicy').delete(policyIdOf(owner))
  if (removed) await note(actor, owner, 'removed')
  return removed
}

type PolicyFields = Omit<PolicyRow, 'applied' | 'reductions'>

function readPolicy(ctx: AnyContext, sent: unknown): PolicyFields {
  const { domains, members, from, breakGlass = [], exceptions = [], keys = 'end', ...rest } = Object(sent) as Record<string, unknown>
  const [other] = Object.keys(rest)
  if (other !== undefined) throw new SsoInput(`sso: a policy has no \`${other}\`.`)
  if (typeof domains !== 'boolean' || typeof members !== 'boolean' || !(domains || members))
    throw new SsoInput('sso: `domains` and `members` must be true or false, and one of them true. Remove the policy to switch it off.')
  if (keys !== 'end' && keys !== 'keep') throw new SsoInput('sso: `keys` must be "end" or "keep".')
  const start = from === undefined ? ctx.now : new Date(from as string)
  if (Number.isNaN(start.getTime()) || start.getTime() - ctx.now.getTime() > 366 * 86_400_000)
    throw new SsoInput('sso: `from` must be a date within a year.')
  return {
    domains,
    members,
    from: start,
    breakGlass: readIds(breakGlass, 'breakGlass', 5),
    exceptions: readIds(exceptions, 'exceptions', 100).map((one) => toAddress(one) ?? one),
    keepsKeys: keys === 'keep',
  }
}

function readIds(value: unknown, name: string, max: number): string[] {
  if (Array.isArray(value) && value.length <= max && value.every((one) => typeof one === 'string' && one !== '' && one.length <= 255))
    return [...new Set(value as string[])]
  throw new SsoInput(`sso: \`${name}\` must be a list of at most ${max} texts.`)
}

/** Whether each user of the new policy was under the former one. */
function coversAll(former: PolicyRow, next: PolicyFields): boolean {
  const exempt = new Set([...next.breakGlass, ...next.exceptions])
  return (
    (former.domains || !next.domains) &&
    (former.members || !next.members) &&
    [...former.breakGlass, ...former.exceptions].every((one) => exempt.has(one))
  )
}

/** A domain that no connection serves would lock its users out. */
async function assertServed(ctx: AnyContext, organizationId: string): Promise<void> {
  const served = await listServedDomains(ctx, await listEnabled(ctx, organizationId))
  const proved = (await organizationsOf(ctx)?.listDomains(ctx, organizationId)) ?? []
  const open = organizationId === '' ? [] : proved.filter((domain) => !served.has(domain))
  if (served.size === 0 || open.length > 0)
    throw new SsoInput(
      `sso: no connection that is switched on serves ${open.join(', ') || 'a proved domain'}. Its users would be locked out.`,
    )
}

async function assertOwner(ctx: AnyContext, organizationId: string, userId: string): Promise<void> {
  if (organizationId === '' || !(await isOwner(ctx, organizationId, userId)))
    throw new SsoInput('sso: `breakGlass` takes ids of owners of the organization. Use `exceptions` for other users.')
}

function toPolicy({ domains, members, from, breakGlass, exceptions, keepsKeys, applied }: Row<PolicyRow>): Policy {
  return { domains, members, from, breakGlass, exceptions, keys: keepsKeys ? 'keep' : 'end', applied }
}

async function note({ ctx, userId }: Actor, organizationId: string, act: 'set' | 'removed'): Promise<void> {
  const details = { organization: organizationId === '' ? undefined : organizationId }
  await ctx.emit('noted', { name: `sso.policy.${act}`, outcome: 'success', user: userId === null ? null : { id: userId }, details })
}
