/** The account of the user who is signed in. Which sections there are depends on the plugins of the server. */
import type { PageClient } from 'authkernel/client'
import type { PartInstance, PartProps } from './machine.ts'
import { createSections, type Section } from './sections.ts'

/** Properties of `AccountPage`. */
export interface AccountPageProps extends PartProps {}

type Loader = { needs: readonly [namespace: string, method: string]; load(): Promise<Section> }

// Each is a file of its own, so that a page loads those of the plugins in use.
const sections: readonly Loader[] = [
  { needs: ['profile', 'get'], load: async () => (await import('./account-profile.ts')).profileSection as Section },
  { needs: ['address', 'change'], load: async () => (await import('./account-address.ts')).addressSection as Section },
  { needs: ['passwords', 'change'], load: async () => (await import('./account-password.ts')).passwordSection as Section },
  { needs: ['passkeys', 'list'], load: async () => (await import('./account-passkeys.ts')).passkeysSection as Section },
  { needs: ['accounts', 'list'], load: async () => (await import('./account-methods.ts')).methodsSection as Section },
  { needs: ['twoFactor', 'list'], load: async () => (await import('./account-factors.ts')).factorsSection as Section },
  { needs: ['sessions', 'list'], load: async () => (await import('./account-sessions.ts')).sessionsSection as Section },
  { needs: ['user', 'delete'], load: async () => (await import('./account-data.ts')).dataSection as Section },
]

/** An `AccountPage` on a page. */
export function createAccountPage(page: PageClient, id: string, readProps: () => AccountPageProps): PartInstance<AccountPageProps> {
  return createSections(page, id, readProps, 'account-page', (machine) =>
    Promise.all(sections.filter(({ needs: [namespace, method] }) => machine.hasMethod(namespace, method)).map(({ load }) => load())),
  )
}
