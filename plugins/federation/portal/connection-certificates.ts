/** Signing certificates of the identity provider: when they end, and the next ones beside them. */
import { AuthError, type Content } from 'authkernel/kernel'
import type { Connection, ConnectionCertificate } from 'authkernel/plugins/sso'
import { describeError } from './errors.ts'
import type { PortalPage } from './sections.ts'
import { ssoOf, takeFetch } from './sso.ts'

const warningMs = 30 * 86_400_000

/** Of a metadata address they are read from there, and cannot be changed here. */
export async function drawCertificates(page: PortalPage, { id, settings }: Connection): Promise<Content> {
  const { tools, form } = page
  const { say, card, submit, html } = tools
  const isRead = 'entityId' in settings && settings.metadataUrl !== undefined
  const mayRead = !isRead || (await takeFetch(page))
  const found = mayRead ? await readCertificates(page, id) : undefined
  return card({
    id: 'certificates',
    title: say('portal.certificates'),
    text: say(isRead ? 'portal.certificates.read' : 'portal.certificates.lead'),
    body: [
      found === undefined || typeof found === 'string'
        ? html`<p role="alert">${found ?? say('portal.certificates.wait')}</p>`
        : await Promise.all(found.map((one) => drawCertificate(page, id, one, { canRemove: !isRead && found.length > 1 }))),
      !isRead &&
        (await form(
          'certificate.add',
          [
            html`<div class="field">
              <label class="section-header" for="next-${id}">${say('portal.certificates.next')}</label
              ><textarea
                name="certificate"
                id="next-${id}"
                rows="5"
                spellcheck="false"
                required
                placeholder="-----BEGIN CERTIFICATE-----"
              ></textarea>
            </div>`,
            submit(say('portal.certificates.add'), { quiet: true }),
          ],
          { connection: id },
        )),
    ],
  })
}

async function readCertificates(page: PortalPage, id: string): Promise<ConnectionCertificate[] | string> {
  try {
    return (await ssoOf(page)?.certificates(id)) ?? []
  } catch (error) {
    // The rest of the page must be there when the metadata cannot be read.
    if (error instanceof AuthError && error.status < 500) return describeError(error)
    throw error
  }
}

async function drawCertificate(
  { tools, form, ctx }: PortalPage,
  connection: string,
  { fingerprint, subject, notAfter }: ConnectionCertificate,
  { canRemove }: { canRemove: boolean },
): Promise<Content> {
  const { say, row, tag, date, button, html } = tools
  const left = notAfter.getTime() - ctx.now.getTime()
  const describedBy = `certificate-${fingerprint.slice(0, 16)}`
  const state = left <= 0 ? tag(say('portal.certificate.over'), 'danger') : left < warningMs && tag(say('portal.certificate.soon'), 'warn')
  return row({
    id: describedBy,
    title: html`<bdi>${subject || fingerprint.slice(0, 16)}</bdi>`,
    tags: state || tag(say('portal.certificate.valid'), 'ok'),
    text: [say('portal.certificate.until', { date: date(notAfter) }), html`<code>${fingerprint.slice(0, 32)}…</code>`],
    actions:
      canRemove &&
      (await form('certificate.remove', button(say('portal.remove'), { tone: 'danger', describedBy }), { connection, fingerprint })),
  })
}
