/** The section of the portal: the IT of a customer connects its directory, sets rules, and sees calls and differences. */
import type { Context, Kernel, Row } from 'authkernel/kernel'
import type { PortalOutcome, PortalSection, PortalVisit } from 'authkernel/plugins/portal'
import type { Connection } from './caller.ts'
import type { Dialect } from './dialects.ts'
import { createDirectory, updateDirectory } from './directories.ts'
import { DirectoryInput } from './errors.ts'
import { messages } from './messages.ts'
import type { ResolvedOptions } from './options.ts'
import { drawDirectory } from './pages-directory.ts'
import { resyncDirectory } from './resync.ts'
import { rulesOf } from './rules.ts'
import type { DirectoryRow } from './tables.ts'
import { createToken, listTokens, revokeToken, rotateToken } from './tokens.ts'

const id = 'directory'
const maxDirectories = 10
const resyncLimit = 200

// A token that the page shows once, after the form that made it.
const newTokens = new WeakMap<Context, string>()

/** Adds the section where portalPlugin is there. */
export function addPortalSection(kernel: Kernel, options: ResolvedOptions): void {
  kernel.messages(messages)
  kernel.hook('portalSections', ({ sections }) => [...sections, createSection(options)], { of: 'portal' })
}

function createSection(options: ResolvedOptions): PortalSection {
  return {
    id,
    order: 400,
    label: 'scim.portal',
    scope: 'directory',
    async step(visit) {
      const rows = await listOwn(visit)
      const done = rows.some(({ users }) => users > 0)
      return { done, text: done ? 'scim.portal.step.done' : 'scim.portal.step.open' }
    },
    async draw(page) {
      const rows = await listOwn(page)
      const chosen = rows.find((row) => row.id === page.params['directory']) ?? rows[0]
      const connection = chosen && { ctx: page.ctx, options, directory: chosen }
      return drawDirectory(page, connection, rows, newTokens.get(page.ctx))
    },
    act: (visit, action, fields) => act(visit, options, action, fields),
  }
}

async function act(
  visit: PortalVisit,
  options: ResolvedOptions,
  action: string,
  fields: Readonly<Record<string, string>>,
): Promise<PortalOutcome> {
  const { ctx } = visit
  if (action === 'create') {
    if ((await listOwn(visit)).length >= maxDirectories)
      throw new DirectoryInput(`scim: an organization has at most ${maxDirectories} directories.`)
    const name = fields['name'] ?? ''
    const directory = await asInput(() => createDirectory(ctx, { organizationId: visit.organization.id, name }))
    return showToken(visit, (await createToken(ctx, options, { directoryId: directory.id })).token)
  }
  const directory = await requireOwn(visit, fields['directory'])
  const query = { directory: directory.id }
  if (action === 'token') return showToken(visit, (await createToken(ctx, options, { directoryId: directory.id })).token)
  if (action === 'rotate' || action === 'revoke') {
    const token = (await listTokens(ctx, directory.id)).find((one) => one.id === fields['token'])
    if (!token) throw new DirectoryInput('scim: the directory has no such token.')
    if (action === 'revoke') {
      await revokeToken(ctx, token.id)
      return { query }
    }
    const next = await rotateToken(ctx, options, token.id)
    return next ? showToken(visit, next.token) : { query }
  }
  if (action === 'dialect') {
    await asInput(() => updateDirectory(ctx, directory.id, { dialect: (fields['dialect'] || null) as Dialect | null }))
    return { query }
  }
  if (action === 'rule' || action === 'unrule') {
    await changeRules({ ctx, options, directory }, action, fields)
    return { query }
  }
  if (action === 'resync') {
    const { cursor } = await resyncDirectory(
      { ctx, options, directory },
      { cursor: fields['cursor'] || undefined, limit: resyncLimit, restore: fields['restore'] === 'on' },
    )
    return { query: { ...query, ...(cursor !== undefined && { resync: cursor }) } }
  }
  throw new DirectoryInput('scim: the form has no such action.')
}

/** Adds or removes one rule. A group gives no ownership here: the link of the portal must not make owners. */
async function changeRules(
  { ctx, directory }: Connection,
  action: 'rule' | 'unrule',
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  const { role, roles = [], teams = [] } = rulesOf(directory)
  const group = (fields['group'] ?? '').trim()
  const [kind, value = ''] = (fields['gives'] ?? '').split(/:(.*)/s)
  const isOther = (one: { group: string; role?: string; team?: string }): boolean =>
    one.group.toLowerCase() !== group.toLowerCase() || (one.role ?? one.team) !== value
  const next = { ...(role !== undefined && { role }), roles: [...roles], teams: [...teams] }
  if (action === 'unrule') Object.assign(next, { roles: roles.filter(isOther), teams: teams.filter(isOther) })
  else if (kind === 'team') next.teams = [...teams.filter(isOther), { group, team: value }]
  else {
    const known = (await ctx.service('organizations').listRoles(ctx, directory.organizationId)).filter((one) => one !== 'owner')
    if (kind !== 'role' || !known.includes(value)) throw new DirectoryInput('scim: a rule gives a role or a team of the organization.')
    next.roles = [...roles.filter(isOther), { group, role: value }]
  }
  await asInput(() => updateDirectory(ctx, directory.id, { rules: next }))
}

function showToken({ ctx }: PortalVisit, token: string): Promise<Response> {
  newTokens.set(ctx, token)
  return Promise.resolve(ctx.render('portal', { section: id }))
}

async function listOwn({ ctx, organization }: PortalVisit): Promise<Row<DirectoryRow>[]> {
  return (await ctx.records('scimDirectory').find({ where: { organizationId: organization.id }, limit: 100 })).rows
}

/** A directory of another organization is as absent as one that is not there. */
async function requireOwn(visit: PortalVisit, directoryId: string | undefined): Promise<Row<DirectoryRow>> {
  const found = (await listOwn(visit)).find((row) => row.id === directoryId)
  if (!found) throw new DirectoryInput('scim: the organization has no such directory.')
  return found
}

// What a method refuses with TypeError was typed into a field here.
async function asInput<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TypeError) throw new DirectoryInput(error.message, { cause: { err: error } })
    throw error
  }
}
