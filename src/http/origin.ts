/** Who we are on the network: own origin, trusted hosts, forwarded headers (D34). */
import type { ResolvedConfig, Settings } from '../contract/config.ts'
import type { AnyContext } from '../contract/context.ts'
import type { HandleOptions } from '../contract/entry-points.ts'
import { UntrustedHost } from '../errors/index.ts'
import { readEnv } from '../options/providers.ts'
import { isLoopback } from '../runtime/runtime.ts'
import { forwardedValue, hostMatches } from './hosts.ts'

const remedies =
  'Set AUTH_URL (or `origin`) to the public URL of the app, list its hosts in `allowedHosts`, ' +
  'or set `trustHost: true` (AUTH_TRUST_HOST=true) where every Host header that reaches the app is right.'

/**
 * Own origin without trailing slash; `sent`: the URL of the request where it is parsed already. Without `origin`, `allowedHosts` and `trustHost` only
 * loopback hosts are believed; with `trustHost: false` none. Throws UntrustedHost when the request's host cannot be believed.
 */
export function resolveOrigin(
  request: Request,
  settings: Settings,
  config: ResolvedConfig,
  options: Pick<HandleOptions, 'trustForwarded'>,
  sent?: Readonly<URL>,
): string {
  if (settings.origin !== '') return settings.origin
  const url = sent ?? new URL(request.url)
  const { trustHost, trustProxy, allowedHosts } = config
  if (trustHost === false) throw new UntrustedHost(`The host "${url.host}" is not trusted: \`trustHost\` is false. ${remedies}`)
  const hops = typeof trustProxy === 'number' ? trustProxy : trustProxy || options.trustForwarded ? true : 0
  const origin = hops === 0 && (url.protocol === 'https:' || url.protocol === 'http:') ? url.origin : proxiedOrigin(request, url, hops)
  if (!allowedHosts && trustHost) return origin
  const { host, hostname } = origin === url.origin ? url : new URL(origin)
  if (allowedHosts) {
    if (allowedHosts.some((pattern) => hostMatches(pattern, host))) return origin
    throw new UntrustedHost(`The host "${host}" is not in \`allowedHosts\`. Add it there, or set AUTH_URL.`)
  }
  if (isLoopback(hostname)) return origin
  throw new UntrustedHost(`The host "${host}" is not trusted: without a setting only localhost and loopback addresses are. ${remedies}`)
}

/** What the proxies in front say, where they are trusted; else the URL of the request. */
function proxiedOrigin(request: Request, url: Readonly<URL>, hops: number | true): string {
  const proto = forwardedValue(request.headers, 'x-forwarded-proto', hops)
  const host = forwardedValue(request.headers, 'x-forwarded-host', hops)
  const origin = `${proto === 'https' || proto === 'http' ? proto : url.protocol.slice(0, -1)}://${host ?? url.host}`
  const parsed = URL.canParse(origin) ? new URL(origin) : undefined
  // What a URL parser would read as user, path or query has no place in a Host header.
  if (!parsed || parsed.pathname !== '/' || parsed.search !== '' || parsed.hash !== '' || parsed.username !== '' || parsed.host === '') {
    throw new UntrustedHost('The forwarded host of the request is malformed.')
  }
  return parsed.origin
}

/** Host names of the deployment, which these platforms set themselves. */
const platformHosts = ['VERCEL_URL', 'VERCEL_BRANCH_URL', 'VERCEL_PROJECT_PRODUCTION_URL', 'CF_PAGES_URL']

/**
 * Why a mail or a text message must not name the host of the request; undefined: it may. `origin`, AUTH_URL, `allowedHosts` or the platform has to
 * name the host, or it is a loopback host. `trustHost` alone does not do: an attacker chooses the Host header, and the message goes to another user.
 */
export function mailedHostFault(ctx: AnyContext): UntrustedHost | undefined {
  const { allowedHosts, env } = ctx.app.config
  // With `allowedHosts` no other host comes this far.
  if (!ctx.request || ctx.settings.origin !== '' || allowedHosts) return undefined
  const { host, hostname } = new URL(ctx.origin)
  if (isLoopback(hostname)) return undefined
  if (env && platformHosts.some((name) => readEnv(env, name)?.replace(/^https?:\/\//, '') === host)) return undefined
  return new UntrustedHost(
    `No message leaves that leads to the host "${host}": it is known from the Host header of a request alone. Set AUTH_URL (or \`origin\`), or list the host in \`allowedHosts\`.`,
  )
}

/** What `ready()` warns of; undefined: a setting names the hosts, or the app does not run in production. */
export function unnamedHostsWarning({ trustHost, allowedHosts, env }: ResolvedConfig, settings: Settings): string | undefined {
  if (!trustHost || allowedHosts || settings.origin !== '' || !env) return undefined
  // Some frameworks start in production without NODE_ENV: only what names another stage is none.
  if (['development', 'test'].includes(readEnv(env, 'NODE_ENV') ?? '')) return undefined
  return '`trustHost` is on, and nothing names the hosts of the app: any Host header decides where redirects lead, and mails with links are rejected. Set AUTH_URL (or `origin`), or list `allowedHosts`.'
}
