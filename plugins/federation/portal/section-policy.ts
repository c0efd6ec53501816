/** Enforcement: who must sign in with the company, from when on, and who need not. */
import type { Content } from 'authkernel/kernel'
import { PortalInput } from './errors.ts'
import type { PortalPage, PortalSection } from './sections.ts'
import { ssoOf } from './sso.ts'

export const policySection: PortalSection = {
  id: 'policy',
  order: 300,
  label: 'portal.policy',
  scope: 'policy',
  async step(visit) {
    const sso = ssoOf(visit)
    if (!sso) return undefined
    const done = (await sso.getPolicy()) !== null
    return { done, text: done ? 'portal.policy.step.done' : 'portal.policy.step.open' }
  },
  async draw(page) {
    const { say, card, button, tag, date } = page.tools
    const policy = await ssoOf(page)?.getPolicy()
    const began = policy && policy.from <= page.ctx.now
    return {
      lead: say('portal.policy.lead'),
      body: [
        policy &&
          card({
            title: say('portal.policy.state'),
            tags: began ? tag(say('portal.policy.on'), 'ok') : tag(say('portal.policy.later'), 'warn'),
            text: say(began ? 'portal.policy.since' : 'portal.policy.from', { date: date(policy.from) }),
            actions: await page.form('release', button(say('portal.policy.release'), { tone: 'danger' })),
          }),
        await drawForm(page),
      ],
    }
  },
  async act(visit, action, fields) {
    const sso = ssoOf(visit)
    if (action === 'release') await sso?.removePolicy()
    else if (action !== 'demand') throw new PortalInput('portal: the form has no such action.')
    else
      await sso?.setPolicy({
        domains: fields['domains'] === 'yes',
        members: fields['members'] === 'yes',
        ...(fields['from'] && { from: fields['from'] }),
        exceptions: (fields['exceptions'] ?? '').split(/[\s,;]+/).filter((one) => one !== ''),
        breakGlass: Object.keys(fields).flatMap((name) => (name.startsWith('owner.') ? [name.slice('owner.'.length)] : [])),
      })
  },
}

async function drawForm(page: PortalPage): Promise<Content> {
  const { ctx, tools, typed, form } = page
  const { say, card, field, submit, html } = tools
  const policy = await ssoOf(page)?.getPolicy()
  const box = (name: string, label: Content, checked: boolean): Content =>
    html`<label class="check"
      ><input type="checkbox" name="${name}" value="yes" ${checked ? html`checked` : html``} /> <span>${label}</span></label
    >`
  const owners = await listOwners(page)
  const from = policy?.from.toISOString().slice(0, 10)
  return card({
    title: say('portal.policy.demand'),
    text: say('portal.policy.demand.lead'),
    body: await form('demand', [
      html`<fieldset>
        <legend>${say('portal.policy.who')}</legend>
        ${box('domains', say('portal.policy.domains'), policy?.domains ?? true)}${box(
          'members',
          say('portal.policy.members'),
          policy?.members ?? false,
        )}
      </fieldset>`,
      html`<p class="note">${say('portal.policy.members.hint')}</p>`,
      field('from', { label: 'portal.policy.date', type: 'date', value: typed('from', from), min: ctx.now.toISOString().slice(0, 10) }),
      html`<p class="note">${say('portal.policy.date.hint')}</p>`,
      owners.length > 0 &&
        html`<fieldset>
          <legend>${say('portal.policy.owners')}</legend>
          ${owners.map(({ id, email }) => box(`owner.${id}`, html`<bdi>${email}</bdi>`, policy?.breakGlass.includes(id) ?? false))}
        </fieldset>`,
      html`<div class="field">
        <label class="section-header" for="exceptions">${say('portal.policy.exceptions')}</label
        ><textarea name="exceptions" id="exceptions" rows="3" maxlength="10000">
${typed('exceptions', (policy?.exceptions ?? []).join('\n'))}</textarea>
      </div>`,
      submit(say('portal.policy.save')),
    ]),
  })
}

/** Owners with an address; at most 20. */
async function listOwners({ ctx, organization }: PortalPage): Promise<{ id: string; email: string }[]> {
  const { members } = await ctx.service('organizations').listMembers(ctx, { organizationId: organization.id, role: 'owner', limit: 20 })
  const users = (await ctx.store?.getUsers(members.map(({ userId }) => userId))) ?? []
  return users.flatMap(({ id, email }) => (email ? [{ id, email }] : []))
}
