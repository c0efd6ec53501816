/** The transmitter: what ends access here is sent to receivers of the organizations of the user. */
import type { AccessSelector, AnyContext, Kernel, SharedState } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/organizations'
import { deliverDue, deliverSoon } from './delivery.ts'
import { eventsOfEnding } from './event-types.ts'
import type { ResolvedTransmitter } from './options.ts'
import { endPolls } from './long-poll.ts'
import { queueEvents } from './outbox.ts'
import { removeAbandonedReceivers, removeReceiversOf } from './receivers.ts'
import { addRestorations } from './restorations.ts'
import { addStreamRoutes } from './routes-streams.ts'
import { receiverTable, signalEventTable, signalSubjectTable, streamTable } from './tables.ts'

/** Adds records, routes and handlers. */
export function addTransmitter(kernel: Kernel, options: ResolvedTransmitter): void {
  const { every, subjects } = options
  kernel.records('signalReceiver', receiverTable)
  kernel.records('signalStream', streamTable)
  kernel.records('signalEvent', signalEventTable)
  kernel.records('signalSubject', signalSubjectTable)
  addStreamRoutes(kernel, options)
  let shared: SharedState | undefined
  kernel.decorate('records', (_inner, view) => {
    shared = view.shared
    return {}
  })
  kernel.onClose(() => shared && endPolls(shared))
  // A step and no event: where it cannot be stored, the ending fails, and who asked for it tries again.
  kernel.onAccessEnd('token', async (ctx, { which, reason }) => {
    const about = await findOrganizations(ctx, which)
    if (about && (await queueEvents(ctx, { ...about, subjects, types: eventsOfEnding(which, reason) }))) deliverSoon(kernel, ctx)
    return 0
  })
  addRestorations(kernel, options)
  kernel.on('organizationChanged', async ({ act, organizationId, ctx }) => {
    if (act === 'deleted') await removeReceiversOf(ctx, organizationId)
  })
  // The timer looks into the default tenant alone.
  kernel.on('tenantCleanedUp', async ({ ctx }) => {
    await removeAbandonedReceivers(ctx)
    if (ctx.facts.namespace !== '') await deliverDue(ctx)
  })
  if (every > 0) repeatDelivery(kernel, every)
}

/** What rests on a session at a provider names no user here. */
async function findOrganizations(
  ctx: AnyContext,
  which: AccessSelector,
): Promise<{ organizationIds: string[]; userId: string } | undefined> {
  if ('member' in which) return { organizationIds: [which.member.organizationId], userId: which.member.userId }
  if (!('userId' in which)) return undefined
  const memberships = await ctx.service('organizations').listOf(ctx, which.userId)
  return { organizationIds: memberships.map(({ organizationId }) => organizationId), userId: which.userId }
}

/** In each process: a lease for each stream lets one of them push. */
function repeatDelivery(kernel: Kernel, every: number): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = (): void => {
    timer = setTimeout(() => {
      kernel
        .job({ job: 'shared-signals', tenant: null }, async (ctx) => void (await deliverDue(ctx)))
        .catch((error: unknown) => kernel.config.logger.error(error instanceof Error ? error : new Error(String(error))))
        .finally(() => timer !== undefined && wait())
    }, every * 1000)
    if (typeof timer === 'object') timer.unref?.()
  }
  wait()
  kernel.onClose(() => {
    clearTimeout(timer)
    timer = undefined
  })
}
