/** One connection: its values, its identity provider, attributes, the test, and the switch. */
import type { Content } from 'authkernel/kernel'
import type { Connection } from 'authkernel/plugins/sso'
import { drawAttributes } from './connection-attributes.ts'
import { drawCertificates } from './connection-certificates.ts'
import { drawProvider } from './connection-provider.ts'
import { drawResultLink, drawTest } from './connection-test.ts'
import { type Guide, productOf, type ValueName } from './products.ts'
import type { PortalPage, PortalView } from './sections.ts'
import { ssoOf } from './sso.ts'

/** Throws NoSuchConnection for one of another organization. */
export async function drawConnection(page: PortalPage, id: string): Promise<PortalView> {
  const { say, html, link } = page.tools
  const connection = await ssoOf(page)!.get(id)
  const product = productOf(connection.product)
  return {
    title: connection.name,
    lead: html`${product.name || say('portal.product.other')} · ${connection.type === 'saml' ? 'SAML 2.0' : 'OpenID Connect'}
    ${drawState(page.tools, connection)}`,
    body: [
      await drawResultLink(page, connection),
      drawValues(page, connection, product[connection.type]),
      await drawProvider(page, connection),
      !connection.draft && (await drawAttributes(page, connection)),
      !connection.draft && (await drawTest(page, connection)),
      !connection.draft && (await drawSwitch(page, connection)),
      !connection.draft && connection.type === 'saml' && (await drawCertificates(page, connection)),
      await drawRemoval(page, connection),
      link(say('portal.back'), page.to()),
    ],
    // The test leads to the identity provider, whose address its metadata or discovery document names.
    forms: ['https:'],
  }
}

/** Whether it is on, waits for a test, or has no identity provider. */
export function drawState({ say, tag }: PortalPage['tools'], { enabled, draft, tested }: Connection): Content {
  if (enabled) return tag(say('portal.connection.on'), 'ok')
  if (draft) return tag(say('portal.connection.draft'), 'warn')
  return tag(say(tested ? 'portal.connection.tested' : 'portal.connection.off'), 'warn')
}

function drawValues({ tools, ctx }: PortalPage, { callbackPath, metadataPath, startPath, id }: Connection, guide: Guide): Content {
  const { say, card, copyable, html } = tools
  const url = (path: string): string => ctx.base + path
  const values: Readonly<Record<ValueName, string>> = {
    acs: url(callbackPath),
    redirectUrl: url(callbackPath),
    entityId: url(metadataPath ?? ''),
    metadataUrl: url(metadataPath ?? ''),
    startUrl: url(startPath),
    keysUrl: url(`/sso/keys/${id}`),
  }
  return card({
    id: 'values',
    title: say('portal.values'),
    text: say('portal.values.lead'),
    body: html`<ol class="steps">
      ${
        guide.create !== '' &&
        html`<li>
          <p>${say('portal.values.create')}</p>
          <p lang="en"><b>${guide.create}</b></p>
        </li>`
      }
      <li>
        <p>${say('portal.values.enter')}</p>
        ${guide.values.map(([field, value]) => copyable(values[value], { label: field }))}
      </li>
      ${
        guide.claims.length > 0 &&
        html`<li>
          <p>${say('portal.values.claims')}</p>
          <ul>
            ${guide.claims.map(([name, source]) => html`<li lang="en"><code>${name}</code>${source !== '' && html` – ${source}`}</li>`)}
          </ul>
        </li>`
      }${
        guide.assign !== undefined &&
        html`<li>
          <p>${say('portal.values.assign')}</p>
          <p lang="en"><b>${guide.assign}</b></p>
        </li>`
      }
    </ol>`,
  })
}

async function drawSwitch({ tools, form }: PortalPage, { id, enabled, tested, name }: Connection): Promise<Content> {
  const { say, card, button, field, submit, html } = tools
  return card({
    id: 'state',
    title: say('portal.switch'),
    text: say(enabled ? 'portal.switch.on' : tested ? 'portal.switch.ready' : 'portal.switch.untested'),
    actions: enabled
      ? await form('disable', button(say('portal.switch.disable'), { tone: 'danger' }), { connection: id })
      : tested && (await form('enable', button(say('portal.switch.enable'), { tone: 'primary' }), { connection: id })),
    body: html`${await form(
      'rename',
      [
        field('name', { label: 'portal.connection.name', type: 'text', required: true, maxlength: 100, value: name }, 'rename'),
        submit(say('portal.save'), { quiet: true }),
      ],
      { connection: id },
    )}`,
  })
}

async function drawRemoval({ tools, form }: PortalPage, { id, name }: Connection): Promise<Content> {
  const { say, card, button, field } = tools
  return card({
    id: 'remove',
    title: say('portal.connection.remove'),
    text: say('portal.connection.remove.lead', { name }),
    danger: true,
    body: await form(
      'remove',
      [
        field('name', { label: 'portal.connection.name', type: 'text', required: true, maxlength: 100, autocomplete: 'off' }, 'remove'),
        button(say('portal.connection.remove'), { tone: 'danger' }),
      ],
      { connection: id },
    ),
  })
}
