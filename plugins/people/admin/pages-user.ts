/** One user: what plugins keep, and what may be done. */
import type { AuditRecord } from 'authkernel/plugins/audit'
import type { Content, PageTools, PageView } from 'authkernel/kernel'
import type { UserDetails } from './details.ts'
import type { PageRequest } from './pages-frame.ts'
import { drawActButtons } from './pages-acts.ts'
import { userLabel } from './pages-users.ts'

export async function drawUser(request: PageRequest): Promise<PageView> {
  const { acts, ctx, tools, params, may } = request
  const { html, say, alert, toast, card, facts, tag, avatar, moment, link, date } = tools
  const { id = '', done, error } = params
  const user = await acts.getDetails(ctx.request, id)
  if (!user) return { title: say('admin.title'), body: [alert('AdminRefused'), link(say('admin.title'), '/admin')], status: 404 }
  const log = may('audit') && ctx.app.services.auditLog ? await readLog(request, user.id) : undefined
  const { profile, danger } = await drawActButtons(request, user)
  return {
    title: userLabel(user),
    lead: user.email !== userLabel(user) ? user.email : undefined,
    body: [
      alert(error),
      done !== undefined && toast(say(done === 'pending' ? 'admin.waits' : 'admin.done')),
      user.ban &&
        html`<p role="alert" class="alert">
          ${say('admin.banned')}: ${user.ban.reason}${user.ban.until && html` · ${date(user.ban.until)}`}
        </p>`,
      card({
        title: userLabel(user),
        picture: avatar({ name: userLabel(user), picture: user.image, size: 'large' }),
        text: user.email,
        tags: [
          user.ban && tag(say('admin.banned'), 'danger'),
          user.email !== null && tag(say(user.emailVerified ? 'admin.proved' : 'admin.unproved'), user.emailVerified ? 'ok' : 'warn'),
          user.role !== null && tag(user.role),
        ],
        body: [
          facts([
            [say('admin.id'), html`<code>${user.id}</code>`],
            [say('admin.lastSeen'), user.lastSeen ? moment(user.lastSeen) : say('admin.never')],
            ...Object.entries(user.fields).map(([name, value]) => [name, value === null ? undefined : String(value)] as const),
          ]),
          html`<div class="ui-end">${profile}</div>`,
        ],
      }),
      drawLists(tools, user),
      log && card({ title: say('admin.audit'), body: log.map((record) => drawRecord(tools, record)) }),
      danger && card({ title: say('admin.deleteUser'), text: say('admin.deleteUser-text'), danger: true, actions: danger }),
    ],
    ...(error !== undefined && { status: 400 }),
  }
}

async function readLog({ acts, ctx }: PageRequest, userId: string): Promise<AuditRecord[]> {
  const { records } = await acts.listAudit(ctx.request, { userId, limit: 10 })
  return records
}

function drawRecord({ row, tag, moment }: PageTools, { name, outcome, actor, target, time }: AuditRecord): Content {
  return row({
    title: name,
    text: [actor.id ?? actor.type, target?.['reason'] as string | undefined, moment(new Date(time))],
    tags: outcome === 'success' ? undefined : tag(outcome, 'danger'),
  })
}

function drawLists(tools: PageTools, user: UserDetails): Content {
  const { say, card, row, moment, html, emptyState } = tools
  const list = <T>(title: string, items: readonly T[] | null, draw: (item: T) => Content): Content =>
    items !== null && card({ title: say(title), body: items.length === 0 ? emptyState({ title: say('admin.empty') }) : items.map(draw) })
  const optional = <T>(title: string, items: readonly T[], draw: (item: T) => Content): Content =>
    items.length > 0 && list(title, items, draw)
  return [
    list('admin.accounts', user.accounts, ({ provider, providerAccountId }) => row({ title: provider, text: providerAccountId })),
    optional('admin.passkeys', user.passkeys, ({ id, synced }) =>
      row({ title: `${id}…`, text: say(synced ? 'admin.synced' : 'admin.single') }),
    ),
    optional('admin.factors', user.factors, ({ kind, created }) => row({ title: kind, text: moment(created) })),
    list('admin.sessions', user.sessions, ({ userAgent, address, lastUsed, created }) =>
      row({ title: userAgent ?? say('admin.unknown'), text: [address, (lastUsed ?? created) && moment((lastUsed ?? created) as Date)] }),
    ),
    optional('admin.keys', user.keys, ({ name, scopes, created }) => row({ title: name, text: [scopes.join(', '), moment(created)] })),
    optional('admin.apps', user.apps, ({ client, scopes, started }) => row({ title: client, text: [scopes.join(', '), moment(started)] })),
    optional('admin.organizations', user.organizations, ({ name, role, joined }) =>
      row({ title: html`<bdi>${name}</bdi>`, text: [role, moment(joined)] }),
    ),
  ]
}
