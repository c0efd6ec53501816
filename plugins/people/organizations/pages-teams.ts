/** The teams of an organization, and who is in one. */
import type { Content, PageDraw } from 'authkernel/kernel'
import type { PluginInstance } from './actor.ts'
import { drawOrganizationPage, drawRoleChoice, nameOfRole, type Visit } from './pages-frame.ts'
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

async function drawTeams({ membership, tools, may, act }: Visit, teams: readonly Team[]): Promise<Content[]> {
  const { html, say, base, field, submit } = tools
  const to = (team: string): string =>
    `${base}/organizations/teams?${new URLSearchParams({ organization: membership.organization.id, team }).toString()}`
  const name = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100 })
  return [
    teams.length > 0 &&
      html`<ul>
        ${teams.map((team) => html`<li><a href="${to(team.id)}">${team.name}</a></li>`)}
      </ul>`,
    may('team:create') && html`<h2>${say('organizations.team.create')}</h2>`,
    may('team:create') && (await act('team.create', [name, submit(say('organizations.team.create'))])),
  ]
}

async function drawTeam(visit: Visit, team: Team): Promise<Content[]> {
  const { membership, tools, may, act } = visit
  const { html, say, field, submit } = tools
  const people = await listTeamMembers(membership, membership.organization.id, team.id)
  const users = new Map((await membership.ctx.store?.getUsers(people.map(({ userId }) => userId)))?.map((user) => [user.id, user]))
  const body: Content[] = [html`<h2>${team.name}</h2>`]
  for (const { userId, role } of people) {
    const { name, email } = users.get(userId) ?? {}
    const out = may('team:members') || userId === membership.user?.id
    body.push(
      html`<section class="item">
        <h3>${name ?? email ?? userId}</h3>
        <p>${name && email}${role !== null && html` · ${nameOfRole(tools, role)}`}</p>
        ${out && (await act('team.remove', submit(say('organizations.team.remove'), { quiet: true }), { team: team.id, userId }))}
      </section>`,
    )
  }
  if (may('team:members')) {
    const email = field('email', { label: 'Email', type: 'email', required: true, maxlength: 254 })
    body.push(html`<h2>${say('organizations.team.add')}</h2>`)
    body.push(
      await act('team.add', [email, drawRoleChoice(visit, '', '', say('organizations.team.none')), submit(say('organizations.team.add'))], {
        team: team.id,
      }),
    )
  }
  if (may('team:update')) {
    const name = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100, value: team.name })
    body.push(await act('team.rename', [name, submit(say('organizations.save'), { quiet: true })], { team: team.id }))
  }
  if (may('team:delete')) body.push(await act('team.delete', submit(say('organizations.team.delete'), { quiet: true }), { team: team.id }))
  return body
}
