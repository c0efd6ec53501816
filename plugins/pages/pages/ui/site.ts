/** The name of the site, as users read it. */
import { isLoopback, type ResolvedConfig } from 'authkernel/kernel'
import { type Html, markup } from './html.ts'

/** `appName`; else the host, or on the developer's own machine the name of the package that runs (npm tells it). '' for no trusted origin. */
export function siteName({ appName, env }: ResolvedConfig, origin: string | undefined): string {
  if (appName !== undefined && appName !== '') return withoutBidi(appName)
  if (origin === undefined || origin === '') return ''
  const { host, hostname } = new URL(origin)
  if (!isLoopback(hostname) || !env) return host
  const packageName = typeof env === 'function' ? env('npm_package_name') : env['npm_package_name']
  return packageName ? readableName(packageName) : host
}

/** Its first letter, for the tile; undefined for an address of digits. */
export function initialOf(site: string): string | undefined {
  if (/^[\d.]+(?::\d+)?$|^\[/.test(site)) return undefined
  return /^(?:www\.)?([\p{L}\p{N}])/u.exec(site)?.[1]?.toUpperCase()
}

/** `@acme/web-shop` is "Web shop". */
function readableName(packageName: string): string {
  const words = packageName
    .replace(/^@[^/]*\//, '')
    .replace(/[-_.]+/g, ' ')
    .trim()
  return withoutBidi(words.charAt(0).toUpperCase() + words.slice(1))
}

/** Without the characters that turn text around: a name must not rewrite the sentence it stands in. */
export function withoutBidi(text: string): string {
  return text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
}

/** The name in a sentence: isolated, so that right-to-left characters cannot rearrange the sentence around it. */
export function isolateName(text: string): Html {
  return markup`<b><bdi>${text}</bdi></b>`
}
