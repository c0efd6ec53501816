/** Domains: what to put into the DNS, and whether it was found. */
import type { Content } from 'authkernel/kernel'
import { PortalInput } from './errors.ts'
import type { PortalPage, PortalSection } from './sections.ts'

export const domainsSection: PortalSection = {
  id: 'domains',
  order: 100,
  label: 'portal.domains',
  scope: 'domains',
  async step({ ctx, organization }) {
    const done = (await ctx.service('organizations').listDomains(ctx, organization.id)).length > 0
    return { done, text: done ? 'portal.domains.step.done' : 'portal.domains.step.open' }
  },
  async draw(page) {
    const { ctx, tools, organization, form, typed } = page
    const { say, card, field, submit } = tools
    const { proved, claims } = await ctx.service('organizations').describeDomains(ctx, organization.id)
    const counted = new Set(await ctx.service('organizations').listDomains(ctx, organization.id))
    const name = field('domain', {
      label: 'portal.domain',
      type: 'text',
      required: true,
      maxlength: 253,
      placeholder: 'acme.example',
      value: typed('domain'),
    })
    return {
      lead: say('portal.domains.lead'),
      body: [
        ...(await Promise.all(proved.map(({ domain, checked }) => drawProved(page, domain, { checked, counts: counted.has(domain) })))),
        ...(await Promise.all(claims.map((claim) => drawClaim(page, claim)))),
        card({
          title: say('portal.domain.add'),
          text: say('portal.domain.add.lead'),
          body: await form('claim', [name, submit(say('portal.domain.add'))]),
        }),
      ],
    }
  },
  async act({ ctx, organization }, action, { domain = '' }) {
    const service = ctx.service('organizations')
    const about = { organizationId: organization.id, domain }
    if (action === 'claim') await service.claimDomain(ctx, about)
    else if (action === 'prove') await service.proveDomain(ctx, about)
    else if (action === 'remove') await service.removeDomain(ctx, about)
    else throw new PortalInput('portal: the form has no such action.')
  },
}

async function drawClaim({ tools, form }: PortalPage, claim: { domain: string; record: string; text: string }): Promise<Content> {
  const { say, card, copyable, button, tag, html } = tools
  const { domain, record, text } = claim
  return card({
    title: html`<bdi>${domain}</bdi>`,
    tags: tag(say('portal.domain.open'), 'warn'),
    text: say('portal.domain.record'),
    actions: [
      await form('prove', button(say('portal.domain.check'), { tone: 'primary' }), { domain }),
      await form('remove', button(say('portal.remove'), { tone: 'danger' }), { domain }),
    ],
    body: [
      copyable('TXT', { label: say('portal.domain.type') }),
      copyable(record, { label: say('portal.domain.name') }),
      copyable(text, { label: say('portal.domain.value') }),
    ],
  })
}

async function drawProved(
  { tools, form }: PortalPage,
  domain: string,
  { checked, counts }: { checked: Date; counts: boolean },
): Promise<Content> {
  const { say, card, button, tag, date, html } = tools
  return card({
    title: html`<bdi>${domain}</bdi>`,
    tags: counts ? tag(say('portal.domain.verified'), 'ok') : tag(say('portal.domain.lapsed'), 'danger'),
    text: say(counts ? 'portal.domain.keep' : 'portal.domain.lapsed.text', { date: date(checked) }),
    actions: await form('remove', button(say('portal.remove'), { tone: 'danger' }), { domain }),
  })
}
