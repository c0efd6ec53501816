/** Icons of connections: the logo that the company or the host gave, else the initial of the product in its colour. */
import type { Row } from 'authkernel/kernel'
import { SsoInput } from './errors.ts'
import type { ConnectionRow } from './tables.ts'

const colours: Readonly<Record<string, string>> = {
  entra: '#0078d4',
  adfs: '#0078d4',
  okta: '#007dc1',
  google: '#1a73e8',
  ping: '#b3282d',
  jumpcloud: '#1f5f73',
  keycloak: '#33699b',
  onelogin: '#1c1f2a',
}
const plain = '#4b5563'
const maxLogo = 16_384

/** An image as a `data:` URL, or a path on the own origin. */
export function iconOf({ logo, product, name }: Pick<Row<ConnectionRow>, 'logo' | 'product' | 'name'>): string {
  if (logo !== null) return /^<svg/i.test(logo) ? toUrl(logo) : logo
  const initial = (product ?? name).match(/[\p{L}\p{N}]/u)?.[0]?.toUpperCase() ?? '·'
  const colour = colours[product ?? ''] ?? plain
  const text = `<text x="12" y="17" font-family="sans-serif" font-size="14" font-weight="600" text-anchor="middle" fill="#fff">${initial}</text>`
  return toUrl(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="${colour}"/>${text}</svg>`,
  )
}

/** Null: none. Throws SsoInput for what pages could not show, or would have to fetch from another site. */
export function readLogo(value: unknown): string | null {
  if (value === null) return null
  const isShown = typeof value === 'string' && /^(?:data:image\/[a-z0-9.+-]+[;,]|<svg[\s>]|\/(?![/\\]))/i.test(value)
  if (isShown && value.length <= maxLogo && !/[\p{Cc}\p{Surrogate}]/u.test(value.replace(/[\n\r\t]/g, ''))) return value
  throw new SsoInput(`sso: \`logo\` must be an image of at most ${maxLogo} characters: a data: URL, inline SVG, or a path on this site.`)
}

function toUrl(svg: string): string {
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
