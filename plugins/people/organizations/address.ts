/** Addresses of people, as they are compared. */

const local = /^(?![-/])[a-z0-9#$&'*+/=?^_{}~-]+(?:\.[a-z0-9#$&'*+/=?^_{}~-]+)*$/
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** In small letters, the domain in ASCII; undefined for what is no address, or could be read as two. */
export function addressOf(typed: unknown): string | undefined {
  if (typeof typed !== 'string' || typed.length > 512) return undefined
  const [name = '', domain = '', more] = typed.normalize('NFKC').trim().toLowerCase().normalize('NFKC').split('@')
  if (more !== undefined || name.length > 64 || !local.test(name)) return undefined
  const host = domainOf(domain)
  return host === undefined || name.length + host.length > 253 ? undefined : `${name}@${host}`
}

/** A domain name in small ASCII letters, of at least two labels; undefined for anything else, addresses of machines too. */
export function domainOf(typed: unknown): string | undefined {
  if (typeof typed !== 'string' || typed.length > 512 || /[\s/:?#@\\%[\]]/.test(typed) || !URL.canParse(`http://${typed}`)) return undefined
  const host = new URL(`http://${typed}`).hostname.replace(/\.$/, '')
  const labels = host.split('.')
  // A last label of digits makes an IPv4 address of it.
  const fits = labels.length > 1 && host.length <= 253 && labels.every((one) => label.test(one)) && !/^\d+$/.test(labels.at(-1) as string)
  return fits ? host : undefined
}
