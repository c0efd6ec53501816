/** The test sign-in, and what it showed: each check, and the attributes that came. */
import type { Content } from 'authkernel/kernel'
import type { Connection, Trial } from 'authkernel/plugins/sso'
import type { PortalPage } from './sections.ts'
import { ssoOf } from './sso.ts'

/** The button, and the result that the address names. */
export async function drawTest(page: PortalPage, { id, enabled }: Connection): Promise<Content> {
  const { say, card, button } = page.tools
  const { trial: trialId } = page.params
  const trial = trialId === undefined ? null : await ssoOf(page)?.getTrial(trialId)
  const shown = trial?.connectionId === id ? trial : null
  return [
    card({
      id: 'test',
      title: say('portal.test'),
      text: say(enabled ? 'portal.test.again' : 'portal.test.lead'),
      tags: shown && drawOutcome(page, shown),
      actions: await page.form('test', button(say('portal.test.start'), { tone: 'primary' }), { connection: id }),
      body: shown && drawReport(page, shown),
    }),
  ]
}

/** At the top of the page, where a browser comes back to: whether the test passed, and the way to its card. */
export async function drawResultLink(page: PortalPage, { id }: Connection): Promise<Content> {
  const { trial: trialId } = page.params
  const trial = trialId === undefined ? null : await ssoOf(page)?.getTrial(trialId)
  if (!trial || trial.connectionId !== id) return undefined
  const { html, say } = page.tools
  return html`<p role="status">${drawOutcome(page, trial)} <a href="#test">${say('portal.test')}</a></p>`
}

function drawOutcome({ tools: { say, tag } }: PortalPage, { outcome }: Trial): Content {
  if (outcome === 'open') return tag(say('portal.test.open'), 'warn')
  return outcome === 'passed' ? tag(say('portal.test.passed'), 'ok') : tag(say('portal.test.failed'), 'danger')
}

function drawReport({ tools }: PortalPage, { report }: Trial): Content {
  const { say, html, table, tag } = tools
  if (!report) return html`<p>${say('portal.test.waiting')}</p>`
  const { checks, attributes, cause } = report
  const path = '/portal/connections'
  return [
    cause !== null && html`<p role="status"><b>${say('portal.test.fix')}</b> ${say(`sso.fix.${cause}`)}</p>`,
    table({
      label: say('portal.test.checks'),
      path,
      columns: [{ title: say('portal.test.check') }, { title: say('portal.log.result') }, { title: say('portal.test.detail') }],
      rows: checks.map(({ name, ok, detail }) => [
        say(`portal.check.${name}`) || name,
        ok ? tag(say('portal.check.ok'), 'ok') : tag(say('portal.check.failed'), 'danger'),
        detail !== '' && html`<span lang="en">${detail}</span>`,
      ]),
    }),
    Object.keys(attributes).length > 0 && [
      html`<h3>${say('portal.test.attributes')}</h3>`,
      table({
        label: say('portal.test.attributes'),
        path,
        columns: [{ title: say('portal.test.attribute') }, { title: say('portal.test.value') }],
        rows: Object.entries(attributes).map(([name, values]) => [
          html`<code>${name}</code>`,
          values.map((value) => html`<div><bdi>${value}</bdi></div>`),
        ]),
      }),
    ],
  ]
}
