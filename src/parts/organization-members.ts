/** Members of an organization and invitations to it. */
import { formatAgo, formatDate } from './format.ts'
import type { Machine } from './machine.ts'
import { el, type PartNode } from './node.ts'
import { reloadSection, type Section, type SectionData } from './sections.ts'
import { drawAction, drawButton, drawConfirmation, drawDialog, drawForm, drawRows, drawSection, type FieldSpec, rowId } from './view.ts'

/** The organization of the page, and what the user may do in it. */
export interface OrganizationView {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly role: string
  readonly permissions: Readonly<Record<string, boolean>>
}
interface Member {
  readonly userId: string
  readonly role: string
  readonly name: string | null
  readonly email: string | null
  readonly seen: string | null
  readonly suspended: string | null
}
interface Role {
  readonly role: string
  readonly title: string | null
}
interface MembersData {
  readonly members: readonly Member[]
  readonly cursor?: string | undefined
  readonly text: string
  readonly roles: readonly Role[]
}
interface Invitation {
  readonly id: string
  readonly email: string
  readonly role: string
  readonly expires: string
}

/** Members with search, another role, and removal. */
export function membersSection({ id, permissions }: OrganizationView): Section<MembersData> {
  const read = async (machine: Machine<SectionData>, text: string, cursor?: string): Promise<{ members: Member[]; cursor?: string }> =>
    machine.call('organizations', 'listMembers', {
      organization: id,
      ...(text !== '' && { text }),
      ...(cursor !== undefined && { cursor }),
    })
  const section: Section<MembersData> = {
    id: 'members',
    async load(machine) {
      if (!permissions['member:read']) return undefined
      const [page, roles] = await Promise.all([read(machine, ''), machine.call<Role[]>('organizations', 'listRoles', { organization: id })])
      return { ...page, text: '', roles }
    },
    draw(machine, data) {
      const { say } = machine
      const { members, cursor, text, roles } = data
      const change = (next: Partial<MembersData>): void => machine.setData({ members: { ...data, ...next } })
      return [
        drawSection(machine, {
          id: 'members',
          title: say('members.title'),
          body: [
            drawForm(machine, {
              action: 'search',
              label: say('members.search'),
              attributes: { role: 'search' },
              fields: [{ name: 'text', label: say('members.search'), type: 'search', value: text, attributes: { maxlength: 100 } }],
              submit: say('search'),
              tone: 'plain',
              run: async ({ text: wanted = '' }) => {
                const found = await read(machine, wanted)
                change({ members: found.members, cursor: found.cursor, text: wanted })
              },
            }),
            members.length === 0
              ? el('p', { 'data-empty': true }, say('empty'))
              : drawRows(
                  machine,
                  members.map(({ userId, name, email, role, seen, suspended }) => ({
                    id: userId,
                    title: name ?? email ?? userId,
                    tags: [roleName(machine, role, roles), ...(suspended ? [say('members.suspended')] : [])],
                    text: [name && email, seen && say('members.seen', { when: formatAgo(machine, seen) })].filter(Boolean).join(' · '),
                    actions: [
                      permissions['member:role'] &&
                        drawButton(machine, {
                          action: `role-${userId}`,
                          text: say('members.role'),
                          attributes: { 'aria-describedby': rowId(machine, userId) },
                          run: () => machine.open(`role-${userId}`),
                        }),
                      permissions['member:remove'] &&
                        drawButton(machine, {
                          action: `remove-${userId}`,
                          text: say('remove'),
                          attributes: { 'aria-describedby': rowId(machine, userId) },
                          run: () => machine.open(`remove-${userId}`),
                        }),
                    ],
                  })),
                ),
            cursor !== undefined &&
              drawAction(machine, {
                action: 'more-members',
                text: say('more'),
                async run() {
                  const next = await read(machine, text, cursor)
                  change({ members: [...members, ...next.members], cursor: next.cursor })
                },
              }),
            members.map((member) => [drawRoleDialog(machine, id, member, roles, section), drawRemoval(machine, id, member, section)]),
          ].flat(2) as PartNode[],
        }),
      ]
    },
  }
  return section
}

