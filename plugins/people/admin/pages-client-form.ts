/** The form of a client: a new one, or changes to one. */
import { type Content, type Context, HttpError, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
import type { ChangedMetadata, ClientMetadata } from 'authkernel/plugins/authorization-server'
import { isProofFresh } from './client-acts.ts'
import type { AdminActs } from './methods.ts'
import { leadToProof } from './pages-clients.ts'
import { isRefusal, type PageRequest, type Params } from './pages-frame.ts'

const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const
const grants = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:token-exchange',
  'urn:ietf:params:oauth:grant-type:jwt-bearer',
  'urn:openid:params:grant-type:ciba',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const
/** One address in a line. */
const lists = ['redirect_uris', 'post_logout_redirect_uris'] as const
const texts = [
  'scope',
  'client_uri',
  'logo_uri',
  'policy_uri',
  'tos_uri',
  'jwks_uri',
  'backchannel_logout_uri',
  'frontchannel_logout_uri',
] as const

/** `GET /admin/clients/new` and `/admin/clients/edit`. What was typed is kept when it is rejected. */
export async function drawClientForm({ acts, ctx, tools, params, may }: PageRequest): Promise<PageView | Response> {
  const { say, card, alert, link, html } = tools
  const id = params['id']
  const act = id === undefined ? 'createClient' : 'updateClient'
  if (!may(act)) return { title: say('admin.clients'), body: alert('AdminRefused'), status: 403 }
  // Before the form is filled in: what was typed would be lost on the way.
  if (!(await isProofFresh(ctx))) {
    const page = id === undefined ? 'admin/clients/new' : `admin/clients/edit?${new URLSearchParams({ id }).toString()}`
    return leadToProof(ctx, page)
  }
  const client = id === undefined ? undefined : await acts.getClient(ctx.request, id)
  const isFixed = client === null || client?.source === 'options' || client?.source === 'document'
  if (isFixed)
    return { title: say('admin.clients'), body: [alert('AdminRefused'), link(say('admin.clients'), '/admin/clients')], status: 404 }
  const typed = params['typed'] === undefined ? undefined : (JSON.parse(params['typed']) as Record<string, string>)
  const values =
    typed ??
    (client
      ? valuesOf(client.metadata)
      : { token_endpoint_auth_method: 'client_secret_basic', grant_types: 'authorization_code refresh_token' })
  const body = await drawForm(tools, values, { id, version: typed?.['version'] ?? client?.version.toString() })
  return {
    title: say(`admin.${act}`),
    lead: client?.name,
    body: [
      alert(params['error']),
      params['why'] !== undefined && html`<p class="note"><bdi>${params['why']}</bdi></p>`,
      card({ title: say(`admin.${act}`), text: say(`admin.${act}-text`), body }),
      link(say('admin.back'), id === undefined ? '/admin/clients' : `/admin/client?${new URLSearchParams({ id }).toString()}`),
    ],
    ...(params['error'] !== undefined && { status: 400 }),
  }
}

/** `POST /admin/clients/save`. */
export async function postClientForm(admin: AdminActs, ctx: Context): Promise<Response> {
  const form = await ctx.form()
  const id = form.get('id') ?? undefined
  const order = { reason: form.get('reason') ?? '', metadata: readForm(form) }
  try {
    const made =
      id === undefined
        ? await admin.createClient(ctx.request, { ...order, metadata: withoutNulls(order.metadata) })
        : await admin.updateClient(ctx.request, id, { ...order, version: Number(form.get('version')) })
    if (made.client_secret !== undefined)
      return await ctx.render('adminClientSecret', { id: made.client_id, name: made.name, secret: made.client_secret })
    return redirectTo(`${ctx.base}/admin/client?${new URLSearchParams({ id: made.client_id, done: '1' }).toString()}`)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const isChanged = error instanceof HttpError && error.status === 409
    const why = error instanceof HttpError && error.status === 400 ? error.message : undefined
    return ctx.render('adminClientForm', {
      id,
      typed: JSON.stringify(typedOf(form)),
      error: isChanged ? 'ClientChanged' : 'AdminRefused',
      why,
    })
  }
}

/** Empty fields remove what was there. */
function readForm(form: URLSearchParams): ChangedMetadata {
  const text = (name: string): string => (form.get(name) ?? '').trim()
  // The act checks what was sent.
  return {
    client_name: text('client_name'),
    token_endpoint_auth_method: text('token_endpoint_auth_method') as ClientMetadata['token_endpoint_auth_method'],
    grant_types: form.getAll('grant_types') as ClientMetadata['grant_types'],
    ...Object.fromEntries(lists.map((name) => [name, text(name).split(/\s+/).filter(Boolean)])),
    ...Object.fromEntries(texts.map((name) => [name, text(name) === '' ? null : text(name)])),
  }
}

function withoutNulls(metadata: ChangedMetadata): Partial<ClientMetadata> {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))
}

function valuesOf(metadata: ClientMetadata): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(name === 'grant_types' ? ' ' : '\n') : String(value),
    ]),
  )
}

/** So that nothing has to be typed again. */
function typedOf(form: URLSearchParams): Record<string, string> {
  const one = (name: string): [string, string] => [name, form.get(name) ?? '']
  return {
    ...Object.fromEntries(['client_name', 'token_endpoint_auth_method', 'reason', 'version', ...lists, ...texts].map(one)),
    grant_types: form.getAll('grant_types').join(' '),
  }
}

async function drawForm(tools: PageTools, values: Record<string, string>, hidden: Params): Promise<Content> {
  const { say, form, field, select, submit, html } = tools
  const lines = (name: (typeof lists)[number]): Content =>
    html`<div class="field">
      <label class="section-header" for="${name}">${say(`admin.${name}`)}</label>
      <textarea name="${name}" id="${name}" rows="3" maxlength="20000" spellcheck="false" autocapitalize="none">
${values[name] ?? ''}</textarea>
    </div>`
  const chosen = (values['grant_types'] ?? '').split(' ')
  return form(
    '/admin/clients/save',
    [
      field('client_name', {
        label: 'admin.name',
        type: 'text',
        required: true,
        maxlength: 100,
        value: values['client_name'],
        autocomplete: 'off',
      }),
      lines('redirect_uris'),
      select('token_endpoint_auth_method', {
        label: 'admin.method',
        value: values['token_endpoint_auth_method'],
        options: methods.map((one) => [one, one]),
      }),
      html`<fieldset>
        <legend class="section-header">${say('admin.grants')}</legend>
        ${grants.map(
          (one) =>
            html`<label class="check"
              ><input type="checkbox" name="grant_types" value="${one}" ${chosen.includes(one) ? 'checked' : ''} />
              <span>${one}</span></label
            >`,
        )}
      </fieldset>`,
      ...texts.map((name) =>
        field(name, {
          label: `admin.${name}`,
          type: name === 'scope' ? 'text' : 'url',
          maxlength: 1000,
          value: values[name],
          autocomplete: 'off',
        }),
      ),
      lines('post_logout_redirect_uris'),
      field('reason', { label: 'admin.reason', type: 'text', required: true, maxlength: 500, value: values['reason'] }),
      submit(say('admin.save')),
    ],
    hidden,
  )
}
