/** The organization that the user acts for, with a menu to change it and to create one. */
import type { PageClient } from 'authkernel/client'
import { activeOrganization, createMachine, type Machine, type PartInstance, type PartProps, type PartState } from './machine.ts'
import { el, type PartEvent, type PartNode } from './node.ts'
import { drawAction, drawButton, drawForm, drawFrame } from './view.ts'
import { initialsOf } from './user-button.ts'

/** Properties of `OrganizationSwitcher`. */
export interface OrganizationSwitcherProps extends PartProps {
  /** Address of the page of the organization; without it there is no link to one. */
  organizationUrl?: string | undefined
  /** Whether users may act for no organization; default true. */
  personal?: boolean | undefined
}
interface Organization {
  readonly id: string
  readonly name: string
  readonly role: string
}

/** An `OrganizationSwitcher` on a page. It draws nothing for signed-out visitors. */
export function createOrganizationSwitcher(
  page: PageClient,
  id: string,
  readProps: () => OrganizationSwitcherProps,
): PartInstance<OrganizationSwitcherProps> {
  const machine = createMachine<{ organizations: Organization[] }>(page, id, readProps, async (own) => ({
    organizations:
      page.store.get().status === 'authenticated' && own.hasMethod('organizations', 'list')
        ? await own.call<Organization[]>('organizations', 'list')
        : [],
  }))

  return {
    ...machine,
    view(given, props) {
      const { session, data, opened } = given as PartState<{ organizations: Organization[] }>
      if (session.status !== 'authenticated')
        return el('div', { id, 'data-part': 'organization-switcher', 'aria-busy': session.status === 'loading' })
      const organizations = data?.organizations ?? []
      const active = activeOrganization(session.session)
      const current = organizations.find((one) => one.id === active)
      const label = current?.name ?? machine.say('organizations.personal')
      return drawFrame(machine, 'organization-switcher', () => [
        el(
          'div',
          { 'data-opens': true },
          [
            el(
              'button',
              {
                key: 'opener',
                type: 'button',
                'data-opener': true,
                'aria-expanded': opened ? 'true' : 'false',
                'aria-controls': `${id}-menu`,
                'aria-label': machine.say('organizations.switcher', { name: label }),
              },
              [el('span', { 'data-avatar': true, 'aria-hidden': 'true' }, initialsOf(label)), el('span', { 'data-name': true }, label)],
              { click: () => machine.open(opened ? undefined : 'menu') },
            ),
            opened && drawMenu(machine, organizations, active, props),
          ],
          { keydown: ({ key }: PartEvent) => key === 'Escape' && machine.open(undefined) },
        ),
      ])
    },
  }
}

function drawMenu(
  machine: Machine<{ organizations: Organization[] }>,
  organizations: readonly Organization[],
  active: string | undefined,
  { organizationUrl, personal = true }: OrganizationSwitcherProps,
): PartNode {
  const { say } = machine
  const choose = (organization: string | undefined) => async (): Promise<void> => {
    await machine.call('organizations', 'setActive', organization === undefined ? {} : { organization })
    await machine.page.store.refresh()
    machine.open(undefined)
  }
  const row = (key: string, name: string, organization: string | undefined): PartNode =>
    el(
      'li',
      { key },
      drawAction(machine, {
        action: `choose-${key}`,
        tone: 'quiet',
        text: name,
        attributes: { 'aria-current': organization === active ? 'true' : undefined },
        run: choose(organization),
      }),
    )
  return el('div', { key: 'menu', id: `${machine.id}-menu`, 'data-menu': true, 'data-opened': 'menu' }, [
    el('ul', {}, [
      personal && row('personal', say('organizations.personal'), undefined),
      organizations.map(({ id, name }) => row(id, name, id)),
    ]),
    machine.get().opened === 'create'
      ? drawForm(machine, {
          action: 'create',
          label: say('organizations.create'),
          attributes: { 'data-opened': 'create' },
          fields: [
            {
              name: 'name',
              label: say('organizations.name'),
              attributes: { required: true, maxlength: 100, autocomplete: 'organization' },
            },
          ],
          submit: say('organizations.create'),
          cancel: () => machine.open('menu'),
          async run({ name = '' }) {
            const { id } = await machine.call<Organization>('organizations', 'create', { name })
            await machine.call('organizations', 'setActive', { organization: id })
            await Promise.all([machine.reload(), machine.page.store.refresh()])
            machine.open(undefined)
          },
        })
      : drawButton(machine, { action: 'create', text: say('organizations.create'), run: () => machine.open('create') }),
    active !== undefined && organizationUrl !== undefined && el('a', { href: organizationUrl }, say('organizations.manage')),
  ])
}
