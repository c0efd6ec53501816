/** What the section of the portal shows: address and token, rules, differences, and the last calls. */
import type { Content, Row } from 'authkernel/kernel'
import type { PortalPage, PortalView } from 'authkernel/plugins/portal'
import { listCalls } from './calls.ts'
import type { Connection } from './caller.ts'
import { audienceOf } from './clients.ts'
import { dialects } from './dialects.ts'
import { listDifferences, type ScimDifference } from './differences.ts'
import { rulesOf } from './rules.ts'
import type { DirectoryRow } from './tables.ts'
import { listTokens } from './tokens.ts'

const pageSize = 100

/** Without a connection: the form that makes the first one. `token`: shown once. */
export async function drawDirectory(
  page: PortalPage,
  connection: Connection | undefined,
  all: readonly Row<DirectoryRow>[],
  token: string | undefined,
): Promise<PortalView> {
  const { say, tabs } = page.tools
  const items = all.map((row) => ({ label: row.name, to: page.to({ directory: row.id }), current: row.id === connection?.directory.id }))
  return {
    lead: say('scim.portal.lead'),
    body: [
      token !== undefined && drawNewToken(page, token),
      items.length > 1 && tabs({ label: say('scim.portal'), items }),
      connection ? await drawParts(page, connection) : await drawCreation(page),
    ],
  }
}

async function drawCreation({ tools, form, typed }: PortalPage): Promise<Content> {
  const { say, card, field, submit } = tools
  const name = field('name', {
    label: say('scim.portal.name') as string,
    type: 'text',
    required: true,
    maxlength: 100,
    value: typed('name', 'Okta'),
  })
  return card({
    title: say('scim.portal.connect'),
    text: say('scim.portal.connect.text'),
    body: await form('create', [name, submit(say('scim.portal.connect'))]),
  })
}

function drawNewToken({ tools }: PortalPage, token: string): Content {
  const { say, card, copyable } = tools
  return card({
    title: say('scim.portal.token.new'),
    text: say('scim.portal.token.once'),
    body: copyable(token, { label: say('scim.portal.token') }),
  })
}

async function drawParts(page: PortalPage, connection: Connection): Promise<Content> {
  return [
    await drawAccess(page, connection),
    await drawRules(page, connection),
    await drawDifferences(page, connection),
    await drawCalls(page, connection),
  ]
}

async function drawAccess(page: PortalPage, connection: Connection): Promise<Content> {
  const { ctx, tools, form } = page
  const { directory } = connection
  const { say, card, copyable, row, button, date } = tools
  const more = { directory: directory.id }
  const tokens = await Promise.all(
    (await listTokens(ctx, directory.id)).map(async ({ id, shown, expires, lastUsed }) =>
      row({
        id: `token-${id}`,
        title: shown,
        text: [
          say('scim.portal.token.expires', { date: date(expires) }),
          lastUsed ? say('scim.portal.token.used', { date: date(lastUsed) }) : say('scim.portal.token.unused'),
        ],
        actions: [
          await form('rotate', button(say('scim.portal.token.rotate'), { describedBy: `token-${id}` }), { ...more, token: id }),
          await form('revoke', button(say('scim.portal.token.revoke'), { tone: 'danger', describedBy: `token-${id}` }), {
            ...more,
            token: id,
          }),
        ],
      }),
    ),
  )
  return card({
    title: directory.name,
    text: say('scim.portal.numbers', { users: String(directory.users), groups: String(directory.groups) }),
    actions: await form('token', button(say('scim.portal.token.create')), more),
    body: [copyable(audienceOf(ctx), { label: say('scim.portal.address') }), tokens, await drawDialect(page, connection)],
  })
}

/** The product that sends, as chosen or detected. */
async function drawDialect({ tools, form }: PortalPage, { directory }: Connection): Promise<Content> {
  const { say, select, submit, html } = tools
  const found = dialects.find(({ dialect }) => dialect === directory.detected)
  const options = [
    ['', found ? say('scim.portal.dialect.detected', { name: found.name }) : say('scim.portal.dialect.automatic')] as const,
    ...dialects.map(({ dialect, name }) => [dialect, dialect === 'standard' ? say('scim.portal.dialect.standard') : name] as const),
  ]
  const fields = [
    select('dialect', {
      label: say('scim.portal.dialect') as string,
      options,
      value: directory.dialect ?? '',
    }),
    html`<p class="hint">${say('scim.portal.dialect.text')}</p>`,
    submit(say('scim.portal.dialect.save'), { quiet: true }),
  ]
  return form('dialect', fields, { directory: directory.id })
}

