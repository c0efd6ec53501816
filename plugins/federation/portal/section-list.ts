/** The built-in sections of the portal. */
import type { PortalSection } from './sections.ts'
import { connectionsSection } from './section-connections.ts'
import { domainsSection } from './section-domains.ts'
import { logSection } from './section-log.ts'
import { overviewSection } from './section-overview.ts'
import { policySection } from './section-policy.ts'

/** In no order: the frame sorts them, with those of other plugins. */
export function createSections(): readonly PortalSection[] {
  const own: readonly PortalSection[] = [domainsSection, connectionsSection, policySection, logSection]
  return [overviewSection(own), ...own]
}
