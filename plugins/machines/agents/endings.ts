/** Agents end with the access of their owner. */
import type { EndReason, Kernel } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { stopAgent } from './manage.ts'

/** The owner stays: a changed password, a membership, or the session of one provider. */
const sparing: readonly EndReason[] = ['credentialChanged', 'membershipEnded', 'providerLogout']

/** Adds the handlers. A stopped agent starts again by its owner alone, after a fresh proof. */
export function addEndings(kernel: Kernel): void {
  kernel.onAccessEnd('pending', (ctx, { which }) =>
    'userId' in which ? ctx.records('agentApproval').deleteWhere({ where: { userId: which.userId } }) : 0,
  )
  kernel.onAccessEnd('key', async (ctx, { which, reason, before }) => {
    if (!('userId' in which) || sparing.includes(reason)) return 0
    const rows = await listRows(ctx.records('agent'), { where: { userId: which.userId } })
    let count = 0
    // An agent that a session of the company made under its policy stays.
    const former = before ? rows.filter(({ created }) => created < before) : rows
    for (const { id } of former) if (await stopAgent(ctx, id, { by: 'access' })) count++
    return count
  })
}
