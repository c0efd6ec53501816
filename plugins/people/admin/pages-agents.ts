/** Agents of all users, with the kill switch. */
import { type Content, type Context, type PageView, redirectTo } from 'authkernel/kernel'
import type { Agent } from 'authkernel/plugins/agents'
import type { AdminActs } from './methods.ts'
import { isRefusal, type PageRequest } from './pages-frame.ts'

const limit = 50

/** `GET /admin/agents`. */
export async function drawAgents(request: PageRequest): Promise<PageView> {
  const { acts, ctx, tools, params, may } = request
  const { say, table, card, html, moment, base, emptyState, alert, toast, tag } = tools
  const { items, cursor } = await acts.listAgents(ctx.request, { limit, cursor: params['after'] })
  const rows = items.map(async (agent) => {
    const { id, name, tail, ownerId, scopes, state, left, requests, lastUsed } = agent
    const act = state.startsWith('stopped') ? 'startAgent' : 'stopAgent'
    return [
      html`<span><bdi>${name}</bdi> <small>…${tail}</small></span>`,
      html`<a href="${base}/admin/user?${new URLSearchParams({ id: ownerId }).toString()}">${say('admin.user')}</a>`,
      scopes.join(', '),
      state === 'running'
        ? tag(say('admin.enabled'), 'ok')
        : tag(say(state === 'spent' ? 'admin.agent-spent' : `admin.agent-${state.replace('stopped by ', '')}`), 'warn'),
      `${left} / ${requests}`,
      lastUsed ? moment(lastUsed) : say('admin.never'),
      may(act) ? await drawAct(request, agent, act, params['agent'] === id) : '',
    ]
  })
  return {
    title: say('admin.agents'),
    body: [
      alert(params['error']),
      params['done'] !== undefined && toast(say('admin.done')),
      card({
        title: say('admin.agents'),
        text: say('admin.agents-text'),
        body: table({
          label: say('admin.agents'),
          path: '/admin/agents',
          query: { after: params['after'] },
          columns: [
            ...['admin.name', 'admin.user', 'admin.scopes', 'admin.status', 'admin.requests', 'admin.lastUsed'].map((title) => ({
              title: say(title),
            })),
            { title: say('admin.stopAgent'), actions: true },
          ],
          rows: await Promise.all(rows),
          empty: emptyState({ title: say('admin.empty') }),
          ...(cursor !== undefined && { next: { after: cursor } }),
        }),
      }),
    ],
  }
}

/** `POST /admin/agent`. */
export async function postAgent(acts: AdminActs, ctx: Context): Promise<Response> {
  const { id, action, reason } = await ctx.body()
  const act = action === 'startAgent' ? 'startAgent' : 'stopAgent'
  try {
    const done = await acts[act](ctx.request, String(id ?? ''), { reason: String(reason ?? '') })
    return redirectTo(`${ctx.base}/admin/agents${done ? '?done=1' : ''}`)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return redirectTo(`${ctx.base}/admin/agents?error=AdminRefused`)
  }
}

/** A dialog; without JavaScript the form in its row (`isOpen`). */
async function drawAct(
  { tools, params }: PageRequest,
  { id, name }: Agent,
  act: 'stopAgent' | 'startAgent',
  isOpen: boolean,
): Promise<Content> {
  const { say, form, field, button, dialog } = tools
  const tone = act === 'stopAgent' ? 'danger' : 'plain'
  const body = await form(
    '/admin/agent',
    [
      field('reason', { label: 'admin.reason', type: 'text', required: true, maxlength: 500 }, `agent-${id}`),
      button(say(`admin.${act}`), { tone: act === 'stopAgent' ? 'danger' : 'primary' }),
    ],
    { id, action: act },
  )
  if (isOpen) return body
  const query = { agent: id, ...(params['after'] !== undefined && { after: params['after'] }) }
  const path = `/admin/agents?${new URLSearchParams(query).toString()}`
  return dialog({
    id: `agent-${id.replace(/\W/g, '-')}`,
    label: say(`admin.${act}`),
    title: name,
    text: say(`admin.${act}-text`),
    body,
    path,
    tone,
  })
}
