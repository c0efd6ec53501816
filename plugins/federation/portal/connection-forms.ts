/** What the forms of one connection do. */
import type { ConnectionChange, OrganizationSso } from 'authkernel/plugins/sso'
import { PortalInput } from './errors.ts'
import { productOf } from './products.ts'
import type { PortalOutcome, PortalVisit } from './sections.ts'
import { ssoOf, takeFetch } from './sso.ts'

type Fields = Readonly<Record<string, string>>
type Form = (sso: OrganizationSso, id: string, fields: Fields, visit: PortalVisit) => Promise<PortalOutcome>

/** For `act` of the section. Throws PortalInput for an unknown form, and what the service throws. */
export async function actOnConnection(visit: PortalVisit, action: string, fields: Fields): Promise<PortalOutcome> {
  const sso = ssoOf(visit)
  const form = Object.hasOwn(forms, action) ? forms[action] : undefined
  if (!sso || !form) throw new PortalInput('portal: the form has no such action.')
  return form(sso, fields['connection'] ?? '', fields, visit)
}

const forms: Readonly<Record<string, Form>> = {
  async create(sso, _id, fields, visit) {
    const product = productOf(fields['product'])
    const type = fields['type'] === 'saml' ? 'saml' : 'oidc'
    const name = product.name === '' ? visit.organization.name : `${visit.organization.name} · ${product.name}`
    const { id } = await sso.create({ draft: true, type, name: name.slice(0, 100), product: product.id, contact: visit.email })
    return { query: { connection: id } }
  },
  /** The metadata of a SAML identity provider: an address, a file, or text. */
  async metadata(sso, id, { url = '', file = '', xml = '' }, visit) {
    const metadata = [url, file, xml].map((one) => one.trim()).find((one) => one !== '')
    if (metadata === undefined) throw new PortalInput('portal: enter the address of the metadata, choose its file, or paste its text.')
    if (url.trim() !== '' && !/^https:\/\//i.test(url.trim()))
      throw new PortalInput('portal: the address of the metadata must begin with https://.')
    if (url.trim() !== '' && !(await takeFetch(visit)))
      throw new PortalInput('portal: the metadata was read 60 times in the last hour. Wait, or upload the file.')
    await sso.update(id, { metadata })
    return at(id, 'attributes')
  },
  async fields(sso, id, { entityId = '', signInUrl = '', certificate = '', binding }) {
    await sso.update(id, {
      entityId: entityId.trim(),
      signInUrl: signInUrl.trim(),
      binding: binding === 'post' ? 'post' : 'redirect',
      certificates: splitCertificates(certificate),
    })
    return at(id, 'attributes')
  },
  async oidc(sso, id, { issuer = '', clientId = '', clientSecret = '', auth }) {
    if (auth !== 'private_key_jwt' && clientSecret.trim() === '' && !(await sso.get(id)).hasSecret)
      throw new PortalInput('portal: enter the client secret. Your identity provider shows it once, when you create it.')
    await sso.update(id, {
      issuer: issuer.trim(),
      clientId: clientId.trim(),
      auth: auth === 'private_key_jwt' || auth === 'client_secret_post' ? auth : 'client_secret_basic',
      ...(clientSecret.trim() !== '' && { clientSecret: clientSecret.trim() }),
    })
    return at(id, 'attributes')
  },
  async mapping(sso, id, fields) {
    const mapping = Object.fromEntries(
      (['id', 'email', 'name', 'groups'] as const).flatMap((name) => {
        const value = fields[`map.${name}`]?.trim() ?? ''
        return value === '' ? [] : [[name, value]]
      }),
    )
    const fallback = fields['role.default']?.trim()
    await sso.update(id, {
      mapping,
      roles: {
        groups: readGroups(fields['role.groups'] ?? ''),
        ...(fallback !== undefined && fallback !== '' && { default: fallback }),
        sync: fields['role.sync'] === 'yes',
      },
    })
    return at(id, 'test')
  },
  test: (sso, id) => sso.startTrial(id, `/portal/connections?connection=${encodeURIComponent(id)}`),
  async enable(sso, id) {
    const { tested } = await sso.get(id)
    if (!tested) throw new PortalInput('portal: test the connection first. A change needs a new test.')
    await sso.update(id, { enabled: true })
    return at(id, 'state')
  },
  async disable(sso, id) {
    await sso.update(id, { enabled: false })
    return at(id, 'state')
  },
  /** The next certificate beside the present ones, so that users can sign in while the identity provider changes them. */
  async 'certificate.add'(sso, id, { certificate = '' }) {
    const present = (await sso.certificates(id)).map(({ pem }) => pem)
    await sso.update(id, await withCertificates(sso, id, [...present, ...splitCertificates(certificate)]))
    return at(id, 'certificates')
  },
  async 'certificate.remove'(sso, id, { fingerprint }) {
    const left = (await sso.certificates(id)).filter((one) => one.fingerprint !== fingerprint).map(({ pem }) => pem)
    if (left.length === 0) throw new PortalInput('portal: this is the only certificate. Add the next one first.')
    await sso.update(id, await withCertificates(sso, id, left))
    return at(id, 'certificates')
  },
  async rename(sso, id, { name = '' }) {
    await sso.update(id, { name })
    return at(id, 'state')
  },
  async remove(sso, id, { name = '' }) {
    const connection = await sso.get(id)
    if (name.trim() !== connection.name) throw new PortalInput('portal: type the name of the connection to remove it.')
    await sso.remove(id)
    return undefined
  },
}

function at(connection: string, card: string): PortalOutcome {
  return { query: { connection }, card }
}

async function withCertificates(sso: OrganizationSso, id: string, certificates: string[]): Promise<ConnectionChange> {
  const { settings } = await sso.get(id)
  if (!('entityId' in settings) || settings.metadataUrl !== undefined)
    throw new PortalInput('portal: the certificates come from the metadata address, which is read again each hour.')
  return { certificates: [...new Set(certificates)] }
}

/** Certificates in PEM, one after the other; bare base64 counts as one. */
function splitCertificates(text: string): string[] {
  const end = '-----END CERTIFICATE-----'
  const found = text
    .split('-----BEGIN CERTIFICATE-----')
    .slice(1)
    .filter((one) => one.includes(end))
  if (found.length > 0) return found.map((one) => `-----BEGIN CERTIFICATE-----${one.slice(0, one.indexOf(end))}${end}`)
  const bare = text.replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/]{100,}={0,2}$/.test(bare)) return []
  return [`-----BEGIN CERTIFICATE-----\n${bare.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----`]
}

/** Lines of `group = role`. Throws PortalInput that names the line. */
function readGroups(text: string): Record<string, string> {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf('=')
      const [group, role] = [line.slice(0, Math.max(at, 0)).trim(), line.slice(at + 1).trim()]
      if (group === '' || role === '')
        throw new PortalInput(`portal: write each line as "group = role". This one is not: ${line.slice(0, 100)}`)
      return [group, role]
    }),
  )
}
