/** The domains of an organization: what to put into the DNS, whether it was found, and how its users sign in and become members. */
import type { AnyContext, Content, PageDraw } from 'authkernel/kernel'
import type { PluginInstance } from './actor.ts'
import { listClaims, type Domain, type DomainClaim, listDomains } from './domains.ts'
import { drawOrganizationPage, type Visit } from './pages-frame.ts'

/** `GET /organizations/domains?organization=<id>`. */
export function domainsPage(plugin: PluginInstance): PageDraw {
  return (ctx, tools, params) =>
    drawOrganizationPage(plugin, ctx, { tools, params, place: 'domains' }, async (visit) => {
      const { say, card, field, submit, typed } = tools
      const { id } = visit.membership.organization
      const [open, proved] = await Promise.all([listClaims(visit.membership, id), listDomains(visit.membership, id)])
      const value = typed('domain', 'domain.claim')
      const name = field('domain', { label: 'organizations.domain', type: 'text', required: true, maxlength: 253, value })
      return [
        ...(await Promise.all(proved.map((domain) => drawDomain(visit, domain)))),
        ...(await Promise.all(open.map((claim) => drawClaim(visit, claim)))),
        card({
          title: say('organizations.domain.claim'),
          text: say('organizations.domain.lead'),
          body: await visit.act('domain.claim', [name, submit(say('organizations.domain.claim'))]),
        }),
      ]
    })
}

async function drawClaim(visit: Visit, { domain, record, text }: DomainClaim): Promise<Content> {
  const { html, say, card, copyable, button, tag } = visit.tools
  return card({
    title: html`<bdi>${domain}</bdi>`,
    tags: tag(say('organizations.domain.open'), 'warn'),
    text: say('organizations.domain.record', { domain }),
    actions: [
      await visit.act('domain.prove', button(say('organizations.domain.prove'), { tone: 'primary' }), { domain }),
      await drawRemoval(visit, domain),
    ],
    body: [copyable(record, { label: say('organizations.name') }), copyable(text, { label: say('organizations.domain.text') })],
  })
}

async function drawDomain(visit: Visit, { domain, provider, joining, checked }: Domain): Promise<Content> {
  const { membership, tools, may, act } = visit
  const { html, say, card, select, submit, date, tag } = tools
  const { own } = membership.options.domains
  const known = [...membership.ctx.app.providers.values()].filter(({ id }) => [undefined, membership.organization.id].includes(own(id)))
  const choices: (readonly [string, Content])[] = known.map(({ id, name }) => [id, name])
  // One that the hook `provider` answers is not in the list.
  if (provider !== null && !known.some(({ id }) => id === provider))
    choices.push([provider, await nameOfProvider(membership.ctx, provider)])
  const providers = select(
    'provider',
    { label: 'organizations.domain.provider', options: [['', say('organizations.domain.any')], ...choices], value: provider ?? '' },
    `provider-${domain}`,
  )
  const ways = select(
    'joining',
    {
      label: 'organizations.domain.joining',
      options: [
        ['', say('organizations.domain.joining.no')],
        ['suggest', say('organizations.domain.joining.suggest')],
        ['join', say('organizations.domain.joining.join')],
      ],
      value: joining ?? '',
    },
    `joining-${domain}`,
  )
  return card({
    title: html`<bdi>${domain}</bdi>`,
    tags: tag(say('organizations.domain.verified'), 'ok'),
    text: say('organizations.domain.proved', { date: date(checked) }),
    actions: await drawRemoval(visit, domain),
    body: [
      may('domain:provider') && (await act('domain.provider', [providers, submit(say('organizations.save'), { quiet: true })], { domain })),
      may('domain:joining') && (await act('domain.joining', [ways, submit(say('organizations.save'), { quiet: true })], { domain })),
    ],
  })
}

async function nameOfProvider(ctx: AnyContext, provider: string): Promise<string> {
  const found = await ctx.providerById(provider).catch(() => undefined)
  return found?.name ?? provider
}

async function drawRemoval({ tools, may, act }: Visit, domain: string): Promise<Content> {
  return (
    may('domain:remove') && act('domain.remove', tools.button(tools.say('organizations.domain.remove'), { tone: 'danger' }), { domain })
  )
}
