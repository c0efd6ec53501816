/** The domains of an organization: what to put into the DNS, whether it was found, and where their users sign in. */
import type { AnyContext, Content, PageDraw } from 'authkernel/kernel'
import type { PluginInstance } from './actor.ts'
import { listClaims, type Domain, listDomains } from './domains.ts'
import { drawOrganizationPage, type Visit } from './pages-frame.ts'

/** `GET /organizations/domains?organization=<id>`. */
export function domainsPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'domains' }, async (visit) => {
      const { html, say, field, submit } = tools
      const { id } = visit.membership.organization
      const [open, proved] = await Promise.all([listClaims(visit.membership, id), listDomains(visit.membership, id)])
      const body: Content[] = []
      for (const domain of proved) body.push(await drawDomain(visit, domain))
      for (const { domain, record, text } of open)
        body.push(
          html`<section class="item">
            <h2>${domain}</h2>
            <p>${say('organizations.domain.record', { domain })}</p>
            <p><code class="key">${record}</code></p>
            <p><code class="key">${text}</code></p>
            ${await visit.act('domain.prove', submit(say('organizations.domain.prove')), { domain })} ${await drawRemoval(visit, domain)}
          </section>`,
        )
      const name = field('domain', { label: 'organizations.domain', type: 'text', required: true, maxlength: 253 })
      body.push(html`<h2>${say('organizations.domain.claim')}</h2>`)
      body.push(await visit.act('domain.claim', [name, submit(say('organizations.domain.claim'))]))
      return body
    })
}

async function drawDomain(visit: Visit, { domain, provider, checked }: Domain): Promise<Content> {
  const { membership, tools, may, act } = visit
  const { html, say, submit, date } = tools
  const { own } = membership.options.domains
  const known = [...membership.ctx.app.providers.values()].filter(({ id }) => [undefined, membership.organization.id].includes(own(id)))
  const choices = known.map(({ id, name }) => [id, name] as const)
  // One that the hook `provider` answers is not in the list.
  if (provider !== null && !known.some(({ id }) => id === provider))
    choices.push([provider, await nameOfProvider(membership.ctx, provider)])
  const option = ([id, name]: readonly [string, Content]): Content =>
    id === (provider ?? '') ? html`<option value="${id}" selected>${name}</option>` : html`<option value="${id}">${name}</option>`
  const select = html`<label
    >${say('organizations.domain.provider')}
    <select name="provider" aria-label="${say('organizations.domain.provider')} ${domain}">
      ${[['', say('organizations.domain.any')] as const, ...choices].map(option)}
    </select></label
  >`
  return html`<section class="item">
    <h2>${domain}</h2>
    <p>${say('organizations.domain.proved', { date: date(checked) })}</p>
    ${may('domain:provider') && (await act('domain.provider', [select, submit(say('organizations.save'), { quiet: true })], { domain }))}
    ${await drawRemoval(visit, domain)}
  </section>`
}

async function nameOfProvider(ctx: AnyContext, provider: string): Promise<string> {
  const found = await ctx.providerById(provider).catch(() => undefined)
  return found?.name ?? provider
}

async function drawRemoval({ tools, may, act }: Visit, domain: string): Promise<Content> {
  return may('domain:remove') && act('domain.remove', tools.submit(tools.say('organizations.domain.remove'), { quiet: true }), { domain })
}