async function drawRules({ ctx, tools, form, typed }: PortalPage, { directory }: Connection): Promise<Content> {
  const { say, card, row, button, field, select, submit, html } = tools
  const organizations = ctx.service('organizations')
  const { roles = [], teams = [] } = rulesOf(directory)
  const known = (await organizations.listTeams(ctx, directory.organizationId)).map(({ id, name }) => [`team:${id}`, name] as const)
  const offered = (await organizations.listRoles(ctx, directory.organizationId)).filter((role) => role !== 'owner')
  const nameOf = new Map(known)
  const rules = [
    ...roles.map(({ group, role }) => ({ group, gives: `role:${role}`, text: say('scim.portal.rule.role', { name: role }) })),
    ...teams.map(({ group, team }) => ({
      group,
      gives: `team:${team}`,
      text: say('scim.portal.rule.team', { name: nameOf.get(`team:${team}`) ?? say('scim.portal.rule.gone') }),
    })),
  ]
  const rows = await Promise.all(
    rules.map(async ({ group, gives, text }, at) =>
      row({
        id: `rule-${at}`,
        title: html`<bdi>${group}</bdi>`,
        text,
        actions: await form('unrule', button(say('scim.portal.rule.remove'), { tone: 'danger', describedBy: `rule-${at}` }), {
          directory: directory.id,
          group,
          gives,
        }),
      }),
    ),
  )
  const options = [
    ...offered.map((role) => [`role:${role}`, say('scim.portal.rule.role', { name: role })] as const),
    ...known.map(([value, name]) => [value, say('scim.portal.rule.team', { name })] as const),
  ]
  const fields = [
    field('group', { label: say('scim.portal.rule.group') as string, type: 'text', required: true, maxlength: 255, value: typed('group') }),
    select('gives', { label: say('scim.portal.rule.gives') as string, options, value: typed('gives') }),
    submit(say('scim.portal.rule.add'), { quiet: true }),
  ]
  return card({
    title: say('scim.portal.rules'),
    text: say('scim.portal.rules.text'),
    body: [rows, await form('rule', fields, { directory: directory.id })],
  })
}

/** The dry run: what a resync would change. */
async function drawDifferences({ tools, form, params, to }: PortalPage, connection: Connection): Promise<Content> {
  const { say, card, table, button, buttonLink, html, emptyState } = tools
  const { directory } = connection
  const first = await listDifferences(connection, { cursor: params['after'], limit: pageSize })
  // Behind the last user of the directory come members whom it does not know: of a small one both fit.
  const second = first.cursor === 'members' ? await listDifferences(connection, { cursor: first.cursor, limit: pageSize }) : undefined
  const differences = [...first.differences, ...(second?.differences ?? [])]
  const { cursor } = second ?? first
  const resync = params['resync']
  const more = { directory: directory.id, ...(resync !== undefined && { cursor: resync }) }
  const restore = html`<label class="check"
    ><input type="checkbox" name="restore" /> <span>${say('scim.portal.resync.restore')}</span></label
  >`
  const nameOf = (value: string | null): Content => (value === null ? '–' : html`<bdi>${value}</bdi>`)
  return card({
    title: say('scim.portal.differences'),
    text: resync === undefined ? say('scim.portal.differences.text') : say('scim.portal.resync.more'),
    actions: cursor !== undefined && buttonLink(say('scim.portal.differences.next'), to({ directory: directory.id, after: cursor })),
    body: [
      table({
        label: say('scim.portal.differences'),
        path: '/portal/directory',
        query: { directory: directory.id },
        columns: ['who', 'what', 'app', 'wanted', 'resync'].map((name) => ({ title: say(`scim.portal.column.${name}`) })),
        rows: differences.map((one: ScimDifference) => [
          nameOf(one.userName),
          say(`scim.portal.kind.${one.kind}`),
          nameOf(one.app),
          nameOf(one.directory),
          say(`scim.portal.outcome.${one.resync}`),
        ]),
        empty: emptyState({ title: say('scim.portal.differences.none') }),
      }),
      await form(
        'resync',
        [restore, button(say(resync === undefined ? 'scim.portal.resync' : 'scim.portal.resync.continue'), { tone: 'primary' })],
        more,
      ),
    ],
  })
}

async function drawCalls({ ctx, tools }: PortalPage, { directory }: Connection): Promise<Content> {
  const { say, card, table, moment, tag, html, emptyState } = tools
  const calls = await listCalls(ctx, directory.id, 50)
  return card({
    title: say('scim.portal.calls'),
    text: say('scim.portal.calls.text'),
    body: table({
      label: say('scim.portal.calls'),
      path: '/portal/directory',
      columns: ['when', 'call', 'answer'].map((name) => ({ title: say(`scim.portal.column.${name}`) })),
      rows: calls.map(({ at, method, path, status, detail }) => [
        moment(at),
        html`<code>${method} ${path}</code>`,
        [tag(String(status), status < 400 ? 'ok' : 'danger'), detail !== null && html` <small lang="en">${detail}</small>`],
      ]),
      empty: emptyState({ title: say('scim.portal.calls.none') }),
    }),
  })
}
