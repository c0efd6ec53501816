/** What plugins add to pages: parts in their order. */
import type { Content, PageTools, SlotPlace } from 'authkernel/kernel'
import type { Sheet } from './layout.ts'
import { note } from './needs.ts'

/** Draws the parts of a place; `form` names the form that they go into, `action` is where it posts to. What they need is noted on the sheet. */
export async function drawSlots(sheet: Sheet, tools: PageTools, place: SlotPlace, form?: string, action?: string): Promise<Content> {
  const drawn: Content[] = []
  for (const slot of sheet.ctx.app.parts.slots) {
    if ((slot.page !== sheet.page && slot.page !== '*') || slot.place !== place) continue
    const view = await slot.draw(sheet.ctx, tools, form, action)
    if (!view) continue
    note(sheet.needs, view, `The slot of plugin "${slot.plugin}" on the page "${slot.page}"`)
    drawn.push(view.html)
  }
  return drawn
}
