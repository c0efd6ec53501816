/** `POST /organizations`: the forms of the pages. */
import { AuthError, type Context, type Kernel, redirectTo, toAddress } from 'authkernel/kernel'
import { setActive, setFirstActive } from './active-organization.ts'
import { type Actor, createVisitor, type PluginInstance, requireMembership, rowsOf } from './actor.ts'
import { inviteMany } from './bulk-invitations.ts'
import * as roles from './custom-roles.ts'
import * as domains from './domains.ts'
import { NoSuchOrganization, OrganizationInput } from './errors.ts'
import { acceptInvitation, cancelInvitation, createInvitation, declineInvitation } from './invitations.ts'
import { joinByDomain, type Joining, setJoining } from './joining.ts'
import { leaveOrganization, removeMember, setRole, transferOwnership } from './members.ts'
import type { OrganizationFields } from './organization-fields.ts'
import { createOrganization, deleteOrganization, updateOrganization } from './organizations.ts'
import { invitationTokens } from './pages.ts'
import { grantsPermission } from './roles.ts'
import { restoreMember, suspendMember } from './suspension.ts'
import * as teams from './teams.ts'

type Fields = Readonly<Record<string, string>>
type Act = (by: Actor, organization: string, fields: Fields) => Promise<unknown>

/** Each form names an `action`. A rejection goes back to the page of the form, as a code in the query. */
export function addRoutes(kernel: Kernel, plugin: PluginInstance): void {
  kernel.route({
    method: 'POST',
    path: '/organizations',
    async handler(ctx) {
      const fields = await textsOf(ctx)
      const { action = '', organization } = fields
      try {
        if (action === 'decline') {
          const [entry] = await invitationTokens.all(ctx)
          await declineInvitation(plugin, ctx, await rowsOf(plugin, ctx), entry?.token)
          await invitationTokens.drop(ctx, ['invitation'])
          return redirectTo(`${ctx.base}/organizations`)
        }
        const act = Object.hasOwn(formActs, action) ? formActs[action] : undefined
        const by = await createVisitor(plugin, ctx)
        const within = Object.hasOwn(nestedActs, action) ? nestedActs[action] : undefined
        if (within) {
          await within(by, organization ?? '', fields)
          return redirectTo(ctx.base + nestedPath(action, fields, { done: '1' }))
        }
        const next = act ? await act(plugin, ctx, fields, by) : '/organizations'
        return typeof next === 'string' ? redirectTo(ctx.base + next) : next
      } catch (error) {
        if (!(error instanceof AuthError) || error.status >= 500 || typeof error.cause?.['retryAfter'] === 'number') throw error
        const path = errorPath(fields, error.type)
        return typing.has(action) && error.status !== 403 ? renderPath(ctx, path) : redirectTo(ctx.base + path)
      }
    },
  })
}

