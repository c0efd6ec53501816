/** The audit log: filters, files and the check of the chain. */
import { type Context, type Kernel, type PageView } from 'authkernel/kernel'
import { type AuditSearch, checkFormat } from './audit-export.ts'
import type { AdminActs } from './methods.ts'
import type { PageRequest, Params } from './pages-frame.ts'

/** `GET /admin/audit`. */
export async function drawAudit({ acts, ctx, tools, params }: PageRequest): Promise<PageView> {
  const { say, table, card, tag, moment, buttonLink, alert, toast, html, emptyState } = tools
  const { after, check, ...filters } = params
  const { records, cursor } = await acts.listAudit(ctx.request, { ...searchOf(params), limit: 50, cursor: after })
  const checked = check === undefined ? undefined : await acts.verifyAudit(ctx.request)
  const file = (format: string): string => {
    const query = Object.entries({ ...filters, format }).filter((entry): entry is [string, string] => !!entry[1])
    return `/admin/audit-file?${new URLSearchParams(query).toString()}`
  }
  return {
    title: say('admin.audit'),
    body: [
      alert(params['error']),
      checked?.ok && toast(say('admin.chain-whole', { count: checked.records })),
      checked?.ok === false &&
        card({
          title: say('admin.chain-broken'),
          danger: true,
          body: html`<ul>
            ${checked.faults.slice(0, 20).map((fault) => html`<li>${fault}</li>`)}
          </ul>`,
        }),
      card({
        title: say('admin.audit'),
        actions: [
          buttonLink(say('admin.check'), '/admin/audit?check=1'),
          buttonLink('CSV', file('csv')),
          buttonLink('JSON', file('jsonl')),
        ],
        body: table({
          label: say('admin.audit'),
          path: '/admin/audit',
          query: filters,
          search: { name: 'name', label: say('admin.event-label'), value: params['name'] },
          filters: [
            {
              name: 'outcome',
              label: say('admin.outcome'),
              value: params['outcome'],
              options: [
                ['', say('admin.any', { what: say('admin.outcome') })],
                ['success', say('admin.success')],
                ['failure', say('admin.failure')],
                ['denied', say('admin.denied')],
              ],
            },
            {
              name: 'days',
              label: say('admin.time'),
              value: params['days'],
              options: [
                ['', say('admin.any', { what: say('admin.time') })],
                ...['1', '7', '30'].map((days) => [days, say('admin.days', { days })] as const),
              ],
            },
          ],
          columns: ['admin.event', 'admin.actor', 'admin.subject', 'admin.reason', 'admin.time'].map((title) => ({ title: say(title) })),
          rows: records.map(({ name, outcome, actor, subject, reason, target, time }) => [
            [name, outcome !== 'success' && tag(say(`admin.${outcome}`), 'danger')],
            actor.id ?? actor.type,
            subject?.id ?? '–',
            reason ?? String(target?.['reason'] ?? '–'),
            moment(new Date(time)),
          ]),
          empty: emptyState({ title: say('admin.empty') }),
          ...(cursor !== undefined && { next: { after: cursor } }),
        }),
      }),
    ],
  }

  function searchOf(query: Params): AuditSearch {
    return toSearch(ctx, query)
  }
}

/** `GET /admin/audit-file`: all records that fit, as they are read. */
export function addAuditFile(kernel: Kernel, acts: AdminActs): void {
  kernel.route({
    method: 'GET',
    path: '/admin/audit-file',
    async handler(ctx) {
      const params = Object.fromEntries(ctx.url.searchParams)
      const format = checkFormat(params['format'])
      const chunks = (await acts.exportAudit(ctx.request, toSearch(ctx, params), format))[Symbol.asyncIterator]()
      const encoder = new TextEncoder()
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { value, done } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        },
        async cancel() {
          await chunks.return?.()
        },
      })
      return new Response(body, {
        headers: {
          'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
          'content-disposition': `attachment; filename="audit-${ctx.now.toISOString().slice(0, 10)}.${format}"`,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        },
      })
    },
  })
}

function toSearch(ctx: Context, { name, outcome, userId, days }: Params): AuditSearch {
  return {
    ...(name && { name }),
    ...(userId && { userId }),
    ...(['success', 'failure', 'denied'].includes(outcome ?? '') && { outcome: outcome as 'success' }),
    ...(/^[1-9]\d{0,3}$/.test(days ?? '') && { since: new Date(ctx.now.getTime() - Number(days) * 86_400_000) }),
  }
}
