/** `POST /organizations`: the forms of the pages. */
import { AuthError, type Context, type Kernel, redirectTo } from 'authkernel/kernel'
import { setActive, setFirstActive } from './active.ts'
import { create, remove, update } from './acts.ts'
import { type Actor, actorOf, type Desk, rowsOf, seatIn } from './desk.ts'
import { OrganizationInput } from './errors.ts'
import { inner, pageOf } from './forms-inside.ts'
import { accept, cancel, decline, invite } from './invitations.ts'
import { leave, remove as removeMember, setRole } from './members.ts'
import { opened } from './pages.ts'
import { grants } from './roles.ts'

type Fields = Readonly<Record<string, string>>

/** What each form does, and where it leads. */
const acts: Readonly<Record<string, (desk: Desk, ctx: Context, fields: Fields, by: Actor) => Promise<string>>> = {
  async create(desk, ctx, { name = '' }, by) {
    const { id } = await create(by, { name })
    await setFirstActive(desk, ctx, id)
    return members(id)
  },
  async active(desk, ctx, { organization = '' }) {
    await setActive(desk, ctx, organization === '' ? null : organization)
    return '/organizations'
  },
  async leave(_desk, _ctx, { organization = '' }, by) {
    await leave(by, organization)
    return '/organizations'
  },
  async role(_desk, _ctx, { organization = '', userId = '', role = '' }, by) {
    await setRole(by, organization, userId, role)
    return membersOrAll(by, organization, { done: '1' })
  },
  async remove(_desk, _ctx, { organization = '', userId = '' }, by) {
    await removeMember(by, organization, userId)
    return members(organization, { done: '1' })
  },
  async invite(_desk, _ctx, { organization = '', email = '', role = 'member' }, by) {
    await invite(by, organization, { email, role })
    return members(organization, { done: '1' })
  },
  async cancel(_desk, _ctx, { organization = '', invitation = '' }, by) {
    await cancel(by, organization, invitation)
    return members(organization, { done: '1' })
  },
  async update(_desk, _ctx, { organization = '', name = '' }, by) {
    await update(by, organization, { name })
    return settings(organization, { done: '1' })
  },
  async delete(_desk, _ctx, { organization = '', name = '' }, by) {
    const { organization: found } = await seatIn(by, organization, 'organization:delete', { closing: true })
    if (name.trim() !== found.name) throw new OrganizationInput('organizations.delete: the typed name is another one.')
    await remove(by, organization)
    return '/organizations'
  },
  async accept(desk, ctx, _fields, by) {
    const [entry] = await opened.all(ctx)
    const { organization } = await accept(by, entry?.token ?? '')
    await opened.drop(ctx, ['invitation'])
    await setActive(desk, ctx, organization)
    return membersOrAll(by, organization)
  },
}

export function addForms(kernel: Kernel, desk: Desk): void {
  kernel.route({
    method: 'POST',
    path: '/organizations',
    async handler(ctx) {
      const fields = await textsOf(ctx)
      const { action = '', organization } = fields
      try {
        if (action === 'decline') {
          const [entry] = await opened.all(ctx)
          await decline(desk, ctx, await rowsOf(desk, ctx), entry?.token)
          await opened.drop(ctx, ['invitation'])
          return redirectTo(`${ctx.base}/organizations`)
        }
        const act = Object.hasOwn(acts, action) ? acts[action] : undefined
        const by = await actorOf(desk, ctx)
        const within = Object.hasOwn(inner, action) ? inner[action] : undefined
        if (within) {
          await within(by, organization ?? '', fields)
          return redirectTo(ctx.base + pageOf(action, fields, { done: '1' }))
        }
        return redirectTo(ctx.base + (act ? await act(desk, ctx, fields, by) : '/organizations'))
      } catch (error) {
        if (!(error instanceof AuthError) || error.status >= 500 || typeof error.cause?.['retryAfter'] === 'number') throw error
        return redirectTo(ctx.base + failed(fields, error.type))
      }
    },
  })
}

function failed(fields: Fields, error: string): string {
  const { action = '', organization } = fields
  if (Object.hasOwn(inner, action)) return pageOf(action, fields, { error })
  if (action === 'accept') return `/organizations/invitation?error=${encodeURIComponent(error)}`
  if (organization === undefined || ['active', 'leave'].includes(action)) return `/organizations?error=${encodeURIComponent(error)}`
  return ['update', 'delete'].includes(action) ? settings(organization, { error }) : members(organization, { error })
}
/** A role that may not see the members has the list of the own organizations. */
async function membersOrAll(by: Actor, organization: string, more: Record<string, string> = {}): Promise<string> {
  const { role } = await seatIn(by, organization)
  return grants(by.options.roles, role, 'member:read') ? members(organization, more) : '/organizations'
}
function settings(organization: string, more: Record<string, string>): string {
  return `/organizations/settings?${new URLSearchParams({ organization, ...more }).toString()}`
}
function members(organization: string, more: Record<string, string> = {}): string {
  return `/organizations/members?${new URLSearchParams({ organization, ...more }).toString()}`
}
async function textsOf(ctx: Context): Promise<Fields> {
  return Object.fromEntries(Object.entries(await ctx.body()).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
