/** What people call the site. */
import { isLoopback, type ResolvedConfig } from 'authkernel/kernel'

/** `appName`; else the host, or on the developer's own machine the name of the package that runs (npm tells it). '' for no trusted origin. */
export function siteName({ appName, env }: ResolvedConfig, origin: string | undefined): string {
  if (appName !== undefined && appName !== '') return plain(appName)
  if (origin === undefined || origin === '') return ''
  const { host, hostname } = new URL(origin)
  if (!isLoopback(hostname) || !env) return host
  const packageName = typeof env === 'function' ? env('npm_package_name') : env['npm_package_name']
  return packageName ? spoken(packageName) : host
}

/** Its first letter, for the tile; undefined for an address of digits. */
export function initialOf(site: string): string | undefined {
  if (/^[\d.]+(?::\d+)?$|^\[/.test(site)) return undefined
  return /^(?:www\.)?([\p{L}\p{N}])/u.exec(site)?.[1]?.toUpperCase()
}

/** `@acme/web-shop` is "Web shop". */
function spoken(packageName: string): string {
  const words = packageName
    .replace(/^@[^/]*\//, '')
    .replace(/[-_.]+/g, ' ')
    .trim()
  return plain(words.charAt(0).toUpperCase() + words.slice(1))
}

/** Without the characters that turn text around: a name must not rewrite the sentence it stands in. */
export function plain(text: string): string {
  return text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
}
