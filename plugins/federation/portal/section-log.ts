/** The log of sign-ins: who, when, and what to fix. */
import type { Content } from 'authkernel/kernel'
import type { Connection } from 'authkernel/plugins/sso'
import type { PortalPage, PortalSection } from './sections.ts'
import { ssoOf } from './sso.ts'

export const logSection: PortalSection = {
  id: 'log',
  order: 500,
  label: 'portal.log',
  scope: 'sso',
  async draw(page) {
    const { say, card, emptyState } = page.tools
    const connections = (await ssoOf(page)?.list()) ?? []
    const chosen = connections.find(({ id }) => id === page.params['connection']) ?? connections[0]
    return {
      lead: say('portal.log.lead'),
      body: chosen
        ? await drawLog(page, connections, chosen)
        : card({ title: say('portal.log'), body: emptyState({ title: say('portal.connections.none') }) }),
    }
  },
}

async function drawLog(
  { tools, params, ...visit }: PortalPage,
  connections: readonly Connection[],
  { id, name }: Pick<Connection, 'id' | 'name'>,
): Promise<Content> {
  const { say, card, table, moment, tag, html, emptyState } = tools
  const { signIns, cursor } = (await ssoOf(visit)?.signIns(id, { cursor: params['cursor'], limit: 50 })) ?? {
    signIns: [],
    cursor: undefined,
  }
  return card({
    title: name,
    body: table({
      label: say('portal.log'),
      path: '/portal/log',
      query: { connection: id },
      columns: [
        { title: say('portal.log.when') },
        { title: say('portal.log.who') },
        { title: say('portal.log.result') },
        { title: say('portal.log.reason') },
      ],
      rows: signIns.map(({ at, outcome, reason, email, cause }) => [
        moment(at),
        email === null ? '–' : drawAddress(tools, email),
        outcome === 'ok' ? tag(say('portal.log.ok'), 'ok') : tag(say('portal.log.failed'), 'danger'),
        [cause !== null && html`<p>${say(`sso.fix.${cause}`)}</p>`, reason !== null && html`<small lang="en">${reason}</small>`],
      ]),
      filters:
        connections.length > 1
          ? [
              {
                name: 'connection',
                label: say('portal.connections'),
                value: id,
                options: connections.map((one) => [one.id, one.name] as const),
              },
            ]
          : [],
      empty: emptyState({ title: say('portal.log.none') }),
      ...(cursor !== undefined && { next: { cursor } }),
    }),
  })
}

/** A narrow column breaks it before the @. */
function drawAddress({ html }: PortalPage['tools'], email: string): Content {
  const at = email.lastIndexOf('@')
  return html`<bdi class="ui-address">${email.slice(0, at)}<wbr />${email.slice(at)}</bdi>`
}
