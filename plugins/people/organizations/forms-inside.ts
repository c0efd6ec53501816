/** The forms of the pages for teams and domains. */
import { toAddress } from 'authkernel/kernel'
import type { Actor } from './desk.ts'
import * as domains from './domains.ts'
import { NoSuchOrganization } from './errors.ts'
import * as teams from './teams.ts'

type Fields = Readonly<Record<string, string>>
type Act = (by: Actor, organization: string, fields: Fields) => Promise<unknown>

/** What each form does. */
export const inner: Readonly<Record<string, Act>> = {
  'team.create': (by, organization, { name = '' }) => teams.create(by, organization, { name }),
  'team.rename': (by, organization, { team = '', name = '' }) => teams.rename(by, organization, team, { name }),
  'team.delete': (by, organization, { team = '' }) => teams.remove(by, organization, team),
  'team.remove': (by, organization, { team = '', userId = '' }) => teams.leave(by, organization, team, userId),
  async 'team.add'(by, organization, { team = '', email = '', role = '' }) {
    const address = toAddress(email)
    const user = address === undefined ? null : await by.ctx.store?.getUserByEmail(address)
    // Whoever is no member, and nobody at all, get one answer.
    if (!user) throw new NoSuchOrganization('organizations.teams: the person is no member of the organization.')
    await teams.join(by, organization, team, user.id, role === '' ? null : role)
  },
  'domain.claim': (by, organization, { domain = '' }) => domains.claim(by, organization, domain),
  'domain.prove': (by, organization, { domain = '' }) => domains.prove(by, organization, domain),
  'domain.provider': (by, organization, { domain = '', provider = '' }) =>
    domains.setProvider(by, organization, domain, provider === '' ? null : provider),
  'domain.remove': (by, organization, { domain = '' }) => domains.remove(by, organization, domain),
}

/** The page that a form belongs to, below `/organizations/`. */
export function pageOf(action: string, { organization = '', team }: Fields, more: Readonly<Record<string, string>>): string {
  const kept = team !== undefined && action !== 'team.delete' ? { team } : {}
  return `/organizations/${action.split('.')[0]}s?${new URLSearchParams({ organization, ...kept, ...more }).toString()}`
}
