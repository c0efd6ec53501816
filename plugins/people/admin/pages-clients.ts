/** Clients of the authorization server: the list, one client, and what an administrator does to it. */
import { type Content, type Context, HttpError, type PageTools, type PageView, proveAgain, redirectTo } from 'authkernel/kernel'
import type { ListedClient } from 'authkernel/plugins/authorization-server'
import { isProofFresh, maxProofAge } from './client-acts.ts'
import type { AdminActs } from './methods.ts'
import { isRefusal, type PageRequest } from './pages-frame.ts'

const limit = 50
const sources = ['options', 'host', 'registration', 'moved', 'document', 'organization'] as const
/** Seconds that the secret before a rotation counts on. */
const overlaps = [0, 3600, 86_400, 7 * 86_400, 30 * 86_400]
const acts = ['rotateClient', 'disableClient', 'enableClient', 'deleteClient'] as const
type ClientAct = (typeof acts)[number]

/** `GET /admin/clients`. */
export async function drawClients({ acts: admin, ctx, tools, params, may }: PageRequest): Promise<PageView> {
  const { say, table, card, emptyState, buttonLink, alert, toast } = tools
  const source = sources.find((one) => one === params['source'])
  const search = { limit, source, text: params['q'] || undefined, cursor: params['after'] }
  const { items, cursor } = await admin.listClients(ctx.request, search)
  const create = may('createClient') && buttonLink(say('admin.createClient'), '/admin/clients/new', { tone: 'primary' })
  return {
    title: say('admin.clients'),
    body: [
      alert(params['error']),
      params['done'] !== undefined && toast(say('admin.done')),
      card({
        title: say('admin.clients'),
        text: say('admin.clients-text'),
        actions: create,
        body: table({
          label: say('admin.clients'),
          path: '/admin/clients',
          query: params,
          search: { label: say('admin.clients-search'), value: params['q'] },
          filters: [
            {
              name: 'source',
              label: say('admin.source'),
              value: source,
              options: [
                ['', say('admin.any', { what: say('admin.source') })],
                ...sources.map((one) => [one, say(`admin.source-${one}`)] as const),
              ],
            },
          ],
          columns: ['admin.name', 'admin.source', 'admin.status', 'admin.lastUsed', 'admin.created'].map((title) => ({
            title: say(title),
          })),
          rows: items.map((client) => rowOf(tools, client)),
          empty: emptyState({ title: say('admin.empty') }),
          ...(cursor !== undefined && { next: { after: cursor } }),
        }),
      }),
    ],
  }
}

/** `GET /admin/client`. Without JavaScript `act` draws the question alone. */
export async function drawClient(request: PageRequest): Promise<PageView> {
  const { acts: admin, ctx, tools, params, may } = request
  const { say, alert, toast, card, facts, html, link, buttonLink } = tools
  const client = await admin.getClient(ctx.request, params['id'] ?? '')
  if (!client)
    return { title: say('admin.clients'), body: [alert('AdminRefused'), link(say('admin.clients'), '/admin/clients')], status: 404 }
  const act = acts.find((one) => one === params['act'] && fits(request, one, client))
  if (act) return drawQuestion(request, client, act)
  const canEdit = client.source !== 'options' && client.source !== 'document' && may('updateClient')
  const dialogs = await Promise.all(acts.filter((one) => fits(request, one, client)).map((one) => drawDialog(request, client, one)))
  return {
    title: client.name,
    body: [
      alert(params['error']),
      params['done'] !== undefined && toast(say('admin.done')),
      card({
        title: html`<bdi>${client.name}</bdi>`,
        tags: tagsOf(tools, client),
        actions: canEdit && buttonLink(say('admin.updateClient'), `/admin/clients/edit?${query(client)}`),
        body: [facts(factsOf(tools, client)), html`<div class="ui-end">${dialogs}</div>`],
      }),
      card({ title: say('admin.client-rights'), body: facts(rightsOf(tools, client)) }),
      link(say('admin.clients'), '/admin/clients'),
    ],
    ...(params['error'] !== undefined && { status: 400 }),
  }
}

/** The page that shows a new secret. It is the answer to a form, which no history keeps. */
export function drawSecret({ tools, params }: PageRequest): PageView {
  const { say, copyable, card, link } = tools
  const { name = '', secret = '', id = '' } = params
  return {
    title: say('admin.secret', { name }),
    lead: say('admin.secret-once'),
    body: [
      card({ title: say('admin.clientId'), body: copyable(id) }),
      card({ title: say('admin.clientSecret'), body: copyable(secret) }),
      link(say('admin.back'), `/admin/client?${new URLSearchParams({ id }).toString()}`),
    ],
  }
}

/** `POST /admin/client`. */
export async function postClient(admin: AdminActs, ctx: Context): Promise<Response> {
  const { id, action, reason, overlap } = await ctx.body()
  const clientId = String(id ?? '')
  const order = { reason: String(reason ?? '') }
  const back = (more: Record<string, string>): Response =>
    redirectTo(`${ctx.base}/admin/client?${new URLSearchParams({ id: clientId, ...more }).toString()}`)
  try {
    if (action === 'rotateClient') {
      if (!(await isProofFresh(ctx)))
        return await leadToProof(ctx, `admin/client?${new URLSearchParams({ id: clientId, act: action }).toString()}`)
      const made = await admin.rotateClient(ctx.request, clientId, { ...order, overlap: Number(overlap) })
      return ctx.render('adminClientSecret', { id: made.client_id, name: made.name, secret: made.client_secret })
    }
    const act = acts.find((one) => one === action && one !== 'rotateClient') as Exclude<ClientAct, 'rotateClient'> | undefined
    const done = act !== undefined && (await admin[act](ctx.request, clientId, order))
    if (act === 'deleteClient' && done) return redirectTo(`${ctx.base}/admin/clients?done=1`)
    return back(done ? { done: '1' } : {})
  } catch (error) {
    if (!isRefusal(error)) throw error
    return back({ error: error instanceof HttpError && error.status === 409 ? 'ClientChanged' : 'AdminRefused' })
  }
}

