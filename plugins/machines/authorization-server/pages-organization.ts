/** The page on which administrators of an organization manage its clients. It needs no JavaScript. */
import {
  AuthError,
  type Content,
  type Context,
  HttpError,
  type Kernel,
  type PageTools,
  type PageView,
  proveAgain,
  redirectTo,
} from 'authkernel/kernel'
import type {} from 'authkernel/plugins/organizations'
import { findOwnUser } from 'authkernel/kernel/users'
import type { MadeClient } from './client-administration.ts'
import type { ListedClient } from './client-list.ts'
import type { ClientMetadata } from './client-metadata.ts'
import { organizationMessages } from './messages-organization.ts'
import { openidScopes, type ResolvedOptions } from './options.ts'
import {
  assertManager,
  createOrganizationClient,
  deleteOrganizationClient,
  isManager,
  keepsProof,
  listOrganizationClients,
  rotateOrganizationClient,
  updateOrganizationClient,
} from './organization-clients.ts'

type Params = Readonly<Record<string, string | undefined>>
const path = '/organizations/apps'
const texts = 'authorization-server.organization'

/** Adds the page, its link in the navigation of the organization, and the page that shows a secret once. */
export function addOrganizationPages(kernel: Kernel, options: ResolvedOptions): void {
  kernel.messages(organizationMessages)
  kernel.page('organizationApps', (ctx, tools, params) => drawApps(ctx, options, tools, params), { path })
  kernel.page('organizationAppSecret', (_ctx, tools, params) => drawSecret(tools, params))
  kernel.route({ method: 'POST', path, handler: (ctx) => answerForm(ctx, options) })
  kernel.hook(
    'organizationNavigation',
    async ({ items, organizationId, userId, ctx }) =>
      (await isManager(ctx, options, { organizationId, userId }))
        ? [...items, { label: `${texts}.title`, to: `${path}?organization=${encodeURIComponent(organizationId)}` }]
        : items,
    { of: 'organizations' },
  )
}

async function drawApps(ctx: Context, options: ResolvedOptions, tools: PageTools, params: Params): Promise<PageView | Response> {
  const { say, alert, card, emptyState, toast, html } = tools
  const { organization: id = '', client, error, why, done } = params
  if (!(await findOwnUser(ctx))?.id) return ctx.page('signIn', { callbackUrl: ctx.url.href })
  const title = say(`${texts}.title`)
  const organization = await ctx.app.services.organizations?.get(ctx, id)
  try {
    await assertManager(ctx, options, id, false)
  } catch (refusal) {
    if (!(refusal instanceof AuthError) || refusal.status >= 500) throw refusal
    return { title, body: alert('AccessDenied'), status: 403 }
  }
  const clients = await listOrganizationClients(ctx, id)
  const edited = clients.find(({ client_id: one }) => one === client)
  const list = [...organizationLinks(tools, id)]
  return {
    title,
    lead: say(`${texts}.lead`, { organization: html`<bdi>${organization?.name ?? id}</bdi>` }),
    layout: 'wide',
    navigation: { label: organization?.name ?? id, items: list },
    body: [
      alert(error),
      why !== undefined && html`<p class="note" lang="en"><bdi>${why}</bdi></p>`,
      done !== undefined && error === undefined && toast(say(`${texts}.done`)),
      edited
        ? card({ title: html`<bdi>${edited.name}</bdi>`, body: await drawForm(tools, options, id, edited) })
        : [
            card({
              title,
              body:
                clients.length === 0
                  ? emptyState({ title: say(`${texts}.none`) })
                  : await Promise.all(clients.map((one) => drawClient(tools, id, one))),
            }),
            card({ title: say(`${texts}.create`), body: await drawForm(tools, options, id) }),
          ],
    ],
    ...(error !== undefined && { status: 400 }),
  }
}

function organizationLinks({ say }: PageTools, id: string): { label: Content; to: string; current?: boolean }[] {
  const query = `?organization=${encodeURIComponent(id)}`
  return [
    { label: say(`${texts}.title`), to: path + query, current: true },
    { label: say('organizations.members'), to: `/organizations/members${query}` },
  ]
}

async function drawClient(tools: PageTools, organization: string, client: ListedClient): Promise<Content> {
  const { html, say, row, tag, form, button, buttonLink, date } = tools
  const { client_id: id, name, membersOnly, disabled, hasSecret, used, metadata } = client
  const about = `client-${id}`
  const act = (action: string, tone?: 'danger'): Promise<Content> =>
    form(path, button(say(`${texts}.${action}`), { describedBy: about, tone }), { action, organization, client: id })
  return row({
    id: about,
    title: html`<bdi>${name}</bdi>`,
    tags: [disabled && tag(say(`${texts}.disabled`), 'danger'), membersOnly && [tag(say(`${texts}.members`)), ' ']],
    text: [
      html`<code>${id}</code>`,
      html`<bdi>${metadata.redirect_uris.map((uri) => new URL(uri).host || uri).join(', ')}</bdi>`,
      used && say('authorization-server.used', { date: date(used) }),
    ],
    actions: [
      !disabled &&
        buttonLink(say(`${texts}.edit`), `${path}?${new URLSearchParams({ organization, client: id }).toString()}`, { describedBy: about }),
      !disabled && hasSecret && (await act('rotate')),
      await act('delete', 'danger'),
    ],
  })
}

