/** Addresses that bounced or complained: kept from what mailers report, asked before each mail, lifted by the host. */
import { type AnyContext, jobFor, type Kernel, type OfTenant, type Row, sha256, toAddress, toHex } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import type { BounceReport } from './bounce-reports.ts'
import type { MailBounceRow } from './tables.ts'

/** `auth.mailBounces`. */
export interface MailBounces {
  /** Addresses that get no mail, the newest first. */
  list(of?: OfTenant): Promise<MailBounceRow[]>
  /** Sends mails to the address again. False: it was not on the list. */
  remove(email: string, of?: OfTenant): Promise<boolean>
}

/** Keeps what a mailer reported. A later report of the same address replaces the earlier one. */
export async function keepBounces(ctx: AnyContext, mailer: string, reports: readonly BounceReport[]): Promise<void> {
  for (const { email, reason } of reports) {
    const address = toAddress(email)
    if (address === undefined) continue
    await ctx.records('mailBounce').put({ id: await idOf(address), email: address, reason, mailer, at: ctx.now })
    await ctx.emit('noted', { name: 'mail.bounced', outcome: 'success', reason, details: { mailer } })
  }
}

/** Why an address gets no mail; null: it gets mail. */
export async function findBounce(ctx: AnyContext, to: string): Promise<Row<MailBounceRow> | null> {
  const address = toAddress(to)
  return address === undefined ? null : ctx.records('mailBounce').get(await idOf(address))
}

/** The methods of `auth.mailBounces`. `kept`: whether `bounces` of the plugin was set. */
export function createBounces(kernel: Kernel, kept: boolean): MailBounces {
  return {
    async list(of) {
      if (!kept) return []
      const ctx = await kernel.contextOf(jobFor('mail-bounces', of))
      const rows = await listRows(ctx.records('mailBounce'))
      return rows.map(({ email, reason, mailer, at }) => ({ email, reason, mailer, at })).sort((a, b) => b.at.getTime() - a.at.getTime())
    },
    async remove(email, of) {
      const address = toAddress(email)
      if (!kept || address === undefined) return false
      const ctx = await kernel.contextOf(jobFor('mail-bounces', of))
      return ctx.records('mailBounce').delete(await idOf(address))
    },
  }
}

async function idOf(address: string): Promise<string> {
  return toHex(await sha256(address))
}
