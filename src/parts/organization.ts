/** The organization that the user acts for: members, invitations, settings. What the role does not permit is not drawn. */
import type { PageClient } from 'authkernel/client'
import { activeOrganization, type Machine, type PartInstance, type PartProps } from './machine.ts'
import type { OrganizationView } from './organization-members.ts'
import { createSections, type Section, type SectionData } from './sections.ts'

/** Properties of `OrganizationPage`. */
export interface OrganizationPageProps extends PartProps {
  /** Id of the organization; default: the one that the session acts for. */
  organization?: string | undefined
}
const permissions = [
  'organization:update',
  'organization:delete',
  'member:read',
  'member:role',
  'member:remove',
  'invitation:create',
  'invitation:cancel',
]

/** An `OrganizationPage` on a page. */
export function createOrganizationPage(
  page: PageClient,
  id: string,
  readProps: () => OrganizationPageProps,
): PartInstance<OrganizationPageProps> {
  return createSections(page, id, readProps, 'organization-page', async (machine) => {
    const wanted = readProps().organization ?? activeOrganization(page.store.get().session)
    const organization = machine.hasMethod('organizations', 'list') ? await findOrganization(machine, wanted) : undefined
    if (!organization) return [(await import('./organization-settings.ts')).noOrganization]
    const [{ membersSection, invitationsSection }, { settingsSection }] = await Promise.all([
      import('./organization-members.ts'),
      import('./organization-settings.ts'),
    ])
    return [settingsSection(organization), membersSection(organization), invitationsSection(organization)] as Section[]
  })
}

async function findOrganization(machine: Machine<SectionData>, wanted: string | undefined): Promise<OrganizationView | undefined> {
  if (wanted === undefined) return undefined
  const all = await machine.call<Omit<OrganizationView, 'permissions'>[]>('organizations', 'list')
  const found = all.find(({ id }) => id === wanted)
  if (!found) return undefined
  const ask = async (permission: string): Promise<[string, boolean]> => [
    permission,
    await machine.call<boolean>('organizations', 'hasPermission', { organization: found.id, permission }),
  ]
  return { ...found, permissions: Object.fromEntries(await Promise.all(permissions.map(ask))) }
}