/** To a fresh proof, and back to a page of the console. */
export async function leadToProof(ctx: Context, page: string): Promise<Response> {
  const back = `${ctx.base}/${page}`
  return (await proveAgain(ctx, maxProofAge, back)) ?? redirectTo(back)
}

function rowOf(tools: PageTools, client: ListedClient): Content[] {
  const { html, say, moment, base } = tools
  const { client_id: id, name, source, used, created } = client
  return [
    html`<span
      ><a href="${base}/admin/client?${query(client)}"><bdi>${name}</bdi></a> <small><bdi>${id}</bdi></small></span
    >`,
    say(`admin.source-${source}`),
    tagsOf(tools, client),
    used ? moment(used) : say(source === 'options' ? 'admin.untold' : 'admin.never'),
    created ? moment(created) : '–',
  ]
}

function tagsOf({ say, tag }: PageTools, { disabled, source }: ListedClient): Content {
  if (disabled) return tag(say('admin.disabled'), 'danger')
  return source === 'registration' ? tag(say('admin.unproved'), 'warn') : tag(say('admin.enabled'), 'ok')
}

function factsOf({ say, html, moment, date }: PageTools, client: ListedClient): [Content, Content][] {
  const { client_id: id, source, metadata, disabled, created, used, formerSecretUntil } = client
  return [
    [say('admin.clientId'), html`<code>${id}</code>`],
    [say('admin.source'), say(`admin.source-${source}`)],
    ...(client.organizationId === null ? [] : [[say('admin.source-organization'), client.organizationId] as [Content, Content]]),
    [say('admin.method'), metadata.token_endpoint_auth_method],
    [say('admin.disabled'), disabled ? moment(disabled) : undefined],
    [say('admin.formerSecret'), formerSecretUntil ? date(formerSecretUntil) : undefined],
    [say('admin.created'), created ? moment(created) : undefined],
    [say('admin.lastUsed'), used ? moment(used) : undefined],
  ]
}

function rightsOf({ say, html }: PageTools, { metadata }: ListedClient): [Content, Content][] {
  const list = (all: readonly string[] | undefined): Content =>
    all === undefined || all.length === 0 ? undefined : all.map((one, at) => [at > 0 && html`<br />`, html`<bdi>${one}</bdi>`])
  return [
    [say('admin.redirects'), list(metadata.redirect_uris)],
    [say('admin.grants'), list(metadata.grant_types)],
    [say('admin.scopes'), metadata.scope ?? say('admin.all-scopes')],
    [say('admin.keys-address'), metadata.jwks_uri],
    [say('admin.logout-address'), metadata.backchannel_logout_uri],
    [say('admin.subjects'), metadata.subject_type],
  ]
}

function fits({ may }: PageRequest, act: ClientAct, { source, disabled, hasSecret }: ListedClient): boolean {
  if (!may(act) || source === 'options') return false
  if (act === 'disableClient') return disabled === null
  if (act === 'enableClient') return disabled !== null
  return source !== 'document' && (act !== 'rotateClient' || hasSecret)
}

async function drawDialog(request: PageRequest, client: ListedClient, act: ClientAct): Promise<Content> {
  const { say, dialog } = request.tools
  return dialog({
    id: `act-${act}`,
    label: say(`admin.${act}`),
    title: say(`admin.${act}`),
    text: say(`admin.${act}-text`),
    body: await drawForm(request, client, act),
    path: `/admin/client?${query(client)}&act=${act}`,
    tone: act === 'disableClient' || act === 'deleteClient' ? 'danger' : 'plain',
  })
}

async function drawQuestion(request: PageRequest, client: ListedClient, act: ClientAct): Promise<PageView> {
  const { say, card, link } = request.tools
  return {
    title: say(`admin.${act}`),
    lead: client.name,
    body: [
      card({
        title: say(`admin.${act}`),
        text: say(`admin.${act}-text`),
        body: await drawForm(request, client, act),
        danger: act === 'deleteClient',
      }),
      link(say('admin.back'), `/admin/client?${query(client)}`),
    ],
  }
}

async function drawForm({ tools }: PageRequest, client: ListedClient, act: ClientAct): Promise<Content> {
  const { say, form, field, select, button, duration } = tools
  const isDangerous = act === 'disableClient' || act === 'deleteClient'
  const fields: Content[] = [
    act === 'rotateClient' &&
      select(
        'overlap',
        {
          label: 'admin.overlap',
          value: '86400',
          options: overlaps.map((seconds) => [String(seconds), seconds === 0 ? say('admin.overlap-none') : duration(seconds)]),
        },
        act,
      ),
    field('reason', { label: 'admin.reason', type: 'text', required: true, maxlength: 500 }, act),
    button(say(`admin.${act}`), { tone: isDangerous ? 'danger' : 'primary' }),
  ]
  return form('/admin/client', fields, { id: client.client_id, action: act })
}

function query({ client_id: id }: ListedClient): string {
  return new URLSearchParams({ id }).toString()
}
