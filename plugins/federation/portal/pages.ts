/** The pages of the portal: the frame of its sections, and the page that opens a link. */
import { type AuthError, type Content, type Context, type Kernel, type PageDraw, type PageTools, type PageView } from 'authkernel/kernel'
import type { PluginInstance } from './actor.ts'
import { describeError } from './errors.ts'
import { findSentLink } from './links.ts'
import { addLinkPages } from './pages-links.ts'
import { listSections, type PortalPage, type PortalSection, type PortalVisit } from './sections.ts'
import { findVisit, linkTokens } from './visit.ts'

/** What a rejected form showed: the error, and what was typed. */
const refusals = new WeakMap<Context, { error: AuthError; fields: Readonly<Record<string, string>> }>()
// They are not written back into a page.
const secretFields = /secret|token|key|password/i

/** Adds the pages. */
export function addPages(kernel: Kernel, plugin: PluginInstance): void {
  kernel.page('portal', drawPortal(plugin))
  kernel.page('portalOpen', drawOpening)
  addLinkPages(kernel, plugin)
}

/** Draws the section again, with what was wrong. */
export function renderRefusal(
  ctx: Context,
  section: string,
  refusal: { error: AuthError; fields: Readonly<Record<string, string>> },
): Promise<Response> {
  refusals.set(ctx, refusal)
  const query = Object.fromEntries(Object.entries(refusal.fields).filter(([name]) => /^(?:connection|product|domain)$/.test(name)))
  return ctx.render('portal', { ...query, section })
}

/** The sections that a link shows: those of its scopes. */
export async function listVisible(visit: PortalVisit, { sections }: PluginInstance): Promise<readonly PortalSection[]> {
  const all = await listSections(visit.ctx, sections)
  return all.filter(({ scope }) => scope === '' || visit.scopes.includes(scope))
}

/** `GET /portal/<section>`. */
function drawPortal(plugin: PluginInstance): PageDraw {
  return async (ctx, tools, params) => {
    const { say, alert, toast, date, html } = tools
    const visit = await findVisit(ctx, plugin)
    if (!visit) return drawClosed(tools)
    const sections = await listVisible(visit, plugin)
    const section = sections.find(({ id }) => id === (params['section'] ?? 'overview'))
    if (!section) return { title: say('portal.title'), layout: 'wide', body: alert('PortalSectionMissing'), status: 404 }
    const refusal = refusals.get(ctx)
    const { title, lead, body, status, ...more } = await drawSection(section, { ...visit, tools, params })
    const problem = refusal && [alert(refusal.error.type), html`<div class="error" lang="en"><p>${describeError(refusal.error)}</p></div>`]
    const heading = title ?? say(section.label)
    return {
      title: heading,
      lead,
      layout: 'wide',
      navigation: {
        label: visit.organization.name,
        items: sections.map(({ id, label }) => ({ label: say(label), to: pathOf(id), current: id === section.id })),
      },
      body: [
        problem,
        params['done'] !== undefined && !refusal && toast(say('portal.done')),
        body,
        html`<p class="note">
          ${say('portal.foot', { organization: html`<bdi>${visit.organization.name}</bdi>`, email: visit.email, date: date(visit.expires) })}
        </p>`,
      ],
      ...more,
      ...(status !== undefined && { status }),
      ...(refusal && { status: refusal.error.status }),
    }
  }
}

async function drawSection(
  section: PortalSection,
  { tools, params, ...visit }: PortalVisit & { tools: PageTools; params: PortalPage['params'] },
): Promise<PageView & { title: Content }> {
  const fields = refusals.get(visit.ctx)?.fields ?? {}
  const page: PortalPage = {
    ...visit,
    tools,
    params,
    form: (action, body, more = {}) => tools.form(pathOf(section.id), body, { action, ...more }),
    to: (query = {}, id = section.id) => pathOf(id, query),
    typed: (name, fallback = '') => (secretFields.test(name) ? '' : (fields[name] ?? fallback)),
  }
  const view = await section.draw(page)
  if (view instanceof Response) throw new TypeError(`The section "${section.id}" of the portal answered with a response instead of a page.`)
  return { ...view, title: view.title ?? tools.say(section.label) }
}

/** Signed out of the portal: the link is over, or another browser has opened it. */
function drawClosed({ say, alert, html }: PageTools): PageView {
  return { title: say('portal.title'), body: [alert('PortalLinkInvalid'), html`<p>${say('portal.closed')}</p>`], status: 403 }
}

/** `GET /portal/open`: says what the button does. Programs that look into mails open addresses, and press no button. */
const drawOpening: PageDraw = async (ctx, tools, { error }) => {
  const { say, form, submit, date, html } = tools
  const [entry] = await linkTokens.all(ctx)
  const row = entry && (await findSentLink(ctx, entry.token))
  const organization = row && (await ctx.service('organizations').get(ctx, row.organizationId))
  if (!row || !organization || error !== undefined) return drawClosed(tools)
  return {
    title: say('portal.open.title', { organization: organization.name }),
    lead: say('portal.open.lead', { organization: html`<bdi>${organization.name}</bdi>`, date: date(row.expires) }),
    body: await form('/portal/open', submit(say('portal.open'))),
  }
}

/** A path of the portal below the base path. */
export function pathOf(section: string, query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(query).toString()
  return `/portal/${section}${search === '' ? '' : `?${search}`}`
}