/** Open invitations, and new ones: one address, or many. */
export function invitationsSection({
  id,
  permissions,
}: OrganizationView): Section<{ invitations: readonly Invitation[]; roles: readonly Role[] }> {
  const section: Section<{ invitations: readonly Invitation[]; roles: readonly Role[] }> = {
    id: 'invitations',
    async load(machine) {
      if (!permissions['invitation:create']) return undefined
      const [invitations, roles] = await Promise.all([
        machine.call<Invitation[]>('organizations', 'listInvitations', { organization: id }),
        machine.call<Role[]>('organizations', 'listRoles', { organization: id }).catch(() => []),
      ])
      return { invitations, roles }
    },
    draw(machine, { invitations, roles }) {
      const { say } = machine
      const open = machine.get().opened === 'invite'
      return [
        drawSection(machine, {
          id: 'invitations',
          title: say('invitations.title'),
          actions: [
            !open &&
              drawButton(machine, {
                action: 'open-invite',
                tone: 'primary',
                text: say('invitations.invite'),
                run: () => machine.open('invite'),
              }),
          ],
          body: [
            open &&
              drawForm(machine, {
                action: 'invite',
                label: say('invitations.invite'),
                attributes: { 'data-opened': 'invite' },
                fields: [
                  {
                    name: 'text',
                    label: say('invitations.addresses'),
                    type: 'textarea',
                    hint: say('invitations.hint'),
                    attributes: { required: true, spellcheck: 'false', autocapitalize: 'none' },
                  },
                  roleField(machine, roles, 'member'),
                ],
                submit: say('invitations.send'),
                cancel: () => machine.open(undefined),
                async run({ text = '', role = 'member' }) {
                  const lines = await machine.call<{ email: string; error: string | null }[]>('organizations', 'inviteMany', {
                    organization: id,
                    text,
                    role,
                  })
                  await reloadSection(machine, section as Section)
                  const wrong = lines.filter(({ error }) => error !== null)
                  if (wrong.length > 0)
                    return { field: 'text', text: say('invitations.wrong', { list: wrong.map(({ email }) => email).join(', ') }) }
                  machine.open(undefined)
                  machine.set({ note: say('invitations.sent', { count: lines.length }) })
                  return undefined
                },
              }),
            invitations.length === 0
              ? el('p', { key: 'empty', 'data-empty': true }, say('invitations.none'))
              : drawRows(
                  machine,
                  invitations.map(({ id: invitation, email, role, expires }) => ({
                    id: invitation,
                    title: email,
                    tags: [roleName(machine, role, roles)],
                    text: say('invitations.until', { date: formatDate(machine, expires) }),
                    actions: drawAction(machine, {
                      action: `cancel-${invitation}`,
                      text: say('invitations.cancel'),
                      attributes: { 'aria-describedby': rowId(machine, invitation) },
                      async run() {
                        await machine.call('organizations', 'cancel', { organization: id, invitation })
                        await reloadSection(machine, section as Section)
                        machine.set({ note: say('done') })
                      },
                    }),
                  })),
                ),
          ],
        }),
      ]
    },
  }
  return section
}

/** Name of a role for users: its title, the text of a built-in one, else the role itself. */
export function roleName(machine: Machine<unknown>, role: string, roles: readonly Role[] = []): string {
  const key = `role.${role}`
  const text = machine.say(key as 'role.owner')
  return roles.find((one) => one.role === role)?.title ?? (text === key ? role : text)
}

function roleField(machine: Machine<unknown>, roles: readonly Role[], value: string): FieldSpec {
  return {
    name: 'role',
    label: machine.say('members.roleLabel'),
    value,
    options: roles.map(({ role }) => [role, roleName(machine, role, roles)] as const),
  }
}

function drawRoleDialog(
  machine: Machine<SectionData>,
  organization: string,
  { userId, name, email, role }: Member,
  roles: readonly Role[],
  section: Section<MembersData>,
): PartNode | undefined {
  const { say } = machine
  return drawDialog(machine, {
    name: `role-${userId}`,
    title: say('members.roleTitle', { name: name ?? email ?? userId }),
    body: [
      drawForm(machine, {
        action: `set-role-${userId}`,
        fields: [roleField(machine, roles, role)],
        submit: say('save'),
        cancel: () => machine.open(undefined),
        async run({ role: wanted = role }) {
          await machine.call('organizations', 'setRole', { organization, userId, role: wanted })
          machine.open(undefined)
          await reloadSection(machine, section as Section)
          machine.set({ note: say('saved') })
        },
      }),
    ],
  })
}

function drawRemoval(
  machine: Machine<SectionData>,
  organization: string,
  { userId, name, email }: Member,
  section: Section<MembersData>,
): PartNode | undefined {
  const { say } = machine
  return drawConfirmation(machine, {
    name: `remove-${userId}`,
    title: say('members.removeTitle', { name: name ?? email ?? userId }),
    text: say('members.removeText'),
    label: say('remove'),
    run: () => machine.call('organizations', 'remove', { organization, userId }),
    async reload() {
      await reloadSection(machine, section as Section)
      machine.set({ note: say('done') })
    },
  })
}