/** What each form does, and the path that it leads to, or the page that answers it. */
const formActs: Readonly<Record<string, (plugin: PluginInstance, ctx: Context, fields: Fields, by: Actor) => Promise<string | Response>>> =
  {
    async create(plugin, ctx, { name = '' }, by) {
      const { id } = await createOrganization(by, { name })
      await setFirstActive(plugin, ctx, id)
      return membersPath(id)
    },
    async active(plugin, ctx, { organization = '' }) {
      await setActive(plugin, ctx, organization === '' ? null : organization)
      return '/organizations'
    },
    async leave(_plugin, _ctx, { organization = '' }, by) {
      await leaveOrganization(by, organization)
      return '/organizations'
    },
    async role(_plugin, _ctx, { organization = '', userId = '', role = '' }, by) {
      await setRole(by, organization, userId, role)
      return membersOrOverviewPath(by, organization, { done: '1' })
    },
    async remove(_plugin, _ctx, { organization = '', userId = '' }, by) {
      await removeMember(by, organization, userId)
      return membersPath(organization, { done: '1' })
    },
    async invite(_plugin, _ctx, { organization = '', email = '', role = 'member' }, by) {
      await createInvitation(by, organization, { email, role })
      return membersPath(organization, { done: '1' })
    },
    async cancel(_plugin, _ctx, { organization = '', invitation = '' }, by) {
      await cancelInvitation(by, organization, invitation)
      return membersPath(organization, { done: '1' })
    },
    async roles(_plugin, _ctx, { organization = '', userId = '', ...boxes }, by) {
      await setRole(by, organization, userId, namesOf(boxes, 'role.'))
      return membersOrOverviewPath(by, organization, { done: '1' })
    },
    async suspend(_plugin, _ctx, { organization = '', userId = '' }, by) {
      await suspendMember(by, organization, userId)
      return membersPath(organization, { done: '1' })
    },
    async restore(_plugin, _ctx, { organization = '', userId = '' }, by) {
      await restoreMember(by, organization, userId)
      return membersPath(organization, { done: '1' })
    },
    async transfer(_plugin, _ctx, { organization = '', userId = '', name = '' }, by) {
      const { organization: found } = await requireMembership(by, organization, 'organization:transfer')
      if (name.trim() !== found.name) throw new OrganizationInput('organizations.transfer: the typed name is another one.')
      await transferOwnership(by, organization, userId)
      return membersPath(organization, { done: '1' })
    },
    async join(plugin, ctx, { organization = '' }, by) {
      await joinByDomain(by, organization)
      await setFirstActive(plugin, ctx, organization)
      return '/organizations?done=1'
    },
    // The answer to the form: no address has what was typed, and no history.
    async 'invite.many'(_plugin, ctx, { organization = '', text = '', role = 'member' }, by) {
      const lines = await inviteMany(by, organization, { text, role })
      return ctx.render('organizationInvited', { organization, results: JSON.stringify(lines) })
    },
    async update({ options }, _ctx, { organization = '', name = '', image, ...more }, by) {
      const fields = readForm(options.fields, more)
      await updateOrganization(by, organization, { name, ...(image !== undefined && { image }), ...(fields && { fields }) })
      return settingsPath(organization, { done: '1' })
    },
    async delete(_plugin, _ctx, { organization = '', name = '' }, by) {
      const { organization: found } = await requireMembership(by, organization, 'organization:delete', { closing: true })
      if (name.trim() !== found.name) throw new OrganizationInput('organizations.delete: the typed name is another one.')
      await deleteOrganization(by, organization)
      return '/organizations'
    },
    async accept(plugin, ctx, _fields, by) {
      const [entry] = await invitationTokens.all(ctx)
      const { organization } = await acceptInvitation(by, entry?.token ?? '')
      await invitationTokens.drop(ctx, ['invitation'])
      await setActive(plugin, ctx, organization)
      return membersOrOverviewPath(by, organization)
    },
  }

/** What each form of the pages for teams and domains does. */
const nestedActs: Readonly<Record<string, Act>> = {
  'team.create': (by, organization, { name = '' }) => teams.createTeam(by, organization, { name }),
  'team.rename': (by, organization, { team = '', name = '' }) => teams.renameTeam(by, organization, team, { name }),
  'team.delete': (by, organization, { team = '' }) => teams.deleteTeam(by, organization, team),
  'team.remove': (by, organization, { team = '', userId = '' }) => teams.removeFromTeam(by, organization, team, userId),
  async 'team.add'(by, organization, { team = '', email = '', role = '' }) {
    const address = toAddress(email)
    const user = address === undefined ? null : await by.ctx.store?.getUserByEmail(address)
    // One answer for a user who is no member, and for an address without a user.
    if (!user) throw new NoSuchOrganization('organizations.teams: the user is no member of the organization.')
    await teams.addToTeam(by, organization, team, user.id, role === '' ? null : role)
  },
  'domain.claim': (by, organization, { domain = '' }) => domains.claimDomain(by, organization, domain),
  'domain.prove': (by, organization, { domain = '' }) => domains.proveDomain(by, organization, domain),
  'domain.provider': (by, organization, { domain = '', provider = '' }) =>
    domains.setDomainProvider(by, organization, domain, provider === '' ? null : provider),
  'domain.joining': (by, organization, { domain = '', joining = '' }) =>
    setJoining(by, organization, domain, joining === '' ? null : (joining as Joining)),
  'role.create': (by, organization, { title = '', ...boxes }) =>
    roles.createRole(by, organization, { title, permissions: namesOf(boxes, 'permission.') }),
  'role.update': (by, organization, { role = '', title = '', ...boxes }) =>
    roles.updateRole(by, organization, role, { title, permissions: namesOf(boxes, 'permission.') }),
  'role.delete': (by, organization, { role = '' }) => roles.deleteRole(by, organization, role),
  'domain.remove': (by, organization, { domain = '' }) => domains.removeDomain(by, organization, domain),
}

