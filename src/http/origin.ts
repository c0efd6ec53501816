/** Who we are on the network: own origin, trusted hosts, forwarded headers (D34). */
import type { ResolvedConfig } from '../contract/config.ts'
import type { HandleOptions } from '../contract/handle-options.ts'
import type { Settings } from '../contract/settings.ts'
import { UntrustedHost } from '../errors/index.ts'
import { forwarded } from './forwarded.ts'
import { hostMatches } from './hosts.ts'

/** Own origin without trailing slash; `sent`: the URL of the request where it is parsed already. Throws UntrustedHost when the request's host cannot be believed. */
export function resolveOrigin(
  request: Request,
  settings: Settings,
  config: ResolvedConfig,
  options: Pick<HandleOptions, 'trustForwarded'>,
  sent?: Readonly<URL>,
): string {
  if (settings.origin !== '') return settings.origin
  const url = sent ?? new URL(request.url)
  if (!config.trustHost) {
    throw new UntrustedHost(
      `The host "${url.host}" is not trusted. Set AUTH_URL (or \`origin\`) to the public URL, ` +
        'or `trustHost: true` (AUTH_TRUST_HOST=true) where every Host header that reaches the app is right.',
    )
  }
  const hops = typeof config.trustProxy === 'number' ? config.trustProxy : config.trustProxy || options.trustForwarded ? true : 0
  // Nothing else says where we are, and a URL has parsed it already.
  if (hops === 0 && !config.allowedHosts && (url.protocol === 'https:' || url.protocol === 'http:')) return url.origin
  const proto = forwarded(request.headers, 'x-forwarded-proto', hops)
  const host = forwarded(request.headers, 'x-forwarded-host', hops)
  const origin = `${proto === 'https' || proto === 'http' ? proto : url.protocol.slice(0, -1)}://${host ?? url.host}`
  const parsed = URL.canParse(origin) ? new URL(origin) : undefined
  // What a URL parser would read as user, path or query has no place in a Host header.
  if (!parsed || parsed.pathname !== '/' || parsed.search !== '' || parsed.hash !== '' || parsed.username !== '' || parsed.host === '') {
    throw new UntrustedHost('The forwarded host of the request is malformed.')
  }
  if (config.allowedHosts && !config.allowedHosts.some((pattern) => hostMatches(pattern, parsed.host))) {
    throw new UntrustedHost(`The host "${parsed.host}" is not in \`allowedHosts\`. Add it there, or set AUTH_URL.`)
  }
  return parsed.origin
}
