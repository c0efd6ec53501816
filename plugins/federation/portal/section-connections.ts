/** Connections: the list, the choice of a product, and one connection from its values to "switched on". */
import type { Content } from 'authkernel/kernel'
import type { Connection } from 'authkernel/plugins/sso'
import { drawConnection, drawState } from './connection-page.ts'
import { actOnConnection } from './connection-forms.ts'
import { products, productOf } from './products.ts'
import type { PortalPage, PortalSection } from './sections.ts'
import { ssoOf } from './sso.ts'

export const connectionsSection: PortalSection = {
  id: 'connections',
  order: 200,
  label: 'portal.connections',
  scope: 'sso',
  async step(visit) {
    const sso = ssoOf(visit)
    if (!sso) return undefined
    const done = (await sso.list()).some(({ enabled }) => enabled)
    return { done, text: done ? 'portal.connections.step.done' : 'portal.connections.step.open' }
  },
  async draw(page) {
    const { connection, product } = page.params
    if (connection !== undefined) return drawConnection(page, connection)
    if (product !== undefined) return { lead: page.tools.say('portal.protocol.lead'), body: await drawProtocols(page, product) }
    const connections = (await ssoOf(page)?.list()) ?? []
    return {
      lead: page.tools.say('portal.connections.lead'),
      body: [connections.length > 0 && drawList(page, connections), drawProducts(page)],
    }
  },
  act: actOnConnection,
}

function drawList({ tools, to }: PortalPage, connections: readonly Connection[]): Content {
  const { say, card, row, buttonLink, html } = tools
  return card({
    title: say('portal.connections'),
    body: connections.map((connection) => {
      const describedBy = `connection-${connection.id}`
      return row({
        id: describedBy,
        title: html`<bdi>${connection.name}</bdi>`,
        text: [
          productOf(connection.product).name || say('portal.product.other'),
          connection.type === 'saml' ? 'SAML 2.0' : 'OpenID Connect',
        ],
        tags: drawState(tools, connection),
        actions: buttonLink(say('portal.step.go'), to({ connection: connection.id }), { describedBy }),
      })
    }),
  })
}

function drawProducts({ tools, to }: PortalPage): Content {
  const { say, card, row, buttonLink } = tools
  return card({
    id: 'products',
    title: say('portal.products'),
    text: say('portal.products.lead'),
    body: products.map(({ id, name }) => {
      const describedBy = `product-${id}`
      return row({
        id: describedBy,
        title: name || say('portal.product.other'),
        actions: buttonLink(say('portal.choose'), to({ product: id }), { describedBy }),
      })
    }),
  })
}

async function drawProtocols({ tools, form, to }: PortalPage, id: string): Promise<Content> {
  const { say, card, button, link } = tools
  const product = productOf(id)
  const name = product.name || say('portal.product.own')
  return [
    card({
      title: 'SAML 2.0',
      text: say('portal.protocol.saml'),
      actions: await form('create', button(say('portal.protocol.choose', { protocol: 'SAML 2.0' }), { tone: 'primary' }), {
        product: product.id,
        type: 'saml',
      }),
    }),
    card({
      title: 'OpenID Connect',
      text: say('portal.protocol.oidc', { product: name }),
      actions: await form('create', button(say('portal.protocol.choose', { protocol: 'OpenID Connect' })), {
        product: product.id,
        type: 'oidc',
      }),
    }),
    link(say('portal.back'), to()),
  ]
}
