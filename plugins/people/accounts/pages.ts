/** The section of the account page: users download what is kept about them. */
import { type Context, type Kernel, proveAgain } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { exportData } from './data-export.ts'
import { messages } from './messages.ts'

const path = '/account/data'
/** Seconds: a session that was left open, or stolen, downloads nothing. */
const maxProofAge = 300

/** Adds the section, and the route that its form posts to. */
export function addDataSection(kernel: Kernel): void {
  kernel.messages(messages)
  kernel.accountSection({
    id: 'data',
    order: 880,
    async draw(ctx, { say, form, button }) {
      if ((await findUserId(ctx)) === undefined) return undefined
      return {
        heading: say('accounts.data'),
        text: say('accounts.data.text'),
        actions: await form(path, button(say('accounts.data.download'))),
      }
    },
  })
  kernel.route({ method: 'POST', path, handler: downloadData })
}

async function downloadData(ctx: Context): Promise<Response> {
  const userId = await findUserId(ctx)
  if (userId === undefined) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const redirect = await proveAgain(ctx, maxProofAge, `${ctx.base}/account`)
  if (redirect) return redirect
  const data = await exportData(ctx, userId)
  return new Response(JSON.stringify(data, undefined, 2), {
    headers: {
      'Content-Type': 'application/json',
      'Content-Disposition': 'attachment; filename="account.json"',
      'Cache-Control': 'no-store',
    },
  })
}

/** Undefined when signed out, for an administrator who acts as the user, for an API key, and where sessions have no proof. */
export async function findUserId(ctx: Context): Promise<string | undefined> {
  return ctx.session.abilities?.has('attributes') ? (await findOwnUser(ctx))?.id : undefined
}
