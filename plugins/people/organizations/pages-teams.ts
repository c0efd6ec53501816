/** The teams of an organization, and who is in one. */
import type { Content, PageDraw } from 'authkernel/kernel'
import type { PluginInstance } from './actor.ts'
import { findUsers } from './member-list.ts'
import { drawOrganizationPage, drawRoleChoice, listRoleNames, type Visit } from './pages-frame.ts'
import { listTeams, listTeamMembers, type Team } from './teams.ts'

/** `GET /organizations/teams?organization=<id>&team=<id>`. */
export function teamsPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'teams' }, async (visit) => {
      const { organization: id = '', team: chosen } = params
      const teams = await listTeams(visit.membership, id)
      const team = teams.find((one) => one.id === chosen)
      return team ? drawTeam(visit, team) : drawTeams(visit, teams)
    })
}

async function drawTeams({ tools, may, act, to }: Visit, teams: readonly Team[]): Promise<Content[]> {
  const { html, say, base, field, submit, card, row, emptyState, typed } = tools
  const value = typed('name', 'team.create')
  const name = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100, value })
  return [
    card({
      title: say('organizations.teams'),
      body:
        teams.length === 0
          ? emptyState({ title: say('organizations.team.empty') })
          : teams.map((team) => row({ title: html`<a href="${base}${to('teams', { team: team.id })}"><bdi>${team.name}</bdi></a>` })),
    }),
    may('team:create') &&
      card({
        title: say('organizations.team.create'),
        body: await act('team.create', [name, submit(say('organizations.team.create'))]),
      }),
  ]
}

async function drawTeam(visit: Visit, team: Team): Promise<Content[]> {
  const { membership, may, act } = visit
  const { html, say, field, submit, card, row, avatar, button, buttonLink, emptyState, typed } = visit.tools
  const people = await listTeamMembers(membership, membership.organization.id, team.id)
  const [users, names] = [
    await findUsers(
      membership,
      people.map(({ userId }) => userId),
    ),
    new Map(await listRoleNames(visit)),
  ]
  const rows = people.map(async ({ userId, role }) => {
    const { name, email, image } = users.get(userId) ?? {}
    const shown = name ?? email ?? userId
    const out = may('team:members') || userId === membership.user?.id
    return row({
      id: `member-${userId}`,
      title: html`<bdi>${shown}</bdi>`,
      text: [name !== null && email, role !== null && (names.get(role) ?? role)],
      picture: avatar({ name: shown, picture: image }),
      actions:
        out &&
        (await act('team.remove', button(say('organizations.team.remove'), { describedBy: `member-${userId}` }), {
          team: team.id,
          userId,
        })),
    })
  })
  const body: Content[] = [
    card({
      title: team.name,
      body: people.length === 0 ? emptyState({ title: say('organizations.team.alone') }) : await Promise.all(rows),
    }),
  ]
  if (may('team:members')) {
    const email = field('email', { label: 'Email', type: 'email', required: true, maxlength: 254, value: typed('email', 'team.add') })
    const choice = await drawRoleChoice(visit, typed('role', 'team.add') ?? '', { none: say('organizations.team.none') })
    body.push(
      card({
        title: say('organizations.team.add'),
        body: await act('team.add', [email, choice, submit(say('organizations.team.add'))], { team: team.id }),
      }),
    )
  }
  if (may('team:update')) {
    const value = typed('name', 'team.rename') ?? team.name
    const name = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100, value })
    body.push(
      card({
        title: say('organizations.team.rename'),
        body: await act('team.rename', [name, submit(say('organizations.save'), { quiet: true })], { team: team.id }),
      }),
    )
  }
  if (may('team:delete'))
    body.push(
      card({
        title: say('organizations.team.delete'),
        danger: true,
        actions: await act('team.delete', button(say('organizations.team.delete'), { tone: 'danger' }), { team: team.id }),
      }),
    )
  body.push(buttonLink(say('organizations.back'), visit.to('teams'), { tone: 'quiet' }))
  return body
}
