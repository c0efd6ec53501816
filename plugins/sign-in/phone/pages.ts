/** A user proved a number whose user has a second factor: the number may be theirs now, and that user another user. */
import type { Context, Kernel, PageTools, SlotView } from 'authkernel/kernel'

const newcomerPath = '/phone/newcomer'

/** Adds a button to the page that asks for the factor, for sign-ins by a number. Without twoFactorPlugin there is no such page. */
export function addNewcomer(kernel: Kernel): void {
  kernel.slot('twoFactor', 'foot', drawButton)
  kernel.route({ method: 'POST', path: newcomerPath, flow: 'callback', takes: 'proof', handler: startAsNewcomer })
}

async function drawButton(ctx: Context, { form, submit, say, html }: PageTools): Promise<SlotView | undefined> {
  const parked = await findParkedLogin(ctx)
  if (!parked) return undefined
  return { html: html`${await form(newcomerPath, submit(say('phone.newcomer'), { quiet: true }), { flow: parked.flow })}` }
}

async function findParkedLogin(ctx: Context) {
  const parked = await ctx.parked('two-factor')
  const { account, purpose } = parked?.login ?? {}
  return account?.provider === 'phone' && purpose === 'signIn' ? parked : null
}

/** The number leaves the user who has it, whose factor is not proved, and the browser that proved the number gets a user of its own. */
async function startAsNewcomer(ctx: Context): Promise<Response> {
  const parked = await findParkedLogin(ctx)
  if (!parked) return ctx.page('signIn')
  const { providerAccountId } = parked.login.account
  const account = { provider: 'phone', providerAccountId }
  const store = ctx.service('store')
  await ctx.drop(parked)
  const owner = await store.getUserByAccount(account)
  // Of two requests one goes on; the other finds the number with its new user.
  if (!owner || owner.id !== parked.login.user.id || !(await ctx.once.take(`phone newcomer ${parked.id}`, 900))) return ctx.page('signIn')
  await store.unlinkAccount(account)
  return ctx.complete({
    user: {},
    account: { ...account, type: 'phone' },
    match: 'account',
    startedBy: null,
    proof: { amr: ['sms'] },
  })
}
