/** Mail addresses as people type them: one text, one mailbox. */

const local = /^(?![-/])[a-z0-9#$&'*+/=?^_{}~-]+(?:\.[a-z0-9#$&'*+/=?^_{}~-]+)*$/
const label = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** A typed mail address in small letters and NFKC; undefined for what is no address, or could be read as two. */
export function toAddress(typed: unknown): string | undefined {
  if (typeof typed !== 'string' || typed.length > 512) return undefined
  const text = typed
    .normalize('NFKC')
    .replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')
    .toLowerCase()
    .normalize('NFKC')
  const [name = '', domain = '', more] = text.split('@')
  if (more !== undefined || name.length > 64 || text.length > 254 || name.includes('=?') || !local.test(name)) return undefined
  const labels = domain.split('.')
  // A last label of digits makes an IPv4 address of it.
  if (!labels.every((one) => label.test(one) && !one.startsWith('xn--')) || /^\d+$/.test(labels.at(-1) ?? '')) return undefined
  return URL.canParse(`http://${domain}/`) ? text : undefined
}
