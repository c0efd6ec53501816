/** The one decision about new users, for every sign-in method: the hook `createUser`. */
import { type AnyContext, type HookMessage, type Kernel, type Row, toAddress } from 'authkernel/kernel'
import { codeCookie, findShownInvitation } from './codes.ts'
import { AdmissionRefused } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { type InvitationRow, passId } from './tables.ts'

type Question = HookMessage<'createUser'>

const passSeconds = 3600

/** Asks at every user that is made, and, by option, wherever access is given. */
export function addGuard(kernel: Kernel, options: ResolvedOptions): void {
  kernel.hook('createUser', async (question) => {
    if (await isAdmitted(options, question)) return true
    const { ctx, account, final } = question
    if (final) await ctx.emit('noted', { name: 'admission.refused', outcome: 'denied', reason: 'not admitted', provider: account.provider })
    throw new AdmissionRefused('admission: the visitor has no invitation, or the address is blocked.', {
      cause: { provider: account.provider },
    })
  })
  if (options.blockExisting) kernel.hook('access', async ({ userId, ctx }) => !(await isUserBlocked(ctx, options, userId)))
}

/** Whether the user may be made. With `final` a use of the invitation is counted, and given back if no user is made. */
export async function isAdmitted(options: ResolvedOptions, question: Question): Promise<boolean> {
  const { ctx, user, account, proved } = question
  const { lists, mode, hasAllowList, guests } = options
  if (account.provider === 'guest') return guests
  const { email } = user
  const address = email ? toAddress(email) : undefined
  // An address that cannot be compared is not on the allow list, and must not get round the block list.
  if (email && address === undefined) return false
  if (address !== undefined && (await lists.isBlocked(address))) return false
  if (mode === 'open' && !hasAllowList) return true
  if (address !== undefined && proved && lists.isAllowed(address)) return true
  if (address !== undefined && proved && (await isAdmittedElsewhere(ctx, options, address))) return true
  for (const row of await findInvitations(ctx, address, proved)) if (await takeUse(question, row, address)) return true
  return false
}

/** Whether an address would come in now, without any code. */
export async function isAddressAdmitted(ctx: AnyContext, options: ResolvedOptions, address: string): Promise<boolean> {
  const account = { provider: 'admission', providerAccountId: address, type: 'email' }
  return isAdmitted(options, { ctx, user: { email: address }, account, proved: true, final: false, whenDone: () => {} })
}

async function isAdmittedElsewhere(ctx: AnyContext, { organizationInvitations }: ResolvedOptions, email: string): Promise<boolean> {
  if (!ctx.has('hook', 'admission')) return false
  return (await ctx.ask('admission', { email }, organizationInvitations ? undefined : 'organizations')) === true
}

/** Invitations that this visitor may use, in the order in which they are tried. */
async function findInvitations(ctx: AnyContext, address: string | undefined, proved: boolean): Promise<Row<InvitationRow>[]> {
  const table = ctx.records('admissionInvitation')
  const own = address !== undefined && proved ? (await table.find({ where: { email: address }, order: 'desc', limit: 20 })).rows : []
  const shown = await findShownInvitation(ctx)
  const pass = address !== undefined && proved ? await ctx.records('admissionPass').get(await passId(address)) : null
  const passed = pass && pass.invitationId !== shown?.id ? await table.get(pass.invitationId) : null
  const all = [...own, shown, passed].filter((row) => row !== null)
  // The code of a mail proves its mailbox: who has it need not prove the address once more.
  const fitting = all.filter((row) => row.left > 0 && (row.email === null || row.email === address))
  return [...new Map(fitting.map((row) => [row.id, row])).values()]
}

async function takeUse({ ctx, final, whenDone, proved }: Question, row: Row<InvitationRow>, address: string | undefined): Promise<boolean> {
  const table = ctx.records('admissionInvitation')
  if (!final) {
    // The link of the mail may be opened in a browser that never saw the code.
    if (row.email === null && address !== undefined && proved)
      await ctx.records('admissionPass').put({
        id: await passId(address),
        invitationId: row.id,
        expires: new Date(ctx.now.getTime() + passSeconds * 1000),
      })
    return true
  }
  // Null: it was revoked, or another visitor had the last use.
  if ((await table.increment(row.id, 'left', -1, { min: 0 })) === null) return false
  whenDone(async (newUser) => {
    // A revoked invitation is gone, and gets nothing back.
    if (!newUser?.id) return void (await table.increment(row.id, 'left', 1, { max: row.uses }))
    await keepAdmission(ctx, row, newUser.id, proved ? address : undefined)
  })
  return true
}

/** The user is there: what was stored about the visitor goes, and what belongs to the user stays. `address`: the verified one. */
async function keepAdmission(ctx: AnyContext, row: Row<InvitationRow>, userId: string, address: string | undefined): Promise<void> {
  await ctx.records('admittedUser').create({ userId, invitationId: row.id, by: row.by, at: ctx.now })
  if (address !== undefined) {
    await ctx.records('admissionPass').delete(await passId(address))
    await ctx.records('admissionRequest').take({ email: address })
    await ctx.records('admissionInvitation').deleteWhere({ where: { email: address } })
  } else if (row.email !== null) await ctx.records('admissionInvitation').delete(row.id)
  if (ctx.request && ctx.canSetCookies) await codeCookie.drop(ctx, ['invitation'])
  await ctx.emit('noted', { name: 'admission.admitted', outcome: 'success', user: { id: userId }, details: { invitation: row.id } })
}

async function isUserBlocked(ctx: AnyContext, { lists }: ResolvedOptions, userId: string): Promise<boolean> {
  const email = (await ctx.store?.getUser(userId))?.email
  const address = email ? toAddress(email) : undefined
  return address !== undefined && lists.isBlocked(address)
}
