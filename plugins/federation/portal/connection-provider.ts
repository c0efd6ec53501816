/** The identity provider of a connection: metadata by address, file or text, its fields, or OpenID Connect. */
import type { Content } from 'authkernel/kernel'
import type { Connection } from 'authkernel/plugins/sso'
import { productOf } from './products.ts'
import type { PortalPage } from './sections.ts'

/** Where it comes from is in the guide of the product. */
export async function drawProvider(page: PortalPage, connection: Connection): Promise<Content> {
  const { say, card, html } = page.tools
  const { find } = productOf(connection.product)[connection.type]
  const hint =
    find !== '' &&
    html`<p>${say('portal.provider.find')}</p>
      <p lang="en"><b>${find}</b></p>`
  return card({
    id: 'provider',
    title: say('portal.provider'),
    text: say(connection.draft ? 'portal.provider.lead' : 'portal.provider.known'),
    body: [hint, connection.type === 'saml' ? await drawSaml(page, connection) : await drawOidc(page, connection)],
  })
}

async function drawSaml(page: PortalPage, { id, settings, draft }: Connection): Promise<Content> {
  const { tools, form, typed } = page
  const { say, field, submit, select, html, facts } = tools
  const saml = 'entityId' in settings ? settings : undefined
  const area = (name: string, label: Content, rows: number): Content =>
    html`<div class="field">
      <label class="section-header" for="${name}-${id}">${label}</label
      ><textarea name="${name}" id="${name}-${id}" rows="${rows}" spellcheck="false" autocapitalize="none">${typed(name)}</textarea>
    </div>`
  const known =
    !draft &&
    facts([
      [say('portal.saml.entityId'), saml?.entityId],
      [say('portal.saml.metadataUrl'), saml?.metadataUrl],
      [say('portal.saml.signInUrl'), saml?.signInUrl],
    ])
  const url = field('url', {
    label: 'portal.saml.metadataUrl',
    type: 'url',
    maxlength: 1000,
    placeholder: 'https://',
    value: typed('url', saml?.metadataUrl ?? ''),
  })
  return [
    known,
    await form('metadata', [url, submit(say('portal.saml.byUrl'))], { connection: id }),
    drawUpload(page, id),
    html`<details class="stack">
      <summary>${say('portal.saml.byFields')}</summary>
      ${await form(
        'fields',
        [
          field('entityId', {
            label: 'portal.saml.entityId',
            type: 'text',
            required: true,
            maxlength: 1024,
            value: typed('entityId', saml?.entityId ?? ''),
          }),
          field('signInUrl', {
            label: 'portal.saml.signInUrl',
            type: 'url',
            required: true,
            maxlength: 1000,
            value: typed('signInUrl', saml?.signInUrl ?? ''),
          }),
          select('binding', {
            label: 'portal.saml.binding',
            options: [
              ['redirect', 'HTTP-Redirect'],
              ['post', 'HTTP-POST'],
            ],
            value: typed('binding', saml?.binding ?? 'redirect'),
          }),
          area('certificate', say('portal.saml.certificate'), 6),
          submit(say('portal.save'), { quiet: true }),
        ],
        { connection: id },
      )}${await form('metadata', [area('xml', say('portal.saml.xml'), 6), submit(say('portal.save'), { quiet: true })], { connection: id })}
    </details>`,
  ]
}

/** A form with a file is multipart: it goes to its own route, which the Origin proves. */
function drawUpload({ tools }: PortalPage, id: string): Content {
  const { say, submit, html, base } = tools
  return html`<form class="stack" action="${base}/portal/connections/upload" method="post" enctype="multipart/form-data">
    <input type="hidden" name="action" value="metadata" /><input type="hidden" name="connection" value="${id}" />
    <div class="field">
      <label class="section-header" for="file-${id}">${say('portal.saml.file')}</label
      ><input type="file" name="file" id="file-${id}" accept=".xml,application/xml,text/xml,application/samlmetadata+xml" required />
    </div>
    ${submit(say('portal.saml.byFile'), { quiet: true })}
  </form>`
}

async function drawOidc({ tools, form, typed, ctx }: PortalPage, connection: Connection): Promise<Content> {
  const { say, field, select, submit, copyable } = tools
  const { id, settings, hasSecret, publicKey } = connection
  const oidc = 'issuer' in settings ? settings : undefined
  return [
    await form(
      'oidc',
      [
        field('issuer', {
          label: 'portal.oidc.issuer',
          type: 'url',
          required: true,
          maxlength: 500,
          placeholder: 'https://',
          value: typed('issuer', oidc?.issuer ?? ''),
        }),
        field('clientId', {
          label: 'portal.oidc.clientId',
          type: 'text',
          required: true,
          maxlength: 255,
          autocomplete: 'off',
          value: typed('clientId', oidc?.clientId ?? ''),
        }),
        field('clientSecret', {
          label: hasSecret ? 'portal.oidc.newSecret' : 'portal.oidc.clientSecret',
          type: 'password',
          maxlength: 1000,
          autocomplete: 'off',
        }),
        select('auth', {
          label: 'portal.oidc.auth',
          options: [
            ['client_secret_basic', 'client_secret_basic'],
            ['client_secret_post', 'client_secret_post'],
            ['private_key_jwt', 'private_key_jwt'],
          ],
          value: typed('auth', oidc?.auth ?? 'client_secret_basic'),
        }),
        submit(say('portal.save')),
      ],
      { connection: id },
    ),
    publicKey && copyable(`${ctx.base}/sso/keys/${id}`, { label: say('portal.oidc.keys') }),
  ]
}