/** Acts whose forms have something typed: the response to a mistake is the page itself, so that it is kept. */
const typing: ReadonlySet<string> = new Set(
  'create invite invite.many update team.create team.rename team.add domain.claim role.create role.update'.split(' '),
)

function renderPath(ctx: Context, path: string): Promise<Response> {
  const { pathname, searchParams } = new URL(path, ctx.origin)
  const page = [...ctx.app.parts.pages.values()].find((one) => one.path === pathname)
  return page ? ctx.render(page.name, Object.fromEntries(searchParams)) : Promise.resolve(redirectTo(ctx.base + path))
}

function errorPath(fields: Fields, error: string): string {
  const { action = '', organization } = fields
  if (Object.hasOwn(nestedActs, action)) return nestedPath(action, fields, { error })
  if (action === 'accept') return `/organizations/invitation?error=${encodeURIComponent(error)}`
  if (organization === undefined || ['active', 'leave', 'join'].includes(action)) return `/organizations?error=${encodeURIComponent(error)}`
  return ['update', 'delete'].includes(action) ? settingsPath(organization, { error }) : membersPath(organization, { error })
}
/** A role that may not see the members has the list of the own organizations. */
async function membersOrOverviewPath(by: Actor, organization: string, more: Record<string, string> = {}): Promise<string> {
  const { held, roles } = await requireMembership(by, organization)
  return grantsPermission(roles, held ?? [], 'member:read') ? membersPath(organization, more) : '/organizations'
}
function settingsPath(organization: string, more: Record<string, string>): string {
  return `/organizations/settings?${new URLSearchParams({ organization, ...more }).toString()}`
}
function membersPath(organization: string, more: Record<string, string> = {}): string {
  return `/organizations/members?${new URLSearchParams({ organization, ...more }).toString()}`
}
async function textsOf(ctx: Context): Promise<Fields> {
  return Object.fromEntries(Object.entries(await ctx.body()).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

/** The boxes of a form that are ticked, without what their names begin with. */
function namesOf(fields: Fields, prefix: string): string[] {
  return Object.keys(fields)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
}

/** Values of the fields of the settings page; undefined: the form had none. An empty text takes the value away. */
function readForm(fields: OrganizationFields, sent: Fields): Record<string, unknown> | undefined {
  // A box that is not ticked is not sent: the form says that it had the fields.
  if (sent['fields'] !== '1') return undefined
  const values: Record<string, unknown> = {}
  for (const [name, { type, editable = true }] of Object.entries(fields)) {
    const value = sent[`field.${name}`]
    if (!editable || (value === undefined && type !== 'boolean')) continue
    if (type === 'boolean') values[name] = value === 'yes'
    else if (value === undefined || value.trim() === '') values[name] = null
    else values[name] = type === 'number' ? Number(value) : value
  }
  return values
}

/** The page that a form of teams, roles or domains belongs to, below `/organizations/`. */
function nestedPath(action: string, { organization = '', team, role }: Fields, more: Readonly<Record<string, string>>): string {
  const kept = {
    ...(team !== undefined && action !== 'team.delete' && { team }),
    // A refusal leads back to the role that was being changed.
    ...(role !== undefined && 'error' in more && { role }),
  }
  return `/organizations/${action.split('.')[0]}s?${new URLSearchParams({ organization, ...kept, ...more }).toString()}`
}
