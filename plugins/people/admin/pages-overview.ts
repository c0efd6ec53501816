/** The first page: numbers of the last days, a chart, and acts that wait for a second administrator. */
import { type Content, type Context, type Markup, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
import type { PendingApproval } from './approvals.ts'
import type { AdminActs } from './methods.ts'
import { type PageRequest, isRefusal } from './pages-frame.ts'
import type { DayCounts } from './overview.ts'

const days = 30

export async function drawOverview({ acts, ctx, tools, params, may }: PageRequest): Promise<PageView> {
  const { say, card, stats, alert, toast, lang } = tools
  const { users, totals, days: list } = await acts.getOverview(ctx.request, { days })
  const number = (value: number): string => new Intl.NumberFormat(lang).format(value)
  const pending = may('list') ? await acts.listApprovals(ctx.request) : []
  const numbers = [
    ...(users === null ? [] : [{ label: say('admin.title'), value: number(users), text: `+${number(totals.users)}` }]),
    { label: say('admin.signIns'), value: number(totals.signIns) },
    { label: say('admin.failures'), value: number(totals.failures) },
    { label: say('admin.newFactors'), value: number(totals.factors) },
  ]
  return {
    title: say('admin.overview'),
    lead: say('admin.days', { days }),
    body: [
      alert(params['error']),
      params['done'] !== undefined && toast(say('admin.done')),
      stats(numbers),
      card({ title: say('admin.chart'), text: say('admin.chart-text'), body: drawChart(tools, list) }),
      may('list') &&
        card({
          title: say('admin.pending'),
          text: say('admin.pending-text'),
          body: await drawPending(ctx, acts, tools, pending),
        }),
    ],
  }
}

/** `POST /admin/approval`. */
export async function postApproval(acts: AdminActs, ctx: Context): Promise<Response> {
  const { id, answer } = await ctx.body()
  const back = (query: string): Response => redirectTo(`${ctx.base}/admin/overview?${query}`)
  try {
    if (answer === 'approve') await acts.approve(ctx.request, String(id))
    else if (answer === 'refuse') await acts.refuse(ctx.request, String(id))
    else return back('')
    return back('done=1')
  } catch (error) {
    if (!isRefusal(error)) throw error
    return back('error=AdminRefused')
  }
}

async function drawPending(ctx: Context, acts: AdminActs, tools: PageTools, pending: readonly PendingApproval[]): Promise<Content> {
  const { say, row, form, button, emptyState, moment, html } = tools
  if (pending.length === 0) return emptyState({ title: say('admin.pending-none') })
  const own = (await ctx.session.user(ctx))?.id
  const nameOf = async (id: string): Promise<string> => {
    const user = await acts.get(ctx.request, id)
    return user?.name ?? user?.email ?? id
  }
  return Promise.all(
    pending.map(async ({ id, act, userId, by, reason, expires }) => {
      const rowId = `request-${id}`
      const answer = (value: string, danger = false): Promise<Content> =>
        form('/admin/approval', button(say(`admin.${value}`), { tone: danger ? 'danger' : 'plain', describedBy: rowId }), {
          id,
          answer: value,
        })
      const buttons = await Promise.all([by !== own && answer('approve', true), answer('refuse')])
      return row({
        id: rowId,
        title: html`${say(`admin.${act}`)}: <bdi>${await nameOf(userId)}</bdi>`,
        text: [say('admin.by', { name: await nameOf(by) }), reason, moment(expires)],
        actions: buttons,
      })
    }),
  )
}

const [width, height] = [760, 160]

/** Sign-ins as a line, failures as a dashed one. The numbers are in the text beside it, for those who do not see it. */
function drawChart({ html, say, lang }: PageTools, list: readonly DayCounts[]): Markup {
  const most = Math.max(1, ...list.flatMap(({ signIns, failures }) => [signIns, failures]))
  const points = (kind: 'signIns' | 'failures'): string =>
    list
      .map(
        (one, at) =>
          `${Math.round((at * width) / Math.max(1, list.length - 1))},${Math.round(height - 8 - (one[kind] / most) * (height - 16))}`,
      )
      .join(' ')
  const date = new Intl.DateTimeFormat(lang, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const dayText = (day: string | undefined): string => (day === undefined ? '' : date.format(new Date(day)))
  const rows = list.map(
    ({ day, signIns, failures }) =>
      html`<tr>
        <th scope="row">${dayText(day)}</th>
        <td>${signIns}</td>
        <td>${failures}</td>
      </tr>`,
  )
  return html`<div>
      <svg viewBox="0 0 ${width} ${height}" width="100%" role="img" aria-label="${say('admin.chart')}">
        <line x1="0" y1="${height - 8}" x2="${width}" y2="${height - 8}" stroke="var(--line)" />
        <polyline fill="none" stroke="var(--focus)" stroke-width="2.5" points="${points('signIns')}" />
        <polyline fill="none" stroke="var(--alert)" stroke-width="2" stroke-dasharray="6 4" points="${points('failures')}" />
      </svg>
    </div>
    <p class="note">${dayText(list[0]?.day)} – ${dayText(list.at(-1)?.day)} · ${say('admin.most', { count: most })}</p>
    <details>
      <summary>${say('admin.numbers')}</summary>
      <div class="ui-table" role="group" tabindex="0" aria-label="${say('admin.chart')}">
        <table aria-label="${say('admin.chart')}">
          <thead>
            <tr>
              <th scope="col">${say('admin.day')}</th>
              <th scope="col">${say('admin.signIns')}</th>
              <th scope="col">${say('admin.failures')}</th>
            </tr>
          </thead>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </div>
    </details>`
}
