/** The page on which owners make links and revoke them. */
import { AuthError, type Content, type Context, type Kernel, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
import { type Actor, assertRight, createVisitor, type PluginInstance } from './actor.ts'
import { createLink, type CreatedPortalLink, listLinks, openLink, type PortalLink, revokeLink } from './links.ts'
import { listScopes } from './sections.ts'
import { portalCookie } from './visit.ts'

/** A link that was made by this request: its address is shown this one time. */
const newLinks = new WeakMap<Context, CreatedPortalLink>()

/** `GET /portal/links?organization=<id>` and the forms of it. */
export function addLinkPages(kernel: Kernel, plugin: PluginInstance): void {
  kernel.page('portalLinks', (ctx, tools, params) => drawLinks(plugin, ctx, tools, params), { path: '/portal/links' })
  kernel.route({
    method: 'POST',
    path: '/portal/links',
    async handler(ctx) {
      const form = await ctx.form()
      const organization = form.get('organization') ?? ''
      try {
        const actor = await createVisitor(ctx, plugin)
        return await actOnLinks(actor, organization, form)
      } catch (error) {
        if (!(error instanceof AuthError) || error.status >= 500 || typeof error.cause?.['retryAfter'] === 'number') throw error
        return ctx.render('portalLinks', { organization, error: error.type, status: String(error.status) })
      }
    },
  })
}

async function actOnLinks(actor: Actor & { ctx: Context }, organization: string, form: URLSearchParams): Promise<Response> {
  const { ctx } = actor
  const action = form.get('action')
  if (action === 'revoke') {
    await revokeLink(actor, organization, form.get('link') ?? '')
    return redirectTo(`${ctx.base}/portal/links?${new URLSearchParams({ organization, done: '1' }).toString()}`)
  }
  const scopes = form.getAll('scope')
  if (action === 'visit') {
    // Owners go in themselves: a link for their own address, opened at once.
    const email = (await ctx.store?.getUser(actor.userId ?? ''))?.email ?? ''
    const { url } = await createLink(actor, organization, { email, days: 1 })
    const { session, seconds } = await openLink(ctx, new URL(url).searchParams.get('token') ?? '')
    portalCookie.set(ctx, session, { maxAge: seconds })
    return redirectTo(`${ctx.base}/portal`)
  }
  const link = await createLink(actor, organization, {
    email: form.get('email'),
    days: Number(form.get('days') ?? 7),
    scopes,
    mail: form.get('mail') === 'yes',
  })
  newLinks.set(ctx, link)
  return ctx.render('portalLinks', { organization })
}

async function drawLinks(
  plugin: PluginInstance,
  ctx: Context,
  tools: PageTools,
  { organization: id = '', error, status, done }: Readonly<Record<string, string | undefined>>,
): Promise<PageView | Response> {
  const { say, alert, toast, card, emptyState, html, form, button } = tools
  const actor = await createVisitor(ctx, plugin).catch(() => null)
  if (!actor) return ctx.page('signIn')
  try {
    const organization = await assertRight(actor, id, false)
    const created = newLinks.get(ctx)
    const links = await listLinks(actor, id)
    return {
      title: say('portal.links'),
      lead: say('portal.links.lead', { organization: html`<bdi>${organization.name}</bdi>` }),
      layout: 'wide',
      navigation: {
        label: organization.name,
        items: [
          { label: say('portal.links'), to: `/portal/links?organization=${encodeURIComponent(id)}`, current: true },
          { label: say('organizations.members'), to: `/organizations/members?organization=${encodeURIComponent(id)}` },
        ],
      },
      body: [
        alert(error),
        done !== undefined && toast(say('portal.done')),
        created && drawCreated(tools, created),
        card({
          title: say('portal.links.own'),
          text: say('portal.links.own.lead'),
          actions: await form('/portal/links', button(say('portal.open')), { action: 'visit', organization: id }),
        }),
        await drawForm(plugin, ctx, tools, id),
        card({
          title: say('portal.links.list'),
          body:
            links.length === 0
              ? emptyState({ title: say('portal.links.none'), text: say('portal.links.none.text') })
              : await Promise.all(links.map((link) => drawLink(tools, id, link))),
        }),
      ],
      ...(error !== undefined && { status: status === '403' ? 403 : 400 }),
    }
  } catch (thrown) {
    if (!(thrown instanceof AuthError) || thrown.status >= 500) throw thrown
    return { title: say('portal.links'), body: alert(thrown.type), status: thrown.status }
  }
}

function drawCreated({ say, card, copyable, date }: PageTools, { url, email, expires }: CreatedPortalLink): Content {
  return card({
    id: 'created',
    title: say('portal.links.created', { email }),
    text: say('portal.links.created.lead', { date: date(expires) }),
    body: copyable(url, { label: say('portal.links.url') }),
  })
}

async function drawForm({ options, sections }: PluginInstance, ctx: Context, tools: PageTools, organization: string): Promise<Content> {
  const { say, card, field, select, submit, form, html } = tools
  const days = [1, 3, 7, 14, 30, 90].filter((one) => one <= options.maxDays)
  const boxes = (await listScopes(ctx, sections)).map(
    (scope) =>
      html`<label class="check"
        ><input type="checkbox" name="scope" value="${scope}" checked /> <span>${say(`portal.scope.${scope}`) || scope}</span></label
      >`,
  )
  return card({
    title: say('portal.links.new'),
    text: say('portal.links.new.lead'),
    body: await form(
      '/portal/links',
      [
        field('email', { label: 'portal.links.email', type: 'email', required: true, maxlength: 254, autocomplete: 'off' }),
        select('days', {
          label: 'portal.links.days',
          options: days.map((one) => [String(one), tools.duration(one * 86_400)]),
          value: days.includes(7) ? '7' : String(days[0]),
        }),
        html`<fieldset>
          <legend>${say('portal.links.scopes')}</legend>
          ${boxes}
        </fieldset>`,
        html`<label class="check"><input type="checkbox" name="mail" value="yes" /> <span>${say('portal.links.mail')}</span></label>`,
        submit(say('portal.links.new')),
      ],
      { action: 'create', organization },
    ),
  })
}

async function drawLink({ say, row, tag, date, form, button, html }: PageTools, organization: string, link: PortalLink): Promise<Content> {
  const { id, email, scopes, opened, expires } = link
  const describedBy = `link-${id}`
  return row({
    id: describedBy,
    title: html`<bdi>${email}</bdi>`,
    tags: opened ? tag(say('portal.links.opened'), 'ok') : tag(say('portal.links.sent'), 'warn'),
    text: [
      scopes.map((scope, at) => [at > 0 && ', ', say(`portal.scope.${scope}`) || scope]),
      say('portal.links.until', { date: date(expires) }),
    ],
    actions: await form('/portal/links', button(say('portal.links.revoke'), { tone: 'danger', describedBy }), {
      action: 'revoke',
      organization,
      link: id,
    }),
  })
}