async function drawForm(
  tools: PageTools,
  { organizationClients: own }: ResolvedOptions,
  organization: string,
  client?: ListedClient,
): Promise<Content> {
  const { html, say, form, field, select, submit, typed } = tools
  const action = client ? 'update' : 'create'
  const { metadata, membersOnly = true, version } = client ?? {}
  const held = metadata?.scope?.split(' ')
  const boxes = (own?.scopes ?? []).map(
    (scope) =>
      html`<label class="check"
        ><input type="checkbox" name="scope" value="${scope}" ${held?.includes(scope) && html` checked`} />
        <span>${say(`authorization-server.scope.${scope}`) || scope}</span></label
      >`,
  )
  return form(
    path,
    [
      field(
        'client_name',
        {
          label: `${texts}.name`,
          type: 'text',
          required: true,
          maxlength: 100,
          autocomplete: 'off',
          value: typed('client_name', action) ?? metadata?.client_name ?? '',
        },
        action,
      ),
      html`<div class="field">
        <label class="section-header" for="redirect_uris">${say(`${texts}.redirects`)}</label>
        <textarea name="redirect_uris" id="redirect_uris" rows="3" maxlength="20000" spellcheck="false" autocapitalize="none" required>
${typed('redirect_uris', action) ?? metadata?.redirect_uris.join('\n') ?? ''}</textarea>
      </div>`,
      !client &&
        select('kind', {
          label: `${texts}.kind`,
          options: [
            ['client_secret_basic', say(`${texts}.kind.server`)],
            ['none', say(`${texts}.kind.public`)],
          ],
          value: typed('kind', action) ?? 'client_secret_basic',
        }),
      ...boxes,
      html`<label class="check"
        ><input type="checkbox" name="members" value="yes" ${membersOnly && html` checked`} />
        <span>${say(`${texts}.membersOnly`)}</span></label
      >`,
      submit(say(client ? `${texts}.save` : `${texts}.create`)),
    ],
    { action, organization, client: client?.client_id, version: version?.toString() },
  )
}

/** `POST /organizations/apps`. */
async function answerForm(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await ctx.form()
  const [organization, clientId] = [form.get('organization') ?? '', form.get('client') ?? '']
  const here = `${ctx.base}${path}?${new URLSearchParams({ organization }).toString()}`
  if (!(await findOwnUser(ctx))?.id) return ctx.page('signIn', { callbackUrl: here })
  await assertManager(ctx, options, organization, false)
  const away = keepsProof(ctx) ? await proveAgain(ctx, options.organizationClients?.proofAge ?? 0, here) : undefined
  if (away) return away
  try {
    const userId = await assertManager(ctx, options, organization, true)
    const made = await doAct(ctx, options, form, { organizationId: organization, clientId, userId })
    if (made?.client_secret !== undefined)
      return await ctx.render('organizationAppSecret', { organization, id: made.client_id, name: made.name, secret: made.client_secret })
    return redirectTo(`${here}&done=1`)
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error
    const code = error.status === 409 ? 'OrganizationAppConflict' : 'OrganizationAppRefused'
    const why = error.status === 400 ? error.message : undefined
    return ctx.render('organizationApps', {
      organization,
      client: form.get('action') === 'update' ? clientId : undefined,
      error: code,
      why,
    })
  }
}

async function doAct(
  ctx: Context,
  options: ResolvedOptions,
  form: URLSearchParams,
  of: { organizationId: string; clientId: string; userId: string },
): Promise<MadeClient | undefined> {
  const action = form.get('action')
  const membersOnly = form.get('members') === 'yes'
  if (action === 'create') {
    const metadata = { ...readMetadata(form), token_endpoint_auth_method: form.get('kind') as ClientMetadata['token_endpoint_auth_method'] }
    return createOrganizationClient(ctx, options, of.organizationId, { metadata, membersOnly }, of.userId)
  }
  if (action === 'update') {
    const change = { metadata: readMetadata(form), version: Number(form.get('version')), membersOnly }
    return (await updateOrganizationClient(ctx, options, of, change)) ?? undefined
  }
  if (action === 'rotate') return (await rotateOrganizationClient(ctx, of, {})) ?? undefined
  if (action === 'delete') await deleteOrganizationClient(ctx, options, of)
  return undefined
}

/** What the organization may choose on the page; other members stay. */
function readMetadata(form: URLSearchParams): Partial<ClientMetadata> {
  return {
    client_name: (form.get('client_name') ?? '').trim(),
    redirect_uris: (form.get('redirect_uris') ?? '').split(/\s+/).filter(Boolean),
    scope: [...openidScopes, ...form.getAll('scope')].join(' '),
  }
}

// The answer to a form, which no history keeps: the secret is shown once.
function drawSecret({ say, card, copyable, link }: PageTools, { organization = '', id = '', name = '', secret = '' }: Params): PageView {
  return {
    title: say(`${texts}.secret`, { client: name }),
    lead: say(`${texts}.secretOnce`),
    body: [
      card({ title: say(`${texts}.clientId`), body: copyable(id) }),
      card({ title: say(`${texts}.clientSecret`), body: copyable(secret) }),
      link(say(`${texts}.back`), `${path}?${new URLSearchParams({ organization }).toString()}`),
    ],
  }
}
