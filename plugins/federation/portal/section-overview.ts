/** What is done, and what comes next. */
import type { Content } from 'authkernel/kernel'
import { listSections, type PortalSection, type PortalVisit } from './sections.ts'

/** `own`: the other built-in sections. */
export function overviewSection(own: readonly PortalSection[]): PortalSection {
  return {
    id: 'overview',
    order: 0,
    label: 'portal.overview',
    scope: '',
    async draw({ tools, to, ...visit }) {
      const { say, card, row, tag, buttonLink } = tools
      const rows: Content[] = []
      for (const section of await listSections(visit.ctx, own)) {
        const step = visit.scopes.includes(section.scope) ? await section.step?.(visit as PortalVisit) : undefined
        if (!step) continue
        const describedBy = `step-${section.id}`
        rows.push(
          row({
            id: describedBy,
            title: say(section.label),
            text: say(step.text),
            tags: step.done ? tag(say('portal.step.done'), 'ok') : tag(say('portal.step.open'), 'warn'),
            actions: buttonLink(say('portal.step.go'), to({}, section.id), { describedBy, ...(!step.done && { tone: 'primary' }) }),
          }),
        )
      }
      return {
        title: say('portal.overview.title', { organization: visit.organization.name }),
        lead: say('portal.overview.lead'),
        body: card({ title: say('portal.overview.steps'), body: rows }),
      }
    },
  }
}
