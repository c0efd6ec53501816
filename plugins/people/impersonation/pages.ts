/** What an administrator sees while acting as a user: who they are, why, until when, and the button that ends it. */
import type { Context, Kernel, PageTools, SlotView } from 'authkernel/kernel'
import type { Actor } from './tables.ts'

/** Adds the page `/impersonation`, and a line with a link to it on the pages that users see on the way. */
export function addPages(kernel: Kernel): void {
  kernel.page(
    'impersonation',
    async (ctx, tools) => {
      const acting = await actingIn(ctx)
      if (!acting) return ctx.page('signIn')
      const { say, form, submit, html, date } = tools
      const { actor, name } = acting
      return {
        title: say('impersonation.title'),
        lead: textOfLine(tools, acting),
        body: [
          html`<p>${say('impersonation.reason', { reason: actor.reason })}</p>
            <p>${say('impersonation.until', { date: date(new Date(actor.until)) })}</p>
            <p class="note">${say('impersonation.hint', { name })}</p>`,
          await form('/impersonation/stop', submit(say('impersonation.stop'))),
        ],
      }
    },
    { path: '/impersonation' },
  )
  for (const page of ['signIn', 'signOut', 'error', 'account'] as const) kernel.slot(page, 'head', drawLine, -100)
}

async function drawLine(ctx: Context, tools: PageTools): Promise<SlotView | undefined> {
  const acting = await actingIn(ctx)
  if (!acting) return undefined
  const { html, say, base } = tools
  return { html: html`<p role="status">${textOfLine(tools, acting)} <a href="${base}/impersonation">${say('impersonation.stop')}</a></p>` }
}

function textOfLine({ say }: PageTools, { actor, name }: Acting): ReturnType<PageTools['say']> {
  return say('impersonation.line', { admin: actor.name ?? actor.id, name })
}

interface Acting {
  actor: Actor
  /** Of the user. */
  name: string
}
async function actingIn(ctx: Context): Promise<Acting | null> {
  const session = await ctx.currentSession()
  if (!session?.actor) return null
  const { name, email, id } = session.user ?? {}
  return { actor: session.actor, name: name ?? email ?? id ?? '' }
}
