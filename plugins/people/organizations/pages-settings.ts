/** The name of an organization, and its end. */
import type { Content, PageDraw } from 'authkernel/kernel'
import type { Desk } from './desk.ts'
import { inside } from './page-parts.ts'

/** `GET /organizations/settings?organization=<id>`. */
export function settingsPage(desk: Desk): PageDraw {
  return (ctx, tools, params) =>
    inside(desk, ctx, { tools, params, place: 'settings' }, async ({ seat, may, act }) => {
      const { html, say, field, submit } = tools
      const { name } = seat.organization
      const body: Content[] = []
      if (may('organization:update')) {
        const text = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100, value: name }, 'rename')
        body.push(await act('update', [text, submit(say('organizations.save'))]))
      }
      if (may('organization:delete')) {
        const typed = field('name', { label: 'organizations.name', type: 'text', required: true, maxlength: 100 }, 'delete')
        body.push(html`<h2>${say('organizations.delete')}</h2>`)
        body.push(html`<p>${say('organizations.delete.lead', { name })}</p>`)
        body.push(await act('delete', [typed, submit(say('organizations.delete'), { quiet: true })]))
      }
      return body
    })
}
