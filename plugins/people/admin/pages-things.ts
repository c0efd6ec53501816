/** Organizations and API keys. */
import { type Context, type PageView, redirectTo } from 'authkernel/kernel'
import type { AdminActs } from './methods.ts'
import { type PageRequest, isRefusal } from './pages-frame.ts'

const limit = 50

/** `GET /admin/organizations`. */
export async function drawOrganizations({ acts, ctx, tools, params }: PageRequest): Promise<PageView> {
  const { say, table, card, html, moment, base, emptyState } = tools
  const { items, cursor } = await acts.listOrganizations(ctx.request, { limit, ...(params['after'] && { cursor: params['after'] }) })
  const link = (id: string): string => `${base}/admin?${new URLSearchParams({ organization: id }).toString()}`
  return {
    title: say('admin.organizations'),
    body: card({
      title: say('admin.organizations'),
      text: say('admin.organizations-text'),
      body: table({
        label: say('admin.organizations'),
        path: '/admin/organizations',
        query: params,
        columns: ['admin.name', 'admin.members', 'admin.created'].map((title) => ({ title: say(title) })),
        rows: items.map(({ id, name, members, created }) => [html`<a href="${link(id)}"><bdi>${name}</bdi></a>`, members, moment(created)]),
        empty: emptyState({ title: say('admin.empty') }),
        ...(cursor !== undefined && { next: { after: cursor } }),
      }),
    }),
  }
}

/** `GET /admin/keys`. */
export async function drawKeys({ acts, ctx, tools, params, may }: PageRequest): Promise<PageView> {
  const { say, table, card, html, moment, base, emptyState, dialog, form, field, button, alert, toast } = tools
  const { items, cursor } = await acts.listKeys(ctx.request, { limit, ...(params['after'] && { cursor: params['after'] }) })
  const rows = items.map(async ({ id, name, tail, userId, scopes, created, lastUsed }) => {
    const body = await form(
      '/admin/key',
      [
        field('reason', { label: 'admin.reason', type: 'text', required: true, maxlength: 500 }, `key-${id}`),
        button(say('admin.revokeKey'), { tone: 'danger' }),
      ],
      { id },
    )
    const owner =
      userId === null ? '–' : html`<a href="${base}/admin/user?${new URLSearchParams({ id: userId }).toString()}">${say('admin.user')}</a>`
    const revoke = dialog({
      id: `revoke-${id}`,
      label: say('admin.revokeKey'),
      title: name,
      body,
      path: `/admin/keys?revoke=${id}`,
      tone: 'danger',
    })
    return [
      html`<span><bdi>${name}</bdi> <small>…${tail}</small></span>`,
      owner,
      scopes.join(', ') || '–',
      lastUsed ? moment(lastUsed) : say('admin.never'),
      moment(created),
      may('revokeKey') ? (params['revoke'] === id ? body : revoke) : '',
    ]
  })
  return {
    title: say('admin.keys'),
    body: [
      alert(params['error']),
      params['done'] !== undefined && toast(say('admin.done')),
      card({
        title: say('admin.keys'),
        body: table({
          label: say('admin.keys'),
          path: '/admin/keys',
          query: { after: params['after'] },
          columns: [
            ...['admin.name', 'admin.user', 'admin.scopes', 'admin.lastUsed', 'admin.created'].map((title) => ({ title: say(title) })),
            { title: say('admin.revokeKey'), actions: true },
          ],
          rows: await Promise.all(rows),
          empty: emptyState({ title: say('admin.empty') }),
          ...(cursor !== undefined && { next: { after: cursor } }),
        }),
      }),
    ],
  }
}

/** `POST /admin/key`. */
export async function postKey(acts: AdminActs, ctx: Context): Promise<Response> {
  const { id, reason } = await ctx.body()
  try {
    const done = await acts.revokeKey(ctx.request, String(id), { reason: String(reason ?? '') })
    return redirectTo(`${ctx.base}/admin/keys${done ? '?done=1' : ''}`)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return redirectTo(`${ctx.base}/admin/keys?error=AdminRefused`)
  }
}
